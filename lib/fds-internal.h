/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What closing descriptors needs of a system: one file per system (fds-linux.c,
 * with fds-linux.h for what is inlined) offers the functions of the second
 * half, and knows nothing of lists to keep or of which way is best.  Nothing
 * here allocates or waits.
 */
#ifndef SYSCULL_FDS_INTERNAL_H
#define SYSCULL_FDS_INTERNAL_H

#include "internal.h"
#include "syscull/fds.h"

#include <limits.h>
#include <stdbool.h>

enum fds_do { FDS_CLOSE, FDS_CLOEXEC };

/* One request under way. */
struct fds_run {
	uint32_t flags;
	uint32_t ceiling;
	uint32_t hints;
	uint32_t method;
	uint64_t calls;
	bool large; /* the table was asked, and is */
	enum { FDS_WIDE_UNKNOWN, FDS_WIDE_YES, FDS_WIDE_NO } wide; /* the system's own business */
};

/* Takes the caller's options, which may be NULL; 0, -EINVAL or -E2BIG. */
SYSCULL_HIDDEN int syscull__fds_begin(struct fds_run *run, const struct syscull_fds_options *options);
/* Tells the caller what ran; sets errno to what it was and returns result. */
SYSCULL_HIDDEN int syscull__fds_end(const struct fds_run *run, struct syscull_fds_options *options, int result,
				    int saved);

/*
 * The numbers to keep, of two lists, in rising order without sorting them:
 * batch has the lowest ones that are not below `low`.  Each batch is one pass.
 */
#define FDS_BATCH 256
struct fds_keep {
	struct fds_keep_list {
		const int *first;
		size_t count;
		size_t stride; /* ints from one to the next */
	} lists[2];
	bool sorted; /* the first list is in order and there is no other one */
	bool ended; /* no more after this batch */
	size_t at, used;
	int batch[FDS_BATCH];
};

/* Begins with the numbers from `from` up. */
SYSCULL_HIDDEN void syscull__fds_keep_init(struct fds_keep *keep, int from);
/* The next kept number, always a larger one; -1 at the end. */
SYSCULL_HIDDEN int syscull__fds_keep_next(struct fds_keep *keep);
/* Whether a number is kept: through the whole list. */
SYSCULL_HIDDEN bool syscull__fds_keep_has(const struct fds_keep *keep, int fd);

/*
 * All descriptors from..last that are not kept; keep->lists are set.  Returns
 * as syscull_fds_close() does, and the result in run.
 */
SYSCULL_HIDDEN int syscull__fds_sweep(struct fds_run *run, int from, unsigned int last, struct fds_keep *keep,
				      enum fds_do what);

/* The system's side. */

/* first..last at once.  unshare: in a table of one's own, which needs to have no more than what is below first. */
static inline int syscull__fds_range(struct fds_run *run, unsigned int first, unsigned int last, enum fds_do what,
				     bool unshare);
SYSCULL_HIDDEN int syscull__fds_unshare(struct fds_run *run);

/* One descriptor: 1 it was open and is done, 0 it was not open, or a negative errno. */
SYSCULL_HIDDEN int syscull__fds_one(struct fds_run *run, int fd, enum fds_do what);
SYSCULL_HIDDEN bool syscull__fds_is_open(struct fds_run *run, int fd);

/*
 * Whether the table has more than this many slots, up to FDS_SLOTS_ASKED: 1,
 * 0, or a negative errno.  Not checked: for a choice, not for a promise.
 */
#define FDS_SLOTS_ASKED 32768
SYSCULL_HIDDEN int syscull__fds_larger(struct fds_run *run, int slots);
/* The same in one call, for up to 1,024 slots, a multiple of 64: 0 as well where
 * the last 64 of them are all open and none can be written to. */
SYSCULL_HIDDEN int syscull__fds_larger_at_once(struct fds_run *run, int slots);
/* No open descriptor is at or above the result.  -EFBIG: beyond run->ceiling; -ENODATA: nobody tells. */
SYSCULL_HIDDEN long syscull__fds_slots(struct fds_run *run);
/* What the limits allow to be open, which is no evidence of what is. */
SYSCULL_HIDDEN long syscull__fds_limit(struct fds_run *run);
/* How many are open, as a hint: not checked, 0 or less when nobody tells. */
SYSCULL_HIDDEN long syscull__fds_about(struct fds_run *run);

/* The list that the system has of this process's table. */
struct fds_list {
	int fd; /* the list's own descriptor, which is not in it */
	long count; /* without fd; -1: the system does not say */
	uint64_t device, inode;
	bool seeks; /* a number can be sought */
	size_t at, used;
	uint64_t buffer[512];
};
/* Begins one that is not to be believed yet, its count neither; 0 or a negative errno. */
SYSCULL_HIDDEN int syscull__fds_list_begin(struct fds_run *run, struct fds_list *list);
/* Whether it is the list of this very table; closes it when not. */
SYSCULL_HIDDEN int syscull__fds_list_check(struct fds_run *run, struct fds_list *list);
/* Both. */
SYSCULL_HIDDEN int syscull__fds_list_open(struct fds_run *run, struct fds_list *list);
/* 1 and a number, 0 at the end, or a negative errno.  room: bytes read at a time, 0 all. */
SYSCULL_HIDDEN int syscull__fds_list_next(struct fds_run *run, struct fds_list *list, size_t room, int *ret_fd);
/* What comes next is `fd` or above. */
SYSCULL_HIDDEN int syscull__fds_list_seek(struct fds_run *run, struct fds_list *list, int fd);
SYSCULL_HIDDEN void syscull__fds_list_close(struct fds_run *run, struct fds_list *list);

#include "fds-linux.h"

#endif
