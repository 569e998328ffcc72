/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs of strace's in the ways that it writes them, whole and torn. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine/strace/strace.h"

struct world {
	struct engine *engine;
	char path[64];
};

static void begin(struct world *w, const char *text, size_t bytes)
{
	struct engine_spec spec = { .file = w->path, .items = UINT64_MAX };
	struct error err = { 0 };
	FILE *file;

	(void)snprintf(w->path, sizeof w->path, "strace-XXXXXX");
	file = fdopen(mkstemp(w->path), "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(engine_strace_log.start(&spec, &w->engine, &err), 0);
}

static const struct event_head *next(struct world *w)
{
	const struct event_head *record;
	int r = engine_strace_log.next(w->engine, &record, NULL);

	return r == ENGINE_RECORD ? record : NULL;
}

static const struct event_call *next_call(struct world *w)
{
	const struct event_head *record;

	while ((record = next(w)) != NULL && record->type != EVENT_CALL)
		assert_true(event_valid(record, record->bytes));
	if (record)
		assert_true(event_valid(record, record->bytes));
	return (const struct event_call *)(const void *)record;
}

static void end(struct world *w, uint64_t unparsed)
{
	struct strace_facts facts;

	while (next(w))
		;
	strace_facts_of(w->engine, &facts);
	assert_int_equal(facts.unparsed, unparsed);
	engine_strace_log.stop(w->engine);
	(void)unlink(w->path);
}

static void check_call(const struct event_call *call, const char *name, int64_t ret)
{
	char text[SYS_NAME_MAX];

	assert_non_null(call);
	assert_string_equal(sys_call_print((enum sys_arch)call->arch, call->nr, text), name);
	assert_int_equal(call->ret, ret);
}

static void check_path(const struct event_call *call, unsigned arg, const char *path)
{
	size_t bytes;
	const char *text = event_text(&call->head, SYS_ITEM_PATH, arg, &bytes);

	assert_non_null(text);
	assert_int_equal(bytes, strlen(path));
	assert_memory_equal(text, path, bytes);
}

static void beginnings_of_lines(void **state)
{
	static const struct {
		const char *line;
		uint32_t tid;
		uint64_t time_ns;
		bool timed, relative;
		uint64_t ip;
	} rows[] = {
		{ "getpid() = 1", 0, 0, false, false, 0 },
		{ "123 getpid() = 1", 123, 0, false, false, 0 },
		{ "123   getpid() = 1", 123, 0, false, false, 0 },
		{ "[pid   123] getpid() = 1", 123, 0, false, false, 0 },
		{ "12:34:56 getpid() = 1", 0, UINT64_C(45296000000000), true, false, 0 },
		{ "7 12:34:56.000123 getpid() = 1", 7, UINT64_C(45296000123000), true, false, 0 },
		{ "1700000000.123456 getpid() = 1", 0, UINT64_C(1700000000123456000), true, false, 0 },
		{ "     0.000081 getpid() = 1", 0, 81000, true, true, 0 },
		{ "9      0.000081 getpid() = 1", 9, 81000, true, true, 0 },
		{ "12:34:56 (+     0.000081) getpid() = 1", 0, UINT64_C(45296000000000), true, false, 0 },
		{ "[00007f12345678ab] getpid() = 1", 0, 0, false, false, UINT64_C(0x7f12345678ab) },
		{ "5 [  39] getpid() = 1", 5, 0, false, false, 0 },
		{ "5<sh> getpid() = 1", 5, 0, false, false, 0 },
		{ "5<a b\\76> 0.000081 getpid() = 1", 5, 81000, true, true, 0 },
		{ "[pid    5<sh>] getpid() = 1", 5, 0, false, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct strace_line line;

		assert_true(strace_line_split(rows[i].line, strlen(rows[i].line), true, &line));
		assert_int_equal(line.tid, rows[i].tid);
		assert_int_equal(line.timed, rows[i].timed);
		assert_int_equal(line.relative, rows[i].relative);
		assert_int_equal(line.time_ns, rows[i].time_ns);
		assert_int_equal(line.ip, rows[i].ip);
		assert_int_equal(line.end - line.text, 12);
	}
}

static void calls_have_what_they_had(void **state)
{
	static const char text[] =
		"execve(\"/bin/ls\", [\"ls\", \"-l\", \"a b\"], 0x7ffe3 /* 25 vars */) = 0\n"
		"openat(AT_FDCWD, \"/etc/x,(y)\\n\\\"\\303\\244\", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or "
		"directory) <0.002123>\n"
		"newfstatat(3</tmp/a, b(>, \"f\", {st_dev=makedev(0x8, 0x1), st_ino=77, st_mode=S_IFREG|0644, "
		"st_nlink=1, st_uid=0, st_gid=0, st_size=5, st_mtime=1700000000 /* 2023-11-14 */, "
		"st_mtime_nsec=5, st_ctime=1700000001, st_ctime_nsec=6}, AT_SYMLINK_NOFOLLOW) = 0\n"
		"lgetxattr(\"f\", \"security.selinux\", 0x55, 255) = -1 EOPNOTSUPP (Operation not supported)\n"
		"rt_sigprocmask(SIG_BLOCK, [INT CHLD RT_1], ~[KILL], 8) = 0\n"
		"poll([{fd=5, events=POLLIN}, {fd=6<socket:[1]>, events=POLLOUT}], 2, 100) = 0 (Timeout)\n"
		"pipe2([3, 4], O_CLOEXEC) = 0\n"
		"prlimit64(0, RLIMIT_NOFILE, NULL, {rlim_cur=1024, rlim_max=20*1024}) = 0\n"
		"writev(1, [{iov_base=\"a\", iov_len=1}, {iov_base=\"bc\"..., iov_len=20}], 2) = 21\n"
		"connect(3, {sa_family=AF_UNIX, sun_path=\"/run/x\"}, 110) = -1 ECONNREFUSED (Connection refused)\n"
		"exit_group(0) = ?\n"
		"+++ exited with 0 +++\n";
	const struct event_call *call;
	const struct item_stat *st;
	const struct item_rlimit *limit;
	const struct item_iovec *vector;
	const uint64_t *set;
	struct world w;

	(void)state;
	begin(&w, text, sizeof text - 1);
	call = next_call(&w);
	check_call(call, "execve", 0);
	call = next_call(&w);
	check_call(call, "openat", -ENOENT);
	check_path(call, 1, "/etc/x,(y)\n\"\303\244");
	assert_int_equal(call->duration_ns, 2123000);
	assert_int_equal(call->args[2], O_CLOEXEC);
	call = next_call(&w);
	check_call(call, "newfstatat", 0);
	assert_int_equal(call->args[0], 3);
	st = EVENT_ITEM_AS(struct item_stat, event_item(&call->head, SYS_ITEM_STAT));
	assert_non_null(st);
	assert_int_equal(st->dev, makedev(8, 1));
	assert_int_equal(st->ino, 77);
	assert_int_equal(st->mode, S_IFREG | 0644);
	assert_int_equal(st->mtime_ns, INT64_C(1700000000000000005));
	assert_int_equal(call->args[3], AT_SYMLINK_NOFOLLOW);
	call = next_call(&w);
	check_call(call, "lgetxattr", -EOPNOTSUPP);
	check_path(call, 0, "f");
	call = next_call(&w);
	check_call(call, "rt_sigprocmask", 0);
	set = EVENT_ITEM_AS(uint64_t, event_item_arg(&call->head, SYS_ITEM_SIGSET, 1));
	assert_non_null(set);
	assert_int_equal(*set, UINT64_C(1) << 1 | UINT64_C(1) << 16 | UINT64_C(1) << 32);
	set = EVENT_ITEM_AS(uint64_t, event_item_arg(&call->head, SYS_ITEM_SIGSET, 2));
	assert_non_null(set);
	assert_int_equal(*set, ~(UINT64_C(1) << 8));
	call = next_call(&w);
	check_call(call, "poll", 0);
	assert_int_equal(event_item(&call->head, SYS_ITEM_POLLFDS)->bytes, 16);
	call = next_call(&w);
	check_call(call, "pipe2", 0);
	assert_int_equal(((const int32_t *)event_item_data(event_item(&call->head, SYS_ITEM_FDPAIR)))[1], 4);
	call = next_call(&w);
	limit = EVENT_ITEM_AS(struct item_rlimit, event_item_arg(&call->head, SYS_ITEM_RLIMIT, 3));
	assert_non_null(limit);
	assert_int_equal(limit->hard, 20480);
	call = next_call(&w);
	vector = EVENT_ITEM_AS(struct item_iovec, event_item(&call->head, SYS_ITEM_IOVEC));
	assert_non_null(vector);
	assert_int_equal(vector->count, 2);
	assert_int_equal(vector->total, 21);
	call = next_call(&w);
	check_call(call, "connect", -ECONNREFUSED);
	assert_non_null(event_item(&call->head, SYS_ITEM_SOCKADDR));
	call = next_call(&w);
	check_call(call, "exit_group", 0);
	assert_true(call->head.flags & EVENT_F_UNFINISHED);
	assert_null(next_call(&w));
	end(&w, 0);
}

static void children_come_after_their_makers(void **state)
{
	static const char text[] = "10 execve(\"/bin/sh\", [\"sh\"], 0x7f /* 2 vars */) = 0\n"
				   "10 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>\n"
				   "11 getppid() = 10\n"
				   "10 <... clone resumed>, child_tidptr=0x7f) = 11\n"
				   "10 clone3({flags=CLONE_VM|CLONE_THREAD|CLONE_FS, exit_signal=0}, 88) = 12\n"
				   "12 gettid() = 12\n"
				   "11 read(0 <unfinished ...>\n"
				   "11 +++ killed by SIGKILL +++\n"
				   "10 exit_group(3) = ?\n"
				   "12 +++ exited with 3 +++\n"
				   "10 +++ exited with 3 +++\n";
	static const struct {
		uint16_t type;
		uint32_t tid;
	} order[] = {
		{ EVENT_TASK, 10 }, { EVENT_CALL, 10 }, { EVENT_EXEC, 10 }, { EVENT_FORK, 10 }, { EVENT_CALL, 11 },
		{ EVENT_CALL, 10 }, { EVENT_FORK, 10 }, { EVENT_CALL, 10 }, { EVENT_CALL, 12 }, { EVENT_CALL, 11 },
		{ EVENT_EXIT, 11 }, { EVENT_CALL, 10 }, { EVENT_EXIT, 12 }, { EVENT_EXIT, 10 },
	};
	struct engine_exit exit;
	struct world w;

	(void)state;
	begin(&w, text, sizeof text - 1);
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		const struct event_head *record = next(&w);

		assert_non_null(record);
		assert_int_equal(record->type, order[i].type);
		assert_int_equal(record->tid, order[i].tid);
		if (i == 8)
			assert_int_equal(record->pid, 10);
		if (i == 9)
			assert_true(record->flags & EVENT_F_UNFINISHED);
	}
	engine_strace_log.exit_of(w.engine, &exit);
	assert_true(exit.known);
	assert_int_equal(exit.status, 3);
	end(&w, 0);
}

static void what_is_no_call_is_counted(void **state)
{
	static const char text[] = "getpid() = 1\n"
				   "this is not of strace's\n"
				   "getpid( = 1\n"
				   "frobnicate(1) = 0\n"
				   "open(\"/x\n"
				   "--- SIGCHLD {si_signo=SIGCHLD} ---\n"
				   "strace: Process 5 attached\n"
				   "getpid() = 1";
	struct strace_facts facts;
	struct world w;

	(void)state;
	begin(&w, text, sizeof text - 1);
	check_call(next_call(&w), "getpid", 1);
	check_call(next_call(&w), "getpid", 1);
	assert_null(next_call(&w));
	strace_facts_of(w.engine, &facts);
	assert_int_equal(facts.first_unparsed, 2);
	assert_string_equal(facts.first_text, "this is not of strace's");
	end(&w, 4);
}

/* What strace says, and what the program writes, into a log that is on stderr. */
static void what_stands_in_lines(void **state)
{
	static const char text[] = "execve(\"/bin/sh\", [\"sh\"], 0x7f /* 2 vars */) = 0\n"
				   "vfork(strace: Process 11 attached\n"
				   " <unfinished ...>\n"
				   "[pid 11] write(2, \"ls: \", 4ls: )    = 4\n"
				   "[pid 10] <... vfork resumed>)        = 11\n"
				   "[pid 10] clone(child_stack=NULL, flags=SIGCHLDstrace: Process 12<sh> attached\n"
				   "strace: Process 11 detached\n"
				   ", child_tidptr=0x7f) = 12\n"
				   "[pid 12] write(2, \"\\n1\\n\", 3\n1\n)    = 3\n"
				   "[pid 12] write(2, \"strace: Process 5 attached\", 26) = 26\n"
				   "[pid 12] +++ exited with 0 +++\n"
				   "[pid 11] +++ exited with 0 +++\n"
				   "write(1, \"\"..., 20 <unfinished ...>\n"
				   "<... write resumed>) = 20\n"
				   "exit_group(0) = ?\n"
				   "+++ exited with 0 +++\n";
	static const struct {
		const char *name;
		uint32_t tid;
		int64_t ret;
	} calls[] = {
		{ "execve", 10, 0 }, { "write", 11, 4 },  { "vfork", 10, 11 }, { "clone", 10, 12 },
		{ "write", 12, 3 },  { "write", 12, 26 }, { "write", 10, 20 }, { "exit_group", 10, 0 },
	};
	struct engine_exit exit;
	struct world w;

	(void)state;
	begin(&w, text, sizeof text - 1);
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		const struct event_call *call = next_call(&w);

		check_call(call, calls[i].name, calls[i].ret);
		assert_int_equal(call->head.tid, calls[i].tid);
	}
	assert_null(next_call(&w));
	engine_strace_log.exit_of(w.engine, &exit);
	assert_true(exit.known);
	end(&w, 0);
}

static void tables_hold_no_calls(void **state)
{
	static const char text[] = "getpid() = 1\n"
				   "% time     seconds  usecs/call     calls    errors syscall\n"
				   "------ ----------- ----------- --------- --------- ----------------\n"
				   " 50.00    0.000000           0         7           read\n"
				   " 50.00    0.000000           0         2         2 ioctl\n"
				   "------ ----------- ----------- --------- --------- ----------------\n"
				   "100.00    0.000000           0         9         2 total\n"
				   "syscall              calls\n"
				   "---------------- ---------\n"
				   "read                     7\n"
				   "getpid() = 2\n"
				   "  0.00 is none of it\n"
				   "+++ exited with 0 +++\n";
	struct world w;

	(void)state;
	begin(&w, text, sizeof text - 1);
	check_call(next_call(&w), "getpid", 1);
	check_call(next_call(&w), "getpid", 2);
	assert_null(next_call(&w));
	end(&w, 1);
}

/* A program whose beginning is there and whose end is not. */
static void cut_between_lines(void **state)
{
	static const struct {
		const char *text;
		bool cut;
	} rows[] = {
		{ "7 execve(\"/bin/ls\", [\"ls\"], 0x1 /* 2 vars */) = 0\n7 getpid() = 7\n", true },
		{ "7 execve(\"/bin/ls\", [\"ls\"], 0x1 /* 2 vars */) = 0\n7 exit_group(0) = ?\n", false },
		{ "7 execve(\"/bin/ls\", [\"ls\"], 0x1 /* 2 vars */) = 0\n7 read(0,  <detached ...>\n", false },
		{ "7 execve(\"/bin/ls\", [\"ls\"], 0x1 /* 2 vars */) = 0\n7 clone(flags=CLONE_VM|CLONE_THREAD) = 8\n"
		  "8 exit_group(0) = ?\n",
		  false },
		{ "7 getpid() = 7\n", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct engine_stats stats;
		struct world w;

		begin(&w, rows[i].text, strlen(rows[i].text));
		while (next(&w))
			;
		engine_strace_log.stats(w.engine, &stats);
		assert_int_equal(stats.aborted, rows[i].cut);
		assert_int_equal(stats.abort_reason[0] != '\0', rows[i].cut);
		end(&w, 0);
	}
}

/* A log cut at every byte: never a crash, never a call that was not there. */
static void torn_anywhere(void **state)
{
	static const char text[] = "7 12:34:56.123456 openat(AT_FDCWD, \"/a b\", O_RDONLY) = 3</a b> <0.000010>\n"
				   "7 12:34:56.123457 read(3</a b>, \"x\\\"y\"..., 4096) = 2 <0.000010>\n"
				   "7 12:34:56.123458 futex(0x7f, FUTEX_WAIT_PRIVATE, 2, {tv_sec=1, tv_nsec=0} "
				   "<unfinished ...>\n"
				   "7 12:34:56.123459 <... futex resumed>) = -1 ETIMEDOUT (Connection timed out)\n"
				   "7 12:34:56.123460 +++ exited with 0 +++\n";

	(void)state;
	for (size_t from = 0; from < sizeof text; from += 3) {
		for (size_t bytes = 1; from + bytes < sizeof text; bytes += 7) {
			const struct event_call *call;
			struct strace_facts facts;
			struct world w;
			size_t calls = 0;

			begin(&w, text + from, bytes);
			while ((call = next_call(&w)) != NULL)
				calls++;
			assert_true(calls <= 3);
			strace_facts_of(w.engine, &facts);
			end(&w, facts.unparsed);
		}
	}
}

static void a_table_is_refused(void **state)
{
	static const char text[] = "% time     seconds  usecs/call     calls    errors syscall\n";
	struct engine_spec spec = { .items = UINT64_MAX };
	struct error err = { 0 };
	struct engine *engine;
	char path[] = "strace-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");

	(void)state;
	assert_non_null(file);
	(void)fputs(text, file);
	assert_int_equal(fclose(file), 0);
	spec.file = path;
	assert_int_equal(engine_strace_log.start(&spec, &engine, &err), -EINVAL);
	assert_non_null(strstr(err.text, "strace -f -T -ttt -o FILE"));
	(void)unlink(path);
}

static void logs_are_recognised(void **state)
{
	static const char log[] = "123 12:34:56 execve(\"/bin/ls\", [\"ls\"], 0x1 /* 2 vars */) = 0\n123 12:34:56 "
				  "brk(NULL) = 0x5\n";
	static const char prose[] = "This is a text.\nIt has lines (and brackets) = so what\nNo calls though\n";
	static const char table[] = "     calls syscall\n--------- -------\n";
	static const char marked[] = "\xef\xbb\xbfgetpid() = 1\n";
	static const char binary[] = "getpid() = 1\n\0\0";

	(void)state;
	assert_true(strace_log_is(log, sizeof log - 1));
	assert_true(strace_log_is(table, sizeof table - 1));
	assert_true(strace_log_is(marked, sizeof marked - 1));
	assert_false(strace_log_is(prose, sizeof prose - 1));
	assert_false(strace_log_is(binary, sizeof binary - 1));
	assert_false(strace_log_is("", 0));
}

/* A log on a program's stream, and one that an editor has saved. */
static void what_stands_before_the_first_call_is_none(void **state)
{
	static const struct {
		const char *text;
		uint64_t before, unparsed;
	} rows[] = {
		{ "some words\n\ngetpid() = 1\n", 1, 0 },
		{ "some words\nand more\ngetpid() = 1\n", 2, 0 },
		{ "\xef\xbb\xbfgetpid() = 1\n", 0, 0 },
		/* The end of a call, whose begin is not there. */
		{ "\"/etc\", O_RDONLY) = 3\ngetpid() = 1\n", 0, 1 },
		{ "getpid() = 1\nsome words\n", 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct strace_facts facts;
		struct world w;

		begin(&w, rows[i].text, strlen(rows[i].text));
		check_call(next_call(&w), "getpid", 1);
		assert_null(next_call(&w));
		strace_facts_of(w.engine, &facts);
		assert_int_equal(facts.before, rows[i].before);
		end(&w, rows[i].unparsed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beginnings_of_lines),
		cmocka_unit_test(calls_have_what_they_had),
		cmocka_unit_test(children_come_after_their_makers),
		cmocka_unit_test(what_is_no_call_is_counted),
		cmocka_unit_test(what_stands_in_lines),
		cmocka_unit_test(what_stands_before_the_first_call_is_none),
		cmocka_unit_test(tables_hold_no_calls),
		cmocka_unit_test(cut_between_lines),
		cmocka_unit_test(torn_anywhere),
		cmocka_unit_test(a_table_is_refused),
		cmocka_unit_test(logs_are_recognised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
