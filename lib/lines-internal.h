/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What readers share with the parts built on them.  Calls here leave errno as
 * it was and retry EINTR.  Nothing allocates unless its comment says so.
 */
#ifndef SYSCULL_LINES_INTERNAL_H
#define SYSCULL_LINES_INTERNAL_H

#include "internal.h"
#include "syscull/lines.h"

#include <stdbool.h>

/* Bits of struct syscull_reader.state. */
#define LINES_ENDED 0x1U /* a read answered 0 */
#define LINES_SKIPPING 0x2U /* the rest of a line over the limit */
#define LINES_OWNED 0x4U /* fd is ours to close */
#define LINES_FOREIGN 0x8U /* the buffer is the caller's */
#define LINES_GROWN 0x10U /* the buffer is no longer of the size that a pool keeps */
#define LINES_RESYNC 0x20U /* the rest of a record that was given up */

#define LINES_NO_PIN SIZE_MAX

SYSCULL_HIDDEN size_t syscull__lines_page(void);

SYSCULL_HIDDEN int syscull__lines_openat(int dirfd, const char *path, int flags);
SYSCULL_HIDDEN void syscull__lines_close(int fd);

/* A buffer of the standard size; lets go of one that grew and is no longer needed.  Allocates. */
SYSCULL_HIDDEN int syscull__lines_ready(struct syscull_reader *reader);

/* Begins with a descriptor that the reader then owns. */
SYSCULL_HIDDEN int syscull__lines_adopt(struct syscull_reader *reader, int fd, char delimiter);

/*
 * Whole, but a buffer that fills is handed out as it is with *ret_filled, so
 * that a parser may be content with the beginning.  again: from offset 0, with
 * a larger buffer where `larger`.
 */
SYSCULL_HIDDEN int syscull__lines_snapshot(struct syscull_reader *reader, int fd, bool again, bool larger,
					   struct syscull_text *ret_text, bool *ret_filled);

/*
 * Records of several lines: what lies from reader->pin on stays in the buffer
 * while lines are read, and moves as one.  unread: the line just read comes
 * again.
 */
SYSCULL_HIDDEN void syscull__lines_unread(struct syscull_reader *reader, const struct syscull_text *line);

/* Of the pool: a buffer (of *ret_bytes), or NULL and -ENOBUFS or -ENOMEM in *ret_error. */
SYSCULL_HIDDEN void *syscull__lines_pool_take(struct syscull_pool *pool, size_t *ret_bytes, int *ret_error);
/* A buffer of the pool's goes back, or is freed where there is no room. */
SYSCULL_HIDDEN void syscull__lines_pool_give(struct syscull_pool *pool, void *buffer);
/* Whoever took a buffer uses none any more. */
SYSCULL_HIDDEN void syscull__lines_pool_leave(struct syscull_pool *pool);
SYSCULL_HIDDEN size_t syscull__lines_standard(void);

#endif
