/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of descriptors for tests: cases in processes of their own, numbers
 * opened and looked at by the plainest means, and calls refused by a filter.
 * Knows nothing of the library's ways.
 */
#ifndef SYSCULL_TESTS_LIB_FDS_TABLE_H
#define SYSCULL_TESTS_LIB_FDS_TABLE_H

#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* More numbers than are ever open in a test. */
#define TABLE_MOST 20000

/* The numbers that may be opened: read from the limits, and no more than TABLE_MOST. */
static inline int table_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 256;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur < TABLE_MOST ? (int)limit.rlim_cur : TABLE_MOST;
}

static inline bool table_is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Opens a number of its own file. */
static inline void table_open(int fd)
{
	int opened;

	if (table_is_open(fd))
		return;
	opened = open("/dev/null", O_RDONLY);
	if (opened < 0 && errno == EMFILE)
		return;
	CHECK(opened >= 0);
	if (opened != fd) {
		CHECK_EQUAL(dup2(opened, fd), fd);
		CHECK_EQUAL(close(opened), 0);
	}
}

static inline void table_clear(int from, int to)
{
	for (int fd = from; fd < to; fd++)
		(void)close(fd);
}

/* Runs a case in a child; it passes by returning.  What it closes is its own. */
static inline void table_case(const char *name, void (*run)(void))
{
	int status;
	pid_t pid;

	check_case = name;
	(void)fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		(void)alarm(120);
		run();
		_exit(0);
	}
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	if (status != 0) {
		(void)fprintf(stderr, "case %s: status 0x%x\n", name, (unsigned int)status);
		exit(1);
	}
}

/* From here on this call answers an errno; with a mask only where the argument has one of those bits. */
static inline void table_refuse(long number, int error, unsigned int argument, uint32_t bits)
{
	const uint32_t offset = (uint32_t)(offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, bits != 0 ? 3 : 1),
		BPF_STMT(bits != 0 ? BPF_LD | BPF_W | BPF_ABS : BPF_RET | BPF_K,
			 bits != 0 ? offset : SECCOMP_RET_ERRNO | ((uint32_t)error & SECCOMP_RET_DATA)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits != 0 ? bits : 0, 0, bits != 0 ? 1 : 0),
		BPF_STMT(BPF_RET | BPF_K,
			 bits != 0 ? SECCOMP_RET_ERRNO | ((uint32_t)error & SECCOMP_RET_DATA) : SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof code[0], code };

	CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		SKIP("no seccomp filters here");
}

static inline void table_refuse_all(long number, int error)
{
	table_refuse(number, error, 0, 0);
}

static inline void table_refuse_select(int error)
{
#ifdef SYS_select
	table_refuse_all(SYS_select, error);
#endif
	table_refuse_all(SYS_pselect6, error);
}

#endif
