/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors on Linux: close_range(2), the list in /proc, single numbers, and
 * how large the table is.  Raw calls only.  Another system is another file
 * that offers the second half of fds-internal.h; what it cannot do answers
 * -ENOSYS, and the way is not taken.
 */
#include "fds-internal.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#if !defined(SYS_newfstatat) || !defined(SYS_fstatfs) || __SIZEOF_LONG__ != 8
#error "written for machines of 64 bits: structs of the kernel are taken from the libc"
#endif

#define CALL(run, ...) ((run)->calls++, KERNEL(__VA_ARGS__))

#define PROC_MAGIC 0x9fa0
#define LIMIT_NOFILE 7

int syscull__fds_unshare(struct fds_run *run)
{
	return (int)CALL(run, SYS_unshare, (long)CLONE_FILES);
}

bool syscull__fds_is_open(struct fds_run *run, int fd)
{
	return CALL(run, SYS_fcntl, (long)fd, (long)F_GETFD) >= 0;
}

int syscull__fds_one(struct fds_run *run, int fd, enum fds_do what)
{
	long result;

	if (what == FDS_CLOSE) {
		result = CALL(run, SYS_close, (long)fd);
		if (result == -EBADF)
			return 0;
		/* Whatever a flush says, the number is free; but a filter's refusal comes before all that. */
		if ((result == -EPERM || result == -EACCES || result == -ENOSYS || result == -EINVAL) &&
		    syscull__fds_is_open(run, fd))
			return (int)result;
		return 1;
	}
	result = CALL(run, SYS_fcntl, (long)fd, (long)F_GETFD);
	if (result == -EBADF)
		return 0;
	if (result >= 0 && (result & FD_CLOEXEC) == 0)
		result = CALL(run, SYS_fcntl, (long)fd, (long)F_SETFD, result | FD_CLOEXEC);
	if (result == -EBADF)
		return 0;
	return result < 0 ? (int)result : 1;
}

/*
 * Emulators in user mode copy sets of 1,024 bits, and end the process at a
 * larger number.  They are known by not having robust lists.
 */
static bool wide_sets(struct fds_run *run)
{
	void *head = NULL;
	size_t length = 0;

	if (run->wide == FDS_WIDE_UNKNOWN)
		run->wide = CALL(run, SYS_get_robust_list, 0L, &head, &length) == -ENOSYS ? FDS_WIDE_NO : FDS_WIDE_YES;
	return run->wide == FDS_WIDE_YES;
}

/*
 * select(2) of the numbers up to `fd` in bits, for writing, without waiting:
 * as within(), and 1 where all of them are open and one may be written to.
 */
static int select_asked(struct fds_run *run, unsigned char *bits, int fd)
{
	struct {
		long seconds, rest;
	} none = { 0, 0 };
#ifdef SYS_select
	long result = CALL(run, SYS_select, (long)fd + 1, NULL, bits, NULL, &none);
#else
	long result = CALL(run, SYS_pselect6, (long)fd + 1, NULL, bits, NULL, &none, NULL);
#endif

	return result == -EBADF || result > 0 ? 1 : (int)result;
}

/*
 * select(2) looks at no bit beyond the table: for a number that is not open it
 * answers EBADF within the table, and 0 beyond.  bits: zeros, of more than
 * `fd` bits; left as they were.  1 within, 0 beyond, negative: refused.
 *
 * An open number is within, and must not get here: it would be polled.
 */
static int within(struct fds_run *run, unsigned char *bits, int fd)
{
	unsigned long *word = (unsigned long *)(void *)bits + fd / (int)(8 * sizeof(long));
	int result;

	if (syscull__fds_is_open(run, fd))
		return 1;
	if (fd >= 1024 && !wide_sets(run))
		return -ENOSYS;
	*word = 1UL << ((unsigned int)fd % (8 * sizeof(long)));
	result = select_asked(run, bits, fd);
	*word = 0;
	return result;
}

/*
 * One call for within()'s two, where no more than time hangs on the answer:
 * 64 numbers are asked for at once, of which one that is not open is enough.
 * Where all are open they are polled, which is nothing beside closing them, and
 * the answer is "no" if none can be written to.
 */
int syscull__fds_larger_at_once(struct fds_run *run, int slots)
{
	uint64_t bits[1024 / 64] = { 0 };

	bits[(slots - 1) / 64] = UINT64_MAX;
	return select_asked(run, (unsigned char *)bits, slots - 1);
}

int syscull__fds_larger(struct fds_run *run, int slots)
{
	if (slots < 1024) {
		uint64_t few[1024 / 64] = { 0 };

		return within(run, (unsigned char *)few, slots);
	}
	{
		uint64_t bits[FDS_SLOTS_ASKED / 64 + 1] = { 0 };

		return within(run, (unsigned char *)bits, slots < FDS_SLOTS_ASKED ? slots : FDS_SLOTS_ASKED);
	}
}

/* Up to `most` slots, by doubling from 64, the smallest table there is. */
static long slots_by_select(struct fds_run *run, unsigned char *bits, long most)
{
	for (long slots = 64;; slots *= 2) {
		int larger = within(run, bits, (int)slots);

		if (larger < 0)
			return larger;
		if (larger == 0)
			return slots;
		if (slots * 2 > most)
			return -EFBIG;
	}
}

/*
 * Whether select(2) is Linux's: one number below 64, which is within every
 * table and is not open, must be refused.  Where all are open there is none.
 */
static bool select_answers(struct fds_run *run, unsigned char *bits)
{
	for (int fd = 63; fd >= 0; fd--) {
		if (syscull__fds_is_open(run, fd))
			continue;
		return within(run, bits, fd) == 1;
	}
	return true;
}

static int read_text(struct fds_run *run, const char *path, char *text, size_t size)
{
	struct statfs about;
	long fd = CALL(run, SYS_openat, (long)AT_FDCWD, path, (long)(O_RDONLY | O_CLOEXEC));
	long got;

	if (fd < 0)
		return (int)fd;
	got = CALL(run, SYS_fstatfs, fd, &about);
	if (got == 0)
		got = about.f_type == PROC_MAGIC ? CALL(run, SYS_read, fd, text, (long)(size - 1)) : -ESTALE;
	(void)CALL(run, SYS_close, fd);
	if (got >= 0)
		text[got] = '\0';
	return (int)got;
}

/* "FDSize:" of a status file, which the name and ids precede. */
static long slots_by_status(struct fds_run *run)
{
	char text[2048];
	const char *at;
	long slots = 0;
	int result;

	if (run->flags & SYSCULL_FDS_NO_PROCFS)
		return -ENODATA;
	result = read_text(run, "/proc/thread-self/status", text, sizeof text);
	if (result == -ENOENT)
		result = read_text(run, "/proc/self/status", text, sizeof text);
	if (result < 0)
		return result;
	/* The name is escaped: a line of its own cannot be in it. */
	for (at = text; (at = strstr(at, "\nFDSize:")) != NULL; at++) {
		at += sizeof "\nFDSize:" - 1;
		while (*at == ' ' || *at == '\t')
			at++;
		if (*at < '0' || *at > '9')
			return -EBADMSG;
		for (; *at >= '0' && *at <= '9' && slots <= INT_MAX; at++)
			slots = slots * 10 + (*at - '0');
		return *at == '\n' ? slots : -EBADMSG;
	}
	return -EBADMSG;
}

long syscull__fds_slots(struct fds_run *run)
{
	uint64_t bits[FDS_SLOTS_ASKED / 64 + 1] = { 0 };
	bool trusted = select_answers(run, (unsigned char *)bits);
	long slots = trusted ? slots_by_select(run, (unsigned char *)bits, FDS_SLOTS_ASKED) : -ENOSYS;
	size_t size = run->ceiling / 8 + 4096;
	long memory;

	if (slots == -EFBIG && run->ceiling > FDS_SLOTS_ASKED) {
		/* Zeros that cost nothing: only what the table has bits for is read. */
		memory = CALL(run, SYS_mmap, NULL, size, (long)(PROT_READ | PROT_WRITE),
			      (long)(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE), -1L, 0L);
		if (memory < 0 && memory > -4096) {
			slots = slots_by_status(run);
		} else {
			slots = slots_by_select(run, (unsigned char *)memory, run->ceiling);
			(void)CALL(run, SYS_munmap, memory, size);
		}
	} else if (slots < 0 && slots != -EFBIG) {
		slots = slots_by_status(run);
	}
	if (slots == -EFBIG)
		return -EFBIG;
	return slots < 0 ? -ENODATA : slots;
}

long syscull__fds_limit(struct fds_run *run)
{
	struct {
		uint64_t soft, hard;
	} limit = { 0, 0 };
	long result = CALL(run, SYS_prlimit64, 0L, (long)LIMIT_NOFILE, NULL, &limit);

	if (result < 0)
		return result;
	return limit.hard > INT_MAX ? INT_MAX : (long)limit.hard;
}

long syscull__fds_about(struct fds_run *run)
{
	struct stat about;
	long result;

	if (run->flags & SYSCULL_FDS_NO_PROCFS)
		return -ENOENT;
	result = CALL(run, SYS_newfstatat, (long)AT_FDCWD, "/proc/thread-self/fd", &about, 0L);
	return result < 0 ? result : (long)about.st_size;
}

static size_t print_number(char *text, int number)
{
	char reversed[12];
	size_t n = 0;

	do {
		reversed[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	for (size_t i = 0; i < n; i++)
		text[i] = reversed[n - 1 - i];
	text[n] = '\0';
	return n;
}

int syscull__fds_list_begin(struct fds_run *run, struct fds_list *list)
{
	const long flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	struct stat about;
	long fd, result;

	/* The list of the process is that of its first thread, whose table may be another one. */
	fd = CALL(run, SYS_openat, (long)AT_FDCWD, "/proc/thread-self/fd", flags);
	if (fd == -ENOENT)
		fd = CALL(run, SYS_openat, (long)AT_FDCWD, "/proc/self/fd", flags);
	if (fd < 0)
		return (int)fd;
	list->fd = (int)fd;
	list->at = 0;
	list->used = 0;
	list->seeks = true;
	result = CALL(run, SYS_fstat, fd, &about);
	if (result < 0) {
		syscull__fds_list_close(run, list);
		return (int)result;
	}
	list->device = about.st_dev;
	list->inode = about.st_ino;
	/* Since Linux 6.2 the size is the number of entries; before, 0. */
	list->count = about.st_size > 0 && about.st_size <= INT_MAX ? (long)about.st_size - 1 : -1;
	return 0;
}

/*
 * It is, if it is procfs, and has under the list's own number the list itself.
 * A folder of another process that is mounted here has something else there,
 * or nothing.
 */
static int list_is_ours(struct fds_run *run, const struct fds_list *list)
{
	struct statfs system;
	struct stat entry;
	char name[12];
	long result = CALL(run, SYS_fstatfs, (long)list->fd, &system);

	if (result < 0)
		return (int)result;
	if (system.f_type != PROC_MAGIC)
		return -ESTALE;
	(void)print_number(name, list->fd);
	result = CALL(run, SYS_newfstatat, (long)list->fd, name, &entry, 0L);
	if (result < 0)
		return (int)result;
	return entry.st_dev == list->device && entry.st_ino == list->inode ? 0 : -ESTALE;
}

int syscull__fds_list_check(struct fds_run *run, struct fds_list *list)
{
	int result = list_is_ours(run, list);

	if (result < 0)
		syscull__fds_list_close(run, list);
	return result;
}

int syscull__fds_list_open(struct fds_run *run, struct fds_list *list)
{
	int result = syscull__fds_list_begin(run, list);

	return result < 0 ? result : syscull__fds_list_check(run, list);
}

void syscull__fds_list_close(struct fds_run *run, struct fds_list *list)
{
	(void)CALL(run, SYS_close, (long)list->fd);
	list->fd = -1;
}

/* What getdents64(2) gives. */
#define RECORD_OFFSET 8
#define RECORD_LENGTH 16
#define RECORD_NAME 19

/* A name of digits; -1: "." or "..", -EBADMSG: anything else. */
static int name_number(const unsigned char *name, size_t room)
{
	long number = 0;
	size_t n = 0;

	if (room >= 2 && name[0] == '.' && (name[1] == '\0' || (room >= 3 && name[1] == '.' && name[2] == '\0')))
		return -1;
	for (; n < room && name[n] >= '0' && name[n] <= '9'; n++) {
		number = number * 10 + (name[n] - '0');
		if (number > INT_MAX)
			return -EBADMSG;
	}
	if (n == 0 || n == room || name[n] != '\0')
		return -EBADMSG;
	return (int)number;
}

int syscull__fds_list_next(struct fds_run *run, struct fds_list *list, size_t room, int *ret_fd)
{
	const unsigned char *bytes = (const unsigned char *)list->buffer;

	for (;;) {
		uint16_t length;
		int64_t offset;
		int number;

		if (list->at >= list->used) {
			long got = CALL(run, SYS_getdents64, (long)list->fd, list->buffer,
					room > 0 && room < sizeof list->buffer ? room : sizeof list->buffer);

			if (got <= 0)
				return (int)got;
			if ((size_t)got > sizeof list->buffer)
				return -EBADMSG;
			list->at = 0;
			list->used = (size_t)got;
		}
		if (list->used - list->at < RECORD_NAME + 2)
			return -EBADMSG;
		memcpy(&length, bytes + list->at + RECORD_LENGTH, sizeof length);
		memcpy(&offset, bytes + list->at + RECORD_OFFSET, sizeof offset);
		if (length < RECORD_NAME + 2 || length > list->used - list->at)
			return -EBADMSG;
		number = name_number(bytes + list->at + RECORD_NAME, (size_t)length - RECORD_NAME);
		list->at += length;
		if (number == -EBADMSG)
			return -EBADMSG;
		if (number < 0)
			continue;
		/* After the two dots positions are numbers. */
		if (offset != (int64_t)number + 3)
			list->seeks = false;
		if (number == list->fd)
			continue;
		*ret_fd = number;
		return 1;
	}
}

int syscull__fds_list_seek(struct fds_run *run, struct fds_list *list, int fd)
{
	long result = CALL(run, SYS_lseek, (long)list->fd, (long)fd + 2, (long)SEEK_SET);

	list->at = 0;
	list->used = 0;
	return result < 0 ? (int)result : 0;
}
