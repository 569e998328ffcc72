/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull/fds.h - descriptors: closing what is open, never what could be.
 *
 * Close everything from a number up, or mark it close-on-exec, except a list
 * of numbers to keep; and ask which descriptors there are.  How it is done is
 * chosen for the table at hand; each way may be refused (seccomp, no /proc, an
 * old kernel), and then another one is taken.  What cannot be promised is an
 * error: there is no silent limit, no abort, and no loop over 2^30 numbers.
 *
 * All functions here are safe in signal handlers and in the child of a vfork:
 * raw system calls, no memory but the caller's and less than 16 KiB of stack,
 * no locks, no environment; errno is left as it was.  See syscull_fds(3) for
 * on whose word getdents64(2) may be called there.
 *
 * ABI: the struct begins with its size, which the caller sets; fields are only
 * ever added at the end, where 0 means the behaviour of before.
 */
#ifndef SYSCULL_FDS_H
#define SYSCULL_FDS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of struct syscull_fds_options. */
#define SYSCULL_FDS_UNSHARE 0x1U /* first have a table of one's own: see unshare(2), CLONE_FILES */
#define SYSCULL_FDS_NO_RANGE 0x2U /* without close_range(2) */
#define SYSCULL_FDS_NO_PROCFS 0x4U /* without /proc */
#define SYSCULL_FDS_NO_LOOP 0x8U /* without trying numbers one by one */
#define SYSCULL_FDS_BOUND 0x10U /* syscull_fds_highest: the highest possible will do, unless refused */

/* What ran: method of struct syscull_fds_options. */
#define SYSCULL_FDS_RANGE 1U /* close_range(2) */
#define SYSCULL_FDS_PROCFS 2U /* the list of descriptors in /proc */
#define SYSCULL_FDS_LOOP 3U /* numbers one by one, as many as the table has room for */
#define SYSCULL_FDS_TABLE 4U /* syscull_fds_highest: the size of the table alone */

/* Refused before: bits of hints. */
#define SYSCULL_FDS_HINT_CLOSE 0x1U /* close_range(2) was refused */
#define SYSCULL_FDS_HINT_CLOEXEC 0x2U /* CLOSE_RANGE_CLOEXEC was refused */
#define SYSCULL_FDS_HINT_PROCFS 0x4U /* /proc was refused or was not to be trusted */
#define SYSCULL_FDS_HINT_SMALL 0x8U /* the table had no more than 1,024 slots */

/* How many numbers are tried one by one at the most, unless said otherwise. */
#define SYSCULL_FDS_CEILING 1048576U

struct syscull_fds_options {
	size_t size; /* sizeof(struct syscull_fds_options) */
	uint32_t flags; /* SYSCULL_FDS_UNSHARE, … */
	uint32_t ceiling; /* 0: SYSCULL_FDS_CEILING */
	/*
	 * In and out, 0 at first: what was refused in a call before is then asked
	 * last.  A hint and never a proof: with wrong ones it only takes longer.
	 */
	uint32_t hints;
	uint32_t method; /* out: SYSCULL_FDS_RANGE, …; 0 when nothing worked */
	uint64_t calls; /* out: system calls that were made */
};

#define SYSCULL_FDS_OPTIONS_INIT \
	{ \
		sizeof(struct syscull_fds_options), 0, 0, 0, 0, 0 \
	}

/*
 * syscull_fds_close - close every descriptor from a number up.
 *
 * from: the lowest number to close, 0 or more.  keep, keep_count: numbers not
 * to touch, in any order; what is there twice, negative, below from or not
 * open does no harm.  Both are borrowed for the call.  A list longer than 256
 * costs time in proportion to its length times its length / 256, unless it is
 * in rising order.  options: NULL for defaults; its out fields are written
 * whatever the result.
 *
 * Returns 0: of the descriptors that were open when the call began, none from
 * `from` up is open that is not in the list, also above the present
 * RLIMIT_NOFILE.  What other threads, and other processes that share the
 * table, open meanwhile is outside of that; SYSCULL_FDS_UNSHARE keeps them
 * out.  An error in closing (EIO, EINTR) is none here: the descriptor is gone.
 * Otherwise, having closed some or none:
 *   -EINVAL, -E2BIG  the options, as with any struct that begins with its size;
 *		      -EINVAL: a negative from, an unknown flag, no list
 *   -EOPNOTSUPP      all that was allowed was refused
 *   -EFBIG	      only numbers one by one are left, and they are more than
 *		      the ceiling; none was tried
 *   -ENODATA	      nothing tells how large the table is: closed is what the
 *		      limits allow to be open, and more may be
 *   -EPERM, …	      close(2) itself was refused and a descriptor is still open
 *   -EMFILE, -ENOMEM of SYSCULL_FDS_UNSHARE; nothing was closed
 *
 * Before an exec syscull_fds_cloexec() is better: cheaper on any table, and it
 * spares the descriptors that valgrind, sanitizers and the like hold.
 * Safety: any thread, async-signal-safe, safe in a vfork child.
 * Cost: one close_range(2) for each gap between the kept numbers; before that,
 * to know a sparse table, one pselect6(2) (select(2) on x86-64), left out
 * with SYSCULL_FDS_HINT_SMALL.  For a table of more than 1,024
 * slots the list in /proc is opened and asked for its count (openat(2),
 * fstat(2), close(2)) and the size once more, with a get_robust_list(2) before
 * that, which tells emulators.  A sparse one is then closed by the list:
 * fstatfs(2), newfstatat(2), getdents64(2) twice, close(2) of each descriptor.
 * The exact numbers of every way are in syscull_fds(3).
 */
int syscull_fds_close(int from, const int *keep, size_t keep_count, struct syscull_fds_options *options);

/*
 * syscull_fds_cloexec - mark every descriptor from a number up close-on-exec.
 *
 * As syscull_fds_close(), with "inheritable" in the place of "open": none of
 * those descriptors survives an exec.  Kept ones are as they were, whether
 * they survive or not.  The marks are those of the whole process, and of whom
 * it shares its table with, unless SYSCULL_FDS_UNSHARE is given.
 * Returns as syscull_fds_close().
 * Safety: any thread, async-signal-safe, safe in a vfork child.
 * Cost: one close_range(2) for each gap between the kept numbers, and nothing
 * else where that has CLOSE_RANGE_CLOEXEC (Linux 5.11).
 */
int syscull_fds_cloexec(int from, const int *keep, size_t keep_count, struct syscull_fds_options *options);

/*
 * syscull_fds_highest - the highest open descriptor.
 *
 * Returns 1 and the number in *ret_fd, -1 when none is open; 0 when *ret_fd
 * is only the highest possible one: none above it is open.  Errors as
 * syscull_fds_count().  The answer is as old as the call.
 * Safety: any thread, async-signal-safe, safe in a vfork child.
 * Cost: openat, fstatfs, fstat, newfstatat and close of the list in /proc, and
 * getdents64(2) twice up to 128 descriptors; beyond that once, and lseek(2)
 * and getdents64(2) for each doubling and halving that finds the end.  With SYSCULL_FDS_BOUND: 2 per doubling of the
 * table from 64 slots and 4 more.
 */
int syscull_fds_highest(struct syscull_fds_options *options, int *ret_fd);

/*
 * syscull_fds_count - how many descriptors are open.
 *
 * Returns 0 and the number in *ret_count; or
 *   -EINVAL, -E2BIG  as above
 *   -EOPNOTSUPP      all that was allowed was refused
 *   -EFBIG, -ENODATA as above; nothing is written
 * Safety: any thread, async-signal-safe, safe in a vfork child.
 * Cost: openat, fstatfs, fstat, newfstatat, close; before Linux 6.2 also one
 * getdents64(2) per 128 descriptors and one more.
 */
int syscull_fds_count(struct syscull_fds_options *options, int *ret_count);

/*
 * syscull_fds_walk - one call of visit for each open descriptor.
 *
 * From `from` up, in rising order; the walk's own descriptor is left out.
 * visit may close and open descriptors, also the one it is given; what is
 * opened meanwhile may or may not be visited.  It must return: no longjmp.  Its
 * result: 0 to go on; anything else ends the walk and is its result, so that
 * errors should be positive or known to the caller.
 * Returns 0; what visit returned; errors as syscull_fds_count(), possibly after
 * visits.
 * Safety: any thread, async-signal-safe, safe in a vfork child, if visit is.
 * Cost: openat, fstatfs, fstat, newfstatat, close, and one getdents64(2) per
 * 128 descriptors and one more.
 */
int syscull_fds_walk(int from, int (*visit)(int fd, void *arg), void *arg, struct syscull_fds_options *options);

#ifdef __cplusplus
}
#endif

#endif
