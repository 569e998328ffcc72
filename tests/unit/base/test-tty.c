/* SPDX-License-Identifier: BSD-2-Clause */
/* What a pipe and a pseudo terminal can show. */
#include "base/tty.h"

#include <fcntl.h>
#include <locale.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "test.h"

static int terminal(unsigned short columns, int *ret_other)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	int one;

	if (openpty(&one, ret_other, NULL, NULL, &size) < 0)
		skip_part("no pseudo terminals here");
	return one;
}

static unsigned columns_of(unsigned short columns)
{
	int other, fd = terminal(columns, &other);
	struct tty tty = tty_of(other, TTY_COLOR_AUTO);

	assert_true(tty.terminal);
	(void)close(fd);
	(void)close(other);
	return tty.columns;
}

static void test_no_terminal(void **state)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct tty tty = tty_of(fd, TTY_COLOR_AUTO);

	assert_false(tty.terminal);
	assert_false(tty.color);
	assert_int_equal(tty.columns, 80);
	assert_true(tty_of(fd, TTY_COLOR_ALWAYS).color);
	assert_false(tty_of(-1, TTY_COLOR_AUTO).terminal);
	(void)close(fd);
}

static void test_columns(void **state)
{
	assert_int_equal(columns_of(0), 80);
	assert_int_equal(columns_of(10), 60);
	assert_int_equal(columns_of(100), 100);
	assert_int_equal(columns_of(500), 120);
}

static void test_color(void **state)
{
	int other, fd = terminal(80, &other);

	(void)setenv("TERM", "xterm", 1);
	(void)unsetenv("NO_COLOR");
	assert_true(tty_of(other, TTY_COLOR_AUTO).color);
	assert_false(tty_of(other, TTY_COLOR_NEVER).color);
	(void)setenv("NO_COLOR", "", 1);
	assert_true(tty_of(other, TTY_COLOR_AUTO).color);
	(void)setenv("NO_COLOR", "1", 1);
	assert_false(tty_of(other, TTY_COLOR_AUTO).color);
	assert_true(tty_of(other, TTY_COLOR_ALWAYS).color);
	(void)unsetenv("NO_COLOR");
	(void)setenv("TERM", "dumb", 1);
	assert_false(tty_of(other, TTY_COLOR_AUTO).color);
	(void)unsetenv("TERM");
	assert_false(tty_of(other, TTY_COLOR_AUTO).color);
	(void)close(fd);
	(void)close(other);
}

static void test_utf8(void **state)
{
	(void)setlocale(LC_CTYPE, "C");
	assert_false(tty_of(0, TTY_COLOR_AUTO).utf8);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip_part("no locale C.UTF-8");
	assert_true(tty_of(0, TTY_COLOR_AUTO).utf8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_terminal),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_color),
		cmocka_unit_test(test_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
