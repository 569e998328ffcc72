/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors: the first one stays, the text is one line, NULL is allowed. */
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

#include "test.h"

static void test_first_stays(void **state)
{
	struct error err = { 0 };

	assert_int_equal(error_set(&err, EINVAL, "no %s", "good"), -EINVAL);
	assert_int_equal(error_set(&err, ENOENT, "later"), -ENOENT);
	assert_int_equal(error_errno(&err, EIO, "later still"), -EIO);
	assert_int_equal(err.code, EINVAL);
	assert_string_equal(err.text, "no good");
}

static void test_errno_is_named(void **state)
{
	struct error err = { 0 };

	assert_int_equal(error_errno(&err, ENOENT, "cannot open %s", "x"), -ENOENT);
	assert_string_equal(err.text, "cannot open x: No such file or directory");
}

static void test_null_is_allowed(void **state)
{
	assert_int_equal(error_set(NULL, EPERM, "nobody listens"), -EPERM);
	assert_int_equal(error_errno(NULL, EPERM, "nobody listens"), -EPERM);
}

static void test_one_line(void **state)
{
	struct error err = { 0 };

	(void)error_set(&err, EINVAL, "a%sb", "\n\033[31m\x7f");
	assert_string_equal(err.text, "a??[31m?b");
}

static void test_long_text_is_cut(void **state)
{
	struct error err = { 0 };

	(void)error_errno(&err, EINVAL, "%2000d", 1);
	assert_true(strlen(err.text) < sizeof err.text);
	assert_int_equal(err.text[0], ' ');
}

static bool ends_with(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* Whatever the length of a name, its begin, its end and the reason are told. */
static void test_reason_stays(void **state)
{
	char name[5001];

	for (size_t bytes = 300; bytes < sizeof name; bytes += bytes < 600 ? 1 : 1100) {
		struct error err = { 0 }, two = { 0 };

		memset(name, 'n', bytes);
		memcpy(name + bytes - 4, "last", 5);
		(void)error_errno(&err, ENOENT, "cannot open %s", name);
		assert_true(strlen(err.text) < sizeof err.text);
		assert_int_equal(strncmp(err.text, "cannot open nnn", 15), 0);
		assert_true(ends_with(err.text, "nlast: No such file or directory"));
		(void)error_set(&two, ENOENT, "%s: command not found", name);
		assert_true(ends_with(two.text, "nlast: command not found"));
	}
}

/* A cut inside of a character would leave bytes that are none. */
static void test_characters_stay_whole(void **state)
{
	char name[3 * 400 + 1] = "";

	for (int i = 0; i < 400; i++)
		memcpy(name + i * 3, "\xe2\x82\xac", 4);
	for (int lead = 0; lead < 4; lead++) {
		struct error err = { 0 };

		(void)error_errno(&err, ENOENT, "%.*s%s", lead, "abc", name);
		assert_null(strchr(err.text, '?'));
		assert_true(ends_with(err.text, "\xe2\x82\xac: No such file or directory"));
	}
}

static void read_log(int fd, char *out, size_t bytes)
{
	ssize_t n = read(fd, out, bytes - 1);

	assert_true(n > 0);
	out[n] = '\0';
}

static void test_log_lines(void **state)
{
	struct error err = { 0 }, bare = { .code = ENOENT };
	int saved = dup(2), pipes[2];
	char text[4096];

	assert_int_equal(pipe(pipes), 0);
	(void)error_set(&err, EINVAL, "it is wrong");
	assert_int_equal(dup2(pipes[1], 2), 2);
	log_error(&err);
	log_error(&bare);
	log_line("%s", "two\nlines\033");
	log_line("%3000d", 1);
	assert_int_equal(dup2(saved, 2), 2);
	(void)close(pipes[1]);
	read_log(pipes[0], text, sizeof text);
	assert_memory_equal(text,
			    "syscull: it is wrong\n"
			    "syscull: No such file or directory\n"
			    "syscull: two?lines?\n"
			    "syscull:  ",
			    86);
	assert_int_equal(text[strlen(text) - 1], '\n');
	(void)close(pipes[0]);
	(void)close(saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_stays),	      cmocka_unit_test(test_errno_is_named),
		cmocka_unit_test(test_null_is_allowed),	      cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_long_text_is_cut),      cmocka_unit_test(test_reason_stays),
		cmocka_unit_test(test_characters_stay_whole), cmocka_unit_test(test_log_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
