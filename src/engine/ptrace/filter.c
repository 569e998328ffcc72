/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The seccomp filter of a scope: stops at what is to be watched or followed
 * and lets the rest run.  It looks at architecture and number alone but for
 * prctl, so that kernels from 5.11 on keep its answer per number and do not
 * run it at all for the rest.  A filter cannot be taken away again: what that
 * means is scope.c's business.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vec.h"
#include "engine/ptrace/scope.h"

#define NUMBERS_MAX 4096 /* numbers from here on have no name anywhere */

#define WATCH (SECCOMP_RET_TRACE | SCOPE_WATCH)
#define FOLLOW (SECCOMP_RET_TRACE | SCOPE_FOLLOW)
#define BY_ARGUMENT SECCOMP_RET_LOG /* stands for prctl's own code: never returned */

/* Numbers from `first` on are answered so, up to the next run. */
struct run {
	uint32_t first;
	uint32_t answer;
};

struct program {
	VEC(struct sock_filter) code;
	VEC(struct run) runs;
	bool failed;
};

static void put(struct program *p, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
	const struct sock_filter one = { code, yes, no, k };

	p->failed |= !vec_push(&p->code, one);
}

static uint32_t answer_for(const struct engine_scope *scope, int32_t nr)
{
	enum sys_call_id id = sys_call_id(SYS_ARCH_NATIVE, nr);

	if (engine_scope_has(scope, id))
		return WATCH;
	if (id == CALL_prctl)
		return BY_ARGUMENT;
	return scope_follows(SYS_ARCH_NATIVE, nr) ? FOLLOW : SECCOMP_RET_ALLOW;
}

static void find_runs(struct program *p, const struct engine_scope *scope)
{
	for (uint32_t nr = 0; nr <= NUMBERS_MAX; nr++) {
		struct run run = { nr, answer_for(scope, (int32_t)nr) };

		if (p->runs.used == 0 || p->runs.at[p->runs.used - 1].answer != run.answer)
			p->failed |= !vec_push(&p->runs, run);
	}
}

static void put_answer(struct program *p, uint32_t answer)
{
	if (answer == BY_ARGUMENT) {
		/* The low half of the first argument: the kernel takes an int. */
		put(p, BPF_LD | BPF_W | BPF_ABS, 0, 0,
		    offsetof(struct seccomp_data, args[0]) + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0));
		put(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, PR_SET_SECCOMP);
		put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, PR_GET_SECCOMP);
		put(p, BPF_RET | BPF_K, 0, 0, FOLLOW);
		answer = SECCOMP_RET_ALLOW;
	}
	put(p, BPF_RET | BPF_K, 0, 0, answer);
}

/* Halves the runs until one is left; the number is in A.  A conditional jump
 * reaches 255 instructions, the other kind any number. */
static void put_search(struct program *p, size_t first, size_t end)
{
	size_t middle = first + (end - first) / 2, jump;

	if (p->failed)
		return;
	if (end - first == 1) {
		put_answer(p, p->runs.at[first].answer);
		return;
	}
	put(p, BPF_JMP | BPF_JGE | BPF_K, 0, 1, p->runs.at[middle].first);
	jump = p->code.used;
	put(p, BPF_JMP | BPF_JA, 0, 0, 0);
	put_search(p, first, middle);
	if (!p->failed)
		p->code.at[jump].k = (uint32_t)(p->code.used - jump - 1);
	put_search(p, middle, end);
}

int scope_filter_make(const struct engine_scope *scope, struct sock_fprog *ret)
{
	struct program p = { 0 };
	int r = 0;

	find_runs(&p, scope);
	put(&p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
	/* Foreign ones have other numbers; all their calls are watched. */
	put(&p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, arch_audit());
	put(&p, BPF_RET | BPF_K, 0, 0, WATCH);
	put(&p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	/* x32 and negative numbers are above all that have names. */
	if (p.runs.used > 0)
		put_search(&p, 0, p.runs.used);
	if (p.failed)
		r = -ENOMEM;
	else if (p.code.used > BPF_MAXINSNS)
		r = -E2BIG;
	vec_done(&p.runs);
	if (r < 0) {
		vec_done(&p.code);
		return r;
	}
	ret->len = (unsigned short)p.code.used;
	ret->filter = p.code.at;
	return 0;
}

void scope_filter_done(struct sock_fprog *filter)
{
	free(filter->filter);
	*filter = (struct sock_fprog){ 0 };
}

/* Up to Linux 5.15 a filter also turned on a slow mitigation (SSBD), which a
 * program could see too. */
static int set(const struct sock_fprog *filter)
{
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, filter) == 0 ||
	    (errno == EINVAL && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter) == 0))
		return 0;
	return -errno;
}

int scope_filter_install(const struct sock_fprog *filter, bool *ret_no_new_privs)
{
	int r = set(filter);

	*ret_no_new_privs = false;
	if (r != -EACCES)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	*ret_no_new_privs = true;
	return set(filter);
}
