/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing byte buffer.  Out of memory is sticky: writes after it do
 * nothing and `failed` stays set, so that a caller checks once at the end.
 */
#ifndef SYSCULL_BASE_BUF_H
#define SYSCULL_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data;
	size_t bytes; /* used */
	size_t room;
	bool failed;
};

#define BUF_INIT ((struct buf){ 0 })

void buf_done(struct buf *buf);
/* Forgets the content and a failure, keeps the memory. */
void buf_clear(struct buf *buf);
/* Room for so many more bytes: the place to write them, or NULL. */
void *buf_reserve(struct buf *buf, size_t bytes);
/* Appends room for so many bytes, zeroed, and returns it, or NULL. */
void *buf_extend(struct buf *buf, size_t bytes);
int buf_add(struct buf *buf, const void *data, size_t bytes);
int buf_puts(struct buf *buf, const char *text);
int buf_putc(struct buf *buf, char c);
int buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *buf, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* NUL-terminates (the NUL is not counted) and returns the text, "" when
 * nothing could be stored; owned by buf. */
const char *buf_text(struct buf *buf);
/* The text as a malloc'ed string that the caller owns; buf is empty after. NULL without memory. */
char *buf_steal(struct buf *buf);
/* Reads a whole file of at most `most` bytes: 0, or negative errno (-EFBIG over the limit). */
int buf_read_file(struct buf *buf, int dirfd, const char *path, size_t most);
int buf_read_fd(struct buf *buf, int fd, size_t most);

#endif
