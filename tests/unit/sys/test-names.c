/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of errors, signals, architectures and items.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "sys/sys.h"
#include "test.h"

static void errors_have_names(void **state)
{
	char buf[SYS_NAME_MAX];

	(void)state;
	assert_string_equal(sys_errno_print(ENODATA, buf), "ENODATA");
	assert_string_equal(sys_errno_print(ENOENT, buf), "ENOENT");
	assert_string_equal(sys_errno_print(512, buf), "ERESTARTSYS");
	assert_string_equal(sys_errno_print(513, buf), "ERESTARTNOINTR");
	assert_string_equal(sys_errno_print(514, buf), "ERESTARTNOHAND");
	assert_string_equal(sys_errno_print(515, buf), "ENOIOCTLCMD");
	assert_string_equal(sys_errno_print(516, buf), "ERESTART_RESTARTBLOCK");
	assert_string_equal(sys_errno_print(600, buf), "errno 600");
	assert_string_equal(sys_errno_print(0, buf), "errno 0");
	assert_string_equal(sys_errno_print(-1, buf), "errno -1");
	assert_string_equal(sys_errno_print(INT32_MIN, buf), "errno -2147483648");
}

static void errors_are_found_by_name(void **state)
{
	char buf[SYS_NAME_MAX];

	(void)state;
	assert_int_equal(sys_errno_by_name("EBADF"), EBADF);
	assert_int_equal(sys_errno_by_name("EAGAIN"), EAGAIN);
	assert_int_equal(sys_errno_by_name("EWOULDBLOCK"), EWOULDBLOCK);
	assert_int_equal(sys_errno_by_name("EDEADLOCK"), EDEADLOCK);
	assert_int_equal(sys_errno_by_name("ENOTSUP"), ENOTSUP);
	assert_int_equal(sys_errno_by_name("ERESTARTSYS"), 512);
	assert_int_equal(sys_errno_by_name("ENOSUCHTHING"), 0);
	assert_int_equal(sys_errno_by_name("0"), 0);
	assert_int_equal(sys_errno_by_name(""), 0);
	for (int err = 1; err < 4096; err++) {
		const char *name = sys_errno_print(err, buf);

		if (strncmp(name, "errno ", 6) != 0)
			assert_int_equal(sys_errno_by_name(name), err);
	}
}

static void signals_have_names(void **state)
{
	char buf[SYS_NAME_MAX], wanted[SYS_NAME_MAX];

	(void)state;
	assert_string_equal(sys_signal_print(SIGTERM, buf), "SIGTERM");
	assert_string_equal(sys_signal_print(SIGHUP, buf), "SIGHUP");
	assert_string_equal(sys_signal_print(31, buf), "SIGSYS");
	assert_string_equal(sys_signal_print(SIGRTMIN, buf), "SIGRTMIN");
	assert_string_equal(sys_signal_print(SIGRTMIN + 3, buf), "SIGRTMIN+3");
	(void)snprintf(wanted, sizeof(wanted), "SIGRTMIN%d", 32 - SIGRTMIN);
	assert_string_equal(sys_signal_print(32, buf), wanted);
	assert_string_equal(sys_signal_print(0, buf), "signal 0");
	assert_string_equal(sys_signal_print(65, buf), "signal 65");
	assert_string_equal(sys_signal_print(-7, buf), "signal -7");
}

static void architectures_and_items_have_names(void **state)
{
	(void)state;
	for (int arch = 0; arch < SYS_ARCH_COUNT; arch++)
		assert_true(strlen(sys_arch_name((enum sys_arch)arch)) > 1);
	assert_string_equal(sys_arch_name(SYS_ARCH_X86_64), "x86-64");
	assert_string_equal(sys_arch_name((enum sys_arch)99), "unknown architecture");
	for (int item = 0; item < SYS_ITEM_COUNT; item++)
		assert_non_null(sys_item_name((enum sys_item)item));
	assert_string_equal(sys_item_name(SYS_ITEM_PATH), "path");
	assert_string_equal(sys_item_name(SYS_ITEM_COMM), "comm");
	assert_string_equal(sys_item_name((enum sys_item)999), "unknown item");
}

static void restarts_are_no_failures(void **state)
{
	(void)state;
	assert_true(sys_is_restart(-512));
	assert_true(sys_is_restart(-516));
	assert_false(sys_is_restart(-511));
	assert_false(sys_is_restart(-517));
	assert_false(sys_is_restart(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_have_names),	    cmocka_unit_test(errors_are_found_by_name),
		cmocka_unit_test(signals_have_names),	    cmocka_unit_test(architectures_and_items_have_names),
		cmocka_unit_test(restarts_are_no_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
