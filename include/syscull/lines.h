/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull/lines.h - reading descriptors without waste.
 *
 * Three ways to read, because the kernel has two kinds of file and nothing
 * tells them apart at run time: the caller knows.
 *
 *   whole   files that are one record or value (/proc/PID/status, sysfs): one
 *           read; when the buffer fills, a larger one and again from offset 0,
 *           so that the result is one snapshot and never two joined
 *   lines   streams of records (/proc/PID/maps, mountinfo, any file or pipe):
 *           reads until 0, hands out lines with their length, NUL bytes kept
 *   reread  a descriptor that is kept open, read again from offset 0
 *
 * A reader owns a buffer and does all three.  Results are 1 for data, 0 for
 * none, or a negative errno; errno itself is left as it was.  EINTR is retried.
 * syscull_lines_trouble() sorts the errors.
 *
 * ABI: option structs begin with their size, which the caller sets, and only
 * grow at their end, where 0 means the behaviour of before.  The other structs
 * keep their size for ever: new fields take the place of spare ones.
 */
#ifndef SYSCULL_LINES_H
#define SYSCULL_LINES_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct syscull_pool;

/* Longest line or whole file in bytes, unless the caller sets another limit. */
#define SYSCULL_READER_LIMIT 4194304U

/* Results of their own.  No read of a file answers them. */
#define SYSCULL_OVER_LIMIT (-EMSGSIZE) /* a line, record or file is longer than the limit */
#define SYSCULL_TORN (-EPROTO) /* not a whole record, or not as the kernel writes it */

enum syscull_trouble {
	SYSCULL_TROUBLE_NONE = 0, /* the result was not negative */
	SYSCULL_TROUBLE_GONE = 1, /* ESRCH, ENOENT: the process, or what was asked of it, is no more */
	SYSCULL_TROUBLE_DENIED = 2, /* EACCES, EPERM */
	SYSCULL_TROUBLE_OVER = 3, /* SYSCULL_OVER_LIMIT */
	SYSCULL_TROUBLE_TORN = 4, /* SYSCULL_TORN */
	SYSCULL_TROUBLE_OTHER = 5 /* the errno says it */
};

/* Flags of struct syscull_reader_options. */
#define SYSCULL_READER_CONFIRM 0x1U /* whole: one more read must say that nothing follows, or SYSCULL_TORN */

/* Flags of struct syscull_text. */
#define SYSCULL_TEXT_UNENDED 0x1U /* the last line, and no delimiter after it */
#define SYSCULL_TEXT_PARTIAL 0x2U /* what came of a line before an error: never a whole one */

struct syscull_reader_options {
	size_t size; /* sizeof(struct syscull_reader_options) */
	void *buffer; /* the caller's, which stays his; NULL: the reader gets one and lets it grow */
	size_t buffer_size; /* bytes, at least 1: lines and files of up to buffer_size - 1 fit */
	struct syscull_pool *pool; /* where a buffer comes from and goes to; NULL: malloc */
	size_t limit; /* longest line or file in bytes; 0: SYSCULL_READER_LIMIT */
	uint32_t flags; /* SYSCULL_READER_CONFIRM */
	uint32_t spare; /* 0 */
};

/*
 * A reader, in place.  Only `bytes` and `reads` are for the caller: bytes since
 * the last begin (0 at the end of lines: the file was empty, as the maps of a
 * zombie are), and all reads ever made.  The rest is the library's.
 */
struct syscull_reader {
	uint64_t bytes;
	uint64_t reads;
	char *buffer;
	size_t capacity;
	size_t begin;
	size_t scanned;
	size_t end;
	size_t pin;
	size_t limit;
	size_t used;
	struct syscull_pool *pool;
	int fd;
	uint32_t flags;
	uint32_t state;
	unsigned char delimiter;
	unsigned char spare_bytes[3];
	uint64_t spare[4];
};

/* Bytes in a reader's buffer: valid until its reader is used again.  text[length] is 0. */
struct syscull_text {
	const char *text;
	size_t length;
	uint32_t flags;
	uint32_t spare;
};

struct syscull_pool_options {
	size_t size; /* sizeof(struct syscull_pool_options) */
	size_t buffer_bytes; /* of one buffer; 0: 32 KiB, or two pages where that is more */
	uint32_t keep; /* buffers kept when nobody uses them, at most 1024; 0: 8 */
	uint32_t most; /* buffers out at a time, then -ENOBUFS; 0: no limit, what is above `keep` is freed */
};

/*
 * syscull_pool_new - a pool of buffers, empty at first.
 *
 * options: NULL for all defaults.
 * Returns the pool, which syscull_pool_free() frees; NULL with errno ENOMEM,
 * EINVAL (sizes out of range: buffers are 2 bytes to 1 GiB) or E2BIG (a newer
 * struct with something set that this library does not know).
 * Safety: any thread.  A pool may be used by many threads at once: it takes no
 * locks.  After fork(2) the child has a pool of its own.
 * Cost: no system calls but malloc's.
 */
struct syscull_pool *syscull_pool_new(const struct syscull_pool_options *options);

/*
 * syscull_pool_free - frees the pool and the buffers in it; NULL is fine.
 *
 * Readers that use it must be done before.  errno is left as it was.
 * Safety: nobody else may be using it.
 * Cost: no system calls but free's.
 */
void syscull_pool_free(struct syscull_pool *pool);

/*
 * syscull_pool_trim - frees the buffers that nobody uses just now.
 *
 * Safety: any thread, while others use the pool.  errno is left as it was.
 * Cost: no system calls but free's.
 */
void syscull_pool_trim(struct syscull_pool *pool);

/*
 * syscull_reader_init - make a reader of the caller's memory.
 *
 * options: NULL for a reader that gets its buffer from malloc.  A caller's
 * buffer and a pool exclude each other.  The limit in force with a caller's
 * buffer is the smaller of limit and buffer_size - 1.
 * Returns 0; -EINVAL (unknown flag, a buffer of 0 bytes, buffer and pool both);
 * -E2BIG (a newer struct with something set that is not known here).
 * Ownership: syscull_reader_done() lets go of what the reader got.
 * Safety: any thread, async-signal-safe.  A reader is for one thread at a time;
 * readers share nothing.  With a caller's buffer all functions of the reader
 * are async-signal-safe and may run in a vfork child; without, they allocate.
 * Cost: no system calls.
 */
int syscull_reader_init(struct syscull_reader *reader, const struct syscull_reader_options *options);

/*
 * syscull_reader_done - let go of the buffer, and of a descriptor the reader owns.
 *
 * A reader of zeros is fine.  errno is left as it was.  Buffers that grew are
 * freed, others go back to their pool.
 * Safety: as the reader.
 * Cost: close(2) where a reader of proc.h was not ended, otherwise none.
 */
void syscull_reader_done(struct syscull_reader *reader);

/*
 * syscull_whole_read - a file that is one record, as one snapshot.
 *
 * fd: just opened and not read yet; it stays the caller's.
 * Returns 1 and the text; 0 when there were no bytes ("empty"), and nothing is
 * written; SYSCULL_OVER_LIMIT; SYSCULL_TORN (with SYSCULL_READER_CONFIRM: more
 * came after what looked like the end, so it is a file for lines); -ESPIPE (it
 * filled the buffer and has no offset 0 to start again from); -EISDIR; -ESRCH,
 * -EACCES, -EIO and whatever else read(2) says; -ENOMEM; -ENOBUFS.
 * A read that returns less than was asked is the end here: for a file of many
 * records use lines.
 * Safety: as the reader.
 * Cost: exactly one read(2), and one pread64(2) for every time that the buffer
 * grows; with SYSCULL_READER_CONFIRM one more pread64(2).
 */
int syscull_whole_read(struct syscull_reader *reader, int fd, struct syscull_text *ret_text);

/*
 * syscull_whole_reread - the same of a descriptor that is kept open.
 *
 * fd: may have been read before; its offset neither matters nor changes.
 * A kept descriptor of maps, smaps or environ pins the address space's
 * bookkeeping of a process that has died; one of /proc/PID answers ESRCH then.
 * Returns as syscull_whole_read().
 * Safety: as the reader.
 * Cost: exactly one pread64(2), and one more for every time the buffer grows.
 */
int syscull_whole_reread(struct syscull_reader *reader, int fd, struct syscull_text *ret_text);

/*
 * syscull_whole_file - open, read whole, close.
 *
 * dirfd, path: as openat(2) has them.
 * Returns as syscull_whole_read(), and what openat(2) says.
 * Safety: as the reader.
 * Cost: openat(2), what syscull_whole_read() costs, close(2).
 */
int syscull_whole_file(struct syscull_reader *reader, int dirfd, const char *path, struct syscull_text *ret_text);

/*
 * syscull_lines_begin - read lines of a descriptor from where it stands.
 *
 * fd: stays the caller's, who closes it after the last line.  delimiter: any
 * byte; '\n', '\0' (environ), ' ' (task/TID/children).
 * Returns 0; -ENOMEM; -ENOBUFS (the pool's `most`).
 * Safety: as the reader.
 * Cost: no system calls; close(2) where the reader still owns a descriptor.
 */
int syscull_lines_begin(struct syscull_reader *reader, int fd, char delimiter);

/*
 * syscull_lines_next - the next line, without its delimiter.
 *
 * A short read is not the end: only a read of 0 bytes is.  What follows the
 * last delimiter is a line with SYSCULL_TEXT_UNENDED, unless it is empty.
 * The delimiter is overwritten with 0; NUL bytes inside the line stay.
 * Returns 1 and the line; 0 at the end, again and again; SYSCULL_OVER_LIMIT
 * once for each line that is too long, after which the next call gives the line
 * after it; what read(2) says (-EAGAIN, -EIO, -ESRCH, -EISDIR, ...), after all
 * lines that were complete before: calling again tries again; -ENOMEM.
 * Safety: as the reader.
 * Cost: as many read(2) as the kernel needs to hand out the file, one of them
 * of 0 bytes; each asks for at least a page unless the caller's buffer has less.
 */
int syscull_lines_next(struct syscull_reader *reader, struct syscull_text *ret_line);

/*
 * syscull_lines_rest - what came of an unfinished line before an error.
 *
 * Returns 1 and the bytes, flagged SYSCULL_TEXT_PARTIAL; 0 when there are none.
 * They stay in the reader: a later syscull_lines_next() that succeeds gives
 * the whole line.
 * Safety: as the reader.
 * Cost: no system calls.
 */
int syscull_lines_rest(struct syscull_reader *reader, struct syscull_text *ret_rest);

/*
 * syscull_lines_end - let go of a descriptor that the reader owns.
 *
 * For what proc.h began; otherwise it only forgets the caller's descriptor.
 * The buffer stays for the next file.  errno is left as it was.
 * Safety: as the reader.
 * Cost: close(2) where the reader owns the descriptor, otherwise none.
 */
void syscull_lines_end(struct syscull_reader *reader);

/*
 * syscull_text_next - split a text that is in memory.
 *
 * rest: what is still to be split; moves on.  The text itself is not changed:
 * a part ends by its length (and by its NUL where the delimiter is '\0').
 * Returns 1 and the part; 0 when nothing is left.  An empty part after the last
 * delimiter is none.
 * Safety: any thread, async-signal-safe.
 * Cost: no system calls.
 */
int syscull_text_next(struct syscull_text *rest, char delimiter, struct syscull_text *ret_part);

/*
 * syscull_lines_trouble - what kind of error a result of lines.h or proc.h is.
 *
 * Safety: any thread, async-signal-safe.
 * Cost: no system calls.
 */
enum syscull_trouble syscull_lines_trouble(int result);

#ifdef __cplusplus
}
#endif

#endif
