/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines about state: tasks, descriptors, mounts, mappings, forks, execs and
 * ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "engine/script/script.h"

static int no_memory(struct scan *scan)
{
	return error_errno(scan->err, ENOMEM, "%s", scan->script->name);
}

static int scan_id(struct scan *scan, uint32_t *ret)
{
	uint64_t number;
	int r = scan_number(scan, &number);

	*ret = (uint32_t)number;
	if (r == 0 && number > INT32_MAX)
		return scan_fail(scan, "a smaller number");
	return r;
}

static int text_item(struct scan *scan, enum sys_item item, bool split)
{
	struct buf text = BUF_INIT;
	int r = scan_text(scan, &text, split);

	if (r == 0 && event_item_add(script_record(scan->script), item, 0, 0, text.data, text.bytes) < 0)
		r = no_memory(scan);
	buf_done(&text);
	return r;
}

static bool env_wanted(const struct script *script, const char *variable, size_t bytes)
{
	const char *equals = memchr(variable, '=', bytes);
	size_t name_bytes = equals ? (size_t)(equals - variable) : bytes;

	if (!script->env_names)
		return true;
	for (size_t i = 0; script->env_names[i]; i++) {
		if (strlen(script->env_names[i]) == name_bytes &&
		    memcmp(script->env_names[i], variable, name_bytes) == 0)
			return true;
	}
	return false;
}

/* One NAME=VALUE; what nobody asked for is left out as by every engine. */
static int env_variable(struct scan *scan, struct buf *env)
{
	size_t before = env->bytes;
	const char *start = scan->at;
	const char *word;
	size_t bytes;
	int r;

	bytes = scan_word(scan, &word);
	if (bytes == 0 || scan->at == scan->end || *scan->at != '=') {
		scan->at = start;
		return scan_fail(scan, "NAME=VALUE");
	}
	(void)buf_add(env, word, bytes);
	(void)buf_putc(env, *scan->at++);
	r = 0;
	if (scan->at < scan->end && *scan->at != ' ' && *scan->at != '\t')
		r = scan_text(scan, env, false);
	(void)buf_putc(env, '\0');
	if (env->failed)
		return no_memory(scan);
	if (!env_wanted(scan->script, env->data + before, env->bytes - before - 1))
		env->bytes = before;
	return r;
}

static int env_item(struct scan *scan, const struct buf *env)
{
	if (event_item_add(script_record(scan->script), SYS_ITEM_ENV, 0, 0, env->data, env->bytes) < 0)
		return no_memory(scan);
	return 0;
}

static int dirs_record(struct scan *scan, uint32_t tid, const struct buf *cwd, const struct buf *root, uint64_t mask)
{
	struct event_dirs *event = script_begin(scan, EVENT_DIRS, tid);
	struct buf *record = script_record(scan->script);

	if (!event)
		return no_memory(scan);
	event->umask = (uint32_t)mask;
	if (cwd->bytes > 0 && event_item_add(record, SYS_ITEM_CWD, 0, 0, cwd->data, cwd->bytes) < 0)
		return no_memory(scan);
	if (root->bytes > 0 && event_item_add(record, SYS_ITEM_PATH, 0, 0, root->data, root->bytes) < 0)
		return no_memory(scan);
	return script_end(scan);
}

/* task TID [pid=N] [ppid=N] [launched] [exe=PATH] [argv="…"] [comm=TEXT]; and dirs TID.
 * Both take cwd=PATH, root=PATH and umask=N. */
static int task_line(struct scan *scan, bool task)
{
	struct event_task fixed;
	struct buf cwd = BUF_INIT, root = BUF_INIT;
	uint64_t mask = UINT32_MAX;
	uint32_t tid;
	void *begun = NULL;
	int r = scan_id(scan, &tid);

	if (r < 0)
		return r;
	if (task) {
		if (script_set_pid(scan->script, tid, script_pid(scan->script, tid)) < 0)
			return no_memory(scan);
		begun = script_begin(scan, EVENT_TASK, tid);
		if (!begun)
			return no_memory(scan);
		memcpy(&fixed, begun, sizeof(fixed));
		fixed.attached = 1;
	}
	while (r == 0 && !scan_done(scan)) {
		if (scan_literal(scan, "cwd="))
			r = scan_text(scan, &cwd, false);
		else if (scan_literal(scan, "root="))
			r = scan_text(scan, &root, false);
		else if (scan_literal(scan, "umask="))
			r = scan_number(scan, &mask);
		else if (task && scan_literal(scan, "pid="))
			r = scan_id(scan, &fixed.head.pid);
		else if (task && scan_literal(scan, "ppid="))
			r = scan_id(scan, &fixed.ppid);
		else if (task && scan_literal(scan, "exe="))
			r = text_item(scan, SYS_ITEM_EXE, false);
		else if (task && scan_literal(scan, "argv="))
			r = text_item(scan, SYS_ITEM_ARGV, true);
		else if (task && scan_literal(scan, "comm="))
			r = text_item(scan, SYS_ITEM_COMM, false);
		else if (task && scan_literal(scan, "launched"))
			fixed.attached = 0;
		else
			r = scan_fail(scan, task ? "pid=, ppid=, exe=, argv=, comm=, launched, cwd=, root= or umask="
						 : "cwd=, root= or umask=");
	}
	if (r == 0 && task) {
		if (script_set_pid(scan->script, tid, fixed.head.pid) < 0)
			r = no_memory(scan);
		if (!scan->script->first_pid)
			scan->script->first_pid = fixed.head.pid;
		memcpy(script_record(scan->script)->data, &fixed, sizeof(fixed));
		if (r == 0)
			r = script_end(scan);
	}
	if (r == 0 && (!task || cwd.bytes > 0 || root.bytes > 0 || mask != UINT32_MAX))
		r = dirs_record(scan, tid, &cwd, &root, mask);
	buf_done(&cwd);
	buf_done(&root);
	return r;
}

/* env TID [NAME=VALUE]… */
static int env_line(struct scan *scan)
{
	struct event_task *event;
	struct buf env = BUF_INIT;
	uint32_t tid;
	int r = scan_id(scan, &tid);

	if (r < 0)
		return r;
	event = script_begin(scan, EVENT_TASK, tid);
	if (!event)
		return no_memory(scan);
	event->attached = 1;
	while (r == 0 && !scan_done(scan))
		r = env_variable(scan, &env);
	if (r == 0)
		r = env_item(scan, &env);
	buf_done(&env);
	return r < 0 ? r : script_end(scan);
}

/* fd TID N [PATH] [mode=N] [dev=M:N] [ino=N] [flags=N] [offset=N] */
static int fd_line(struct scan *scan)
{
	struct event_fd fixed;
	uint64_t number;
	uint32_t tid;
	void *begun;
	int r = scan_id(scan, &tid);

	if (r < 0)
		return r;
	begun = script_begin(scan, EVENT_FD, tid);
	if (!begun)
		return no_memory(scan);
	memcpy(&fixed, begun, sizeof(fixed));
	fixed.offset = -1;
	r = scan_id(scan, &tid);
	fixed.fd = (int32_t)tid;
	while (r == 0 && !scan_done(scan)) {
		if (scan_literal(scan, "mode=")) {
			r = scan_number(scan, &number);
			fixed.mode = (uint32_t)number;
		} else if (scan_literal(scan, "dev=")) {
			r = scan_device(scan, &fixed.dev);
		} else if (scan_literal(scan, "ino=")) {
			r = scan_number(scan, &fixed.ino);
		} else if (scan_literal(scan, "flags=")) {
			r = scan_number(scan, &number);
			fixed.flags = (uint32_t)number;
		} else if (scan_literal(scan, "offset=")) {
			r = scan_number(scan, &number);
			fixed.offset = (int64_t)number;
		} else {
			r = text_item(scan, SYS_ITEM_PATH, false);
		}
	}
	if (r < 0)
		return r;
	memcpy(script_record(scan->script)->data, &fixed, sizeof(fixed));
	return script_end(scan);
}

static int put_escaped(struct buf *out, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (strchr(" \t\n\\", text[i]))
			(void)buf_printf(out, "\\%03o", (unsigned)(unsigned char)text[i]);
		else
			(void)buf_putc(out, text[i]);
	}
	return out->failed ? -ENOMEM : 0;
}

/* The mount that a new one goes onto: the last with the longest point above. */
static size_t parent_of(const struct script *script, const char *point)
{
	size_t best = 0;
	size_t best_bytes = 0;

	for (size_t i = 0; i < script->points.used; i++) {
		size_t bytes = strcmp(script->points.at[i], "/") == 0 ? 0 : strlen(script->points.at[i]);

		if (strncmp(script->points.at[i], point, bytes) == 0 && (point[bytes] == '/' || point[bytes] == '\0') &&
		    bytes >= best_bytes) {
			best = i + 1;
			best_bytes = bytes;
		}
	}
	return best;
}

/* mount DEV POINT TYPE SOURCE [pid=N] [ns=N] */
static int mount_line(struct scan *scan)
{
	struct script *script = scan->script;
	struct buf text[3] = { BUF_INIT, BUF_INIT, BUF_INIT };
	uint64_t dev = 0;
	uint64_t ns = 0;
	uint32_t pid = 0;
	int r = scan_device(scan, &dev);

	for (unsigned i = 0; r == 0 && i < 3; i++) {
		scan_blanks(scan);
		r = scan_text(scan, &text[i], false);
	}
	while (r == 0 && !scan_done(scan)) {
		if (scan_literal(scan, "pid="))
			r = scan_id(scan, &pid);
		else if (scan_literal(scan, "ns="))
			r = scan_number(scan, &ns);
		else
			r = scan_fail(scan, "pid= or ns=");
	}
	if (r == 0 && script->mounts.bytes > 0 && (pid != script->mounts_pid || ns != script->mounts_ns))
		r = state_mounts_end(script);
	if (r == 0) {
		const char *point = buf_text(&text[0]);

		script->mounts_pid = pid;
		script->mounts_ns = ns;
		(void)buf_printf(&script->mounts, "%zu %zu %u:%u / ", script->points.used + 1, parent_of(script, point),
				 major(dev), minor(dev));
		(void)put_escaped(&script->mounts, point, text[0].bytes);
		(void)buf_puts(&script->mounts, " rw - ");
		(void)put_escaped(&script->mounts, buf_text(&text[1]), text[1].bytes);
		(void)buf_putc(&script->mounts, ' ');
		(void)put_escaped(&script->mounts, buf_text(&text[2]), text[2].bytes);
		(void)buf_puts(&script->mounts, " rw\n");
		if (script->mounts.failed || !vec_grow(&script->points))
			r = no_memory(scan);
		else
			script->points.at[script->points.used++] = buf_steal(&text[0]);
	}
	for (unsigned i = 0; i < 3; i++)
		buf_done(&text[i]);
	return r;
}

int state_mounts_end(struct script *script)
{
	struct scan scan = { .script = script, .time_ns = script->now_ns };
	struct event_mounts *event = script_begin(&scan, EVENT_MOUNTS, script->mounts_pid);
	int r;

	if (!event)
		return -ENOMEM;
	event->head.pid = script->mounts_pid;
	event->ns_ino = script->mounts_ns;
	r = event_item_add(script_record(script), SYS_ITEM_MOUNTINFO, 0, 0, script->mounts.data, script->mounts.bytes);
	buf_clear(&script->mounts);
	while (script->points.used > 0)
		free(script->points.at[--script->points.used]);
	return r < 0 ? r : script_end(&scan);
}

/* map TID START-END PERMISSIONS OFFSET PATH, as /proc/PID/maps without device and inode */
static int map_line(struct scan *scan)
{
	struct event_map fixed;
	const char *word;
	uint32_t tid;
	void *begun;
	size_t bytes;
	int r = scan_id(scan, &tid);

	if (r < 0)
		return r;
	begun = script_begin(scan, EVENT_MAP, tid);
	if (!begun)
		return no_memory(scan);
	memcpy(&fixed, begun, sizeof(fixed));
	r = scan_hex(scan, &fixed.start);
	if (r < 0)
		return r;
	if (!scan_char(scan, '-'))
		return scan_fail(scan, "'-' and the end of the mapping");
	r = scan_hex(scan, &fixed.end);
	if (r < 0)
		return r;
	bytes = scan_word(scan, &word);
	if (bytes < 3)
		return scan_fail(scan, "permissions such as r-xp");
	fixed.prot =
		(word[0] == 'r' ? PROT_READ : 0) | (word[1] == 'w' ? PROT_WRITE : 0) | (word[2] == 'x' ? PROT_EXEC : 0);
	r = scan_hex(scan, &fixed.file_offset);
	if (r < 0)
		return r;
	scan_blanks(scan);
	r = text_item(scan, SYS_ITEM_PATH, false);
	if (r < 0)
		return r;
	memcpy(script_record(scan->script)->data, &fixed, sizeof(fixed));
	return scan_done(scan) ? script_end(scan) : scan_fail(scan, "nothing more");
}

/* fork PARENT CHILD [FLAGS] [unfollowed] */
static int fork_line(struct scan *scan, uint64_t flags)
{
	struct script *script = scan->script;
	struct event_fork fixed;
	uint32_t parent, child = 0;
	uint64_t more;
	void *begun;
	int r = scan_id(scan, &parent);

	if (r == 0)
		r = scan_id(scan, &child);
	if (r < 0)
		return r;
	begun = script_begin(scan, EVENT_FORK, parent);
	if (!begun)
		return no_memory(scan);
	memcpy(&fixed, begun, sizeof(fixed));
	fixed.clone_flags = flags;
	fixed.child_tid = child;
	fixed.child_pid = flags & CLONE_THREAD ? fixed.head.pid : child;
	fixed.followed = 1;
	while (!scan_done(scan)) {
		if (scan_literal(scan, "unfollowed")) {
			fixed.followed = 0;
			continue;
		}
		r = scan_number(scan, &more);
		if (r < 0)
			return r;
		fixed.clone_flags |= more;
	}
	memcpy(script_record(script)->data, &fixed, sizeof(fixed));
	script->stats.children++;
	if (fixed.followed)
		script->stats.followed++;
	else
		script->stats.not_followed++;
	if (script_set_pid(script, child, fixed.child_pid) < 0)
		return no_memory(scan);
	return script_end(scan);
}

/* exec PID PATH ["ARGUMENTS"] [from=TID] [secure] [NAME=VALUE]… */
static int exec_line(struct scan *scan)
{
	struct event_exec fixed;
	struct buf env = BUF_INIT;
	uint32_t tid;
	void *begun;
	int r = scan_id(scan, &tid);

	if (r < 0)
		return r;
	begun = script_begin(scan, EVENT_EXEC, tid);
	if (!begun)
		return no_memory(scan);
	memcpy(&fixed, begun, sizeof(fixed));
	fixed.former_tid = tid;
	scan_blanks(scan);
	r = text_item(scan, SYS_ITEM_EXE, false);
	scan_blanks(scan);
	if (r == 0 && scan->at < scan->end && *scan->at == '"')
		r = text_item(scan, SYS_ITEM_ARGV, true);
	while (r == 0 && !scan_done(scan)) {
		if (scan_literal(scan, "from="))
			r = scan_id(scan, &fixed.former_tid);
		else if (scan_literal(scan, "secure"))
			fixed.secure = 1;
		else
			r = env_variable(scan, &env);
	}
	if (r == 0)
		r = env_item(scan, &env);
	buf_done(&env);
	if (r < 0)
		return r;
	memcpy(script_record(scan->script)->data, &fixed, sizeof(fixed));
	return script_end(scan);
}

/* exit TID STATUS|SIGNAL|let-go|lost|replaced [run=TIME] [user=TIME] [gaps=N] */
static int exit_line(struct scan *scan)
{
	struct script *script = scan->script;
	struct event_exit fixed;
	uint64_t number;
	uint32_t tid;
	void *begun;
	int r = scan_id(scan, &tid);

	if (r < 0)
		return r;
	begun = script_begin(scan, EVENT_EXIT, tid);
	if (!begun)
		return no_memory(scan);
	memcpy(&fixed, begun, sizeof(fixed));
	scan_blanks(scan);
	if (scan_literal(scan, "let-go")) {
		fixed.how = EVENT_EXIT_LET_GO;
		script->stats.let_go++;
	} else if (scan_literal(scan, "lost")) {
		fixed.how = EVENT_EXIT_LOST;
	} else if (scan_literal(scan, "replaced")) {
		fixed.how = EVENT_EXIT_REPLACED;
	} else {
		fixed.how = scan->at < scan->end && *scan->at == 'S' ? EVENT_EXIT_SIGNAL : EVENT_EXIT_STATUS;
		r = scan_number(scan, &number);
		fixed.status = (uint32_t)number;
	}
	while (r == 0 && !scan_done(scan)) {
		if (scan_literal(scan, "run="))
			r = scan_time(scan, &fixed.run_ns);
		else if (scan_literal(scan, "user="))
			r = scan_time(scan, &fixed.user_ns);
		else if (scan_literal(scan, "gaps="))
			r = scan_number(scan, &fixed.user_gaps);
		else
			r = scan_fail(scan, "run=, user= or gaps=");
	}
	if (r < 0)
		return r;
	memcpy(script_record(script)->data, &fixed, sizeof(fixed));
	if (tid == script->first_pid && fixed.how <= EVENT_EXIT_SIGNAL) {
		script->exit.known = true;
		script->exit.status = fixed.how == EVENT_EXIT_STATUS ? (int)fixed.status : 0;
		script->exit.signal = fixed.how == EVENT_EXIT_SIGNAL ? (int)fixed.status : 0;
	}
	return script_end(scan);
}

/* ids TID uid=N gid=N, or each of ruid= euid= suid= fsuid= rgid= egid= sgid= fsgid= */
static int ids_line(struct scan *scan)
{
	static const char *const names[] = { "ruid=", "euid=", "suid=", "fsuid=", "rgid=", "egid=", "sgid=", "fsgid=" };
	struct event_ids *event;
	uint32_t ids[8] = { 0 };
	uint32_t tid;
	uint32_t id;
	int r = scan_id(scan, &tid);

	while (r == 0 && !scan_done(scan)) {
		unsigned i;

		if (scan_literal(scan, "uid=") || scan_literal(scan, "gid=")) {
			i = scan->at[-4] == 'g' ? 4 : 0;
			r = scan_id(scan, &id);
			for (unsigned end = i + 4; r == 0 && i < end; i++)
				ids[i] = id;
			continue;
		}
		for (i = 0; i < 8 && !scan_literal(scan, names[i]); i++)
			;
		if (i == 8)
			return scan_fail(scan, "uid=, gid=, ruid=, euid=, …");
		r = scan_id(scan, &ids[i]);
	}
	if (r < 0)
		return r;
	event = script_begin(scan, EVENT_IDS, tid);
	if (!event)
		return no_memory(scan);
	memcpy((char *)event + offsetof(struct event_ids, ruid), ids, sizeof(ids));
	return script_end(scan);
}

/* limits TID [nofile=SOFT:HARD] [stack=N] [mask=N] */
static int limits_line(struct scan *scan)
{
	struct event_limits *event;
	struct event_limits values = { 0 };
	uint32_t tid;
	int r = scan_id(scan, &tid);

	while (r == 0 && !scan_done(scan)) {
		if (scan_literal(scan, "nofile=")) {
			r = scan_number(scan, &values.nofile_soft);
			if (r == 0 && !scan_char(scan, ':'))
				r = scan_fail(scan, "':' and the hard limit");
			if (r == 0)
				r = scan_number(scan, &values.nofile_hard);
		} else if (scan_literal(scan, "stack=")) {
			r = scan_number(scan, &values.stack_soft);
		} else if (scan_literal(scan, "mask=")) {
			r = scan_number(scan, &values.sigmask);
		} else {
			r = scan_fail(scan, "nofile=, stack= or mask=");
		}
	}
	if (r < 0)
		return r;
	event = script_begin(scan, EVENT_LIMITS, tid);
	if (!event)
		return no_memory(scan);
	values.head = event->head;
	*event = values;
	return script_end(scan);
}

/* lost N */
static int lost_line(struct scan *scan)
{
	struct event_lost *event;
	uint64_t count;
	int r = scan_number(scan, &count);

	if (r < 0)
		return r;
	event = script_begin(scan, EVENT_LOST, 0);
	if (!event)
		return no_memory(scan);
	event->count = count;
	scan->script->stats.lost += count;
	scan->script->stats.seen += count;
	return scan_done(scan) ? script_end(scan) : scan_fail(scan, "nothing more");
}

int state_line(struct scan *scan, const char *word, size_t bytes)
{
	static const uint64_t vfork_flags = CLONE_VM | CLONE_VFORK;
	static const uint64_t thread_flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
#define IS(name) (bytes == sizeof(name) - 1 && memcmp(word, name, bytes) == 0)

	if (IS("task"))
		return task_line(scan, true);
	if (IS("dirs"))
		return task_line(scan, false);
	if (IS("env"))
		return env_line(scan);
	if (IS("fd"))
		return fd_line(scan);
	if (IS("mount"))
		return mount_line(scan);
	if (IS("map"))
		return map_line(scan);
	if (IS("fork"))
		return fork_line(scan, 0);
	if (IS("vfork"))
		return fork_line(scan, vfork_flags);
	if (IS("thread"))
		return fork_line(scan, thread_flags);
	if (IS("exec"))
		return exec_line(scan);
	if (IS("exit"))
		return exit_line(scan);
	if (IS("ids"))
		return ids_line(scan);
	if (IS("limits"))
		return limits_line(scan);
	if (IS("lost"))
		return lost_line(scan);
#undef IS
	scan->at = word;
	return scan_fail(scan,
			 "a tid and a call, or task, dirs, env, fd, mount, map, fork, vfork, thread, exec, exit, ids, "
			 "limits, lost or repeat");
}
