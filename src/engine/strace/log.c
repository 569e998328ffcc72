/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines become records, and the engine's functions.  The second pass: the
 * first one is in births.c.  The files of an -ff set are merged by time, or, when
 * they have none, a child's is told where it was made.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "engine/strace/strace.h"

/* Without times calls follow each other like this. */
#define STEP_NS 1000
#define START_NS UINT64_C(1000000000)
#define FIRST_TEXT 60

static struct strace_log *log_of(struct engine *engine)
{
	return (struct strace_log *)engine;
}

struct buf *strace_begin(struct strace_log *log, enum event_type type, const struct strace_task *task, uint64_t time_ns)
{
	struct event_head *head;

	if (log->queued == log->queue.used && !vec_push(&log->queue, BUF_INIT)) {
		log->stats.state_errors++;
		return NULL;
	}
	head = event_begin(&log->queue.at[log->queued], type);
	if (!head) {
		log->stats.state_errors++;
		return NULL;
	}
	head->tid = task->tid;
	head->pid = task->pid;
	head->time_ns = time_ns;
	return &log->queue.at[log->queued];
}

void strace_end(struct strace_log *log, struct buf *record)
{
	if (record->failed || !event_end(record))
		log->stats.state_errors++;
	else
		log->queued++;
}

/* Files */

/* What a program wrote before the first call: nothing of a call that was cut. */
static bool is_before(const struct strace_file *file)
{
	return !file->begun && !memmem(file->line, file->bytes, " = ", 3) && !memchr(file->line, '(', file->bytes);
}

static void not_parsed(struct strace_log *log, const struct strace_file *file)
{
	if (is_before(file)) {
		log->facts.before++;
		return;
	}
	log->facts.unparsed++;
	log->stats.lost++;
	log->stats.seen++;
	if (log->facts.first_unparsed)
		return;
	log->facts.first_unparsed = file->lines;
	(void)text_escape(&log->first_text, file->line, file->bytes < FIRST_TEXT ? file->bytes : FIRST_TEXT, '\0',
			  true);
}

bool strace_ready(struct strace_log *log, struct strace_file *file)
{
	while (!file->ready && strace_read_line(file)) {
		log->facts.lines++;
		if (file->bytes > STRACE_LINE_MAX || memchr(file->line, '\0', file->bytes) ||
		    !strace_line_split(file->line, file->bytes, file->tid == 0, &file->parts)) {
			not_parsed(log, file);
			continue;
		}
		file->ready = true;
		file->begun = file->begun || strace_line_tells(&file->parts);
		if (!file->parts.timed)
			continue;
		log->facts.times = true;
		if (file->parts.relative)
			file->last_ns += file->parts.time_ns;
		else
			file->last_ns = file->parts.time_ns;
	}
	return file->ready;
}

/* Without times: the task that was told last goes first, so that a child runs
 * where it was made; then one that nobody made. */
static uint64_t rank(const struct strace_log *log, const struct strace_file *file)
{
	const struct strace_task *task = map_get(&log->tasks, file->tid);

	if (task && task->begun)
		return 2 + task->order;
	return map_get(&log->births, file->tid) ? 0 : 1;
}

/* The file whose line comes first. */
static struct strace_file *next_file(struct strace_log *log)
{
	struct strace_file *best = NULL;

	for (unsigned i = 0; i < log->file_count; i++) {
		struct strace_file *file = &log->files[i];

		if (!strace_ready(log, file))
			continue;
		if (!best || (log->facts.times && !file->parts.relative ? file->last_ns < best->last_ns
									: rank(log, file) > rank(log, best)))
			best = file;
	}
	return best;
}

/* Lines */

static uint64_t now(struct strace_log *log, const struct strace_file *file)
{
	if (log->facts.times) {
		uint64_t ns = START_NS + file->last_ns;

		/* A clock that was set back. */
		log->now_ns = ns > log->now_ns ? ns : log->now_ns;
		return ns;
	}
	log->now_ns += STEP_NS;
	return log->now_ns;
}

static bool is_word(struct strace_at name, const char *word)
{
	return (size_t)(name.end - name.at) == strlen(word) && memcmp(name.at, word, strlen(word)) == 0;
}

static void exits(struct strace_log *log, struct strace_task *task, bool all)
{
	struct strace_task *leader;

	task->exiting = true;
	if (!all || task->pid == task->tid)
		return;
	leader = strace_task_of(log, task->pid);
	if (leader)
		leader->exiting = true;
}

/* A whole call, with its effects on tasks. */
static bool whole(struct strace_log *log, uint32_t tid, struct strace_at text, uint64_t time_ns, uint64_t ip)
{
	struct strace_at name, arguments, result;
	struct strace_task *task;
	uint64_t value = 1;
	bool execs, makes;

	if (!strace_call_result(text, &name, &arguments, &result))
		return false;
	execs = is_word(name, "execve") || is_word(name, "execveat");
	makes = is_word(name, "fork") || is_word(name, "vfork") || is_word(name, "clone") || is_word(name, "clone3");
	(void)strace_number(&result, &value);
	task = strace_task_of(log, tid);
	if (!task)
		return true;
	if (!task->begun)
		strace_task_begin(log, task, execs);
	task = strace_task_of(log, tid);
	if (is_word(name, "exit") || is_word(name, "exit_group"))
		exits(log, task, is_word(name, "exit_group"));
	task = strace_task_of(log, tid);
	/* The child is told before the call that made it has returned. */
	if (makes && (int64_t)value > 0 && value <= INT32_MAX && map_get(&log->births, value)) {
		struct strace_task *child = strace_task_of(log, (uint32_t)value);

		if (child && !child->begun)
			strace_task_begin(log, child, false);
	}
	task = strace_task_of(log, tid);
	if (!strace_call(log, task, text, time_ns, ip))
		return false;
	if (execs && value == 0)
		strace_task_exec(log, task, arguments);
	return true;
}

static bool ends_in(struct strace_at text, const char *word)
{
	size_t bytes = strlen(word);

	return (size_t)(text.end - text.at) > bytes && memcmp(text.end - bytes, word, bytes) == 0;
}

/* "read(3, <unfinished ...>": up to the gap.  "<detached ...>": there is no more of the task. */
static bool unfinished(struct strace_log *log, uint32_t tid, struct strace_at text, uint64_t time_ns, uint64_t ip)
{
	static const char gap[] = "<unfinished ...>", last[] = "<detached ...>";
	bool detached = ends_in(text, last);
	size_t bytes = (size_t)(text.end - text.at) - (detached ? sizeof last - 1 : sizeof gap - 1);
	struct strace_task *task;

	if (!detached && !ends_in(text, gap))
		return false;
	task = strace_task_of(log, tid);
	if (!task)
		return true;
	if (!task->begun)
		strace_task_begin(log, task, memcmp(text.at, "exec", 4) == 0);
	task = strace_task_of(log, tid);
	free(task->pending);
	task->pending = strndup(text.at, bytes);
	log->detached |= detached;
	task->pending_ns = time_ns;
	task->pending_ip = ip;
	if (strncmp(text.at, "exit", 4) == 0)
		exits(log, task, strncmp(text.at, "exit_group", 10) == 0);
	return true;
}

/* "<... read resumed>"x", 1) = 1" */
static bool resumed(struct strace_log *log, uint32_t tid, struct strace_at text)
{
	struct strace_task *task = strace_task_of(log, tid);
	struct buf both = BUF_INIT;
	const char *begin = text.at, *word;
	size_t bytes;
	bool ok;

	if (!strace_literal(&text, "<... "))
		return false;
	word = text.at;
	while (text.at < text.end && *text.at != ' ')
		text.at++;
	bytes = (size_t)(text.at - word);
	if (!strace_literal(&text, " resumed>") && !strace_literal(&text, " resumed> "))
		return false;
	if (!task)
		return true;
	if (!task->pending) {
		/* Its beginning is not in the log: the arguments that are missing are not made up. */
		(void)buf_printf(&both, "%.*s(", (int)bytes, word);
		if (memchr(text.at, ')', (size_t)(text.end - text.at)))
			(void)buf_puts(&both, ")");
		while (text.at < text.end && *text.at != '=')
			text.at++;
		(void)buf_printf(&both, " %.*s", (int)(text.end - text.at), text.at);
	} else if (strncmp(task->pending, word, bytes) != 0 || task->pending[bytes] != '(') {
		return false;
	} else {
		(void)buf_puts(&both, task->pending);
		(void)buf_add(&both, text.at, (size_t)(text.end - text.at));
	}
	(void)begin;
	ok = !both.failed && whole(log, tid, (struct strace_at){ both.data, both.data + both.bytes },
				   task->pending ? task->pending_ns : log->now_ns, task->pending_ip);
	task = strace_task_of(log, tid);
	if (task) {
		free(task->pending);
		task->pending = NULL;
	}
	buf_done(&both);
	return ok;
}

/* What was never resumed. */
static void give_up_pending(struct strace_log *log, struct strace_task *task)
{
	struct buf text = BUF_INIT;
	char *pending = task->pending;

	if (!pending)
		return;
	task->pending = NULL;
	(void)buf_printf(&text, "%s) = ?", pending);
	if (!text.failed)
		(void)strace_call(log, task, (struct strace_at){ text.data, text.data + text.bytes }, task->pending_ns,
				  task->pending_ip);
	buf_done(&text);
	free(pending);
}

/* "+++ exited with 0 +++", "+++ killed by SIGKILL (core dumped) +++" */
static bool ended(struct strace_log *log, uint32_t tid, struct strace_at text)
{
	struct strace_task *task;
	uint64_t number;

	if (!strace_literal(&text, "+++ "))
		return false;
	task = strace_task_of(log, tid);
	if (!task)
		return true;
	if (!task->begun)
		strace_task_begin(log, task, false);
	task = strace_task_of(log, tid);
	give_up_pending(log, task);
	if (strace_literal(&text, "exited with ") && strace_number(&text, &number))
		strace_task_exit(log, task, EVENT_EXIT_STATUS, (uint32_t)number);
	else if (strace_literal(&text, "killed by ") && strace_number(&text, &number))
		strace_task_exit(log, task, EVENT_EXIT_SIGNAL, (uint32_t)number);
	else if (strace_literal(&text, "superseded"))
		strace_task_exit(log, task, EVENT_EXIT_REPLACED, 0);
	else
		strace_task_exit(log, task, EVENT_EXIT_LOST, 0);
	return true;
}

/* Lines that hold no call, and are understood. */
static bool other(struct strace_at text)
{
	static const char *const begins[] = { "--- ", "strace: ",   "Process ",	      " > ",	   "> ", " | ",
					      "| ",   "[ Process ", "[ System call ", "[ Process", NULL };

	for (size_t i = 0; begins[i]; i++) {
		if (strace_literal(&text, begins[i]))
			return true;
	}
	return false;
}

/* A line on a terminal's stream says whose it is while there are several. */
static uint32_t only_task(struct strace_log *log)
{
	const struct strace_task *task = log->root ? map_get(&log->tasks, log->root) : NULL;
	uint32_t found = 0, count = 0;
	uint64_t tid;
	size_t at = 0;

	if (!task || !task->ended)
		return log->root ? log->root : log->nameless;
	while ((task = map_next(&log->tasks, &at, &tid)) != NULL) {
		if (task->begun && !task->ended && count++ == 0)
			found = task->tid;
	}
	return count == 1 ? found : log->root;
}

static void take(struct strace_log *log, struct strace_file *file)
{
	struct strace_at text = { file->parts.text, file->parts.end };
	uint32_t tid = file->parts.tid ? file->parts.tid : file->tid;
	uint64_t time_ns = now(log, file), ip = file->parts.has_ip ? file->parts.ip : 0;

	if (tid == 0)
		tid = only_task(log);
	if (file->detached)
		log->detached = true;
	if (!unfinished(log, tid, text, time_ns, ip) && !resumed(log, tid, text) && !ended(log, tid, text) &&
	    !other(text) && !whole(log, tid, text, time_ns, ip))
		not_parsed(log, file);
	file->ready = false;
}

static void finish(struct strace_log *log)
{
	struct strace_task *task;
	uint64_t tid;
	size_t at = 0;

	log->over = true;
	while ((task = map_next(&log->tasks, &at, &tid)) != NULL) {
		if (!task->begun || task->ended)
			continue;
		give_up_pending(log, task);
		/* strace -q has no line for the end, a log of -p none either.  A program that began in this
		 * log and does not even want to end is one whose end was cut off. */
		if (log->facts.from_start && task->pid == task->tid && !task->exiting && !log->detached)
			log->facts.cut++;
		strace_task_exit(log, task, EVENT_EXIT_LOST, 0);
	}
	log->facts.first_text = buf_text(&log->first_text);
	if (log->facts.cut > 0) {
		log->stats.aborted = log->stats.file_cut = true;
		(void)snprintf(log->stats.abort_reason, sizeof log->stats.abort_reason,
			       "the log lacks a program's end: it was cut off, or strace -qqq left it out");
	}
}

static int strace_next(struct engine *engine, const struct event_head **ret_record, struct error *err)
{
	struct strace_log *log = log_of(engine);

	(void)err;
	while (log->sent == log->queued) {
		struct strace_file *file;

		if (log->over)
			return ENGINE_END;
		log->sent = log->queued = 0;
		file = next_file(log);
		if (file)
			take(log, file);
		else
			finish(log);
	}
	*ret_record = (const struct event_head *)(void *)log->queue.at[log->sent++].data;
	return ENGINE_RECORD;
}

/* All of it is counted by the second pass. */
static void forget_counts(struct strace_log *log)
{
	log->facts = (struct strace_facts){ .times = log->facts.times };
	log->stats = (struct engine_stats){ 0 };
	buf_clear(&log->first_text);
}

static void strace_stop(struct engine *engine)
{
	struct strace_log *log = log_of(engine);
	struct strace_task *task;
	uint64_t tid;
	size_t at = 0;

	if (!log)
		return;
	while ((task = map_next(&log->tasks, &at, &tid)) != NULL)
		free(task->pending);
	for (unsigned i = 0; i < log->file_count; i++) {
		if (log->files[i].stream)
			(void)fclose(log->files[i].stream);
		free(log->files[i].line);
		free(log->files[i].name);
	}
	for (size_t i = 0; i < log->queue.used; i++)
		buf_done(&log->queue.at[i]);
	vec_done(&log->queue);
	map_done(&log->tasks);
	map_done(&log->births);
	map_done(&log->named);
	buf_done(&log->first_text);
	free(log->files);
	free(log);
}

static int strace_start(const struct engine_spec *spec, struct engine **ret_engine, struct error *err)
{
	struct strace_log *log = calloc(1, sizeof *log);
	int r;

	if (!log)
		return error_errno(err, ENOMEM, "%s", spec->file);
	log->engine.ops = &engine_strace_log;
	map_init(&log->tasks, sizeof(struct strace_task), 0);
	map_init(&log->births, sizeof(struct strace_birth), 0);
	map_init(&log->named, 1, 0);
	log->items = spec->items;
	log->env_names = spec->env_names;
	log->cwd = spec->cwd;
	log->now_ns = START_NS;
	r = strace_open(log, spec->file, spec->file_fd, err);
	if (r < 0) {
		strace_stop(&log->engine);
		return r;
	}
	if (!strace_find_births(log)) {
		strace_stop(&log->engine);
		return error_set(err, EINVAL,
				 "%s: a table of strace -c has sums and no calls; write a log: "
				 "strace -f -T -ttt -o FILE",
				 spec->file);
	}
	forget_counts(log);
	*ret_engine = &log->engine;
	return 0;
}

static void strace_let_go(struct engine *engine)
{
	log_of(engine)->over = true;
}

static void strace_forward(struct engine *engine, int signal)
{
	(void)engine;
	(void)signal;
}

static void strace_stats(const struct engine *engine, struct engine_stats *ret)
{
	const struct strace_log *log = (const struct strace_log *)engine;

	*ret = log->stats;
	ret->wall_ns = log->facts.times ? log->now_ns - START_NS : 0;
}

static void strace_exit_of(const struct engine *engine, struct engine_exit *ret)
{
	*ret = ((const struct strace_log *)engine)->exit;
}

static void strace_probe(struct engine_probe *ret)
{
	*ret = (struct engine_probe){ .usable = true };
	(void)snprintf(ret->why, sizeof ret->why, "reads what strace wrote");
}

void strace_facts_of(const struct engine *engine, struct strace_facts *ret)
{
	*ret = ((const struct strace_log *)engine)->facts;
	ret->paths = true;
}

const struct engine_ops engine_strace_log = {
	.name = "strace-log",
	.title = "a log that strace wrote",
	.live = false,
	.probe = strace_probe,
	.start = strace_start,
	.next = strace_next,
	.let_go = strace_let_go,
	.forward = strace_forward,
	.stats = strace_stats,
	.exit_of = strace_exit_of,
	.stop = strace_stop,
};
