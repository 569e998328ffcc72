/* SPDX-License-Identifier: BSD-2-Clause */
/* Our folder of the invoking user: what is used, what is refused, how it is written. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/user-dir.h"

#define OTHER 12345

static char top[] = "/tmp/syscull-user-dir-XXXXXX";

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
	char command[PATH_MAX * 3];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(command, sizeof command, format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
	(void)state;
	run("rm -rf %s/* && mkdir -m 700 %s/cache", top, top);
	assert_int_equal(unsetenv("SUDO_UID"), 0);
	assert_int_equal(unsetenv("SUDO_GID"), 0);
	return setenv("XDG_CACHE_HOME", strcat(strcpy((char[PATH_MAX]){ 0 }, top), "/cache"), 1);
}

static int opened(struct user_dir *dir, bool make)
{
	return user_dir_open(dir, "XDG_CACHE_HOME", ".cache", make);
}

static void assert_mode(const char *name, mode_t mode, uid_t uid)
{
	char path[PATH_MAX];
	struct stat st;

	(void)snprintf(path, sizeof path, "%s/%s", top, name);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
	assert_int_equal(st.st_uid, uid);
}

static void what_is_written_is_read(void **state)
{
	struct buf buf = BUF_INIT;
	struct user_dir dir;

	(void)state;
	assert_int_equal(opened(&dir, false), -ENOENT);
	assert_int_equal(opened(&dir, true), 0);
	assert_int_equal(user_dir_read(&dir, "file", &buf, 100), -ENOENT);
	assert_int_equal(user_dir_write(&dir, "file", "first text", 10), 0);
	assert_int_equal(user_dir_write(&dir, "file", "second", 6), 0);
	assert_int_equal(user_dir_read(&dir, "file", &buf, 100), 0);
	assert_string_equal(buf_text(&buf), "second");
	buf_clear(&buf);
	assert_int_equal(user_dir_read(&dir, "file", &buf, 3), -EFBIG);
	assert_mode("cache/syscull", 0700, geteuid());
	assert_mode("cache/syscull/file", 0600, geteuid());
	user_dir_close(&dir);
	buf_done(&buf);
	run("test $(ls -A %s/cache/syscull | wc -l) = 1", top);
}

static void a_stream_has_its_name_when_it_is_whole(void **state)
{
	struct user_file file;
	struct user_dir dir;
	char text[8] = "";
	int fd;

	(void)state;
	assert_int_equal(opened(&dir, true), 0);
	assert_int_equal(user_dir_open_file(&dir, "stream"), -ENOENT);
	assert_int_equal(user_dir_create(&dir, &file), 0);
	assert_int_equal(write(file.fd, "first", 5), 5);
	assert_int_equal(user_dir_open_file(&dir, "stream"), -ENOENT);
	/* Given up: nothing of it is left. */
	user_file_close(&dir, &file);
	assert_int_equal(file.fd, -1);
	run("test $(ls -A %s/cache/syscull | wc -l) = 0", top);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(user_dir_create(&dir, &file), 0);
		assert_int_equal(write(file.fd, round ? "third" : "other", 5), 5);
		assert_int_equal(user_dir_commit(&dir, &file, "stream"), 0);
		user_file_close(&dir, &file);
	}
	assert_mode("cache/syscull/stream", 0600, geteuid());
	run("test $(ls -A %s/cache/syscull | wc -l) = 1", top);
	fd = user_dir_open_file(&dir, "stream");
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof text), 5);
	assert_memory_equal(text, "third", 5);
	assert_int_equal(close(fd), 0);
	run("chmod 622 %s/cache/syscull/stream", top);
	assert_int_equal(user_dir_open_file(&dir, "stream"), -EPERM);
	user_dir_close(&dir);
}

static void the_folder_above_is_made_too(void **state)
{
	struct user_dir dir;

	(void)state;
	run("rmdir %s/cache", top);
	assert_int_equal(opened(&dir, false), -ENOENT);
	assert_int_equal(opened(&dir, true), 0);
	assert_mode("cache", 0700, geteuid());
	user_dir_close(&dir);
}

static void all_that_is_missing_is_made(void **state)
{
	struct user_dir dir;

	(void)state;
	assert_int_equal(setenv("XDG_CACHE_HOME", strcat(strcpy((char[PATH_MAX]){ 0 }, top), "/cache/a//b/c/"), 1), 0);
	assert_int_equal(opened(&dir, false), -ENOENT);
	run("test ! -e %s/cache/a", top);
	assert_int_equal(opened(&dir, true), 0);
	user_dir_close(&dir);
	assert_mode("cache/a", 0700, geteuid());
	assert_mode("cache/a/b", 0700, geteuid());
	assert_mode("cache/a/b/c/syscull", 0700, geteuid());
	/* Through links that are there, as everybody who links ~/.local wants it; none is made of one that leads
	 * nowhere. */
	run("rm -r %s/cache/a && mkdir %s/cache/there && ln -s there %s/cache/a", top, top, top);
	assert_int_equal(opened(&dir, true), 0);
	user_dir_close(&dir);
	assert_mode("cache/there/b/c/syscull", 0700, geteuid());
	run("rm -r %s/cache/there", top);
	assert_true(opened(&dir, true) < 0);
	run("test ! -e %s/cache/there", top);
}

static void below_a_home_all_is_made_but_never_the_home(void **state)
{
	char home[PATH_MAX];
	struct user_dir dir;

	(void)state;
	(void)snprintf(home, sizeof home, "%s/home", top);
	assert_int_equal(unsetenv("XDG_STATE_HOME"), 0);
	assert_int_equal(setenv("HOME", home, 1), 0);
	assert_int_equal(user_dir_open(&dir, "XDG_STATE_HOME", ".local/state", true), -ENOENT);
	run("test ! -e %s && mkdir -m 711 %s", home, home);
	assert_int_equal(user_dir_open(&dir, "XDG_STATE_HOME", ".local/state", true), 0);
	user_dir_close(&dir);
	assert_mode("home/.local", 0700, geteuid());
	assert_mode("home/.local/state", 0700, geteuid());
	assert_mode("home/.local/state/syscull", 0700, geteuid());
	run("rm -r %s", home);
}

static void root_makes_nothing_in_the_home_of_somebody_else(void **state)
{
	char home[PATH_MAX];
	struct user_dir dir;

	(void)state;
	if (geteuid() != 0)
		skip_part("only root can try");
	(void)snprintf(home, sizeof home, "%s/home", top);
	assert_int_equal(unsetenv("XDG_STATE_HOME"), 0);
	assert_int_equal(setenv("HOME", home, 1), 0);
	run("mkdir %s && chown %d:%d %s", home, OTHER, OTHER, home);
	assert_int_equal(user_dir_open(&dir, "XDG_STATE_HOME", ".local/state", true), -EPERM);
	run("test -z \"$(ls -A %s)\"", home);
	run("mkdir %s/.local && chown %d:%d %s/.local", home, OTHER, OTHER, home);
	assert_int_equal(user_dir_open(&dir, "XDG_STATE_HOME", ".local/state", true), -EPERM);
	run("test -z \"$(ls -A %s/.local)\" && rm -r %s", home, home);
}

static void without_the_variable_home_counts(void **state)
{
	struct user_dir dir;

	(void)state;
	assert_int_equal(setenv("XDG_CACHE_HOME", "not/absolute", 1), 0);
	assert_int_equal(setenv("HOME", top, 1), 0);
	assert_int_equal(opened(&dir, true), 0);
	assert_mode(".cache/syscull", 0700, geteuid());
	user_dir_close(&dir);
	run("rm -r %s/.cache", top);
}

static void links_are_refused(void **state)
{
	struct buf buf = BUF_INIT;
	struct user_dir dir;

	(void)state;
	run("mkdir %s/elsewhere && ln -s ../elsewhere %s/cache/syscull", top, top);
	assert_true(opened(&dir, true) < 0);
	run("rm %s/cache/syscull && mkdir -m 700 %s/cache/syscull", top, top);
	run("echo theirs > %s/target && ln -s ../../target %s/cache/syscull/file", top, top);
	assert_int_equal(opened(&dir, true), 0);
	assert_int_equal(user_dir_read(&dir, "file", &buf, 100), -ELOOP);
	/* Writing replaces the link, it does not follow it. */
	assert_int_equal(user_dir_write(&dir, "file", "ours", 4), 0);
	run("grep -q theirs %s/target", top);
	assert_mode("cache/syscull/file", 0600, geteuid());
	user_dir_close(&dir);
	buf_done(&buf);
}

static void what_others_may_write_is_refused(void **state)
{
	struct buf buf = BUF_INIT;
	struct user_dir dir;

	(void)state;
	run("mkdir %s/cache/syscull && chmod 777 %s/cache/syscull", top, top);
	assert_int_equal(opened(&dir, true), -EPERM);
	run("chmod 755 %s/cache/syscull", top);
	assert_int_equal(opened(&dir, true), 0);
	run("echo x > %s/cache/syscull/file && chmod 666 %s/cache/syscull/file", top, top);
	assert_int_equal(user_dir_read(&dir, "file", &buf, 100), -EPERM);
	run("chmod 777 %s/cache", top);
	user_dir_close(&dir);
	assert_int_equal(opened(&dir, true), -EPERM);
	buf_done(&buf);
}

static void only_regular_files_are_read(void **state)
{
	struct buf buf = BUF_INIT;
	struct user_dir dir;

	(void)state;
	assert_int_equal(opened(&dir, true), 0);
	run("mkfifo -m 600 %s/cache/syscull/fifo", top);
	assert_int_equal(user_dir_read(&dir, "fifo", &buf, 100), -EINVAL);
	run("mkdir -m 700 %s/cache/syscull/folder", top);
	assert_int_equal(user_dir_read(&dir, "folder", &buf, 100), -EINVAL);
	assert_true(user_dir_write(&dir, "folder", "x", 1) < 0);
	run("test $(ls -A %s/cache/syscull | wc -l) = 2", top);
	run("rm -r %s/cache && echo x > %s/cache", top, top);
	user_dir_close(&dir);
	assert_int_equal(opened(&dir, true), -ENOTDIR);
	buf_done(&buf);
}

static void a_left_over_is_no_obstacle(void **state)
{
	struct user_dir dir;

	(void)state;
	assert_int_equal(opened(&dir, true), 0);
	run("echo half > %s/cache/syscull/.file.%ld", top, (long)getpid());
	assert_int_equal(user_dir_write(&dir, "file", "x", 1), 0);
	run("test $(ls -A %s/cache/syscull | wc -l) = 1", top);
	user_dir_close(&dir);
}

static void writers_at_once_leave_one_whole_file(void **state)
{
	struct buf buf = BUF_INIT;
	char text[4096];
	struct user_dir dir;
	int status;

	(void)state;
	assert_int_equal(opened(&dir, true), 0);
	for (int child = 0; child < 8; child++) {
		if (fork() == 0) {
			memset(text, 'a' + child, sizeof text);
			for (int i = 0; i < 50; i++)
				if (user_dir_write(&dir, "file", text, sizeof text) < 0)
					_exit(1);
			_exit(0);
		}
	}
	for (int child = 0; child < 8; child++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(user_dir_read(&dir, "file", &buf, sizeof text), 0);
	assert_int_equal(buf.bytes, sizeof text);
	for (size_t i = 1; i < sizeof text; i++)
		assert_int_equal(buf.data[i], buf.data[0]);
	run("test $(ls -A %s/cache/syscull | wc -l) = 1", top);
	user_dir_close(&dir);
	buf_done(&buf);
}

static void through_sudo_it_is_the_users(void **state)
{
	struct buf buf = BUF_INIT;
	struct user_dir dir;
	char number[16];

	(void)state;
	if (geteuid() != 0)
		skip_part("only root can be somebody else");
	(void)snprintf(number, sizeof number, "%d", OTHER);
	assert_int_equal(setenv("SUDO_UID", number, 1), 0);
	assert_int_equal(setenv("SUDO_GID", number, 1), 0);
	/* Root's own folder is left alone, and this user has no home. */
	assert_int_equal(opened(&dir, true), -ENOENT);
	run("chmod 755 %s && chown %d:%d %s/cache", top, OTHER, OTHER, top);
	assert_int_equal(opened(&dir, true), 0);
	assert_int_equal(user_dir_write(&dir, "file", "x", 1), 0);
	assert_mode("cache/syscull", 0700, OTHER);
	assert_mode("cache/syscull/file", 0600, OTHER);
	assert_int_equal(geteuid(), 0);
	/* Root's rights are back: this needs them. */
	run("chown 0:0 %s/cache/syscull/file", top);
	assert_int_equal(user_dir_read(&dir, "file", &buf, 10), -EACCES);
	user_dir_close(&dir);
	/* A way into a folder that the user may not write. */
	run("rm -r %s/cache/syscull && mkdir -m 755 %s/roots && ln -s ../roots %s/cache/syscull", top, top, top);
	assert_true(opened(&dir, true) < 0);
	run("test -z \"$(ls -A %s/roots)\"", top);
	buf_done(&buf);
}

static void odd_ids_of_sudo_count_for_nothing(void **state)
{
	static const char *const odd[] = { "", "-1", "4294967295", "4294967296", "12x", " 12", "0x10", "0" };
	struct user_dir dir;

	(void)state;
	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
		assert_int_equal(setenv("SUDO_UID", odd[i], 1), 0);
		assert_int_equal(setenv("SUDO_GID", odd[i], 1), 0);
		assert_int_equal(opened(&dir, true), 0);
		assert_int_equal(dir.uid, geteuid());
		assert_false(dir.as_other);
		user_dir_close(&dir);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_is_read),
		TEST(a_stream_has_its_name_when_it_is_whole),
		TEST(the_folder_above_is_made_too),
		TEST(all_that_is_missing_is_made),
		TEST(below_a_home_all_is_made_but_never_the_home),
		TEST(root_makes_nothing_in_the_home_of_somebody_else),
		TEST(without_the_variable_home_counts),
		TEST(links_are_refused),
		TEST(what_others_may_write_is_refused),
		TEST(only_regular_files_are_read),
		TEST(a_left_over_is_no_obstacle),
		TEST(writers_at_once_leave_one_whole_file),
		TEST(through_sudo_it_is_the_users),
		TEST(odd_ids_of_sudo_count_for_nothing),
	};
	int failed;

	if (!mkdtemp(top))
		skip_program("no folder can be made in /tmp");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	run("rm -rf %s", top);
	return failed;
}
