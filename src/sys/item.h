/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kinds of evidence that can travel with a call or a state record.
 * Here and not in event/, because the capture table (data/syscalls/) names
 * them and the table is below events.  Their layouts are in event/record.h.
 * Shared with the BPF side: no pointers, no includes but <stdint.h>.
 */
#ifndef SYSCULL_SYS_ITEM_H
#define SYSCULL_SYS_ITEM_H

/* X(NAME, "name", "what it holds").  A number never changes its meaning: it
 * is written into trace files.  Append only. */
#define SYS_ITEM_LIST(X) \
	X(PATH, "path", "a file name as passed, without its NUL") \
	X(NAME, "name", "an attribute name as passed, without its NUL") \
	X(STAT, "stat", "struct item_stat") \
	X(TIMES, "times", "two struct item_time: access, modification") \
	X(SIGACTION, "sigaction", "struct item_sigaction") \
	X(SIGSET, "sigset", "uint64_t, bit N-1 is signal N") \
	X(TIMEOUT, "timeout", "struct item_time") \
	X(POLLFDS, "pollfds", "up to 64 struct item_pollfd") \
	X(FDSET, "fdset", "bits of one fd_set, nfds of them, byte padded") \
	X(EPOLL_EVENT, "epoll-event", "struct item_epoll_event of epoll_ctl") \
	X(EPOLL_EVENTS, "epoll-events", "up to 16 struct item_epoll_event") \
	X(FLOCK, "flock", "struct item_flock") \
	X(SOCKOPT, "sockopt", "up to 16 bytes of the option's value") \
	X(ITIMER, "itimer", "two struct item_time: interval, value") \
	X(RLIMIT, "rlimit", "struct item_rlimit") \
	X(FDPAIR, "fdpair", "two int32_t") \
	X(OFFSET, "offset", "int64_t, bytes") \
	X(IOVEC, "iovec", "struct item_iovec") \
	X(MSG, "msg", "struct item_msg") \
	X(RIGHTS, "rights", "int32_t each, passed by SCM_RIGHTS") \
	X(SOCKADDR, "sockaddr", "up to 128 bytes of the address") \
	X(CLONE, "clone", "struct item_clone of clone3") \
	X(OPEN_HOW, "open-how", "struct item_open_how") \
	X(XATTR_ARGS, "xattr-args", "struct item_xattr_args") \
	X(PIDFD, "pidfd", "int32_t written for CLONE_PIDFD") \
	X(CWD, "cwd", "the text that getcwd gave, without its NUL") \
	/* state records only */ \
	X(EXE, "exe", "path of the executable") \
	X(ARGV, "argv", "argument strings, each with its NUL") \
	X(ENV, "env", "NAME=VALUE strings that rules named, each with its NUL") \
	X(MOUNTINFO, "mountinfo", "text of /proc/PID/mountinfo") \
	X(COMM, "comm", "the kernel's short name of the task") \
	/* who made a call, whatever the call; in no row of the capture table */ \
	X(CALLER, "caller", "struct item_caller") \
	X(STACK, "stack", "struct item_stack, its registers, and memory from the stack pointer up")

/* clang-format off */
enum sys_item {
	SYS_ITEM_NONE,
#define SYS_ITEM_ENUM(name, text, what) SYS_ITEM_##name,
	SYS_ITEM_LIST(SYS_ITEM_ENUM)
#undef SYS_ITEM_ENUM
	SYS_ITEM_COUNT
};
/* clang-format on */

/* A set of items, for "what must be captured". */
#define SYS_ITEM_BIT(name) (UINT64_C(1) << SYS_ITEM_##name)

#endif
