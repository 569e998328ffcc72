/* SPDX-License-Identifier: BSD-2-Clause */
/* Images, threads, parents, environments, and what is kept of them. */
#include "stream.h"

static void test_unknown_caller(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, "7 getpid() = 7\n");
	assert_string_equal(s.last.process->exe->path, "?");
	assert_int_equal(s.last.process->pid, 7);
	assert_int_equal(s.last.process->calls, 1);
	assert_false(s.last.process->env_known);
	/* Its birth is told later: the same run. */
	stream_feed(&s, "task 5 exe=/bin/sh argv=\"sh -c x\"\nfork 5 7\n7 getpid() = 7\n");
	assert_string_equal(s.last.process->exe->path, "/bin/sh");
	assert_int_equal(s.last.process->ppid, 5);
	assert_int_equal(s.last.process->calls, 2);
	stream_done(&s);
}

static void test_images(void **state)
{
	struct stream s = { 0 };
	struct model_process *first, *child, *image;
	struct model_stats stats;

	stream_feed(&s,
		    "task 100 exe=/bin/sh argv=\"sh -c ls\\40x\" ppid=1\nenv 100 TZ=UTC LANG=C\n100 getpid() = 100\n");
	first = s.last.process;
	assert_int_equal(first->argv_bytes, 11);
	assert_memory_equal(first->argv, "sh\0-c\0ls x\0", 11);
	assert_true(first->env_known);
	assert_string_equal(model_getenv(first, "TZ"), "UTC");
	assert_null(model_getenv(first, "T"));
	assert_null(model_getenv(first, "TZZ"));
	stream_feed(&s, "fork 100 101\n101 getppid() = 100\n");
	child = s.last.process;
	assert_true(child != first && child->exe == first->exe && child->ppid == 100 && !child->execed);
	assert_string_equal(model_getenv(child, "TZ"), "UTC");
	stream_feed(&s, "exec 101 /bin/ls \"ls x\" LANG=de\n");
	assert_true(s.last.ended == child && child->ended);
	image = s.last.process;
	assert_true(image->execed && image->id != child->id && image->pid == 101 && image->ppid == 100);
	assert_int_equal(image->exe->execs, 1);
	assert_null(model_getenv(image, "TZ"));
	assert_true(image->env_known);
	stream_feed(&s, "101 execve(\"/bin/ls\", _, _) = 0\nexit 101 3\n");
	assert_true(s.last.ended == image && image->ended);
	assert_int_equal(image->exit_status, 3);
	assert_int_equal(image->calls, 1);
	assert_null(model_process(s.model, 101));
	/* The pid again, the ids not. */
	stream_feed(&s, "fork 100 101\n101 getpid() = 101\n");
	assert_true(s.last.process->id > image->id);
	model_stats(s.model, &stats);
	assert_int_equal(stats.processes, 3);
	assert_int_equal(stats.images, 4);
	assert_int_equal(stats.losses, 0);
	assert_null(stats.limit);
	assert_true(model_process_at(s.model, 0) == first && model_process_at(s.model, 2) == image);
	assert_null(model_process_at(s.model, 4));
	assert_string_equal(model_exe_at(s.model, 1)->path, "/bin/ls");
	stream_done(&s);
}

static void test_launched(void **state)
{
	struct stream s = { 0 };
	struct model_stats stats;

	/* The child that we made ourselves is no run of its own. */
	stream_feed(&s, "task 100 exe=/bin/launcher launched cwd=/w\nexec 100 /bin/ls \"ls\"\n100 getpid() = 100\n");
	assert_string_equal(s.last.process->exe->path, "/bin/ls");
	model_stats(s.model, &stats);
	assert_int_equal(stats.images, 1);
	assert_string_equal(model_cwd(s.model, s.last.process), "/w");
	stream_done(&s);
}

static void test_threads(void **state)
{
	struct stream s = { 0 };
	struct model_process *process;

	stream_feed(&s, "task 100 exe=/bin/x cwd=/w\nthread 100 101\nthread 101 102\n101 gettid() = 101\n");
	process = s.last.process;
	assert_int_equal(process->pid, 100);
	stream_feed(&s, "102 gettid() = 102\n");
	assert_true(s.last.process == process);
	/* The leader ends first: the process lives on. */
	stream_feed(&s, "exit 100 0\n");
	assert_null(s.last.ended);
	stream_feed(&s, "101 gettid() = 101\n");
	assert_true(s.last.process == process && !process->ended);
	/* A thread calls execve and becomes the leader. */
	stream_feed(&s, "101 open(\"a\", O_RDONLY) = 3\nexit 102 replaced\nexec 100 /bin/y from=101\n");
	assert_true(s.last.ended == process);
	stream_feed(&s, "exit 100 replaced\n100 read(3, _, 1) = 0\n");
	assert_string_equal(s.last.process->exe->path, "/bin/y");
	assert_string_equal(s.last.file->path, "/w/a");
	stream_feed(&s, "exit 100 SIGKILL\n");
	assert_int_equal(s.last.process->exit_how, EVENT_EXIT_SIGNAL);
	assert_int_equal(s.last.process->exit_status, 9);
	/* Unfollowed children do not exist. */
	stream_feed(&s, "task 100 exe=/bin/x\nfork 100 200 unfollowed\n");
	assert_null(model_process(s.model, 200));
	stream_done(&s);
}

static void test_pid_without_end(void **state)
{
	struct stream s = { 0 };
	struct model_process *old;

	stream_feed(&s, "task 100 exe=/bin/x\nfork 100 101\n101 open(\"/a\", O_RDONLY) = 3\n");
	old = s.last.process;
	stream_feed(&s, "fork 100 101\n");
	assert_true(s.last.ended == old);
	assert_int_equal(old->exit_how, EVENT_EXIT_LOST);
	stream_feed(&s, "101 read(3, _, 1) = 0\n");
	assert_null(s.last.file);
	stream_done(&s);
}

static void test_ids_and_limits(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, "task 100 exe=/bin/x\nids 100 uid=1000 gid=100 euid=0\nlimits 100 nofile=1024:4096\n");
	assert_true(s.last.process->ids_known && s.last.process->ruid == 1000 && s.last.process->euid == 0);
	assert_int_equal(s.last.process->fsgid, 100);
	assert_int_equal(s.last.process->nofile_hard, 4096);
	stream_feed(&s, "fork 100 101\n101 setuid(0) = 0\n");
	assert_false(s.last.process->ids_known);
	stream_feed(&s, "101 prlimit64(0, RLIMIT_NOFILE, {soft=64 hard=128}, NULL) = 0\n");
	assert_int_equal(s.last.process->nofile_soft, 64);
	stream_feed(&s, "101 prlimit64(0, RLIMIT_STACK, NULL, {soft=1 hard=1}) = 0\n"
			"101 prlimit64(100, RLIMIT_NOFILE, NULL, {soft=2 hard=2}) = 0\n");
	assert_int_equal(s.last.process->nofile_soft, 64);
	stream_feed(&s, "101 prlimit64(0, RLIMIT_NOFILE, NULL, {soft=65 hard=RLIM_INFINITY}) = 0\n");
	assert_int_equal(s.last.process->nofile_soft, 65);
	assert_true(s.last.process->nofile_hard == UINT64_MAX);
	stream_feed(&s, "exec 101 /bin/y\n");
	assert_int_equal(s.last.process->nofile_soft, 65);
	stream_done(&s);
}

static void test_limits(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, "task 100 exe=/bin/x\nlimits 100 nofile=10:20\nfork 100 200\nthread 100 101\n"
			"101 setrlimit(RLIMIT_NOFILE, {soft=5 hard=6}) = -1 EPERM\n");
	assert_int_equal(s.last.process->nofile_soft, 10);
	/* By one's own number, or that of a thread; both the new one and the old one are told. */
	stream_feed(&s, "101 prlimit64(100, RLIMIT_NOFILE, {soft=7 hard=8}, {soft=10 hard=20}) = 0\n");
	assert_int_equal(s.last.process->nofile_soft, 7);
	stream_feed(&s, "100 prlimit64(101, RLIMIT_NOFILE, {soft=6 hard=8}, NULL) = 0\n");
	assert_int_equal(s.last.process->nofile_soft, 6);
	/* Another's: asked for, then set. */
	stream_feed(&s, "100 prlimit64(200, RLIMIT_NOFILE, NULL, {soft=10 hard=20}) = 0\n200 getpid() = 200\n");
	assert_true(s.last.process->nofile_known);
	stream_feed(&s, "100 prlimit64(200, RLIMIT_NOFILE, {soft=1 hard=1}, NULL) = -1 EPERM\n"
			"100 prlimit64(200, RLIMIT_CORE, {soft=1 hard=1}, NULL) = 0\n200 getpid() = 200\n");
	assert_true(s.last.process->nofile_known);
	stream_feed(&s, "100 prlimit64(200, RLIMIT_NOFILE, {soft=1 hard=1}, NULL) = 0\n100 getpid() = 100\n");
	assert_int_equal(s.last.process->nofile_soft, 6);
	stream_feed(&s, "200 getpid() = 200\n");
	assert_false(s.last.process->nofile_known);
	stream_feed(&s, "200 getrlimit(RLIMIT_NOFILE, {soft=1 hard=1}) = 0\n");
	assert_int_equal(s.last.process->nofile_soft, 1);
	/* A number that means nobody here may be the caller's in its namespace. */
	stream_feed(&s, "200 prlimit64(1, RLIMIT_NOFILE, NULL, {soft=9 hard=9}) = 0\n");
	assert_int_equal(s.last.process->nofile_soft, 1);
	stream_feed(&s, "200 prlimit64(1, RLIMIT_NOFILE, {soft=9 hard=9}, NULL) = 0\n");
	assert_false(s.last.process->nofile_known);
	/* Set to what nobody read. */
	stream_feed(&s, "100 setrlimit(RLIMIT_NOFILE, ?) = 0\n");
	assert_false(s.last.process->nofile_known);
	stream_feed(&s, "100 setrlimit(RLIMIT_NOFILE, {soft=3 hard=4}) = 0\n");
	assert_true(s.last.process->nofile_known && s.last.process->nofile_hard == 4);
	stream_feed(&s, "100 prlimit64(0, RLIMIT_NOFILE, {soft=2 hard=4}, ?) = -1 EFAULT\n");
	assert_false(s.last.process->nofile_known);
	stream_done(&s);
}

static void test_marks_do_not_count(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, "task 100 exe=/bin/x\n100 access(\"/.syscull/mark/begin\", F_OK) = -1 ENOENT\n");
	assert_true(s.last.call->head.flags & EVENT_F_MARK);
	assert_int_equal(s.last.process->calls, 0);
	stream_done(&s);
}

static const struct model_limits small = {
	.images = 4,
	.exes = 3,
	.tasks = 3,
	.files = 4,
	.fds = 3,
	.maps = 2,
	.mounts = 2,
	.text_bytes = 64,
};

static void test_images_are_folded(void **state)
{
	struct stream s = { .limits = &small };
	struct model_stats stats;
	struct model_process *folded;

	stream_feed(&s, "task 100 exe=/bin/sh\nrepeat 50 i {\nfork 100 101\nexec 101 /bin/ls\n"
			"101 getpid() = 101\nexit 101 0\n}\n");
	folded = s.last.process;
	assert_true(folded->folded && folded->pid == 0 && !folded->ended);
	assert_string_equal(folded->exe->path, "/bin/ls");
	assert_int_equal(folded->exe->execs, 50);
	model_stats(s.model, &stats);
	/* 4 images and one for each of the two programs. */
	assert_int_equal(stats.images, 6);
	assert_string_equal(stats.limit, "images");
	assert_true(stats.losses > 0);
	/* The live state is still that of the caller. */
	stream_feed(&s, "fork 100 101\nexec 101 /bin/ls\ndirs 101 cwd=/d\n101 open(\"a\", O_RDONLY) = 3\n");
	assert_string_equal(s.last.made->path, "/d/a");
	assert_string_equal(model_cwd(s.model, s.last.process), "/d");
	stream_done(&s);
}

static void test_other_limits(void **state)
{
	struct stream s = { .limits = &small };
	struct model_stats stats;

	stream_feed(&s, "repeat 20 i {\n{i+100} getpid() = 1\n}\n");
	assert_non_null(s.last.process);
	assert_true(s.last.process->calls > 10);
	model_stats(s.model, &stats);
	assert_string_equal(stats.limit, "tasks");
	stream_feed(&s, "120 open(\"/a\", O_RDONLY) = 3\n120 read(3, _, 1) = 0\n");
	assert_null(s.last.file);
	stream_done(&s);

	s = (struct stream){ .limits = &small };
	stream_feed(&s, "task 1 exe=/a\nrepeat 20 i {\n1 open(\"/f{i}\", O_RDONLY) = {i}\n}\n1 getpid() = 1\n");
	model_stats(s.model, &stats);
	assert_int_equal(stats.files, 3);
	assert_string_equal(stats.limit, "descriptors");
	stream_done(&s);

	s = (struct stream){ .limits = &small };
	stream_feed(&s, "task 1 exe=/a\nrepeat 20 i {\nexec 1 /e{i} \"some words here\" V={i}\n}\n");
	assert_string_equal(s.last.process->exe->path, "(other programs)");
	model_stats(s.model, &stats);
	assert_true(stats.text_bytes <= 64);
	stream_done(&s);
}

/* Allocations would show in the statistics: nothing is kept of a path. */
static void test_two_million_paths(void **state)
{
	struct stream s = { 0 };
	struct model_stats before, after;

	stream_feed(&s, "task 100 exe=/bin/x cwd=/w\n100 open(\"f\", O_RDONLY) = 3\n100 close(3) = 0\n");
	model_stats(s.model, &before);
	stream_feed(&s, "repeat 1000000 i {\n100 lstat(\"d/f{i}\", _) = 0\n"
			"100 openat(AT_FDCWD, \"e/f{i}\", O_RDONLY) = 3\n100 close(3) = 0\n}\n");
	assert_string_equal(s.last.file->path, "/w/e/f999999");
	model_stats(s.model, &after);
	assert_memory_equal(&before, &after, sizeof(before));
	stream_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_caller),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_launched),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_pid_without_end),
		cmocka_unit_test(test_ids_and_limits),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_marks_do_not_count),
		cmocka_unit_test(test_images_are_folded),
		cmocka_unit_test(test_other_limits),
		cmocka_unit_test(test_two_million_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
