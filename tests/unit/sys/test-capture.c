/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The capture table: every piece of evidence has its rows, at the right time
 * and with the right limit.
 */
#include "sys/sys.h"
#include "test.h"

#define ANY 0 /* the limit is not asserted */

static const struct {
	enum sys_item item;
	const char *call;
	unsigned arg;
	enum sys_when when;
	unsigned max;
} evidence[] = {
	/* Paths at exit, but exec's, whose memory is gone then. */
	{ SYS_ITEM_PATH, "openat", 1, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "open", 0, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "newfstatat", 1, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "statx", 1, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "access", 0, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "faccessat2", 1, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "readlinkat", 1, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "mount", 1, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "rename", 0, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "rename", 1, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "renameat2", 1, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "renameat2", 3, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "link", 0, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "link", 1, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "linkat", 1, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "linkat", 3, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "symlinkat", 0, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "symlinkat", 2, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "getxattr", 0, SYS_EXIT, 4095 },
	{ SYS_ITEM_PATH, "execve", 0, SYS_ENTER, 4095 },
	{ SYS_ITEM_PATH, "execveat", 1, SYS_ENTER, 4095 },
	{ SYS_ITEM_NAME, "getxattr", 1, SYS_EXIT, 255 },
	{ SYS_ITEM_NAME, "lgetxattr", 1, SYS_EXIT, 255 },
	{ SYS_ITEM_NAME, "fgetxattr", 1, SYS_EXIT, 255 },
	{ SYS_ITEM_NAME, "getxattrat", 3, SYS_EXIT, 255 },
	{ SYS_ITEM_NAME, "setxattrat", 3, SYS_EXIT, 255 },
	{ SYS_ITEM_NAME, "removexattrat", 3, SYS_EXIT, 255 },
	{ SYS_ITEM_OPEN_HOW, "openat2", 2, SYS_ENTER, ANY },
	{ SYS_ITEM_XATTR_ARGS, "getxattrat", 4, SYS_ENTER, ANY },
	{ SYS_ITEM_XATTR_ARGS, "setxattrat", 4, SYS_ENTER, ANY },
	/* Results of stat. */
	{ SYS_ITEM_STAT, "stat", 1, SYS_EXIT, ANY },
	{ SYS_ITEM_STAT, "lstat", 1, SYS_EXIT, ANY },
	{ SYS_ITEM_STAT, "fstat", 1, SYS_EXIT, ANY },
	{ SYS_ITEM_STAT, "newfstatat", 2, SYS_EXIT, ANY },
	{ SYS_ITEM_STAT, "statx", 4, SYS_EXIT, ANY },
	/* What is given. */
	{ SYS_ITEM_TIMES, "utimensat", 2, SYS_ENTER, ANY },
	{ SYS_ITEM_TIMES, "utimes", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_TIMES, "utime", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_TIMES, "futimesat", 2, SYS_ENTER, ANY },
	{ SYS_ITEM_SIGACTION, "rt_sigaction", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_SIGSET, "rt_sigprocmask", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_TIMEOUT, "ppoll", 2, SYS_ENTER, ANY },
	{ SYS_ITEM_TIMEOUT, "select", 4, SYS_ENTER, ANY },
	{ SYS_ITEM_TIMEOUT, "pselect6", 4, SYS_ENTER, ANY },
	{ SYS_ITEM_TIMEOUT, "epoll_pwait2", 3, SYS_ENTER, ANY },
	{ SYS_ITEM_TIMEOUT, "recvmmsg", 4, SYS_ENTER, ANY },
	{ SYS_ITEM_POLLFDS, "poll", 0, SYS_ENTER, 64 },
	{ SYS_ITEM_POLLFDS, "ppoll", 0, SYS_ENTER, 64 },
	{ SYS_ITEM_FDSET, "select", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_FDSET, "select", 2, SYS_ENTER, ANY },
	{ SYS_ITEM_FDSET, "select", 3, SYS_ENTER, ANY },
	{ SYS_ITEM_FDSET, "pselect6", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_FDSET, "pselect6", 2, SYS_ENTER, ANY },
	{ SYS_ITEM_FDSET, "pselect6", 3, SYS_ENTER, ANY },
	{ SYS_ITEM_EPOLL_EVENT, "epoll_ctl", 3, SYS_ENTER, ANY },
	{ SYS_ITEM_FLOCK, "fcntl", 2, SYS_ENTER, ANY },
	{ SYS_ITEM_SOCKOPT, "setsockopt", 3, SYS_ENTER, 16 },
	{ SYS_ITEM_ITIMER, "timer_settime", 2, SYS_ENTER, ANY },
	{ SYS_ITEM_ITIMER, "timerfd_settime", 2, SYS_ENTER, ANY },
	{ SYS_ITEM_ITIMER, "setitimer", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_RLIMIT, "setrlimit", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_RLIMIT, "prlimit64", 2, SYS_ENTER, ANY },
	{ SYS_ITEM_SOCKADDR, "connect", 1, SYS_ENTER, 128 },
	{ SYS_ITEM_SOCKADDR, "bind", 1, SYS_ENTER, 128 },
	{ SYS_ITEM_SOCKADDR, "sendto", 4, SYS_ENTER, 128 },
	{ SYS_ITEM_CLONE, "clone3", 0, SYS_ENTER, ANY },
	/* Other results. */
	{ SYS_ITEM_SIGSET, "rt_sigprocmask", 2, SYS_EXIT, ANY },
	{ SYS_ITEM_EPOLL_EVENTS, "epoll_wait", 1, SYS_EXIT, 16 },
	{ SYS_ITEM_EPOLL_EVENTS, "epoll_pwait", 1, SYS_EXIT, 16 },
	{ SYS_ITEM_EPOLL_EVENTS, "epoll_pwait2", 1, SYS_EXIT, 16 },
	{ SYS_ITEM_FDPAIR, "pipe", 0, SYS_EXIT, ANY },
	{ SYS_ITEM_FDPAIR, "pipe2", 0, SYS_EXIT, ANY },
	{ SYS_ITEM_FDPAIR, "socketpair", 3, SYS_EXIT, ANY },
	{ SYS_ITEM_CWD, "getcwd", 0, SYS_EXIT, ANY },
	{ SYS_ITEM_RLIMIT, "getrlimit", 1, SYS_EXIT, ANY },
	{ SYS_ITEM_RLIMIT, "prlimit64", 3, SYS_EXIT, ANY },
	/* _llseek is no call of the two 64-bit tables. */
	{ SYS_ITEM_OFFSET, "sendfile", 2, SYS_EXIT, ANY },
	{ SYS_ITEM_OFFSET, "splice", 1, SYS_EXIT, ANY },
	{ SYS_ITEM_OFFSET, "splice", 3, SYS_EXIT, ANY },
	{ SYS_ITEM_OFFSET, "copy_file_range", 1, SYS_EXIT, ANY },
	{ SYS_ITEM_OFFSET, "copy_file_range", 3, SYS_EXIT, ANY },
	{ SYS_ITEM_PIDFD, "clone", 2, SYS_EXIT, ANY },
	/* Vectors and messages. */
	{ SYS_ITEM_IOVEC, "readv", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_IOVEC, "writev", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_IOVEC, "preadv", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_IOVEC, "pwritev2", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_IOVEC, "vmsplice", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_IOVEC, "process_vm_readv", 3, SYS_ENTER, ANY },
	{ SYS_ITEM_MSG, "sendmsg", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_MSG, "sendmmsg", 1, SYS_ENTER, ANY },
	{ SYS_ITEM_MSG, "recvmsg", 1, SYS_EXIT, ANY },
	{ SYS_ITEM_MSG, "recvmmsg", 1, SYS_EXIT, ANY },
};

static void evidence_has_its_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(evidence) / sizeof(evidence[0]); i++) {
		const struct sys_call *call = sys_call(sys_call_by_name(evidence[i].call));
		const struct sys_kind *kind;

		if (evidence[i].arg >= call->nargs)
			fail_msg("%s has no argument %u", evidence[i].call, evidence[i].arg);
		kind = sys_kind(call->args[evidence[i].arg].kind);
		if (kind->item != evidence[i].item || kind->when != evidence[i].when)
			fail_msg("%s, argument %u: %s at %d, not %s at %d", evidence[i].call, evidence[i].arg,
				 sys_item_name((enum sys_item)kind->item), kind->when, sys_item_name(evidence[i].item),
				 evidence[i].when);
		if (evidence[i].max != ANY && kind->max != evidence[i].max)
			fail_msg("%s, argument %u: at most %u, not %u", evidence[i].call, evidence[i].arg, kind->max,
				 evidence[i].max);
	}
}

/* Of the items only those of state records, and what comes along with a
 * message, may be without a row; and every row must be known above. */
static void every_item_has_a_row(void **state)
{
	uint64_t rows = 0, known = 0;
	uint64_t elsewhere = SYS_ITEM_BIT(RIGHTS) | SYS_ITEM_BIT(EXE) | SYS_ITEM_BIT(ARGV) | SYS_ITEM_BIT(ENV) |
			     SYS_ITEM_BIT(MOUNTINFO) | SYS_ITEM_BIT(COMM);

	(void)state;
	for (size_t i = 0; i < sizeof(evidence) / sizeof(evidence[0]); i++)
		known |= UINT64_C(1) << evidence[i].item;
	for (int id = 1; id < CALL_COUNT; id++) {
		const struct sys_call *call = sys_call((enum sys_call_id)id);

		for (unsigned arg = 0; arg < call->nargs; arg++)
			if (sys_kind(call->args[arg].kind)->item)
				rows |= UINT64_C(1) << sys_kind(call->args[arg].kind)->item;
	}
	for (int item = 1; item < SYS_ITEM_CALLER; item++) {
		uint64_t bit = UINT64_C(1) << item;

		if (!(rows & bit) != !!(elsewhere & bit) || (rows & bit) != (known & bit))
			fail_msg("%s: rows and expectations differ", sys_item_name((enum sys_item)item));
	}
}

static void paths_are_read_at_exit(void **state)
{
	(void)state;
	for (int id = 1; id < CALL_COUNT; id++) {
		const struct sys_call *call = sys_call((enum sys_call_id)id);
		bool exec = id == CALL_execve || id == CALL_execveat;

		for (unsigned arg = 0; arg < call->nargs; arg++) {
			const struct sys_kind *kind = sys_kind(call->args[arg].kind);

			if (kind->item == SYS_ITEM_PATH)
				assert_int_equal(kind->when, exec ? SYS_ENTER : SYS_EXIT);
		}
	}
}

static void counts_are_in_arguments_that_exist(void **state)
{
	(void)state;
	for (int id = 1; id < CALL_COUNT; id++) {
		const struct sys_call *call = sys_call((enum sys_call_id)id);

		for (unsigned arg = 0; arg < call->nargs; arg++) {
			const struct sys_kind *kind = sys_kind(call->args[arg].kind);

			if (kind->count_off && kind->count_off != SYS_COUNT_IS_RESULT) {
				int at = (int)arg + kind->count_off;

				assert_in_range(at, 0, call->nargs - 1);
				/* A number and nothing else. */
				assert_int_equal(sys_kind(call->args[at].kind)->shape, SYS_SCALAR);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evidence_has_its_rows),
		cmocka_unit_test(every_item_has_a_row),
		cmocka_unit_test(paths_are_read_at_exit),
		cmocka_unit_test(counts_are_in_arguments_that_exist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
