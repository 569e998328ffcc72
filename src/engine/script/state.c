/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines about what is there: tasks, descriptors, mappings, ids, limits; and
 * the list of all lines about state.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/script/script.h"

int script_no_memory(struct scan *scan)
{
	return error_errno(scan->err, ENOMEM, "%s", scan->script->name);
}

int script_scan_id(struct scan *scan, uint32_t *ret)
{
	uint64_t number;
	int r = scan_number(scan, &number);

	*ret = (uint32_t)number;
	if (r == 0 && number > INT32_MAX)
		return scan_fail(scan, "a smaller number");
	return r;
}

int script_text_item(struct scan *scan, enum sys_item item, bool split)
{
	struct buf text = BUF_INIT;
	int r = scan_text(scan, &text, split);

	if (r == 0 && event_item_add(script_record(scan->script), item, 0, 0, text.data, text.bytes) < 0)
		r = script_no_memory(scan);
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
int script_env_variable(struct scan *scan, struct buf *env)
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
		return script_no_memory(scan);
	if (!env_wanted(scan->script, env->data + before, env->bytes - before - 1))
		env->bytes = before;
	return r;
}

int script_env_item(struct scan *scan, const struct buf *env)
{
	if (event_item_add(script_record(scan->script), SYS_ITEM_ENV, 0, 0, env->data, env->bytes) < 0)
		return script_no_memory(scan);
	return 0;
}

static int dirs_record(struct scan *scan, uint32_t tid, const struct buf *cwd, const struct buf *root, uint64_t mask)
{
	struct event_dirs *event = script_begin(scan, EVENT_DIRS, tid);
	struct buf *record = script_record(scan->script);

	if (!event)
		return script_no_memory(scan);
	event->umask = (uint32_t)mask;
	if (cwd->bytes > 0 && event_item_add(record, SYS_ITEM_CWD, 0, 0, cwd->data, cwd->bytes) < 0)
		return script_no_memory(scan);
	if (root->bytes > 0 && event_item_add(record, SYS_ITEM_PATH, 0, 0, root->data, root->bytes) < 0)
		return script_no_memory(scan);
	return script_end(scan);
}

struct task_values {
	struct event_task fixed;
	struct buf cwd, root;
	uint64_t mask;
};

#define DIRS_FIELDS \
	SCRIPT_FIELD("cwd=", BUF, struct task_values, cwd), SCRIPT_FIELD("root=", BUF, struct task_values, root), \
		SCRIPT_FIELD("umask=", NUMBER, struct task_values, mask), SCRIPT_END

/* dirs TID [cwd=PATH] [root=PATH] [umask=N] */
static int dirs_line(struct scan *scan)
{
	static const struct script_field fields[] = { DIRS_FIELDS };
	struct task_values values = { .cwd = BUF_INIT, .root = BUF_INIT, .mask = UINT32_MAX };
	uint32_t tid;
	int r = script_scan_id(scan, &tid);

	if (r == 0)
		r = script_fields(scan, fields, &values, NULL, NULL);
	if (r == 0)
		r = dirs_record(scan, tid, &values.cwd, &values.root, values.mask);
	buf_done(&values.cwd);
	buf_done(&values.root);
	return r;
}

/* task TID [pid=N] [ppid=N] [launched] [exe=PATH] [argv="…"] [comm=TEXT], and what dirs takes */
static int task_line(struct scan *scan)
{
	static const struct script_field fields[] = {
		SCRIPT_FIELD("pid=", ID, struct task_values, fixed.head.pid),
		SCRIPT_FIELD("ppid=", ID, struct task_values, fixed.ppid),
		SCRIPT_TEXT("exe=", ITEM, SYS_ITEM_EXE),
		SCRIPT_TEXT("argv=", ITEM_SPLIT, SYS_ITEM_ARGV),
		SCRIPT_TEXT("comm=", ITEM, SYS_ITEM_COMM),
		SCRIPT_SET("launched", 0, struct task_values, fixed.attached),
		DIRS_FIELDS,
	};
	struct task_values values = { .cwd = BUF_INIT, .root = BUF_INIT, .mask = UINT32_MAX };
	struct script *script = scan->script;
	uint32_t tid;
	void *begun;
	int r = script_scan_id(scan, &tid);

	if (r < 0)
		return r;
	begun = script_set_pid(script, tid, script_pid(script, tid)) < 0 ? NULL : script_begin(scan, EVENT_TASK, tid);
	if (!begun)
		return script_no_memory(scan);
	memcpy(&values.fixed, begun, sizeof(values.fixed));
	values.fixed.attached = 1;
	r = script_fields(scan, fields, &values, NULL, NULL);
	if (r == 0 && script_set_pid(script, tid, values.fixed.head.pid) < 0)
		r = script_no_memory(scan);
	if (r == 0) {
		if (!script->first_pid)
			script->first_pid = values.fixed.head.pid;
		memcpy(script_record(script)->data, &values.fixed, sizeof(values.fixed));
		r = script_end(scan);
	}
	if (r == 0 && (values.cwd.bytes > 0 || values.root.bytes > 0 || values.mask != UINT32_MAX))
		r = dirs_record(scan, tid, &values.cwd, &values.root, values.mask);
	buf_done(&values.cwd);
	buf_done(&values.root);
	return r;
}

/* env TID [NAME=VALUE]… */
static int env_line(struct scan *scan)
{
	struct event_task *event;
	struct buf env = BUF_INIT;
	uint32_t tid;
	int r = script_scan_id(scan, &tid);

	if (r < 0)
		return r;
	event = script_begin(scan, EVENT_TASK, tid);
	if (!event)
		return script_no_memory(scan);
	event->attached = 1;
	while (r == 0 && !scan_done(scan))
		r = script_env_variable(scan, &env);
	if (r == 0)
		r = script_env_item(scan, &env);
	buf_done(&env);
	return r < 0 ? r : script_end(scan);
}

static int fd_path(struct scan *scan, void *data)
{
	(void)data;
	return script_text_item(scan, SYS_ITEM_PATH, false);
}

/* fd TID N [PATH] [mode=N] [dev=M:N] [ino=N] [flags=N] [offset=N] */
static int fd_line(struct scan *scan)
{
	static const struct script_field fields[] = {
		SCRIPT_FIELD("mode=", NUMBER, struct event_fd, mode),
		SCRIPT_FIELD("dev=", DEVICE, struct event_fd, dev),
		SCRIPT_FIELD("ino=", NUMBER, struct event_fd, ino),
		SCRIPT_FIELD("flags=", NUMBER, struct event_fd, flags),
		SCRIPT_FIELD("offset=", NUMBER, struct event_fd, offset),
		SCRIPT_END,
	};
	struct event_fd fixed;
	uint32_t tid;
	void *begun;
	int r = script_scan_id(scan, &tid);

	if (r < 0)
		return r;
	begun = script_begin(scan, EVENT_FD, tid);
	if (!begun)
		return script_no_memory(scan);
	memcpy(&fixed, begun, sizeof(fixed));
	fixed.offset = -1;
	r = script_scan_id(scan, &tid);
	fixed.fd = (int32_t)tid;
	if (r == 0)
		r = script_fields(scan, fields, &fixed, fd_path, NULL);
	if (r < 0)
		return r;
	memcpy(script_record(scan->script)->data, &fixed, sizeof(fixed));
	return script_end(scan);
}

/* map TID START-END PERMISSIONS OFFSET PATH, as /proc/PID/maps without device and inode */
static int map_line(struct scan *scan)
{
	struct event_map fixed;
	const char *word;
	uint32_t tid;
	void *begun;
	size_t bytes;
	int r = script_scan_id(scan, &tid);

	if (r < 0)
		return r;
	begun = script_begin(scan, EVENT_MAP, tid);
	if (!begun)
		return script_no_memory(scan);
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
	r = script_text_item(scan, SYS_ITEM_PATH, false);
	if (r < 0)
		return r;
	memcpy(script_record(scan->script)->data, &fixed, sizeof(fixed));
	return scan_done(scan) ? script_end(scan) : scan_fail(scan, "nothing more");
}

static int ids_all(struct scan *scan, void *data)
{
	struct event_ids *ids = data;
	bool user = scan_literal(scan, "uid=");
	uint32_t id;
	int r;

	if (!user && !scan_literal(scan, "gid="))
		return scan_fail(scan, "uid=, gid=, ruid=, euid=, …");
	r = script_scan_id(scan, &id);
	if (r == 0 && user)
		ids->ruid = ids->euid = ids->suid = ids->fsuid = id;
	else if (r == 0)
		ids->rgid = ids->egid = ids->sgid = ids->fsgid = id;
	return r;
}

/* ids TID uid=N gid=N, or each of ruid= euid= suid= fsuid= rgid= egid= sgid= fsgid= */
static int ids_line(struct scan *scan)
{
	static const struct script_field fields[] = {
		SCRIPT_FIELD("ruid=", ID, struct event_ids, ruid),
		SCRIPT_FIELD("euid=", ID, struct event_ids, euid),
		SCRIPT_FIELD("suid=", ID, struct event_ids, suid),
		SCRIPT_FIELD("fsuid=", ID, struct event_ids, fsuid),
		SCRIPT_FIELD("rgid=", ID, struct event_ids, rgid),
		SCRIPT_FIELD("egid=", ID, struct event_ids, egid),
		SCRIPT_FIELD("sgid=", ID, struct event_ids, sgid),
		SCRIPT_FIELD("fsgid=", ID, struct event_ids, fsgid),
		SCRIPT_END,
	};
	struct event_ids *event, values = { 0 };
	uint32_t tid;
	int r = script_scan_id(scan, &tid);

	if (r == 0)
		r = script_fields(scan, fields, &values, ids_all, &values);
	if (r < 0)
		return r;
	event = script_begin(scan, EVENT_IDS, tid);
	if (!event)
		return script_no_memory(scan);
	values.head = event->head;
	*event = values;
	return script_end(scan);
}

static int limits_nofile(struct scan *scan, void *data)
{
	struct event_limits *values = data;
	int r;

	if (!scan_literal(scan, "nofile="))
		return scan_fail(scan, "nofile=, stack= or mask=");
	r = scan_number(scan, &values->nofile_soft);
	if (r == 0 && !scan_char(scan, ':'))
		r = scan_fail(scan, "':' and the hard limit");
	return r < 0 ? r : scan_number(scan, &values->nofile_hard);
}

/* limits TID [nofile=SOFT:HARD] [stack=N] [mask=N] */
static int limits_line(struct scan *scan)
{
	static const struct script_field fields[] = {
		SCRIPT_FIELD("stack=", NUMBER, struct event_limits, stack_soft),
		SCRIPT_FIELD("mask=", NUMBER, struct event_limits, sigmask),
		SCRIPT_END,
	};
	struct event_limits *event;
	struct event_limits values = { 0 };
	uint32_t tid;
	int r = script_scan_id(scan, &tid);

	if (r == 0)
		r = script_fields(scan, fields, &values, limits_nofile, &values);
	if (r < 0)
		return r;
	event = script_begin(scan, EVENT_LIMITS, tid);
	if (!event)
		return script_no_memory(scan);
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
		return script_no_memory(scan);
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
		return task_line(scan);
	if (IS("dirs"))
		return dirs_line(scan);
	if (IS("env"))
		return env_line(scan);
	if (IS("fd"))
		return fd_line(scan);
	if (IS("mount"))
		return script_mount_line(scan);
	if (IS("map"))
		return map_line(scan);
	if (IS("fork"))
		return script_fork_line(scan, 0);
	if (IS("vfork"))
		return script_fork_line(scan, vfork_flags);
	if (IS("thread"))
		return script_fork_line(scan, thread_flags);
	if (IS("exec"))
		return script_exec_line(scan);
	if (IS("exit"))
		return script_exit_line(scan);
	if (IS("ids"))
		return ids_line(scan);
	if (IS("limits"))
		return limits_line(scan);
	if (IS("clock"))
		return script_clock_line(scan);
	if (IS("lost"))
		return lost_line(scan);
#undef IS
	scan->at = word;
	return scan_fail(scan,
			 "a tid and a call, or task, dirs, env, fd, mount, map, fork, vfork, thread, exec, exit, ids, "
			 "limits, clock, lost or repeat");
}
