/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks as a log shows them: who made whom, what they run, how they end. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/strace/strace.h"

struct strace_task *strace_task_of(struct strace_log *log, uint32_t tid)
{
	bool fresh;
	struct strace_task *task = map_put(&log->tasks, tid, &fresh);

	if (task && fresh)
		task->tid = task->pid = tid;
	return task;
}

static uint64_t flags_of(struct strace_at name, struct strace_at arguments)
{
	struct strace_at flags;
	uint64_t value = 0;

	if (name.end - name.at == 5 && memcmp(name.at, "vfork", 5) == 0)
		return CLONE_VFORK | CLONE_VM;
	if (name.end - name.at == 6 && memcmp(name.at, "clone3", 6) == 0)
		return strace_field(arguments, "flags", &flags) && strace_number(&flags, &value) ? value : 0;
	/* In the order of its arguments, without names: our own. */
	flags = arguments;
	if (name.end - name.at == 5 && (strace_literal(&flags, "CLONE_") || strace_literal(&flags, "SIG"))) {
		(void)strace_number(&arguments, &value);
		return value & ~UINT64_C(0xff);
	}
	while (name.end - name.at == 5 && arguments.at < arguments.end) {
		strace_blanks(&arguments);
		flags = arguments;
		if (strace_literal(&flags, "flags=")) {
			(void)strace_number(&flags, &value);
			/* The lowest byte is the signal at its end. */
			return value & ~UINT64_C(0xff);
		}
		if (!strace_skip_argument(&arguments))
			break;
		arguments.at++;
	}
	return 0;
}

void strace_find_birth(struct strace_log *log, uint32_t tid, struct strace_at text)
{
	static const char *const makers[] = { "fork", "vfork", "clone", "clone3" };
	struct strace_at name, arguments, result;
	uint64_t child;
	bool makes = false;

	if (!strace_call_result(text, &name, &arguments, &result))
		return;
	for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
		makes |= (size_t)(name.end - name.at) == strlen(makers[i]) &&
			 memcmp(name.at, makers[i], strlen(makers[i])) == 0;
	if (makes && strace_number(&result, &child) && child > 0 && child <= INT32_MAX) {
		struct strace_birth *birth = map_put(&log->births, child, NULL);

		/* A number given twice: the log is long, and who was first is not told. */
		if (birth)
			*birth = (struct strace_birth){ tid, flags_of(name, arguments) };
	}
}

static void tell_birth(struct strace_log *log, struct strace_task *task, const struct strace_birth *birth)
{
	struct strace_task *parent = strace_task_of(log, birth->parent), *child;
	struct event_fork *fork;
	struct buf *record;

	/* The table may have moved. */
	child = strace_task_of(log, task->tid);
	if (!parent || !child)
		return;
	child->pid = birth->flags & CLONE_THREAD ? parent->pid : child->tid;
	if (!parent->begun)
		strace_task_begin(log, parent, false);
	parent = strace_task_of(log, birth->parent);
	record = strace_begin(log, EVENT_FORK, parent, log->now_ns);
	if (!record)
		return;
	fork = (struct event_fork *)(void *)record->data;
	fork->clone_flags = birth->flags;
	fork->child_tid = child->tid;
	fork->child_pid = child->pid;
	fork->followed = 1;
	log->stats.children++;
	log->stats.followed++;
	strace_end(log, record);
}

static void tell_dirs(struct strace_log *log, const struct strace_task *task)
{
	struct buf *record = strace_begin(log, EVENT_DIRS, task, log->now_ns);

	if (!record)
		return;
	((struct event_dirs *)(void *)record->data)->umask = UINT32_MAX;
	(void)event_item_add(record, SYS_ITEM_CWD, 0, 0, log->cwd, strlen(log->cwd));
	(void)event_item_add(record, SYS_ITEM_PATH, 0, 0, "/", 1);
	strace_end(log, record);
}

void strace_task_begin(struct strace_log *log, struct strace_task *task, bool exec)
{
	const struct strace_birth *birth = map_get(&log->births, task->tid);
	struct buf *record;

	task->begun = true;
	task->order = log->begun++;
	if (birth && birth->parent != task->tid) {
		tell_birth(log, task, birth);
		return;
	}
	if (!log->root) {
		log->root = task->tid;
		log->facts.from_start = exec;
	}
	record = strace_begin(log, EVENT_TASK, task, log->now_ns);
	if (!record)
		return;
	((struct event_task *)(void *)record->data)->attached = !exec;
	strace_end(log, record);
	if (log->cwd)
		tell_dirs(log, task);
}

/* ["ls", "-l"], or with -v the environment too; strings with their NULs. */
static bool strings(struct strace_at list, struct buf *out, size_t most, bool *ret_cut)
{
	struct strace_at one = { 0 };
	bool truncated;

	*ret_cut = false;
	if (list.at == list.end || *list.at != '[')
		return false;
	while (strace_element(&list, &one) && out->bytes < most) {
		if (!strace_string(&one, out, &truncated))
			return false;
		*ret_cut |= truncated;
		(void)buf_puts(out, truncated ? "..." : "");
		(void)buf_putc(out, '\0');
	}
	/* "..." stands for more. */
	*ret_cut |= one.at && one.at < one.end && *one.at == '.';
	return !out->failed;
}

static void keep_wanted(const struct strace_log *log, const struct buf *all, struct buf *out)
{
	for (size_t at = 0; at < all->bytes; at += strlen(all->data + at) + 1) {
		const char *variable = all->data + at;
		size_t bytes = strcspn(variable, "=");

		if (!log->env_names)
			(void)buf_add(out, variable, strlen(variable) + 1);
		for (size_t i = 0; log->env_names && log->env_names[i]; i++) {
			if (strlen(log->env_names[i]) == bytes && memcmp(log->env_names[i], variable, bytes) == 0)
				(void)buf_add(out, variable, strlen(variable) + 1);
		}
	}
}

void strace_task_exec(struct strace_log *log, struct strace_task *task, struct strace_at arguments)
{
	struct buf path = BUF_INIT, argv = BUF_INIT, all = BUF_INIT, env = BUF_INIT;
	struct strace_at parts[3] = { { 0 } };
	struct event_exec *exec;
	struct buf *record;
	bool truncated, cut = false, cut_env = false;
	uint32_t count = 0;

	for (unsigned i = 0; i < 3 && arguments.at < arguments.end; i++) {
		strace_blanks(&arguments);
		parts[i].at = arguments.at;
		if (!strace_skip_argument(&arguments))
			return;
		parts[i].end = arguments.at++;
	}
	record = strace_begin(log, EVENT_EXEC, task, log->now_ns);
	if (!record)
		return;
	((struct event_exec *)(void *)record->data)->former_tid = task->tid;
	if (parts[0].at && strace_string(&parts[0], &path, &truncated) && !truncated)
		(void)event_item_add(record, SYS_ITEM_EXE, 0, 0, path.data, path.bytes);
	if (parts[1].at && strings(parts[1], &argv, 4096, &cut))
		(void)event_item_add(record, SYS_ITEM_ARGV, 0, cut ? EVENT_ITEM_TRUNCATED : 0, argv.data, argv.bytes);
	if (parts[2].at && strings(parts[2], &all, 1u << 20, &cut_env)) {
		for (size_t at = 0; at < all.bytes; at += strlen(all.data + at) + 1)
			count++;
		keep_wanted(log, &all, &env);
		(void)event_item_add(record, SYS_ITEM_ENV, 0, cut_env ? EVENT_ITEM_TRUNCATED : 0,
				     env.data ? env.data : "", env.bytes);
		if (task->tid == log->root && !cut_env)
			log->facts.environment = true;
	}
	exec = (struct event_exec *)(void *)record->data;
	exec->env_count = count;
	strace_end(log, record);
	buf_done(&path);
	buf_done(&argv);
	buf_done(&all);
	buf_done(&env);
}

void strace_task_exit(struct strace_log *log, struct strace_task *task, int how, uint32_t status)
{
	struct event_exit *exit;
	struct buf *record;

	if (task->ended)
		return;
	task->ended = true;
	record = strace_begin(log, EVENT_EXIT, task, log->now_ns);
	if (record) {
		exit = (struct event_exit *)(void *)record->data;
		exit->how = (uint32_t)how;
		exit->status = status;
		strace_end(log, record);
	}
	if (how == EVENT_EXIT_STATUS && !task->exiting)
		log->facts.filtered = true;
	if (task->tid == log->root && (how == EVENT_EXIT_STATUS || how == EVENT_EXIT_SIGNAL)) {
		log->exit.known = true;
		log->exit.status = how == EVENT_EXIT_STATUS ? (int)status : 0;
		log->exit.signal = how == EVENT_EXIT_SIGNAL ? (int)status : 0;
	}
}

void strace_tell_fd(struct strace_log *log, const struct strace_task *task, int64_t fd, struct strace_at path)
{
	struct buf text = BUF_INIT;
	struct event_fd *event;
	struct buf *record;
	bool fresh;

	/* Only what the program began with: what it opens itself is in the calls. */
	if (fd < 0 || fd > 2 || !map_put(&log->named, (uint64_t)task->pid << 32 | (uint64_t)fd, &fresh) || !fresh)
		return;
	record = strace_begin(log, EVENT_FD, task, log->now_ns);
	if (!record)
		return;
	for (const char *p = path.at; p < path.end && *p != '<'; p++)
		(void)buf_putc(&text, *p);
	event = (struct event_fd *)(void *)record->data;
	event->fd = (int32_t)fd;
	event->offset = -1;
	event->mode = text.bytes > 9 && memcmp(text.data, "/dev/pts/", 9) == 0 ? S_IFCHR | 0620 : 0;
	(void)event_item_add(record, SYS_ITEM_PATH, 0, 0, text.data ? text.data : "", text.bytes);
	strace_end(log, record);
	buf_done(&text);
}
