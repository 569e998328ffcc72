/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader: one buffer, read whole or line by line.  Bytes [begin, end) are
 * not handed out yet, [begin, scanned) hold no delimiter.  A read is made only
 * when the buffer holds no complete line, never to fill it up: that would tear
 * records that the kernel hands out whole.
 */
#include "lines-internal.h"

#include <fcntl.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

#define LINES_LIMIT_MOST ((size_t)1 << 40)

/* Size in the first version. */
#define READER_OPTIONS_LEAST sizeof(struct syscull_reader_options)

size_t syscull__lines_page(void)
{
#ifdef __linux__
	/* Asked for each time: it may be called from a signal handler, and costs a few loads. */
	unsigned long page = getauxval(AT_PAGESZ);
#else
	long page = sysconf(_SC_PAGESIZE);
#endif
	return page >= 4096 && page <= (1L << 24) ? (size_t)page : 4096;
}

int syscull__lines_openat(int dirfd, const char *path, int flags)
{
	int saved = errno;
	long fd;

	do
		fd = KERNEL(SYS_openat, (long)dirfd, path, (long)(flags | O_CLOEXEC), 0L);
	while (fd == -EINTR);
	errno = saved;
	return (int)fd;
}

void syscull__lines_close(int fd)
{
	int saved = errno;

	/* Never again after EINTR: the number is free already and may be another thread's. */
	(void)KERNEL(SYS_close, (long)fd);
	errno = saved;
}

/* offset < 0: where the descriptor stands. */
static ssize_t read_some(struct syscull_reader *reader, int fd, void *into, size_t size, off_t offset)
{
	int saved = errno;
	long got;

	do {
		reader->reads++;
		if (offset < 0)
			got = KERNEL(SYS_read, (long)fd, into, size);
		else
#if defined(__LP64__)
			got = KERNEL(SYS_pread64, (long)fd, into, size, (long)offset);
#else
			got = -ENOSYS;
#endif
	} while (got == -EINTR);
	errno = saved;
	return (ssize_t)got;
}

int syscull_reader_init(struct syscull_reader *reader, const struct syscull_reader_options *options)
{
	struct syscull_reader_options taken = { sizeof taken, NULL, 0, NULL, 0, 0, 0 };
	int result;

	if (options != NULL) {
		result = syscull_options_take(&taken, sizeof taken, options, options->size, READER_OPTIONS_LEAST);
		if (result < 0)
			return result;
	}
	if ((taken.flags & ~SYSCULL_READER_CONFIRM) != 0 || taken.spare != 0)
		return -EINVAL;
	if (taken.buffer != NULL && (taken.buffer_size == 0 || taken.pool != NULL))
		return -EINVAL;
	if (taken.buffer == NULL && taken.buffer_size != 0)
		return -EINVAL;
	memset(reader, 0, sizeof *reader);
	reader->limit = taken.limit != 0 ? taken.limit : SYSCULL_READER_LIMIT;
	if (reader->limit > LINES_LIMIT_MOST)
		reader->limit = LINES_LIMIT_MOST;
	if (taken.buffer != NULL) {
		reader->buffer = taken.buffer;
		reader->capacity = taken.buffer_size;
		reader->state = LINES_FOREIGN;
		if (reader->limit > reader->capacity - 1)
			reader->limit = reader->capacity - 1;
	}
	reader->pool = taken.pool;
	reader->flags = taken.flags;
	reader->fd = -1;
	reader->pin = LINES_NO_PIN;
	return 0;
}

/* Puts a buffer away; grown ones never enter a pool. */
static void put_buffer(struct syscull_reader *reader)
{
	int saved = errno;

	if (reader->buffer == NULL || reader->state & LINES_FOREIGN)
		return;
	if (reader->pool != NULL && !(reader->state & LINES_GROWN))
		syscull__lines_pool_give(reader->pool, reader->buffer);
	else
		free(reader->buffer);
	if (reader->pool != NULL)
		syscull__lines_pool_leave(reader->pool);
	reader->buffer = NULL;
	reader->capacity = 0;
	reader->state &= ~LINES_GROWN;
	errno = saved;
}

static int get_buffer(struct syscull_reader *reader)
{
	size_t size = syscull__lines_standard();
	int saved = errno;
	int error = -ENOMEM;
	void *buffer;

	if (reader->pool != NULL)
		buffer = syscull__lines_pool_take(reader->pool, &size, &error);
	else
		buffer = malloc(size);
	errno = saved;
	if (buffer == NULL)
		return error;
	reader->buffer = buffer;
	reader->capacity = size;
	return 0;
}

void syscull_lines_end(struct syscull_reader *reader)
{
	if (reader->state & LINES_OWNED)
		syscull__lines_close(reader->fd);
	reader->fd = -1;
	reader->state &= ~(LINES_OWNED | LINES_SKIPPING | LINES_RESYNC);
	reader->state |= LINES_ENDED;
	reader->begin = reader->scanned = reader->end = 0;
	reader->pin = LINES_NO_PIN;
}

void syscull_reader_done(struct syscull_reader *reader)
{
	syscull_lines_end(reader);
	put_buffer(reader);
	memset(reader, 0, sizeof *reader);
	reader->fd = -1;
}

int syscull__lines_ready(struct syscull_reader *reader)
{
	size_t used = reader->used;

	syscull_lines_end(reader);
	reader->used = 0;
	reader->bytes = 0;
	/* A giant leaves with the first file that could do without it: one that comes again finds its room. */
	if (reader->state & LINES_GROWN && used < reader->capacity / 4)
		put_buffer(reader);
	return reader->buffer != NULL ? 0 : get_buffer(reader);
}

/* A buffer of at least `least` bytes with the first `keep` bytes of the old one. */
static int grow(struct syscull_reader *reader, size_t least, size_t keep)
{
	size_t most = reader->limit + 1 + syscull__lines_page();
	size_t size = reader->capacity * 2;
	int saved = errno;
	char *larger;

	if (reader->state & LINES_FOREIGN)
		return SYSCULL_OVER_LIMIT;
	if (size < least)
		size = least;
	if (size > most)
		size = most;
	if (size < least || size <= reader->capacity)
		return SYSCULL_OVER_LIMIT;
	larger = malloc(size);
	if (larger != NULL) {
		memcpy(larger, reader->buffer, keep);
		if (reader->pool != NULL && !(reader->state & LINES_GROWN))
			syscull__lines_pool_give(reader->pool, reader->buffer);
		else
			free(reader->buffer);
		reader->buffer = larger;
		reader->capacity = size;
		reader->state |= LINES_GROWN;
	}
	errno = saved;
	return larger != NULL ? 0 : -ENOMEM;
}

int syscull__lines_snapshot(struct syscull_reader *reader, int fd, bool again, bool larger,
			    struct syscull_text *ret_text, bool *ret_filled)
{
	ssize_t got;
	int result = 0;

	if (larger)
		result = grow(reader, reader->capacity + 1, 0);
	else
		result = syscull__lines_ready(reader);
	if (result < 0)
		return result;
	got = read_some(reader, fd, reader->buffer, reader->capacity, again ? 0 : -1);
	if (got < 0)
		return (int)got;
	reader->bytes = (uint64_t)got;
	reader->used = (size_t)got;
	*ret_filled = (size_t)got == reader->capacity;
	*ret_text = (struct syscull_text){ reader->buffer, (size_t)got, 0, 0 };
	if (*ret_filled) {
		ret_text->length--;
		ret_text->flags = SYSCULL_TEXT_PARTIAL;
	}
	reader->buffer[ret_text->length] = '\0';
	return got > 0;
}

/* Reads a byte more where the caller wants to be sure. */
static int confirm(struct syscull_reader *reader, int fd)
{
	char byte;
	ssize_t got;

	if (!(reader->flags & SYSCULL_READER_CONFIRM))
		return 0;
	got = read_some(reader, fd, &byte, 1, (off_t)reader->bytes);
	if (got < 0)
		return (int)got;
	return got == 0 ? 0 : SYSCULL_TORN;
}

static int whole(struct syscull_reader *reader, int fd, bool again, struct syscull_text *ret_text)
{
	struct syscull_text text;
	bool filled;
	int result = syscull__lines_snapshot(reader, fd, again, false, &text, &filled);
	int sure;

	while (result > 0 && filled)
		result = syscull__lines_snapshot(reader, fd, true, true, &text, &filled);
	if (result <= 0)
		return result;
	if (text.length > reader->limit)
		return SYSCULL_OVER_LIMIT;
	sure = confirm(reader, fd);
	if (sure < 0)
		return sure;
	*ret_text = text;
	return result;
}

int syscull_whole_read(struct syscull_reader *reader, int fd, struct syscull_text *ret_text)
{
	return whole(reader, fd, false, ret_text);
}

int syscull_whole_reread(struct syscull_reader *reader, int fd, struct syscull_text *ret_text)
{
	return whole(reader, fd, true, ret_text);
}

int syscull_whole_file(struct syscull_reader *reader, int dirfd, const char *path, struct syscull_text *ret_text)
{
	int fd = syscull__lines_openat(dirfd, path, O_RDONLY);
	int result;

	if (fd < 0)
		return fd;
	result = whole(reader, fd, false, ret_text);
	syscull__lines_close(fd);
	return result;
}

int syscull_lines_begin(struct syscull_reader *reader, int fd, char delimiter)
{
	int result = syscull__lines_ready(reader);

	if (result < 0)
		return result;
	reader->fd = fd;
	reader->delimiter = (unsigned char)delimiter;
	reader->state &= ~LINES_ENDED;
	return 0;
}

int syscull__lines_adopt(struct syscull_reader *reader, int fd, char delimiter)
{
	int result = syscull_lines_begin(reader, fd, delimiter);

	if (result < 0)
		syscull__lines_close(fd);
	else
		reader->state |= LINES_OWNED;
	return result;
}

/* Reads once behind what is there.  1, 0 at the end, negative. */
static int fill(struct syscull_reader *reader)
{
	size_t base = reader->pin != LINES_NO_PIN ? reader->pin : reader->begin;
	size_t page = syscull__lines_page();
	ssize_t got;
	int result;

	if (base > 0) {
		memmove(reader->buffer, reader->buffer + base, reader->end - base);
		reader->begin -= base;
		reader->scanned -= base;
		reader->end -= base;
		if (reader->pin != LINES_NO_PIN)
			reader->pin = 0;
	}
	if (reader->capacity - reader->end < page) {
		result = grow(reader, reader->end + page, reader->end);
		if (result < 0 && (result != SYSCULL_OVER_LIMIT || reader->end == reader->capacity))
			return result;
	}
	got = read_some(reader, reader->fd, reader->buffer + reader->end, reader->capacity - reader->end, -1);
	if (got <= 0)
		return (int)got;
	reader->end += (size_t)got;
	reader->bytes += (uint64_t)got;
	if (reader->used < reader->end)
		reader->used = reader->end;
	return 1;
}

static int line_out(struct syscull_reader *reader, size_t end, size_t next, uint32_t flags,
		    struct syscull_text *ret_line)
{
	reader->buffer[end] = '\0';
	*ret_line = (struct syscull_text){ reader->buffer + reader->begin, end - reader->begin, flags, 0 };
	reader->begin = reader->scanned = next;
	return 1;
}

/* What lies behind the last delimiter when nothing more comes. */
static int last_line(struct syscull_reader *reader, struct syscull_text *ret_line)
{
	reader->state &= ~LINES_SKIPPING;
	if (reader->begin == reader->end)
		return 0;
	if (reader->end == reader->capacity) {
		/* Not longer than the limit, so there is something before it to move over. */
		size_t base = reader->pin != LINES_NO_PIN ? reader->pin : reader->begin;

		if (base == 0)
			return SYSCULL_OVER_LIMIT;
		memmove(reader->buffer, reader->buffer + base, reader->end - base);
		reader->begin -= base;
		reader->end -= base;
		if (reader->pin != LINES_NO_PIN)
			reader->pin = 0;
	}
	return line_out(reader, reader->end, reader->end, SYSCULL_TEXT_UNENDED, ret_line);
}

int syscull_lines_next(struct syscull_reader *reader, struct syscull_text *ret_line)
{
	for (;;) {
		char *from = reader->buffer + reader->scanned;
		char *hit = NULL;
		int result;

		if (reader->scanned < reader->end)
			hit = memchr(from, reader->delimiter, reader->end - reader->scanned);
		if (hit != NULL) {
			size_t end = (size_t)(hit - reader->buffer);
			bool over = end - reader->begin > reader->limit;

			if (!over && !(reader->state & LINES_SKIPPING))
				return line_out(reader, end, end + 1, 0, ret_line);
			reader->begin = reader->scanned = end + 1;
			if (reader->state & LINES_SKIPPING) {
				reader->state &= ~LINES_SKIPPING;
				continue;
			}
			return SYSCULL_OVER_LIMIT;
		}
		reader->scanned = reader->end;
		if (reader->state & LINES_SKIPPING) {
			reader->begin = reader->end;
		} else if (reader->end - reader->begin > reader->limit) {
			reader->begin = reader->end;
			reader->state |= LINES_SKIPPING;
			return SYSCULL_OVER_LIMIT;
		}
		if (reader->state & LINES_ENDED)
			return last_line(reader, ret_line);
		result = fill(reader);
		if (result < 0)
			return result;
		if (result == 0)
			reader->state |= LINES_ENDED;
	}
}

void syscull__lines_unread(struct syscull_reader *reader, const struct syscull_text *line)
{
	reader->begin = reader->scanned = (size_t)(line->text - reader->buffer);
	if (!(line->flags & SYSCULL_TEXT_UNENDED)) {
		reader->buffer[reader->begin + line->length] = (char)reader->delimiter;
		reader->scanned += line->length;
	}
}

int syscull_lines_rest(struct syscull_reader *reader, struct syscull_text *ret_rest)
{
	if (reader->begin == reader->end || reader->state & LINES_SKIPPING)
		return 0;
	/* NUL behind it: grows only where nothing else would do. */
	if (reader->end == reader->capacity) {
		int result;

		if (reader->begin > 0) {
			memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
			reader->end -= reader->begin;
			reader->scanned -= reader->begin;
			reader->begin = 0;
		} else {
			result = grow(reader, reader->end + 1, reader->end);
			if (result < 0)
				return result;
		}
	}
	reader->buffer[reader->end] = '\0';
	*ret_rest = (struct syscull_text){ reader->buffer + reader->begin, reader->end - reader->begin,
					   SYSCULL_TEXT_PARTIAL, 0 };
	return 1;
}

int syscull_text_next(struct syscull_text *rest, char delimiter, struct syscull_text *ret_part)
{
	const char *hit;

	if (rest->length == 0)
		return 0;
	hit = memchr(rest->text, (unsigned char)delimiter, rest->length);
	if (hit == NULL) {
		*ret_part = (struct syscull_text){ rest->text, rest->length, SYSCULL_TEXT_UNENDED, 0 };
		rest->text += rest->length;
		rest->length = 0;
		return 1;
	}
	*ret_part = (struct syscull_text){ rest->text, (size_t)(hit - rest->text), 0, 0 };
	rest->length -= ret_part->length + 1;
	rest->text = hit + 1;
	return 1;
}

enum syscull_trouble syscull_lines_trouble(int result)
{
	if (result >= 0)
		return SYSCULL_TROUBLE_NONE;
	switch (-result) {
	case ESRCH:
	case ENOENT:
		return SYSCULL_TROUBLE_GONE;
	case EACCES:
	case EPERM:
		return SYSCULL_TROUBLE_DENIED;
	case EMSGSIZE:
		return SYSCULL_TROUBLE_OVER;
	case EPROTO:
		return SYSCULL_TROUBLE_TORN;
	default:
		return SYSCULL_TROUBLE_OTHER;
	}
}
