/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of descriptors for tests: cases in processes of their own, numbers
 * opened and looked at by the plainest means, and calls refused by a filter.
 * Knows nothing of the library's ways.
 */
#ifndef SYSCULL_TESTS_LIB_FDS_TABLE_H
#define SYSCULL_TESTS_LIB_FDS_TABLE_H

#include "check.h"

#include <errno.h>
#include <fcntl.h>
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

/* What linux/filter.h and linux/seccomp.h have, which other libcs come without. */
struct table_filter {
	uint16_t code;
	uint8_t yes, no;
	uint32_t k;
};

struct table_program {
	unsigned short length;
	struct table_filter *code;
};

#define FILTER_LOAD 0x20U /* a word of the call at k: 0 its number, 16 and so on its arguments */
#define FILTER_EQUAL 0x15U /* to k? */
#define FILTER_BITS 0x45U /* any of k? */
#define FILTER_ANSWER 0x06U
#define ANSWER_ALLOW 0x7fff0000U
#define ANSWER_ERRNO 0x00050000U

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

/* Whether calls are translated by an emulator in user mode, which does not have all of them. */
static inline bool table_emulated(void)
{
	void *head;
	size_t length;

	return syscall(SYS_get_robust_list, 0, &head, &length) < 0 && errno == ENOSYS;
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

/* From here on this call answers an errno; with bits only where the argument has one of them. */
static inline void table_refuse(long number, int error, unsigned int argument, uint32_t bits)
{
	struct table_filter code[] = {
		{ FILTER_LOAD, 0, 0, 0 },
		{ FILTER_EQUAL, 0, 3, (uint32_t)number },
		{ FILTER_LOAD, 0, 0, bits != 0 ? 16 + 8 * argument : 0 },
		{ FILTER_BITS, 0, 1, bits != 0 ? bits : 0xffffffffU },
		{ FILTER_ANSWER, 0, 0, ANSWER_ERRNO | (uint32_t)error },
		{ FILTER_ANSWER, 0, 0, ANSWER_ALLOW },
	};
	struct table_program program = { sizeof code / sizeof code[0], code };

	CHECK_EQUAL(prctl(38 /* PR_SET_NO_NEW_PRIVS */, 1, 0, 0, 0), 0);
	/* Number 0 has no bits to be seen by. */
	CHECK(bits != 0 || number > 0);
	if (prctl(22 /* PR_SET_SECCOMP */, 2, &program, 0, 0) < 0)
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
