/* SPDX-License-Identifier: BSD-2-Clause */
/* How the name of a command becomes a program: execvp's rules. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "engine/engine.h"

static char top[] = "/tmp/find-program-XXXXXX";

static void make(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

/* top/{a,b,c} with a/dir/ (a folder), a/plain (not executable), b/plain and
 * b/tool (executable), a/only (not executable, nowhere else) */
static int set_up(void **state)
{
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_int_equal(mkdir("a", 0755) | mkdir("b", 0755) | mkdir("c", 0755) | mkdir("a/dir", 0755), 0);
	make("a/plain", 0644);
	make("a/only", 0644);
	make("b/plain", 0755);
	make("b/tool", 0755);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const files[] = { "a/plain", "a/only", "b/plain", "b/tool" };
	static const char *const dirs[] = { "a/dir", "a", "b", "c" };
	int r = 0;

	for (size_t i = 0; i < 4; i++)
		r |= unlink(files[i]);
	for (size_t i = 0; i < 4; i++)
		r |= rmdir(dirs[i]);
	r |= chdir("/");
	return r | rmdir(top);
}

static void assert_found(const char *path_variable, const char *name, const char *want)
{
	struct error err = { 0 };
	char *path = NULL;

	if (path_variable)
		assert_int_equal(setenv("PATH", path_variable, 1), 0);
	else
		assert_int_equal(unsetenv("PATH"), 0);
	assert_int_equal(engine_find_program(name, &path, &err), 0);
	assert_string_equal(path, want);
	free(path);
}

static void assert_refused(const char *path_variable, const char *name, int code, const char *text)
{
	struct error err = { 0 };
	char *path = (char *)1;

	assert_int_equal(setenv("PATH", path_variable, 1), 0);
	assert_int_equal(engine_find_program(name, &path, &err), -code);
	assert_null(path);
	assert_int_equal(err.code, code);
	assert_string_equal(err.text, text);
}

static void test_with_slash(void **state)
{
	assert_found("/nonexistent", "b/tool", "b/tool");
	assert_found("/nonexistent", "/bin/sh", "/bin/sh");
	assert_refused("b", "./tool", ENOENT, "./tool: No such file or directory");
	assert_refused("b", "a/plain", EACCES, "a/plain: Permission denied");
	assert_refused("b", "a/dir", EACCES, "a/dir: Is a directory");
	assert_refused("b", "b/tool/x", ENOENT, "b/tool/x: Not a directory");
}

static void test_search(void **state)
{
	assert_found("a:b:c", "tool", "b/tool");
	assert_found("/nonexistent:b/tool:b", "tool", "b/tool");
	/* Refused in a, but another may do. */
	assert_found("a:b", "plain", "b/plain");
	assert_refused("a:c", "plain", EACCES, "a/plain: Permission denied");
	assert_refused("a:/nonexistent", "only", EACCES, "a/only: Permission denied");
	assert_refused("a:b", "dir", EACCES, "a/dir: Is a directory");
	assert_refused("a:b", "nothing", ENOENT, "nothing: command not found");
	assert_refused("a:b", "", ENOENT, "the name of the command is empty");
}

static void test_empty_elements(void **state)
{
	assert_int_equal(chdir("b"), 0);
	assert_found("", "tool", "tool");
	assert_found(":/nonexistent", "tool", "tool");
	assert_found("/nonexistent:", "tool", "tool");
	assert_found("/nonexistent::/bin", "tool", "tool");
	assert_refused("/nonexistent", "tool", ENOENT, "tool: command not found");
	assert_int_equal(chdir(".."), 0);
}

static void test_no_path(void **state)
{
	char fallback[256];

	assert_true(confstr(_CS_PATH, fallback, sizeof(fallback)) <= sizeof(fallback));
	assert_int_equal(strncmp(fallback, "/bin:", 5), 0);
	assert_found(NULL, "sh", "/bin/sh");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_with_slash),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_empty_elements),
		cmocka_unit_test(test_no_path),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
