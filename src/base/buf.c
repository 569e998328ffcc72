/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void buf_done(struct buf *buf)
{
	free(buf->data);
	*buf = BUF_INIT;
}

void buf_clear(struct buf *buf)
{
	buf->bytes = 0;
	buf->failed = false;
}

void *buf_reserve(struct buf *buf, size_t bytes)
{
	size_t room = buf->room ? buf->room : 256;
	char *data;

	if (buf->failed || bytes > SIZE_MAX / 4 - buf->bytes)
		goto failed;
	if (buf->data && buf->bytes + bytes <= buf->room)
		return buf->data + buf->bytes;
	while (room < buf->bytes + bytes)
		room *= 2;
	data = realloc(buf->data, room);
	if (!data)
		goto failed;
	buf->data = data;
	buf->room = room;
	return buf->data + buf->bytes;
failed:
	buf->failed = true;
	return NULL;
}

void *buf_extend(struct buf *buf, size_t bytes)
{
	void *place = buf_reserve(buf, bytes);

	if (!place)
		return NULL;
	memset(place, 0, bytes);
	buf->bytes += bytes;
	return place;
}

static bool has_room(const struct buf *buf, size_t bytes)
{
	return !buf->failed && buf->data && bytes <= buf->room - buf->bytes;
}

int buf_add(struct buf *buf, const void *data, size_t bytes)
{
	void *place = has_room(buf, bytes) ? buf->data + buf->bytes : buf_reserve(buf, bytes);

	if (!place)
		return -ENOMEM;
	if (bytes > 0)
		memcpy(place, data, bytes);
	buf->bytes += bytes;
	return 0;
}

int buf_puts(struct buf *buf, const char *text)
{
	return buf_add(buf, text, strlen(text));
}

int buf_putc(struct buf *buf, char c)
{
	if (!has_room(buf, 1))
		return buf_add(buf, &c, 1);
	buf->data[buf->bytes++] = c;
	return 0;
}

int buf_vprintf(struct buf *buf, const char *format, va_list args)
{
	size_t room = has_room(buf, 1) ? buf->room - buf->bytes : 0;
	va_list again;
	int need;
	char *place;

	/* Most fit where there is room already. */
	va_copy(again, args);
	need = vsnprintf(room > 0 ? buf->data + buf->bytes : NULL, room, format, again);
	va_end(again);
	if (need < 0)
		return -EINVAL;
	if ((size_t)need >= room) {
		place = buf_reserve(buf, (size_t)need + 1);
		if (!place)
			return -ENOMEM;
		(void)vsnprintf(place, (size_t)need + 1, format, args);
	}
	buf->bytes += (size_t)need;
	return 0;
}

int buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = buf_vprintf(buf, format, args);
	va_end(args);
	return r;
}

const char *buf_text(struct buf *buf)
{
	char *end = buf_reserve(buf, 1);

	if (!end)
		return "";
	*end = '\0';
	return buf->data;
}

char *buf_steal(struct buf *buf)
{
	char *end = buf_reserve(buf, 1);
	char *text;

	if (!end) {
		buf_done(buf);
		return NULL;
	}
	*end = '\0';
	text = buf->data;
	*buf = BUF_INIT;
	return text;
}

int buf_read_fd(struct buf *buf, int fd, size_t most)
{
	size_t start = buf->bytes;

	for (;;) {
		size_t chunk = 4096;
		char *place;
		ssize_t n;

		if (buf->room - buf->bytes > chunk)
			chunk = buf->room - buf->bytes;
		place = buf_reserve(buf, chunk);
		if (!place)
			return -ENOMEM;
		n = read(fd, place, chunk);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (n == 0)
			return 0;
		buf->bytes += (size_t)n;
		if (buf->bytes - start > most)
			return -EFBIG;
	}
}

int buf_read_file(struct buf *buf, int dirfd, const char *path, size_t most)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = buf_read_fd(buf, fd, most);
	(void)close(fd);
	return r;
}
