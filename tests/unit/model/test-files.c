/* SPDX-License-Identifier: BSD-2-Clause */
/* How long an instance of an open file lives, and which call means which. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "stream.h"

#define START "task 100 exe=/bin/x cwd=/w\n"

static const struct model_file *file_at(struct stream *s, int tid, int fd)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "%d lseek(%d, 0, SEEK_CUR) = 0\n", tid, fd);
	stream_feed(s, line);
	return s->last.file;
}

static void assert_path(struct stream *s, int tid, int fd, const char *path)
{
	const struct model_file *file = file_at(s, tid, fd);

	assert_non_null(file);
	assert_non_null(file->path);
	assert_string_equal(file->path, path);
}

static void test_open_and_close(void **state)
{
	struct stream s = { 0 };
	uint64_t first;

	stream_feed(&s, START "100 openat(AT_FDCWD, \"a\", O_RDONLY|O_CLOEXEC) = 3\n");
	assert_non_null(s.last.made);
	assert_int_equal(s.last.made->made_by, CALL_openat);
	assert_int_equal(s.last.made->open_flags, O_RDONLY | O_CLOEXEC);
	first = s.last.made->id;
	assert_path(&s, 100, 3, "/w/a");
	stream_feed(&s, "100 close(3) = 0\n");
	assert_non_null(s.last.file);
	assert_true(s.last.file->id == first);
	assert_null(file_at(&s, 100, 3));
	stream_feed(&s, "100 openat2(AT_FDCWD, \"/b\", {flags=O_WRONLY mode=0}, 24) = 3\n");
	assert_true(s.last.made->id != first);
	assert_int_equal(s.last.made->open_flags, O_WRONLY);
	stream_feed(&s, "100 creat(\"c\", 0644) = 4\n100 open(\"d\", O_RDWR) = 5\n");
	assert_path(&s, 100, 3, "/b");
	assert_path(&s, 100, 4, "/w/c");
	assert_path(&s, 100, 5, "/w/d");
	stream_feed(&s, "100 openat(AT_FDCWD, \"no\", O_RDONLY) = -1 ENOENT\n");
	assert_null(s.last.made);
	stream_feed(&s, "100 openat(AT_FDCWD, \"/tmp\", O_TMPFILE|O_RDWR, 0600) = 6\n");
	assert_non_null(s.last.made);
	assert_null(s.last.made->path);
	stream_done(&s);
}

/* Calls that name several descriptors, as before the call. */
static void test_any_descriptor(void **state)
{
	struct stream s = { 0 };
	const struct model_file *file;

	stream_feed(&s, START "100 openat(AT_FDCWD, \"a\", O_RDONLY) = 3\n"
			      "100 openat(AT_FDCWD, \"b\", O_RDONLY) = 4\n"
			      "100 poll([{fd=3 events=POLLIN}, {fd=4 events=POLLIN}], 2, 0) = 0\n");
	file = model_fd(s.model, &s.last, 4);
	assert_non_null(file);
	assert_string_equal(file->path, "/w/b");
	file = model_fd(s.model, &s.last, 3);
	assert_non_null(file);
	assert_string_equal(file->path, "/w/a");
	assert_null(model_fd(s.model, &s.last, 5));
	assert_null(model_fd(s.model, &s.last, -1));
	stream_feed(&s, "task 200 exe=/bin/y cwd=/w\n200 getppid() = 1\n");
	assert_null(model_fd(s.model, &s.last, 3));
	stream_done(&s);
}

static void test_close_that_fails(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\n100 open(\"b\", O_RDONLY) = 4\n"
			      "100 open(\"c\", O_RDONLY) = 5\n");
	/* Linux has closed it even so; a filter has not. */
	stream_feed(&s, "100 close(3) = -1 EINTR\n100 close(4) = -1 EPERM\n100 close(5) = ?\n");
	assert_null(file_at(&s, 100, 3));
	assert_path(&s, 100, 4, "/w/b");
	assert_path(&s, 100, 5, "/w/c");
	/* The kernel says so, whatever we missed. */
	stream_feed(&s, "100 fcntl(4, F_GETFD, 0) = -1 EBADF\n");
	assert_null(file_at(&s, 100, 4));
	stream_done(&s);
}

static void test_copies(void **state)
{
	struct stream s = { 0 };
	uint64_t id;

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\n");
	id = s.last.made->id;
	stream_feed(&s, "100 dup(3) = 4\n");
	assert_null(s.last.made);
	stream_feed(&s, "100 open(\"b\", O_RDONLY) = 5\n100 dup2(3, 5) = 5\n");
	assert_non_null(s.last.file2);
	assert_string_equal(s.last.file2->path, "/w/b");
	stream_feed(&s, "100 dup3(3, 6, O_CLOEXEC) = 6\n"
			"100 fcntl(3, F_DUPFD, 10) = 10\n"
			"100 fcntl(3, F_DUPFD_CLOEXEC, 2000) = 2000\n"
			"100 dup2(3, 3) = 3\n"
			"100 close(3) = 0\n");
	for (size_t i = 0; i < 5; i++) {
		static const int fds[] = { 4, 5, 6, 10, 2000 };

		assert_true(file_at(&s, 100, fds[i])->id == id);
	}
	stream_feed(&s, "100 close(4) = 0\n100 close(5) = 0\n100 close(6) = 0\n100 close(10) = 0\n"
			"100 close(2000) = 0\n100 getpid() = 100\n");
	{
		struct model_stats stats;

		model_stats(s.model, &stats);
		assert_int_equal(stats.files, 0);
	}
	/* A copy of what is unknown is unknown, and takes the number. */
	stream_feed(&s, "100 open(\"a\", O_RDONLY) = 3\n100 dup2(9, 3) = 3\n");
	assert_null(file_at(&s, 100, 3));
	stream_done(&s);
}

static void test_pairs_and_other_makers(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 pipe2([3, 4], O_CLOEXEC) = 0\n");
	assert_true(S_ISFIFO(s.last.made->mode) && S_ISFIFO(s.last.made2->mode));
	assert_true(s.last.made->id != s.last.made2->id);
	assert_int_equal(s.last.made2->open_flags, O_WRONLY);
	stream_feed(&s, "100 socketpair(AF_UNIX, SOCK_STREAM, 0, [5, 6]) = 0\n");
	assert_true(S_ISSOCK(s.last.made->mode));
	stream_feed(&s, "100 pipe([7, 8]) = 0\n100 socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 9\n"
			"100 accept4(9, NULL, NULL, SOCK_CLOEXEC) = 10\n100 eventfd2(0, EFD_CLOEXEC) = 11\n"
			"100 epoll_create1(0) = 12\n100 memfd_create(\"m\", MFD_CLOEXEC) = 13\n"
			"100 timerfd_create(CLOCK_MONOTONIC, 0) = 14\n100 signalfd4(-1, [SIGINT], 8, 0) = 15\n"
			"100 inotify_init1(0) = 16\n100 pidfd_open(100, 0) = 17\n100 accept(9, NULL, NULL) = 18\n");
	assert_path(&s, 100, 12, "anon_inode:[eventpoll]");
	assert_path(&s, 100, 17, "anon_inode:[pidfd]");
	assert_true(S_ISSOCK(file_at(&s, 100, 18)->mode));
	{
		uint64_t id = file_at(&s, 100, 15)->id;

		stream_feed(&s, "100 signalfd4(15, [SIGTERM], 8, 0) = 15\n");
		assert_true(file_at(&s, 100, 15)->id == id);
	}
	/* A new image keeps what is not close-on-exec. */
	stream_feed(&s, "exec 100 /bin/y\n");
	for (int fd = 3; fd <= 18; fd++) {
		bool stays = fd != 3 && fd != 4 && fd != 9 && fd != 10 && fd != 11 && fd != 13 && fd != 17;

		if (stays)
			assert_non_null(file_at(&s, 100, fd));
		else
			assert_null(file_at(&s, 100, fd));
	}
	stream_done(&s);
}

static void test_close_range(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s,
		    START "repeat 8 i {\n100 open(\"f{i}\", O_RDONLY) = {i+3}\n}\n"
			  "100 dup2(3, 5000) = 5000\n"
			  "100 close_range(5, 6, 0) = 0\n100 close_range(8, 4294967295, CLOSE_RANGE_CLOEXEC) = 0\n");
	assert_path(&s, 100, 4, "/w/f1");
	assert_null(file_at(&s, 100, 5));
	assert_null(file_at(&s, 100, 6));
	assert_path(&s, 100, 8, "/w/f5");
	stream_feed(&s, "exec 100 /bin/y\n");
	assert_path(&s, 100, 7, "/w/f4");
	assert_null(file_at(&s, 100, 8));
	assert_null(file_at(&s, 100, 5000));
	/* Unshared first: the other thread keeps its own. */
	stream_feed(&s, "thread 100 101\n101 close_range(3, 100, CLOSE_RANGE_UNSHARE) = 0\n");
	assert_null(file_at(&s, 101, 7));
	assert_path(&s, 100, 7, "/w/f4");
	stream_done(&s);
}

static void test_cloexec_set_later(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\n100 open(\"b\", O_RDONLY|O_CLOEXEC) = 4\n"
			      "100 open(\"c\", O_RDONLY) = 5\n100 fcntl(3, F_SETFD, FD_CLOEXEC) = 0\n"
			      "100 fcntl(4, F_SETFD, 0) = 0\n100 ioctl(5, FIOCLEX, 0) = 0\n"
			      "100 fcntl(4, F_SETFL, O_APPEND|O_NONBLOCK) = 0\nexec 100 /bin/y\n");
	assert_null(file_at(&s, 100, 3));
	assert_path(&s, 100, 4, "/w/b");
	assert_true(file_at(&s, 100, 4)->open_flags & O_APPEND);
	assert_null(file_at(&s, 100, 5));
	stream_done(&s);
}

/* engines.md, "Order": thread 101's open got the number whose close by
 * thread 100 was recorded after it. */
static void test_close_recorded_late(void **state)
{
	struct stream s = { 0 };
	uint64_t first, second;

	stream_feed(&s, START "thread 100 101\n@10us 100 open(\"a\", O_RDONLY) = 5 <2us>\n");
	first = s.last.made->id;
	stream_feed(&s, "@22us 101 open(\"b\", O_RDONLY) = 5 <4us>\n");
	second = s.last.made->id;
	assert_true(first != second);
	stream_feed(&s, "@20us 100 close(5) = 0 <10us>\n");
	assert_non_null(s.last.file);
	assert_true(s.last.file->id == first);
	assert_true(file_at(&s, 101, 5)->id == second);
	assert_path(&s, 100, 5, "/w/b");
	/* A call that began while the first one lived means the first one. */
	stream_feed(&s, "@15us 100 read(5, _, 1) = 1 <40us>\n");
	assert_true(s.last.file && s.last.file->id == first);
	/* A close entered after the open returned ends the new one. */
	stream_feed(&s, "@80us 100 close(5) = 0\n");
	assert_true(s.last.file && s.last.file->id == second);
	assert_null(file_at(&s, 100, 5));
	stream_done(&s);
}

/* Thread 101 sits in a read while 100 closes and opens again. */
static void test_call_under_way(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "thread 100 101\n@1us 100 open(\"a\", O_RDONLY) = 5 <1us>\n"
			      "@20us 100 close(5) = 0 <1us>\n");
	stream_feed(&s, "@10us 101 read(5, _, 1) = 0 <15us>\n");
	assert_true(s.last.file && strcmp(s.last.file->path, "/w/a") == 0);
	stream_feed(&s, "@30us 100 open(\"b\", O_RDONLY) = 5 <1us>\n@12us 101 read(5, _, 1) = 0 <30us>\n");
	assert_true(s.last.file && strcmp(s.last.file->path, "/w/a") == 0);
	stream_feed(&s, "@40us 101 read(5, _, 1) = 0\n");
	assert_true(s.last.file && strcmp(s.last.file->path, "/w/b") == 0);
	stream_done(&s);
}

/* Two opens of one number, told in the wrong order. */
static void test_open_recorded_late(void **state)
{
	struct stream s = { 0 };
	uint64_t young;

	stream_feed(&s, START "thread 100 101\n@30us 101 open(\"young\", O_RDONLY) = 5 <2us>\n");
	young = s.last.made->id;
	stream_feed(&s, "@10us 100 open(\"old\", O_RDONLY) = 5 <4us>\n"
			"@20us 100 close(5) = 0 <1us>\n");
	assert_true(s.last.file && strcmp(s.last.file->path, "/w/old") == 0);
	stream_feed(&s, "@50us 100 getpid() = 100\n");
	assert_true(file_at(&s, 100, 5)->id == young);
	stream_done(&s);
}

/* A close that nobody told: the open ends the old instance. */
static void test_open_of_live_number(void **state)
{
	struct stream s = { 0 };
	struct model_stats stats;

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\n100 open(\"b\", O_RDONLY) = 3\n");
	assert_path(&s, 100, 3, "/w/b");
	model_stats(s.model, &stats);
	assert_int_equal(stats.files, 1);
	stream_done(&s);
}

static void test_sharing(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\nthread 100 101\nfork 100 200\nvfork 100 300\n"
			      "fork 100 400 CLONE_FILES\n"
			      "100 close(3) = 0\n100 open(\"b\", O_RDONLY) = 4\n");
	assert_null(file_at(&s, 101, 3));
	assert_path(&s, 101, 4, "/w/b");
	assert_path(&s, 200, 3, "/w/a");
	assert_null(file_at(&s, 200, 4));
	assert_path(&s, 300, 3, "/w/a");
	assert_null(file_at(&s, 300, 4));
	assert_null(file_at(&s, 400, 3));
	assert_path(&s, 400, 4, "/w/b");
	/* exec takes a table of its own, close-on-exec ends there alone. */
	stream_feed(&s, "100 open(\"c\", O_RDONLY|O_CLOEXEC) = 5\nexec 400 /bin/y\n");
	assert_null(file_at(&s, 400, 5));
	assert_path(&s, 400, 4, "/w/b");
	assert_path(&s, 100, 5, "/w/c");
	stream_feed(&s, "400 close(4) = 0\n");
	assert_path(&s, 100, 4, "/w/b");
	/* unshare */
	stream_feed(&s, "101 unshare(CLONE_FILES) = 0\n101 close(4) = 0\n");
	assert_path(&s, 100, 4, "/w/b");
	assert_null(file_at(&s, 101, 4));
	stream_done(&s);
}

static void test_rights(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 7\n"
			      "100 recvmsg(3, {count=1 total=1 control=24 rights=[7 8]}, MSG_CMSG_CLOEXEC) = 1\n");
	assert_non_null(s.last.made);
	assert_int_equal(s.last.made->made_by, CALL_recvmsg);
	assert_null(file_at(&s, 100, 7)->path);
	assert_non_null(file_at(&s, 100, 8));
	stream_feed(&s, "100 recvmmsg(3, {count=1 messages=1 rights=[9]}, 1, 0, NULL) = 1\nexec 100 /bin/y\n");
	assert_null(file_at(&s, 100, 8));
	assert_non_null(file_at(&s, 100, 9));
	/* What is sent stays with its sender. */
	stream_feed(&s, "100 sendmsg(3, {count=1 total=1 rights=[20]}, 0) = 1\n");
	assert_null(file_at(&s, 100, 20));
	stream_done(&s);
}

static void test_pidfd_of_clone(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "fork 100 200\n100 clone(CLONE_PIDFD, NULL, [6], NULL, 0) = 200\n");
	assert_non_null(s.last.made);
	assert_path(&s, 100, 6, "anon_inode:[pidfd]");
	assert_null(file_at(&s, 200, 6));
	/* The same argument is something else without the flag. */
	stream_feed(&s, "100 clone(0, NULL, [7], NULL, 0) = 201\n");
	assert_null(file_at(&s, 100, 7));
	stream_done(&s);
}

static void test_start_fds_and_stat(void **state)
{
	struct stream s = { 0 };
	const struct model_file *file;

	stream_feed(&s, START "fd 100 1 /dev/null mode=020666 dev=0:5 ino=4 flags=O_WRONLY\n");
	file = file_at(&s, 100, 1);
	assert_string_equal(file->path, "/dev/null");
	assert_int_equal(file->mode, 020666);
	assert_int_equal(file->ino, 4);
	assert_int_equal(file->made_by, CALL_unknown);
	assert_null(file_at(&s, 100, 0));
	stream_feed(&s, "100 open(\"a\", O_RDONLY) = 3\n100 fstat(3, {dev=8:1 ino=5 mode=0100644 size=3}) = 0\n");
	file = file_at(&s, 100, 3);
	assert_true(file->dev == makedev(8, 1));
	assert_int_equal(file->ino, 5);
	assert_true(S_ISREG(file->mode));
	/* The descriptor itself, asked for by an empty path or none. */
	stream_feed(&s, "100 open(\"b\", O_PATH) = 4\n"
			"100 newfstatat(4, \"\", {dev=8:1 ino=6 mode=0100600}, AT_EMPTY_PATH) = 0\n");
	assert_null(s.last.path);
	assert_int_equal(s.last.file->ino, 6);
	stream_feed(&s, "100 statx(3, \"\", AT_EMPTY_PATH, STATX_ALL, {dev=8:2 ino=9 mask=STATX_INO}) = 0\n");
	assert_int_equal(file_at(&s, 100, 3)->ino, 9);
	assert_int_equal(file_at(&s, 100, 3)->mode, 0100644);
	stream_feed(&s, "100 utimensat(4, NULL, NULL, 0) = 0\n");
	assert_true(s.last.file && s.last.file->ino == 6);
	/* Told again at exec: the same instance when the inode is the same. */
	{
		uint64_t id = file_at(&s, 100, 3)->id;

		stream_feed(&s, "fd 100 3 /w/a dev=8:2 ino=9\n");
		assert_true(file_at(&s, 100, 3)->id == id);
		stream_feed(&s, "fd 100 3 /w/z dev=8:2 ino=10\n");
		assert_true(file_at(&s, 100, 3)->id != id);
	}
	stream_done(&s);
}

/* 32-bit calls are not read: what they may have changed is unknown. */
static void test_compat(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\n100 i386:6(3) = 0\n");
	assert_null(file_at(&s, 100, 3));
	stream_feed(&s, "100 stat(\"a\", _) = 0\n");
	assert_false(s.last.path->absolute);
	stream_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_and_close),
		cmocka_unit_test(test_any_descriptor),
		cmocka_unit_test(test_close_that_fails),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_pairs_and_other_makers),
		cmocka_unit_test(test_close_range),
		cmocka_unit_test(test_cloexec_set_later),
		cmocka_unit_test(test_close_recorded_late),
		cmocka_unit_test(test_call_under_way),
		cmocka_unit_test(test_open_recorded_late),
		cmocka_unit_test(test_open_of_live_number),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_pidfd_of_clone),
		cmocka_unit_test(test_start_fds_and_stat),
		cmocka_unit_test(test_compat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
