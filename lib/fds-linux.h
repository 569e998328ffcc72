/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of fds-linux.c that is inlined into its callers: a return that
 * comes after a call of the kernel is mispredicted, and each level of them
 * adds 5 to 10 ns to the 170 that marking takes.  Included by fds-internal.h.
 */
#ifndef SYSCULL_FDS_LINUX_H
#define SYSCULL_FDS_LINUX_H

/* The same on all machines. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define RANGE_UNSHARE 2U
#define RANGE_CLOEXEC 4U

static inline int syscull__fds_range(struct fds_run *run, unsigned int first, unsigned int last, enum fds_do what,
				     bool unshare)
{
	unsigned int flags = (what == FDS_CLOEXEC ? RANGE_CLOEXEC : 0) | (unshare ? RANGE_UNSHARE : 0);

	run->calls++;
	return (int)KERNEL(SYS_close_range, (long)first, (long)last, (long)flags);
}

#endif
