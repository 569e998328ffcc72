/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace expressions: what they select, and what is said of wrong ones. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "sys/expr.h"

static void add(struct sys_expr *expr, const char *text)
{
	struct error err = { 0 };

	if (sys_expr_add(expr, text, &err) < 0)
		fail_msg("%s: %s", text, err.text);
}

static bool has(const char *text, enum sys_call_id id)
{
	struct sys_expr expr = { 0 };

	add(&expr, text);
	return sys_expr_has(&expr, id);
}

static void nothing_given_is_everything(void **state)
{
	const struct sys_expr expr = { 0 };

	for (unsigned id = 0; id < CALL_COUNT; id++)
		assert_true(sys_expr_has(&expr, (enum sys_call_id)id));
}

static void selects_what_strace_selects(void **state)
{
	assert_true(has("openat", CALL_openat));
	assert_false(has("openat", CALL_open));
	assert_false(has("openat", CALL_unknown));
	assert_true(has("openat,close", CALL_close));
	assert_true(has("trace=openat,close", CALL_openat));
	assert_true(has("t=openat", CALL_openat));
	assert_true(has("%file", CALL_openat));
	assert_true(has("file", CALL_openat));
	assert_false(has("%file", CALL_read));
	assert_true(has("%net,@xattr", CALL_lgetxattr));
	assert_true(has("%net,@xattr", CALL_socket));
	assert_true(has("@stat", CALL_statx));
	assert_true(has("%%stat", CALL_statx));
	assert_true(has("all", CALL_unknown));
	assert_false(has("none", CALL_openat));
	assert_true(has("!openat,close", CALL_read));
	assert_true(has("!openat,close", CALL_unknown));
	assert_false(has("!openat,close", CALL_close));
	assert_false(has("trace=!%file", CALL_openat));
	assert_false(has("!all", CALL_openat));
	assert_true(has("?nonesuch,openat", CALL_openat));
	assert_false(has("?nonesuch", CALL_openat));
}

static void numbers_are_those_of_this_machine(void **state)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%d", sys_call_nr(SYS_ARCH_NATIVE, CALL_getpid));
	assert_true(has(text, CALL_getpid));
	assert_false(has(text, CALL_getppid));
}

static bool has_number(const char *text, enum sys_arch arch, int32_t nr)
{
	struct sys_expr expr = { 0 };

	add(&expr, text);
	return sys_expr_has_number(&expr, arch, nr);
}

/* As tables print them; 999 stays without a name. */
static void calls_without_a_name_have_a_number(void **state)
{
	assert_true(has_number("call_999", SYS_ARCH_NATIVE, 999));
	assert_false(has_number("call_999", SYS_ARCH_NATIVE, 998));
	assert_false(has_number("call_999", SYS_ARCH_I386, 999));
	assert_false(has("call_999", CALL_unknown));
	assert_false(has("call_999", CALL_openat));
	assert_true(has_number("openat,call_-5", SYS_ARCH_NATIVE, -5));
	assert_true(has_number("openat,call_-5", SYS_ARCH_NATIVE, sys_call_nr(SYS_ARCH_NATIVE, CALL_openat)));
	assert_true(has_number("call_5 (i386),read", SYS_ARCH_I386, 5));
	assert_false(has_number("call_5 (i386)", SYS_ARCH_NATIVE, 5));
	assert_false(has_number("!call_999", SYS_ARCH_NATIVE, 999));
	assert_true(has_number("!call_999", SYS_ARCH_NATIVE, 998));
	assert_true(has_number("all", SYS_ARCH_I386, 5));
	assert_false(has_number("%file", SYS_ARCH_I386, 5));
	assert_false(has_number("!all", SYS_ARCH_NATIVE, 999));
}

static void calls_without_a_name_have_a_limit(void **state)
{
	struct sys_expr expr = { 0 };
	struct error err = { 0 };

	for (unsigned i = 0; i < SYS_EXPR_NUMBERS_MAX; i++)
		assert_int_equal(sys_expr_add(&expr, "call_999", &err), 0);
	assert_int_equal(sys_expr_add(&expr, "call_999", &err), -E2BIG);
	assert_non_null(strstr(err.text, "at most 32"));
}

static void several_add_up(void **state)
{
	struct sys_expr expr = { 0 };

	add(&expr, "%file");
	add(&expr, "!@stat");
	add(&expr, "getpid");
	assert_true(sys_expr_has(&expr, CALL_openat));
	assert_true(sys_expr_has(&expr, CALL_getpid));
	assert_false(sys_expr_has(&expr, CALL_statx));
	assert_false(sys_expr_has(&expr, CALL_read));
}

static void says_what_is_wrong(void **state)
{
	static const char *const cases[][2] = {
		{ "opnat", "did you mean 'openat'" },
		{ "close,lgetxatr", "did you mean 'lgetxattr'" },
		{ "%fil", "no class '%fil'; did you mean '%file'" },
		{ "@xatr", "no family '@xatr'; did you mean '@xattr'" },
		{ "%nonesuch", "no class '%nonesuch'" },
		{ "", "'' names no call" },
		{ "trace=", "'trace=' names no call" },
		{ "opne", "did you mean 'open'" },
		{ "call_", "no call 'call_'" },
		{ "call_4 8", "no call 'call_4 8'" },
		{ "call_5 (pdp11)", "no call 'call_5 (pdp11)'" },
		{ "call_99999999999", "no call 'call_99999999999'" },
		{ "call_999999", "'call_999999': no kernel has calls of such numbers" },
		{ "openat,", "missing" },
		{ ",openat", "missing" },
		{ "!", "'!' names no call" },
		{ "?", "missing" },
		{ "%file,!stat", "'!' negates a whole list" },
		{ "signal=all", "'signal=' is not understood" },
		{ "/^open", "regular expressions" },
		{ "999", "others are written call_999" },
		{ "99999999", "no kernel has a call with the number 99999999" },
		{ "99999999999999999999", "no kernel has a call with the number" },
		{ "12x", "number 12x" },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "no call or class" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sys_expr expr = { 0 }, before = expr;
		struct error err = { 0 };

		assert_int_equal(sys_expr_add(&expr, cases[i][0], &err), -EINVAL);
		if (!strstr(err.text, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], err.text);
		assert_memory_equal(&expr, &before, sizeof expr);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_given_is_everything),
		cmocka_unit_test(selects_what_strace_selects),
		cmocka_unit_test(numbers_are_those_of_this_machine),
		cmocka_unit_test(calls_without_a_name_have_a_number),
		cmocka_unit_test(calls_without_a_name_have_a_limit),
		cmocka_unit_test(several_add_up),
		cmocka_unit_test(says_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
