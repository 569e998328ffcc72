/* SPDX-License-Identifier: BSD-2-Clause */
/* The filter of a scope: run here, for every number there is. */
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>

#include "engine/ptrace/scope.h"
#include "test.h"

#define ALLOW SECCOMP_RET_ALLOW
#define WATCH (SECCOMP_RET_TRACE | SCOPE_WATCH)
#define FOLLOW (SECCOMP_RET_TRACE | SCOPE_FOLLOW)

/* The few instructions that the filter is made of; anything else fails. */
static uint32_t answer(const struct sock_fprog *filter, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (unsigned at = 0; at < filter->len; at++) {
		const struct sock_filter *one = &filter->filter[at];

		switch (one->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert_true(one->k + sizeof a <= sizeof *data);
			memcpy(&a, (const char *)data + one->k, sizeof a);
			break;
		case BPF_JMP | BPF_JA:
			at += one->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			at += a == one->k ? one->jt : one->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			at += a >= one->k ? one->jt : one->jf;
			break;
		case BPF_RET | BPF_K:
			return one->k;
		default:
			fail_msg("instruction %u has code %#x", at, one->code);
		}
	}
	fail_msg("the filter ended without an answer");
	return 0;
}

static uint32_t ask(const struct sock_fprog *filter, uint32_t arch, int64_t nr, uint64_t first)
{
	const struct seccomp_data data = { .nr = (int)nr, .arch = arch, .args = { first, 7 } };

	return answer(filter, &data);
}

static uint32_t ask_call(const struct sock_fprog *filter, enum sys_call_id id, uint64_t first)
{
	return ask(filter, arch_audit(), sys_call_nr(SYS_ARCH_NATIVE, id), first);
}

static void check_all(const struct engine_scope *scope)
{
	struct sock_fprog filter;

	assert_int_equal(scope_filter_make(scope, &filter), 0);
	assert_true(filter.len <= BPF_MAXINSNS);
	for (int32_t nr = 0; nr < 5000; nr++) {
		enum sys_call_id id = sys_call_id(SYS_ARCH_NATIVE, nr);
		uint32_t want = engine_scope_has(scope, id)	     ? WATCH
				: scope_follows(SYS_ARCH_NATIVE, nr) ? FOLLOW
								     : ALLOW;

		assert_int_equal(ask(&filter, arch_audit(), nr, 0), want);
		assert_int_equal(ask(&filter, AUDIT_ARCH_I386, nr, 0), WATCH);
		assert_int_equal(ask(&filter, AUDIT_ARCH_ARM, nr, 0), WATCH);
	}
	scope_filter_done(&filter);
}

static void the_scope_and_what_following_needs(void **state)
{
	struct engine_scope scope = { .calls = { 0 } };
	struct sock_fprog filter;

	(void)state;
	engine_scope_add(&scope, CALL_getxattr);
	engine_scope_complete(&scope);
	assert_int_equal(scope_filter_make(&scope, &filter), 0);
	assert_int_equal(ask_call(&filter, CALL_getxattr, 0), WATCH);
	assert_int_equal(ask_call(&filter, CALL_lgetxattr, 0), ALLOW);
	assert_int_equal(ask_call(&filter, CALL_read, 0), ALLOW);
	assert_int_equal(ask_call(&filter, CALL_openat, 0), ALLOW);
	assert_int_equal(ask_call(&filter, CALL_clone3, 0), FOLLOW);
	assert_int_equal(ask_call(&filter, CALL_io_uring_setup, 0), FOLLOW);
	/* Beyond the table and on the other side of 0. */
	assert_int_equal(ask(&filter, arch_audit(), 4999, 0), WATCH);
	assert_int_equal(ask(&filter, arch_audit(), -1, 0), WATCH);
	assert_int_equal(ask(&filter, arch_audit(), 0x40000000, 0), WATCH);
	scope_filter_done(&filter);
	check_all(&scope);
}

static void prctl_goes_by_its_argument(void **state)
{
	struct engine_scope scope = { .calls = { 0 } };
	struct sock_fprog filter;

	(void)state;
	assert_int_equal(scope_filter_make(&scope, &filter), 0);
	assert_int_equal(ask_call(&filter, CALL_prctl, PR_SET_SECCOMP), FOLLOW);
	assert_int_equal(ask_call(&filter, CALL_prctl, PR_GET_SECCOMP), FOLLOW);
	assert_int_equal(ask_call(&filter, CALL_prctl, PR_SET_NAME), ALLOW);
	assert_int_equal(ask_call(&filter, CALL_prctl, PR_SET_NAME | UINT64_C(22) << 32), ALLOW);
	scope_filter_done(&filter);
	engine_scope_add(&scope, CALL_prctl);
	assert_int_equal(scope_filter_make(&scope, &filter), 0);
	assert_int_equal(ask_call(&filter, CALL_prctl, PR_SET_NAME), WATCH);
	scope_filter_done(&filter);
}

static void every_set_of_calls(void **state)
{
	struct engine_scope scope;

	(void)state;
	/* Single ones, every second (as many runs as there can be), all. */
	for (unsigned id = 1; id < CALL_COUNT; id += 13) {
		scope = (struct engine_scope){ .calls = { 0 } };
		engine_scope_add(&scope, (enum sys_call_id)id);
		check_all(&scope);
	}
	scope = (struct engine_scope){ .calls = { 0 } };
	for (int32_t nr = 0; nr < 1000; nr += 2)
		engine_scope_add(&scope, sys_call_id(SYS_ARCH_NATIVE, nr));
	check_all(&scope);
	memset(scope.calls, 0xff, sizeof scope.calls);
	check_all(&scope);
}

static void regions_add_look_ups(void **state)
{
	struct engine_scope scope = { .calls = { 0 }, .regions = true };
	const char *names[CALL_COUNT + 1];
	size_t count;

	(void)state;
	engine_scope_complete(&scope);
	assert_true(engine_scope_has(&scope, CALL_faccessat2));
	assert_false(engine_scope_has(&scope, CALL_getxattr));
	count = engine_scope_names(&scope, names);
	assert_int_equal(count, 10);
	assert_null(names[count]);
	for (size_t i = 0; i < count; i++)
		assert_true(engine_can_mark(sys_call_by_name(names[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_scope_and_what_following_needs),
		cmocka_unit_test(prctl_goes_by_its_argument),
		cmocka_unit_test(every_set_of_calls),
		cmocka_unit_test(regions_add_look_ups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
