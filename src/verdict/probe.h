/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timed loops behind prices.  Each leaves nothing behind, changes nothing
 * that others can see and never blocks.  Only price.c asks for them.
 */
#ifndef SYSCULL_VERDICT_PROBE_H
#define SYSCULL_VERDICT_PROBE_H

#include <stdbool.h>
#include <stddef.h>

enum probe_id {
	PROBE_NULL,
	PROBE_CLOSE_ABSENT,
	PROBE_DUP_CLOSE,
	PROBE_OPEN,
	PROBE_OPEN_ABSENT,
	PROBE_STAT,
	PROBE_STAT_ABSENT,
	PROBE_STAT_DEEP, /* for the price of one more component */
	PROBE_STATX,
	PROBE_FSTAT,
	PROBE_ACCESS,
	PROBE_ACCESS_ABSENT,
	PROBE_READLINK,
	PROBE_READLINK_NO_LINK,
	PROBE_GETXATTR_ABSENT,
	PROBE_GETXATTR_UNSUPPORTED,
	PROBE_FGETXATTR_ABSENT,
	PROBE_LISTXATTR,
	PROBE_GETDENTS,
	PROBE_LSEEK,
	PROBE_READ,
	PROBE_WRITE,
	PROBE_IOCTL_NO_TTY,
	PROBE_FCNTL,
	PROBE_MMAP_MUNMAP,
	PROBE_MPROTECT,
	PROBE_BRK,
	PROBE_SIGACTION,
	PROBE_SIGPROCMASK,
	PROBE_PIPE,
	PROBE_SOCKET,
	PROBE_CONNECT_ABSENT,
	PROBE_POLL,
	PROBE_EPOLL_CTL,
	PROBE_FUTEX,
	PROBE_GETRANDOM,
	PROBE_CLOCK,
	PROBE_GETCWD,
	PROBE_UNAME,
	PROBE_PRLIMIT,
	PROBE_VFORK,
	PROBE_FORK, /* a child that ends at once */
	PROBE_START, /* a child that runs the smallest program there is */
	PROBE_PAGE, /* no call: the first touch of a page */
	PROBE_PAGE_FIRST, /* the same of a mapping's first one */
	PROBE_COUNT
};

struct probe_result {
	double ns, low_ns, high_ns; /* of one turn of the loop */
	unsigned components; /* of the path that it walks, 0 none */
};

/* "getxattr-absent". */
const char *probe_name(enum probe_id id);
/* Calls of the kind that are priced in one turn. */
unsigned probe_calls(enum probe_id id);
/* Does its price grow with the length of a path? */
bool probe_walks(enum probe_id id);
/* What else one turn makes, and how often: PROBE_NULL with 0 is nothing. */
enum probe_id probe_rest(enum probe_id id, unsigned *ret_count);
/* What the loops work on: a few descriptors and a page. NULL without room. */
struct probe_room;
struct probe_room *probe_room_new(void);
void probe_room_free(struct probe_room *room);
/* Runs the loop: about 0.05 ms. */
void probe_measure(const struct probe_room *room, enum probe_id id, struct probe_result *ret);

#endif
