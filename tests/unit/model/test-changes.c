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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_unknown_directory),
		cmocka_unit_test(test_startup_by_address),
		cmocka_unit_test(test_startup_by_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
