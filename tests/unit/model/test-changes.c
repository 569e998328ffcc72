/* SPDX-License-Identifier: BSD-2-Clause */
/* The invalidation clock, and the start-up phase of an image. */
#include "stream.h"

#define START "task 100 exe=/bin/x cwd=/w\n"

/* Does this make the question about the path new again? */
static bool renews(struct stream *s, const char *path, const char *script)
{
	struct model_process *process;
	uint64_t asked;

	if (!s->model)
		stream_feed(s, START);
	asked = model_now(s->model);
	stream_feed(s, script);
	process = model_process(s->model, 100);
	assert_non_null(process);
	return model_changed(s->model, process, path, NULL) > asked;
}

static void test_paths(void **state)
{
	static const struct {
		const char *path, *script;
		bool renews;
	} cases[] = {
		{ "/w/a", "100 mkdir(\"a\", 0755) = 0\n", true },
		{ "/w/b", "100 mkdir(\"a\", 0755) = 0\n", false },
		{ "/w", "100 mkdir(\"a\", 0755) = 0\n", true },
		{ "/w/a/b/c", "100 mkdir(\"a\", 0755) = 0\n", true },
		{ "/w/a", "100 mkdir(\"a\", 0755) = -1 EEXIST\n", false },
		{ "/w/a", "100 mkdir(\"a\", 0755) = ? unfinished\n", true },
		{ "/w/d/x/y", "100 rename(\"d\", \"e\") = 0\n", true },
		{ "/w/e/x/y", "100 rename(\"d\", \"e\") = 0\n", true },
		{ "/w/f", "100 rename(\"d\", \"e\") = 0\n", false },
		{ "/w/d/x", "100 chmod(\"/w/d\", 0700) = 0\n", true },
		{ "/w/dd/x", "100 chmod(\"/w/d\", 0700) = 0\n", false },
		{ "/w/x", "100 fchownat(AT_FDCWD, \"x\", 0, 0, 0) = 0\n", true },
		{ "/w/x", "100 setxattr(\"x\", \"user.a\", _, 1, 0) = 0\n", true },
		{ "/w/x", "100 getxattr(\"x\", \"user.a\", _, 1) = 1\n", false },
		{ "/w/x", "100 unlinkat(AT_FDCWD, \"x\", 0) = 0\n", true },
		{ "/w/x", "100 stat(\"x\", {size=3}) = 0\n", false },
		{ "/w/x", "100 openat(AT_FDCWD, \"x\", O_RDONLY) = 3\n", false },
		{ "/w/x", "100 openat(AT_FDCWD, \"x\", O_WRONLY|O_CREAT, 0644) = 3\n", true },
		{ "/w", "100 openat(AT_FDCWD, \"y\", O_WRONLY|O_CREAT, 0644) = 4\n", true },
		{ "/w/x", "100 write(3, _, 10) = 10\n", true },
		{ "/w", "100 write(3, _, 10) = 10\n", false },
		{ "/w/x", "100 write(3, _, 10) = -1 ENOSPC\n", false },
		{ "/w/x", "100 link(\"z\", \"x\") = 0\n", true },
		{ "/w/z", "100 link(\"z\", \"x\") = 0\n", true },
		{ "/w/x/y", "100 symlink(\"to\", \"x\") = 0\n", true },
		{ "/any/thing", "100 mount(\"none\", \"/mnt\", \"tmpfs\", 0, NULL) = 0\n", true },
		{ "/any/thing", "100 chroot(\"/srv\") = -1 EPERM\n", false },
		{ "/any/thing", "lost 3\n", true },
		{ "/any/thing", "100 i386:5(0) = 0\n", true },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct stream s = { 0 };

		if (strstr(cases[i].script, "write(3"))
			stream_feed(&s, START "100 openat(AT_FDCWD, \"x\", O_WRONLY|O_CREAT, 0644) = 3\n");
		if (renews(&s, cases[i].path, cases[i].script) != cases[i].renews)
			fail_msg("%s: %s", cases[i].path, cases[i].script);
		stream_done(&s);
	}
}

static void test_process(void **state)
{
	struct stream s = { 0 };

	assert_true(renews(&s, "/w/x", "100 chdir(\"/other\") = 0\n"));
	assert_true(renews(&s, "/w/x", "100 setuid(1) = 0\n"));
	assert_false(renews(&s, "/w/x", "fork 100 101\n101 setuid(1) = 0\n101 getpid() = 101\n"));
	assert_true(renews(&s, "/w/x", "100 getpid() = 100\n101 unlink(\"/w/x\") = 0\n"));
	/* An image of its own has not asked anything yet. */
	stream_feed(&s, "exec 101 /bin/y \"y\"\n");
	assert_int_equal(model_process(s.model, 101)->changed, model_now(s.model));
	stream_done(&s);
}

static void test_descriptors(void **state)
{
	struct stream s = { 0 };
	uint64_t asked;

	stream_feed(&s, START "100 openat(AT_FDCWD, \"x\", O_RDWR) = 3\n"
			      "100 openat(AT_FDCWD, \"y\", O_RDWR) = 4\n"
			      "100 pipe2([5, 6], 0) = 0\n");
	asked = model_now(s.model);
	stream_feed(&s, "100 write(6, _, 10) = 10\n100 write(4, _, 10) = 10\n100 fstat(3, {dev=8:1 ino=7}) = 0\n");
	assert_true(model_changed(s.model, s.last.process, NULL, s.last.file) <= asked);
	/* By its own name, by another name of the inode. */
	stream_feed(&s, "100 chmod(\"x\", 0600) = 0\n100 fstat(3, {dev=8:1 ino=7}) = 0\n");
	assert_true(model_changed(s.model, s.last.process, NULL, s.last.file) > asked);
	asked = model_now(s.model);
	stream_feed(&s, "100 openat(AT_FDCWD, \"/other/name\", O_RDWR) = 7\n100 fstat(7, {dev=8:1 ino=7}) = 0\n"
			"100 write(7, _, 1) = 1\n100 fstat(3, {dev=8:1 ino=7}) = 0\n");
	assert_true(model_changed(s.model, s.last.process, NULL, s.last.file) > asked);
	/* To what nobody knows. */
	asked = model_now(s.model);
	stream_feed(&s, "100 write(9, _, 1) = 1\n100 fstat(4, {dev=8:1 ino=8}) = 0\n");
	assert_true(model_changed(s.model, s.last.process, NULL, s.last.file) > asked);
	stream_done(&s);
}

static void test_unknown_directory(void **state)
{
	struct stream s = { 0 };
	uint64_t asked;

	stream_feed(&s, "100 getpid() = 100\n");
	asked = model_now(s.model);
	stream_feed(&s, "100 unlink(\"x\") = 0\n");
	assert_true(model_changed(s.model, s.last.process, "/w/y", NULL) > asked);
	assert_int_equal(model_changed(s.model, s.last.process, "y", NULL), model_now(s.model));
	stream_done(&s);
}

static void test_startup_by_address(void **state)
{
	struct stream s = { 0 };
	struct model_process *process;

	stream_feed(&s, "task 100 launched exe=/bin/sh cwd=/w\n"
			"exec 100 /bin/x \"x\" base=7f0000000000\n"
			"map 100 400000-500000 r-xp 0 /bin/x\n"
			/* As engines tell it: what can be executed. */
			"map 100 7f0000001000-7f0000027000 r-xp 1000 /lib/ld.so\n"
			"100 brk(0) = 0x500000 ip=7f0000001000\n"
			"100 openat(AT_FDCWD, \"/lib/libc.so\", O_RDONLY) = 3 ip=7f0000001000\n"
			"100 mmap(0, 0x100000, 5, 2, 3, 0) = 0x7f1000000000 ip=7f0000001000\n");
	process = model_process(s.model, 100);
	assert_true(process->starting);
	assert_int_equal(process->startup_calls, 3);
	/* The same call, but the C library makes it. */
	stream_feed(&s, "100 brk(0) = 0x500000 ip=7f1000000100\n");
	assert_false(process->starting);
	assert_int_equal(process->startup_calls, 3);
	stream_feed(&s, "100 brk(0) = 0x500000 ip=7f0000001000\n");
	assert_int_equal(process->startup_calls, 3);
	/* A child goes on where its parent is. */
	stream_feed(&s, "fork 100 101\n101 getpid() = 101\n");
	assert_false(s.last.process->starting);
	assert_int_equal(s.last.process->startup_calls, 0);
	/* Without a loader there is nothing to do. */
	stream_feed(&s, "exec 100 /bin/static \"static\"\n100 brk(0) = 0x500000\n");
	assert_false(s.last.process->starting);
	stream_done(&s);
}

static void test_startup_by_calls(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, "task 100 launched exe=/bin/sh cwd=/w\nexec 100 /bin/x \"x\" base=7f0000000000\n"
			"100 brk(0) = 0x500000\n100 access(\"/etc/ld.so.preload\", 4) = -1 ENOENT\n"
			"100 mprotect(0x400000, 4096, 1) = 0\n");
	assert_true(s.last.process->starting);
	stream_feed(&s, "100 getpid() = 100\n");
	assert_false(s.last.process->starting);
	assert_int_equal(s.last.process->startup_calls, 3);
	stream_done(&s);
}

/* Two names of one file, whichever it is opened or asked by. */
static void test_links(void **state)
{
	static const char opened[] = "100 openat(AT_FDCWD, \"a\", O_RDWR|O_CREAT, 0600) = 3\n",
			  unnamed[] = "100 openat(AT_FDCWD, \"/w\", O_RDWR|O_TMPFILE, 0600) = 3\n",
			  writes[] = "100 pwrite64(3, _, 4, 0) = 4\n";
	static const struct {
		const char *opened, *named, *path;
		bool renews;
	} cases[] = {
		{ opened, "100 link(\"a\", \"b\") = 0\n", "/w/b", true },
		{ opened, "100 link(\"a\", \"b\") = 0\n", "/w/a", true },
		{ opened, "100 link(\"a\", \"b\") = 0\n", "/w/c", false },
		{ opened, "100 link(\"a\", \"b\") = -1 EEXIST\n", "/w/b", false },
		{ opened, "100 linkat(AT_FDCWD, \"a\", AT_FDCWD, \"b\", 0) = 0\n100 link(\"b\", \"c\") = 0\n", "/w/c",
		  true },
		{ opened, "100 linkat(3, \"\", AT_FDCWD, \"b\", AT_EMPTY_PATH) = 0\n", "/w/b", true },
		{ opened, "100 link(\"a\", \"b\") = 0\n100 rename(\"b\", \"c\") = 0\n", "/w/c", true },
		{ opened, "100 rename(\"a\", \"b\") = 0\n", "/w/b", true },
		{ opened, "100 rename(\"a\", \"b\") = 0\n100 rename(\"b\", \"c\") = 0\n", "/w/c", true },
		{ opened, "100 rename(\"/w\", \"/v\") = 0\n", "/v/a", true },
		{ opened, "100 rename(\"c\", \"b\") = 0\n", "/w/b", false },
		{ unnamed, "100 linkat(3, \"\", AT_FDCWD, \"b\", AT_EMPTY_PATH) = 0\n", "/w/b", true },
		{ unnamed, "100 linkat(AT_FDCWD, \"/proc/self/fd/3\", AT_FDCWD, \"b\", AT_SYMLINK_FOLLOW) = 0\n",
		  "/w/b", true },
		{ unnamed, "100 linkat(AT_FDCWD, \"/proc/self/fd/4\", AT_FDCWD, \"b\", AT_SYMLINK_FOLLOW) = 0\n",
		  "/w/b", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct stream s = { 0 };

		stream_feed(&s, START);
		stream_feed(&s, cases[i].opened);
		stream_feed(&s, cases[i].named);
		if (renews(&s, cases[i].path, writes) != cases[i].renews)
			fail_msg("%s%s: %s", cases[i].opened, cases[i].named, cases[i].path);
		stream_done(&s);
	}
}

/* With more links than are kept every file may have any name; never the other way round. */
static void test_many_links(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 openat(AT_FDCWD, \"a\", O_RDWR|O_CREAT, 0600) = 3\n");
	stream_feed(&s, "repeat 5000 i {\n100 link(\"x{i}\", \"y{i}\") = 0\n}\n");
	stream_feed(&s, "100 link(\"a\", \"b\") = 0\n");
	assert_true(renews(&s, "/w/b", "100 pwrite64(3, _, 4, 0) = 4\n"));
	assert_false(renews(&s, "/w/b", "100 read(3, _, 4) = 4\n"));
	stream_done(&s);
}

/* Has the task let time pass on purpose with this? */
static void test_pauses(void **state)
{
	static const struct {
		const char *script;
		bool slept;
	} cases[] = {
		{ "100 getpid() = 100\n", false },
		{ "100 clock_nanosleep(CLOCK_REALTIME, 0, {10ms}, NULL) = 0\n", true },
		{ "100 nanosleep({10ms}, NULL) = -1 EINTR\n", true },
		{ "100 nanosleep({10ms}, NULL) = -1 EINVAL\n", false },
		{ "100 poll(NULL, 0, 10) = 0\n", true },
		{ "100 poll(NULL, 0, 0) = 0\n", false },
		{ "100 poll([{fd=3 events=POLLIN}], 1, 10) = 1\n", false },
		{ "100 epoll_wait(3, _, 8, 50) = 0\n", true },
		{ "100 select(0, NULL, NULL, NULL, {5ms}) = 0\n", true },
		{ "100 select(0, NULL, NULL, NULL, {0ms}) = 0\n", false },
		{ "100 futex(_, 128, 1, _) = -1 ETIMEDOUT\n", true },
		{ "100 futex(_, 128, 1, _) = 0\n", false },
		{ "100 timerfd_create(CLOCK_MONOTONIC, 0) = 5\n100 read(5, _, 8) = 8\n", true },
		{ "100 openat(AT_FDCWD, \"x\", O_RDONLY) = 5\n100 read(5, _, 8) = 8\n", false },
		{ "fork 100 101\n101 nanosleep({10ms}, NULL) = 0\nexit 101 0\n", true },
		{ "fork 100 101\nfork 101 102\n102 nanosleep({10ms}, NULL) = 0\nexit 102 0\nexit 101 0\n", true },
		{ "fork 100 101\n101 nanosleep({10ms}, NULL) = 0\n", false },
		{ "fork 100 101\n101 getpid() = 101\nexit 101 0\n", false },
		{ "thread 100 101\n101 nanosleep({10ms}, NULL) = 0\n", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct stream s = { 0 };

		stream_feed(&s, START);
		stream_feed(&s, cases[i].script);
		stream_feed(&s, "100 getuid() = 0\n");
		if ((s.last.slept > 0) != cases[i].slept)
			fail_msg("%s", cases[i].script);
		stream_done(&s);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_unknown_directory),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_many_links),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_startup_by_address),
		cmocka_unit_test(test_startup_by_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
