/* SPDX-License-Identifier: BSD-2-Clause */
/* Where files stand before each call, and when nobody can say. */
#include "stream.h"

#define START "task 100 exe=/bin/x cwd=/w\n"

static const struct model_file *file_at(struct stream *s, int tid, int fd)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "%d fsync(%d) = 0\n", tid, fd);
	stream_feed(s, line);
	return s->last.file;
}

static int64_t offset_at(struct stream *s, int tid, int fd)
{
	const struct model_file *file = file_at(s, tid, fd);

	assert_non_null(file);
	return file->offset;
}

static bool shared_at(struct stream *s, int tid, int fd)
{
	const struct model_file *file = file_at(s, tid, fd);

	assert_non_null(file);
	return file->offset_shared;
}

static void test_reads_and_writes(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 open(\"a\", O_RDWR) = 3\n");
	assert_true(s.last.made->offset == 0 && !s.last.made->offset_shared);
	stream_feed(&s, "100 read(3, _, 100) = 60\n");
	assert_int_equal(s.last.file->offset, 0);
	stream_feed(&s, "100 readv(3, {count=2 total=20}, 2) = 5\n");
	assert_int_equal(s.last.file->offset, 60);
	stream_feed(&s, "100 write(3, _, 10) = 3\n");
	assert_int_equal(s.last.file->offset, 65);
	stream_feed(&s, "100 writev(3, {count=1 total=2}, 1) = 2\n");
	assert_int_equal(s.last.file->offset, 68);
	assert_int_equal(offset_at(&s, 100, 3), 70);
	/* These leave it alone. */
	stream_feed(&s,
		    "100 pread64(3, _, 10, 5) = 10\n100 pwrite64(3, _, 10, 5) = 10\n"
		    "100 preadv(3, {count=1 total=9}, 1, 4, 0) = 9\n100 pwritev(3, {count=1 total=9}, 1, 4, 0) = 9\n"
		    "100 preadv2(3, {count=1 total=9}, 1, 4, 0, 0) = 9\n"
		    "100 pwritev2(3, {count=1 total=9}, 1, 4, 0, 0) = 9\n"
		    "100 ftruncate(3, 0) = 0\n100 fstat(3, {dev=8:1 ino=5 mode=0100644}) = 0\n"
		    "100 read(3, _, 10) = 0\n100 read(3, _, 10) = -1 EINTR\n100 write(3, _, 10) = -1 ENOSPC\n"
		    "100 read(3, _, 10) = -512\n");
	assert_int_equal(offset_at(&s, 100, 3), 70);
	/* An offset of -1 means the file's own. */
	stream_feed(&s, "100 preadv2(3, {count=1 total=9}, 1, -1, -1, 0) = 9\n"
			"100 pwritev2(3, {count=1 total=1}, 1, -1, -1, 0) = 1\n");
	assert_int_equal(offset_at(&s, 100, 3), 80);
	stream_feed(&s, "100 pwritev2(3, {count=1 total=1}, 1, -1, -1, 16) = 1\n");
	assert_int_equal(offset_at(&s, 100, 3), -1);
	/* What would not fit is not believed. */
	stream_feed(&s,
		    "100 lseek(3, 9223372036854775800, SEEK_SET) = 9223372036854775800\n100 read(3, _, 100) = 100\n");
	assert_int_equal(offset_at(&s, 100, 3), -1);
	stream_done(&s);
}

static void test_seeks(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\n100 lseek(3, -10, SEEK_END) = 990\n");
	assert_int_equal(s.last.file->offset, 0);
	stream_feed(&s, "100 lseek(3, 0, SEEK_CUR) = 990\n");
	assert_int_equal(s.last.file->offset, 990);
	stream_feed(&s, "100 lseek(3, -5000, SEEK_CUR) = -1 EINVAL\n");
	assert_int_equal(offset_at(&s, 100, 3), 990);
	/* A directory's entries have cookies for offsets. */
	stream_feed(&s, "100 open(\"d\", O_RDONLY|O_DIRECTORY) = 4\n");
	assert_int_equal(offset_at(&s, 100, 4), 0);
	stream_feed(&s, "100 getdents64(4, _, 32768) = -1 EINTR\n");
	assert_int_equal(offset_at(&s, 100, 4), 0);
	stream_feed(&s, "100 getdents64(4, _, 32768) = 48\n");
	assert_int_equal(offset_at(&s, 100, 4), -1);
	stream_feed(&s, "100 lseek(4, 0, SEEK_SET) = 0\n");
	assert_int_equal(offset_at(&s, 100, 4), 0);
	/* A descriptor that is for its path alone. */
	stream_feed(&s, "100 open(\"d\", O_PATH) = 5\n");
	assert_int_equal(s.last.made->offset, -1);
	stream_done(&s);
}

static void test_append(void **state)
{
	struct stream s = { 0 };

	/* Open stands at 0 even so; the first write goes to the end. */
	stream_feed(&s, START "100 open(\"a\", O_WRONLY|O_APPEND) = 3\n");
	assert_int_equal(offset_at(&s, 100, 3), 0);
	stream_feed(&s, "100 write(3, _, 10) = -1 EDQUOT\n");
	assert_int_equal(offset_at(&s, 100, 3), 0);
	stream_feed(&s, "100 write(3, _, 10) = 10\n");
	assert_int_equal(offset_at(&s, 100, 3), -1);
	stream_feed(&s, "100 lseek(3, 0, SEEK_CUR) = 510\n");
	assert_int_equal(s.last.file->offset, -1);
	assert_int_equal(offset_at(&s, 100, 3), 510);
	/* Set and taken back later. */
	stream_feed(&s, "100 fcntl(3, F_SETFL, 0) = 0\n100 write(3, _, 10) = 10\n");
	assert_int_equal(offset_at(&s, 100, 3), 520);
	stream_feed(&s, "100 fcntl(3, F_SETFL, O_APPEND) = 0\n100 writev(3, {count=1 total=1}, 1) = 1\n");
	assert_int_equal(offset_at(&s, 100, 3), -1);
	/* Flags that nobody saw. */
	stream_feed(&s, "100 openat2(AT_FDCWD, \"b\", ?, 24) = 4\n");
	assert_int_equal(offset_at(&s, 100, 4), 0);
	stream_feed(&s, "100 read(4, _, 10) = 10\n");
	assert_int_equal(offset_at(&s, 100, 4), 10);
	stream_feed(&s, "100 write(4, _, 10) = 10\n");
	assert_int_equal(offset_at(&s, 100, 4), -1);
	stream_feed(&s, "100 lseek(4, 0, SEEK_SET) = 0\n100 fcntl(4, F_GETFL, 0) = O_RDWR\n100 write(4, _, 10) = 10\n");
	assert_int_equal(offset_at(&s, 100, 4), 10);
	stream_done(&s);
}

static void test_copies_inside_the_kernel(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\n100 open(\"b\", O_WRONLY) = 4\n"
			      "100 sendfile(4, 3, NULL, 100) = 40\n");
	assert_int_equal(s.last.file2->offset, 0);
	assert_int_equal(offset_at(&s, 100, 3), 40);
	assert_int_equal(offset_at(&s, 100, 4), 40);
	/* With an offset of its own the file's stays. */
	stream_feed(&s, "100 sendfile(4, 3, [700], 100) = 100\n");
	assert_int_equal(offset_at(&s, 100, 3), 40);
	assert_int_equal(offset_at(&s, 100, 4), 140);
	stream_feed(&s, "100 copy_file_range(3, NULL, 4, [10], 7, 0) = 7\n");
	assert_int_equal(offset_at(&s, 100, 3), 47);
	assert_int_equal(offset_at(&s, 100, 4), 140);
	stream_feed(&s, "100 copy_file_range(3, [10], 4, NULL, 7, 0) = 7\n100 sendfile(4, 3, NULL, 1) = -1 EAGAIN\n");
	assert_int_equal(offset_at(&s, 100, 3), 47);
	assert_int_equal(offset_at(&s, 100, 4), 147);
	stream_feed(&s, "100 pipe([5, 6]) = 0\n100 splice(3, NULL, 6, NULL, 100, 0) = 13\n"
			"100 splice(5, NULL, 4, NULL, 100, 0) = 13\n");
	assert_int_equal(offset_at(&s, 100, 3), 60);
	assert_int_equal(offset_at(&s, 100, 4), 160);
	assert_int_equal(offset_at(&s, 100, 5), -1);
	/* Out of a file and into it. */
	stream_feed(&s,
		    "100 open(\"c\", O_RDWR) = 7\n100 dup(7) = 8\n100 copy_file_range(7, [0], 8, NULL, 5, 0) = 5\n");
	assert_int_equal(offset_at(&s, 100, 7), 5);
	stream_feed(&s, "100 copy_file_range(7, NULL, 8, NULL, 5, 0) = 5\n");
	assert_int_equal(offset_at(&s, 100, 7), -1);
	stream_done(&s);
}

static void test_what_has_none(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 pipe([3, 4]) = 0\n100 socket(AF_INET, SOCK_STREAM, 0) = 5\n"
			      "100 eventfd2(0, 0) = 6\n100 epoll_create1(0) = 7\n"
			      "100 read(3, _, 10) = 10\n100 write(5, _, 10) = 10\n100 read(6, _, 8) = 8\n"
			      "fd 100 0 /dev/pts/1 mode=020620 offset=0\n100 read(0, _, 10) = 10\n");
	for (int fd = 3; fd <= 7; fd++)
		assert_int_equal(offset_at(&s, 100, fd), -1);
	assert_int_equal(offset_at(&s, 100, 0), -1);
	/* A name says nothing about it, fstat or lseek do. */
	stream_feed(&s, "100 open(\"t\", O_RDWR) = 8\n100 read(8, _, 10) = 10\n");
	assert_int_equal(offset_at(&s, 100, 8), 10);
	stream_feed(&s, "100 lseek(8, 0, SEEK_CUR) = -1 ESPIPE\n100 read(8, _, 10) = 10\n");
	assert_int_equal(offset_at(&s, 100, 8), -1);
	stream_feed(&s, "100 open(\"/dev/null\", O_RDWR) = 9\n100 fstat(9, {dev=0:5 ino=4 mode=020666}) = 0\n"
			"100 lseek(9, 0, SEEK_END) = 0\n");
	assert_int_equal(offset_at(&s, 100, 9), -1);
	stream_feed(&s, "100 memfd_create(\"m\", 0) = 10\n100 write(10, _, 9) = 9\n");
	assert_int_equal(offset_at(&s, 100, 10), 9);
	stream_done(&s);
}

static void test_start(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "fd 100 0 /w/in mode=0100644 ino=5 offset=77\nfd 100 1 /w/out mode=0100644 ino=6\n"
			      "fd 100 2 /w/log mode=0100644 ino=7 flags=O_WRONLY|O_APPEND offset=5\n"
			      "100 read(0, _, 3) = 3\n");
	assert_int_equal(s.last.file->offset, 77);
	/* Whoever gave it to us may have kept it. */
	assert_true(s.last.file->offset_shared);
	assert_int_equal(offset_at(&s, 100, 0), 80);
	assert_int_equal(offset_at(&s, 100, 1), -1);
	stream_feed(&s, "100 write(2, _, 3) = 3\n");
	assert_int_equal(offset_at(&s, 100, 2), -1);
	/* Told again: what we followed gives way. */
	stream_feed(&s, "fd 100 0 /w/in mode=0100644 ino=5 offset=90\n");
	assert_int_equal(offset_at(&s, 100, 0), 90);
	stream_feed(&s, "fd 100 0 /w/in mode=0100644 ino=5\n");
	assert_int_equal(offset_at(&s, 100, 0), 90);
	stream_done(&s);
}

static void test_sharing(void **state)
{
	struct stream s = { 0 };

	/* Copies in one process are one process's. */
	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\n100 dup(3) = 4\n100 read(4, _, 5) = 5\n");
	assert_int_equal(offset_at(&s, 100, 3), 5);
	assert_false(shared_at(&s, 100, 3));
	stream_feed(&s, "100 close(4) = 0\nfork 100 200\n200 read(3, _, 5) = 5\n");
	assert_true(s.last.file->offset_shared);
	assert_int_equal(offset_at(&s, 100, 3), 10);
	assert_true(shared_at(&s, 100, 3));
	/* What is opened later is not. */
	stream_feed(&s, "100 open(\"b\", O_RDONLY) = 5\n");
	assert_false(shared_at(&s, 100, 5));
	stream_feed(&s, "thread 100 101\n");
	assert_false(shared_at(&s, 101, 5));
	/* The other one has closed it: alone again. */
	stream_feed(&s, "200 close(3) = 0\n");
	assert_false(shared_at(&s, 100, 3));
	stream_feed(&s, "vfork 100 300\n");
	assert_true(shared_at(&s, 100, 3));
	stream_feed(&s, "exec 300 /bin/y\nexit 300 0\n");
	assert_false(shared_at(&s, 100, 3));
	/* One table of two processes, and what they open from then on. */
	stream_feed(&s, "fork 100 400 CLONE_FILES\n400 open(\"c\", O_RDONLY) = 6\n");
	assert_true(shared_at(&s, 100, 3));
	assert_true(shared_at(&s, 100, 6));
	stream_done(&s);
}

/* Somebody out of our sight. */
static void test_outside(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s,
		    START "100 open(\"a\", O_RDONLY) = 3\nfork 100 200 unfollowed\n100 open(\"b\", O_RDONLY) = 4\n");
	assert_true(shared_at(&s, 100, 3));
	assert_false(shared_at(&s, 100, 4));
	stream_feed(&s, "fork 100 300\nexit 300 let-go\n");
	assert_true(shared_at(&s, 100, 4));
	stream_feed(&s, "100 open(\"c\", O_RDONLY) = 5\nfork 100 301\nexit 301 0\n");
	assert_false(shared_at(&s, 100, 5));
	stream_feed(&s, "100 pidfd_getfd(9, 3, 0) = 6\n");
	assert_true(shared_at(&s, 100, 6));
	assert_true(shared_at(&s, 100, 5));
	assert_int_equal(offset_at(&s, 100, 6), -1);
	stream_feed(&s, "100 lseek(6, 0, SEEK_CUR) = 4\n");
	assert_int_equal(offset_at(&s, 100, 6), 4);
	stream_done(&s);
}

static void test_at_the_same_time(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "thread 100 101\n100 open(\"a\", O_RDONLY) = 3\n"
			      "@100us 100 read(3, _, 5) = 5 <20us>\n@110us 101 read(3, _, 5) = 5 <20us>\n");
	assert_int_equal(s.last.file->offset, -1);
	assert_int_equal(offset_at(&s, 100, 3), -1);
	/* Told again, by a call that was alone. */
	stream_feed(&s, "@200us 100 lseek(3, 0, SEEK_CUR) = 10 <10us>\n");
	assert_int_equal(offset_at(&s, 100, 3), 10);
	/* An lseek inside of a read tells nothing. */
	stream_feed(&s, "@310us 101 lseek(3, 50, SEEK_SET) = 50 <2us>\n@300us 100 read(3, _, 5) = 5 <20us>\n");
	assert_int_equal(offset_at(&s, 100, 3), -1);
	stream_feed(&s, "@400us 100 lseek(3, 0, SEEK_SET) = 0 <10us>\n");
	/* One after the other, and one that moved nothing. */
	stream_feed(&s, "@420us 101 read(3, _, 5) = 5 <10us>\n@430us 100 read(3, _, 5) = 5 <10us>\n"
			"@450us 101 pread64(3, _, 5, 0) = 5 <10us>\n@455us 100 read(3, _, 5) = 5 <10us>\n"
			"@456us 101 read(3, _, 5) = 0 <12us>\n");
	assert_int_equal(offset_at(&s, 100, 3), 15);
	/* Two files are two. */
	stream_feed(&s, "100 open(\"b\", O_RDONLY) = 4\n@700us 100 read(3, _, 5) = 5 <20us>\n"
			"@710us 101 read(4, _, 5) = 5 <20us>\n");
	assert_int_equal(offset_at(&s, 100, 3), 20);
	assert_int_equal(offset_at(&s, 100, 4), 5);
	stream_done(&s);
}

static void test_never_returned(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\nthread 100 101\n101 read(3, _, 5) = ? killed\n");
	assert_int_equal(offset_at(&s, 100, 3), -1);
	assert_false(shared_at(&s, 100, 3));
	stream_feed(&s, "100 lseek(3, 9, SEEK_SET) = 9\n100 pread64(3, _, 5, 0) = ?\n");
	assert_int_equal(offset_at(&s, 100, 3), 9);
	stream_feed(&s, "thread 100 102\n102 read(3, _, 5) = ?\n100 lseek(3, 9, SEEK_SET) = 9\n");
	assert_int_equal(offset_at(&s, 100, 3), 9);
	assert_true(shared_at(&s, 100, 3));
	stream_done(&s);
}

static void test_blind(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\n100 read(3, _, 5) = 5\nlost 1\n");
	assert_int_equal(offset_at(&s, 100, 3), -1);
	stream_feed(&s, "100 read(3, _, 5) = 5\n");
	assert_int_equal(offset_at(&s, 100, 3), -1);
	stream_feed(&s, "100 lseek(3, 0, SEEK_CUR) = 20\n100 read(3, _, 5) = 5\n");
	assert_int_equal(offset_at(&s, 100, 3), 25);
	/* The ring reads and writes without calls, through whatever it is given. */
	stream_feed(&s, "100 open(\"b\", O_RDONLY) = 5\n100 io_uring_setup(8, _) = 4\n100 open(\"c\", O_RDONLY) = 6\n");
	assert_int_equal(offset_at(&s, 100, 3), -1);
	assert_int_equal(offset_at(&s, 100, 6), -1);
	stream_feed(&s, "100 lseek(6, 0, SEEK_CUR) = 0\n");
	assert_int_equal(offset_at(&s, 100, 6), -1);
	/* It goes with the program. */
	stream_feed(&s, "exec 100 /bin/y\n100 open(\"d\", O_RDONLY) = 7\n");
	assert_int_equal(offset_at(&s, 100, 7), 0);
	assert_int_equal(offset_at(&s, 100, 6), -1);
	/* 32-bit calls of a child move what is its parent's too. */
	stream_feed(&s, "fork 100 200\n200 i386:3(7, _, 5) = 5\n");
	assert_int_equal(offset_at(&s, 100, 7), -1);
	stream_done(&s);
}

/* A copy that the model had no room for is moved unseen. */
static void test_no_room_for_a_copy(void **state)
{
	struct model_limits limits = { .images = 10,
				       .exes = 10,
				       .tasks = 10,
				       .files = 10,
				       .fds = 1,
				       .maps = 10,
				       .mounts = 10,
				       .text_bytes = 10000 };
	struct stream s = { .limits = &limits };

	stream_feed(&s, START "100 open(\"a\", O_RDONLY) = 3\n100 dup(3) = 4\n100 read(4, _, 5) = 5\n");
	assert_int_equal(offset_at(&s, 100, 3), -1);
	stream_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_and_writes),
		cmocka_unit_test(test_seeks),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_copies_inside_the_kernel),
		cmocka_unit_test(test_what_has_none),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_at_the_same_time),
		cmocka_unit_test(test_never_returned),
		cmocka_unit_test(test_blind),
		cmocka_unit_test(test_no_room_for_a_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
