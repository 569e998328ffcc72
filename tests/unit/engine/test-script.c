/* SPDX-License-Identifier: BSD-2-Clause */
/* The format of scripts: what a line becomes, and what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"

#include "engine/script/script.h"

static struct engine *engine;

static void begin(const char *text, const struct engine_spec *spec)
{
	struct error err = { 0 };

	if (script_open(text, strlen(text), "t", spec, &engine, &err) < 0)
		fail_msg("%s", err.text);
}

/* The next record, of this type; NULL at the end. */
static const void *next(enum event_type type)
{
	const struct event_head *head;
	struct error err = { 0 };
	int r = engine->ops->next(engine, &head, &err);

	if (r < 0)
		fail_msg("%s", err.text);
	if (r == ENGINE_END)
		return NULL;
	assert_true(event_valid(head, head->bytes));
	assert_int_equal(head->type, type);
	return head;
}

static void end(void)
{
	assert_null(next(EVENT_CALL));
	engine->ops->stop(engine);
}

static void assert_text(const struct event_head *head, enum sys_item item, unsigned arg, const char *text, size_t bytes)
{
	const struct event_item *found = event_item_arg(head, item, arg);

	assert_non_null(found);
	assert_int_equal(found->bytes, bytes);
	assert_memory_equal(event_item_data(found), text, bytes);
}

static void test_call(void **state)
{
	const struct event_call *call;

	begin("@12.5us 100 getxattr(\"d/f1\", \"system.posix_acl_access\", _, 132) = -1 ENODATA (No data available)"
	      " <1.5us> ip=7f0012 # a comment\n"
	      "100 getpid() = 100\n@+1ms 101 write(1, \"abc\", 0x10|1) = 17\n",
	      NULL);
	call = next(EVENT_CALL);
	assert_int_equal(call->head.time_ns, SCRIPT_START_NS + 12500);
	assert_int_equal(call->head.tid, 100);
	assert_int_equal(call->head.pid, 100);
	assert_int_equal(call->duration_ns, 1500);
	assert_int_equal(event_call_id(call), CALL_getxattr);
	assert_int_equal(call->ret, -ENODATA);
	assert_int_equal(event_call_errno(call), ENODATA);
	assert_int_equal(call->args[3], 132);
	assert_true(call->args[0] != 0 && call->args[2] != 0);
	assert_int_equal(call->ip, 0x7f0012);
	assert_text(&call->head, SYS_ITEM_PATH, 0, "d/f1", 4);
	assert_text(&call->head, SYS_ITEM_NAME, 1, "system.posix_acl_access", 23);
	call = next(EVENT_CALL);
	assert_int_equal(call->head.time_ns, SCRIPT_START_NS + 15000);
	assert_int_equal(call->duration_ns, 1000);
	assert_int_equal(call->ret, 100);
	call = next(EVENT_CALL);
	assert_int_equal(call->head.time_ns, SCRIPT_START_NS + 16000 + 1000000);
	assert_int_equal(call->args[2], 17);
	/* The buffer's text is for the reader. */
	assert_int_equal(call->items, 0);
	end();
}

static void test_items(void **state)
{
	const struct event_call *call;
	const struct item_stat *stat;
	const struct item_time *time;
	const struct event_item *item;
	const struct sockaddr_un *address;
	int32_t fds[2];
	uint64_t set;

	begin("1 newfstatat(AT_FDCWD, \"f\", {dev=8:1 ino=5 mode=0100644 size=3 mtime=1.5s rdev=1:3}, 0) = 0\n"
	      "1 pipe2([3, 4], O_CLOEXEC) = 0\n"
	      "1 ppoll([{fd=3 events=POLLIN}, {fd=4 revents=POLLOUT|POLLERR}], 2, {5ms}, [SIGINT SIGTERM], 8) = 1\n"
	      "1 connect(3, {unix \"/run/nscd/socket\"}, 110) = -1 ENOENT\n"
	      "1 recvmsg(3, {count=1 total=10 rights=[7, 8]}, 0) = 1\n"
	      "1 select(70, [3 64], NULL, NULL, {sec=1 nsec=2}) = 0\n"
	      "1 utimensat(AT_FDCWD, \"f\", [{1s}, {sec=0 nsec=UTIME_NOW}], 0) = 0\n"
	      "1 stat(\"\\x41\\102\\n\\\\\\\"\\0z\"..., ?) = 0\n",
	      NULL);
	call = next(EVENT_CALL);
	assert_int_equal(call->args[0], (uint64_t)(int64_t)AT_FDCWD);
	stat = EVENT_ITEM_AS(struct item_stat, event_item_arg(&call->head, SYS_ITEM_STAT, 2));
	assert_non_null(stat);
	assert_true(stat->dev == makedev(8, 1) && stat->ino == 5 && stat->mode == 0100644 && stat->size == 3);
	assert_true(stat->mtime_ns == 1500000000 && stat->mask == 0x7ff && stat->rdev_major == 1 &&
		    stat->rdev_minor == 3);
	call = next(EVENT_CALL);
	item = event_item(&call->head, SYS_ITEM_FDPAIR);
	assert_non_null(item);
	memcpy(fds, event_item_data(item), sizeof(fds));
	assert_true(fds[0] == 3 && fds[1] == 4);
	call = next(EVENT_CALL);
	item = event_item(&call->head, SYS_ITEM_POLLFDS);
	assert_int_equal(item->bytes, 2 * sizeof(struct item_pollfd));
	assert_int_equal(((const struct item_pollfd *)event_item_data(item))[1].revents, 4 | 8);
	time = EVENT_ITEM_AS(struct item_time, event_item(&call->head, SYS_ITEM_TIMEOUT));
	assert_true(time->sec == 0 && time->nsec == 5000000);
	memcpy(&set, event_item_data(event_item(&call->head, SYS_ITEM_SIGSET)), sizeof(set));
	assert_int_equal(set, 1u << 1 | 1u << 14);
	call = next(EVENT_CALL);
	address = event_item_data(event_item(&call->head, SYS_ITEM_SOCKADDR));
	assert_int_equal(address->sun_family, AF_UNIX);
	assert_string_equal(address->sun_path, "/run/nscd/socket");
	call = next(EVENT_CALL);
	item = event_item(&call->head, SYS_ITEM_RIGHTS);
	assert_int_equal(item->bytes, 8);
	assert_int_equal(EVENT_ITEM_AS(struct item_msg, event_item(&call->head, SYS_ITEM_MSG))->total, 10);
	call = next(EVENT_CALL);
	item = event_item_arg(&call->head, SYS_ITEM_FDSET, 1);
	assert_int_equal(item->bytes, 9);
	assert_int_equal(((const unsigned char *)event_item_data(item))[8], 1);
	call = next(EVENT_CALL);
	time = event_item_data(event_item(&call->head, SYS_ITEM_TIMES));
	assert_true(time[0].sec == 1 && time[1].nsec == 0x3fffffff);
	call = next(EVENT_CALL);
	assert_text(&call->head, SYS_ITEM_PATH, 0, "AB\n\\\"\0z", 7);
	assert_true(event_item(&call->head, SYS_ITEM_PATH)->flags & EVENT_ITEM_TRUNCATED);
	assert_null(event_item(&call->head, SYS_ITEM_STAT));
	item = event_item_next(&call->head, event_item(&call->head, SYS_ITEM_PATH));
	assert_true(item && item->type == SYS_ITEM_STAT && (item->flags & EVENT_ITEM_UNREAD));
	end();
}

static void test_flags_and_numbers(void **state)
{
	const struct event_call *call;
	struct engine_stats stats;

	begin("1 read(0, _, 1) = ?\n1 exit_group(0) = ? killed\n1 call_471(1, 2) = -1 ENOSYS\n1 i386:5(1) = 3\n"
	      "1 read(0, _, 1) = -1 EINTR no-enter\n1 access(\"/.syscull/mark/a\", F_OK) = -1 ENOENT\nlost 7\n",
	      NULL);
	call = next(EVENT_CALL);
	assert_int_equal(call->head.flags, EVENT_F_UNFINISHED);
	call = next(EVENT_CALL);
	assert_int_equal(call->head.flags, EVENT_F_UNFINISHED | EVENT_F_KILLED);
	call = next(EVENT_CALL);
	assert_int_equal(call->nr, 471);
	call = next(EVENT_CALL);
	assert_int_equal(call->arch, SYS_ARCH_I386);
	assert_true(call->head.flags & EVENT_F_COMPAT);
	call = next(EVENT_CALL);
	assert_int_equal(call->head.flags, EVENT_F_NO_ENTER);
	call = next(EVENT_CALL);
	assert_int_equal(call->head.flags, EVENT_F_MARK);
	assert_int_equal(((const struct event_lost *)next(EVENT_LOST))->count, 7);
	engine->ops->stats(engine, &stats);
	assert_int_equal(stats.marks, 1);
	assert_int_equal(stats.delivered, 5);
	assert_int_equal(stats.lost, 7);
	assert_int_equal(stats.seen, stats.delivered + stats.lost + stats.in_flight + stats.marks);
	end();
}

static void test_state_lines(void **state)
{
	const struct event_task *task;
	const struct event_dirs *dirs;
	const struct event_fd *fd;
	const struct event_map *map;
	const struct event_fork *forked;
	const struct event_exec *exec;
	const struct event_exit *gone;
	const struct event_clock *clock;
	struct engine_stats stats;
	struct engine_exit how;

	begin("task 100 ppid=1 exe=/bin/ls argv=\"ls  -l \" cwd=\"/a b\" root=/r umask=022\nenv 100 TZ= LANG=\"a b\"\n"
	      "fd 100 1 /dev/null mode=020666 dev=0:5 ino=3 flags=O_WRONLY offset=9\n"
	      "map 100 7f00-8000 r-x 10 \"/lib/l c.so\"\nthread 100 102\n102 gettid() = 102\nfork 102 101 CLONE_FS\n"
	      "exec 101 /bin/true \"true x\" from=103 secure TZ=UTC\nexit 101 SIGSEGV run=1ms user=2us gaps=3\n"
	      "clock 100\nclock 100 at=return run=1ms queue=2us turns=3 wall=4us stops=5 late=6us\n"
	      "fork 100 104 unfollowed\nids 100 uid=5 gid=6 fsgid=7\nlimits 100 nofile=1:2 mask=0x10\nexit 100 4\n",
	      NULL);
	task = next(EVENT_TASK);
	assert_int_equal(task->attached, 1);
	assert_int_equal(task->ppid, 1);
	assert_text(&task->head, SYS_ITEM_EXE, 0, "/bin/ls", 7);
	assert_text(&task->head, SYS_ITEM_ARGV, 0, "ls\0-l\0", 6);
	dirs = next(EVENT_DIRS);
	assert_text(&dirs->head, SYS_ITEM_CWD, 0, "/a b", 4);
	assert_text(&dirs->head, SYS_ITEM_PATH, 0, "/r", 2);
	assert_int_equal(dirs->umask, 022);
	task = next(EVENT_TASK);
	assert_text(&task->head, SYS_ITEM_ENV, 0, "TZ=\0LANG=a b\0", 13);
	fd = next(EVENT_FD);
	assert_true(fd->fd == 1 && fd->mode == 020666 && fd->dev == makedev(0, 5) && fd->ino == 3 && fd->offset == 9);
	assert_int_equal(fd->flags, O_WRONLY);
	assert_text(&fd->head, SYS_ITEM_PATH, 0, "/dev/null", 9);
	map = next(EVENT_MAP);
	assert_true(map->start == 0x7f00 && map->end == 0x8000 && map->file_offset == 0x10 && map->prot == 5);
	assert_text(&map->head, SYS_ITEM_PATH, 0, "/lib/l c.so", 11);
	forked = next(EVENT_FORK);
	assert_int_equal(forked->child_pid, 100);
	assert_true(forked->clone_flags & CLONE_THREAD);
	assert_int_equal(((const struct event_call *)next(EVENT_CALL))->head.pid, 100);
	forked = next(EVENT_FORK);
	assert_true(forked->head.pid == 100 && forked->head.tid == 102 && forked->child_pid == 101 && forked->followed);
	assert_int_equal(forked->clone_flags, CLONE_FS);
	exec = next(EVENT_EXEC);
	assert_true(exec->former_tid == 103 && exec->secure == 1);
	assert_text(&exec->head, SYS_ITEM_EXE, 0, "/bin/true", 9);
	assert_text(&exec->head, SYS_ITEM_ARGV, 0, "true\0x\0", 7);
	assert_text(&exec->head, SYS_ITEM_ENV, 0, "TZ=UTC\0", 7);
	gone = next(EVENT_EXIT);
	assert_true(gone->how == EVENT_EXIT_SIGNAL && gone->status == 11 && gone->run_ns == 1000000);
	assert_true(gone->user_ns == 2000 && gone->user_gaps == 3);
	clock = next(EVENT_CLOCK);
	assert_true(clock->head.pid == 100 && clock->at == EVENT_CLOCK_OTHER && clock->run_ns == 0);
	clock = next(EVENT_CLOCK);
	assert_true(clock->at == EVENT_CLOCK_RETURN && clock->run_ns == 1000000 && clock->queue_ns == 2000);
	assert_true(clock->turns == 3 && clock->wall_ns == 4000 && clock->stops == 5 && clock->late_ns == 6000);
	assert_false(((const struct event_fork *)next(EVENT_FORK))->followed);
	assert_int_equal(((const struct event_ids *)next(EVENT_IDS))->fsgid, 7);
	assert_int_equal(((const struct event_limits *)next(EVENT_LIMITS))->nofile_hard, 2);
	assert_int_equal(((const struct event_exit *)next(EVENT_EXIT))->status, 4);
	engine->ops->stats(engine, &stats);
	assert_true(stats.children == 3 && stats.followed == 2 && stats.not_followed == 1);
	engine->ops->exit_of(engine, &how);
	assert_true(how.known && how.status == 4 && how.signal == 0);
	end();
}

static void test_mounts(void **state)
{
	const struct event_mounts *mounts;
	static const char both[] = "1 0 8:1 / / rw - ext4 /dev/vda rw\n2 1 0:9 / /a\\040b rw - tmpfs none rw\n";

	begin("mount 8:1 / ext4 /dev/vda\nmount 0:9 \"/a b\" tmpfs none\n\n# they end here\n1 getpid() = 1\n"
	      "mount 8:1 / x y pid=1 ns=3\nmount 8:1 / x y pid=2 ns=4\n",
	      NULL);
	mounts = next(EVENT_MOUNTS);
	assert_int_equal(mounts->head.pid, 0);
	assert_text(&mounts->head, SYS_ITEM_MOUNTINFO, 0, both, sizeof(both) - 1);
	(void)next(EVENT_CALL);
	assert_int_equal(((const struct event_mounts *)next(EVENT_MOUNTS))->ns_ino, 3);
	assert_int_equal(((const struct event_mounts *)next(EVENT_MOUNTS))->head.pid, 2);
	end();
}

static void test_repeat(void **state)
{
	static const char *const want[] = { "f0.0", "f0.1", "f0.2", "f1.0", "f1.1", "f1.2" };
	const struct event_call *call;

	begin("repeat 2 i {\n  repeat 3 k {\n1 unlink(\"f{i}.{k}\") = 0\n}\n}\nrepeat 0 {\n1 getpid() = 1\n}\n"
	      "repeat 1 x {\n1 stat(\"{x+7}{x*2}{x/3}{x%2}{y}{x\", {dev=8:{x+1} ino=4}) = {x-3}\n}\n",
	      NULL);
	for (size_t i = 0; i < 6; i++) {
		call = next(EVENT_CALL);
		assert_text(&call->head, SYS_ITEM_PATH, 0, want[i], 4);
	}
	call = next(EVENT_CALL);
	assert_text(&call->head, SYS_ITEM_PATH, 0, "7000{y}{x", 9);
	assert_int_equal(call->ret, -3);
	assert_true(EVENT_ITEM_AS(struct item_stat, event_item(&call->head, SYS_ITEM_STAT))->dev == makedev(8, 1));
	end();
}

static void test_spec_narrows(void **state)
{
	static const char *const names[] = { "TZ", NULL };
	struct engine_spec spec = { .items = SYS_ITEM_BIT(NAME), .env_names = names };
	const struct event_call *call;

	begin("env 1 TZ=UTC LANG=C TZX=1\n1 lgetxattr(\"f\", \"user.x\", _, 1) = 1\n1 lstat(\"f\", {ino=1}) = 0\n"
	      "1 pipe([3 4]) = 0\n",
	      &spec);
	assert_text(next(EVENT_TASK), SYS_ITEM_ENV, 0, "TZ=UTC\0", 7);
	call = next(EVENT_CALL);
	assert_int_equal(call->items, 1);
	assert_text(&call->head, SYS_ITEM_NAME, 1, "user.x", 6);
	assert_int_equal(((const struct event_call *)next(EVENT_CALL))->items, 0);
	assert_int_equal(((const struct event_call *)next(EVENT_CALL))->items, 0);
	end();
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "1 getpid() = 1\n\nfoo 1\n", "t:3: expected a tid and a call" },
		{ "1 nosuchcall() = 1\n", "t:1: expected the name of a call, found 'nosuchcall() = 1'" },
		{ "1 getpid(1) = 1\n", "t:1: expected fewer arguments" },
		{ "1 close(3 = 1\n", "t:1: expected ',' or ')', found '= 1'" },
		{ "1 close(3)\n", "t:1: expected '=' and the result, found the end of the line" },
		{ "1 close(3) = -1 ENOSUCH\n", "t:1: expected the name of an error, found 'ENOSUCH'" },
		{ "1 close(FOO) = 0\n", "t:1: expected a number or a constant" },
		{ "1 close(3) = 0 <2>\n", "t:1: expected a unit of time" },
		{ "1 close(3) = 0 slowly\n", "t:1: expected <DURATION>" },
		{ "1 stat(\"a, _) = 0\n", "t:1: expected a closing quote" },
		{ "1 stat(\"a\", {inode=1}) = 0\n", "t:1: expected a field of this struct" },
		{ "1 read(0, {a=1}, 1) = 0\n", "t:1: expected a number or '_'" },
		{ "1 close(99999999999999999999) = 0\n", "t:1: expected a number of at most 64 bits" },
		{ "task 1 exec=/bin/ls\n", "t:1: expected pid=, ppid=, exe=" },
		{ "clock 1 at=exit\n", "t:1: expected at=enter, at=return, at=other, run=," },
		{ "exit 1 0 foo=1\n", "t:1: expected run=, user= or gaps=, found 'foo=1'" },
		{ "exit 1 0 run=x\n", "t:1: expected" },
		{ "dirs 1 pid=3\n", "t:1: expected cwd=, root= or umask=, found 'pid=3'" },
		{ "ids 1 uid=-\n", "t:1: expected" },
		{ "limits 1 nofile=3\n", "t:1: expected ':' and the hard limit" },
		{ "clock 1 runs=1ms\n",
		  "t:1: expected at=enter, at=return, at=other, run=, queue=, turns=, wall=, stops= or late=" },
		{ "map 1 10-20 rx 0 /a\n", "t:1: expected permissions" },
		{ "repeat 2 i {\n1 getpid() = 1\n", "t:1: expected '}' somewhere behind this repeat" },
		{ "}\n", "t:1: expected no '}': nothing is repeated here" },
		{ "repeat 2 i\n}\n", "t:1: expected '{' at the end of the line" },
		{ "repeat 3 i {\n1 close({i}q) = 0\n}\n", "t:2: expected ',' or ')', found 'q) = 0'" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct event_head *head;
		struct error err = { 0 };
		int r = script_open(rows[i].text, strlen(rows[i].text), "t", NULL, &engine, &err);

		if (r == 0) {
			do
				r = engine->ops->next(engine, &head, &err);
			while (r == ENGINE_RECORD);
			engine->ops->stop(engine);
		}
		assert_int_equal(r, -EINVAL);
		if (strncmp(err.text, rows[i].message, strlen(rows[i].message)) != 0)
			fail_msg("row %zu: %s", i, err.text);
	}
}

/* Damaged scripts end or are refused; the sanitizers look. */
static void test_damaged(void **state)
{
	static const char original[] =
		"task 1 exe=/a argv=\"a \\40b\" cwd=/c root=/\nenv 1 A=b C=\"d e\"\nmount 8:1 / t s\nmount 8:1 /b t s "
		"ns=2\n"
		"fd 1 3 /x dev=8:1\nmap 1 10-20 r-x 0 /y\nrepeat 3 i {\n@+5us 1 stat(\"f{i}{i%2}\", {ino={i+1}}) = -1 "
		"ENOENT "
		"(text) <2us> ip=ff\n}\nfork 1 2 CLONE_FS|CLONE_VM\nexec 2 /b \"c d\" A=1\nexit 2 SIGKILL run=1ms\n"
		"1 ppoll([{fd=1 events=POLLIN}], 1, {5ms}, [SIGINT], 8) = 1\n1 recvmsg(1, {count=1 rights=[7 8]}, 0) = "
		"1\n"
		"1 connect(3, {unix \"/s\"}, 5) = 0\n1 select(9, [3 4], NULL, NULL, ?) = 0\nlimits 1 nofile=1:2\nids 1 "
		"uid=3\n";
	uint64_t seed = 1;

	for (unsigned turn = 0; turn < 20000; turn++) {
		char text[sizeof(original)];
		const struct event_head *head;
		struct error err = { 0 };
		int r;

		memcpy(text, original, sizeof(text));
		for (unsigned i = 0; i < 3; i++) {
			size_t at;

			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			at = (seed >> 33) % (sizeof(text) - 1);
			text[at] = seed >> 62 ? original[(seed >> 20) % (sizeof(text) - 1)] : (char)(seed >> 40);
		}
		r = script_open(text, sizeof(text) - 1, "t", NULL, &engine, &err);
		for (unsigned records = 0; r >= 0; records++) {
			r = engine->ops->next(engine, &head, &err);
			/* A loop may have become a long one. */
			if (r != ENGINE_RECORD || records > 100)
				break;
			assert_true(event_valid(head, head->bytes));
		}
		if (r < 0) {
			assert_true(r == -EINVAL);
			assert_true(*err.text);
		}
		if (engine)
			engine->ops->stop(engine);
	}
}

static void test_file_and_more(void **state)
{
	char path[] = "/tmp/script-XXXXXX";
	struct engine_spec spec = { .script = path };
	const struct event_call *call;
	struct error err = { 0 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "task 5 pid=4\n5 gettid() = 5", 27), 27);
	assert_int_equal(close(fd), 0);
	assert_int_equal(engine_script.start(&spec, &engine, &err), 0);
	assert_int_equal(unlink(path), 0);
	(void)next(EVENT_TASK);
	call = next(EVENT_CALL);
	assert_int_equal(call->head.pid, 4);
	assert_null(next(EVENT_CALL));
	assert_int_equal(script_more(engine, "5 gettid() = 5\nx\n", 17, &err), 0);
	{
		uint64_t before = call->head.time_ns;

		call = next(EVENT_CALL);
		assert_true(call->head.pid == 4 && call->head.time_ns > before);
	}
	{
		const struct event_head *head;

		assert_int_equal(engine->ops->next(engine, &head, &err), -EINVAL);
		assert_int_equal(strncmp(err.text + strlen(path), ":4: ", 4), 0);
	}
	engine->ops->stop(engine);
	engine_script.stop(NULL);
	spec.script = "/nonexistent/script";
	err = (struct error){ 0 };
	assert_int_equal(engine_script.start(&spec, &engine, &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent/script: No such file or directory");
	assert_true(engine_by_name("script") == &engine_script);
	assert_null(engine_by_name("scrip"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_flags_and_numbers),
		cmocka_unit_test(test_state_lines),
		cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_repeat),
		cmocka_unit_test(test_spec_narrows),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_file_and_more),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
