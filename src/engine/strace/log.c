/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a log and the engine's functions.  A first pass finds who made
 * which task, since a child can be seen before its parent's call has returned;
 * the second one tells.  The files of an -ff set are merged by time, or, when
 * they have none, a child's is told where it was made.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
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

static bool read_line(struct strace_file *file)
{
	ssize_t bytes;

	if (file->ended)
		return false;
	do {
		bytes = getline(&file->line, &file->room, file->stream);
		if (bytes < 0) {
			file->ended = true;
			return false;
		}
		file->lines++;
		while (bytes > 0 && (file->line[bytes - 1] == '\n' || file->line[bytes - 1] == '\r'))
			bytes--;
	} while (bytes == 0);
	file->bytes = (size_t)bytes;
	return true;
}

static void not_parsed(struct strace_log *log, const struct strace_file *file)
{
	log->facts.unparsed++;
	log->stats.lost++;
	log->stats.seen++;
	if (log->facts.first_unparsed)
		return;
	log->facts.first_unparsed = file->lines;
	(void)text_escape(&log->first_text, file->line, file->bytes < FIRST_TEXT ? file->bytes : FIRST_TEXT, '\0',
			  true);
}

/* The next line of this file is in its parts. */
static bool ready(struct strace_log *log, struct strace_file *file)
{
	while (!file->ready && read_line(file)) {
		log->facts.lines++;
		if (file->bytes > STRACE_LINE_MAX || memchr(file->line, '\0', file->bytes) ||
		    !strace_line_split(file->line, file->bytes, file->tid == 0, &file->parts)) {
			not_parsed(log, file);
			continue;
		}
		file->ready = true;
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

		if (!ready(log, file))
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
		task->exiting = true;
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

/* "read(3, <unfinished ...>": up to the gap. */
static bool unfinished(struct strace_log *log, uint32_t tid, struct strace_at text, uint64_t time_ns, uint64_t ip)
{
	static const char gap[] = "<unfinished ...>";
	size_t bytes = (size_t)(text.end - text.at);
	struct strace_task *task;

	if (bytes < sizeof gap || memcmp(text.end - (sizeof gap - 1), gap, sizeof gap - 1) != 0)
		return false;
	task = strace_task_of(log, tid);
	if (!task)
		return true;
	if (!task->begun)
		strace_task_begin(log, task, memcmp(text.at, "exec", 4) == 0);
	task = strace_task_of(log, tid);
	free(task->pending);
	task->pending = strndup(text.at, bytes - (sizeof gap - 1));
	task->pending_ns = time_ns;
	task->pending_ip = ip;
	if (strncmp(text.at, "exit", 4) == 0)
		task->exiting = true;
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
	static const char *const begins[] = { "--- ",	    "strace: ",	      "Process ",  " > ", "> ",
					      "[ Process ", "[ System call ", "[ Process", NULL };

	for (size_t i = 0; begins[i]; i++) {
		if (strace_literal(&text, begins[i]))
			return true;
	}
	return false;
}

static void take(struct strace_log *log, struct strace_file *file)
{
	struct strace_at text = { file->parts.text, file->parts.end };
	uint32_t tid = file->parts.tid ? file->parts.tid : file->tid;
	uint64_t time_ns = now(log, file), ip = file->parts.has_ip ? file->parts.ip : 0;

	/* One process, watched without -f. */
	if (tid == 0)
		tid = log->root ? log->root : 1;
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
		/* A log without -f, or one that was cut, has no line for the end. */
		strace_task_exit(log, task, EVENT_EXIT_LOST, 0);
	}
	log->facts.first_text = buf_text(&log->first_text);
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

/* The first pass. */
static void find_births(struct strace_log *log)
{
	for (unsigned i = 0; i < log->file_count; i++) {
		struct strace_file *file = &log->files[i];
		struct map pending; /* tid → the name's beginning was seen */

		map_init(&pending, sizeof(char *), 0);
		while (ready(log, file)) {
			struct strace_at text = { file->parts.text, file->parts.end };
			uint32_t tid = file->parts.tid ? file->parts.tid : file->tid;
			size_t bytes = (size_t)(text.end - text.at);

			file->ready = false;
			if (tid == 0)
				tid = 1;
			if (bytes > 5 && (memcmp(text.at, "clone", 5) == 0 || memcmp(text.at, "fork(", 5) == 0 ||
					  memcmp(text.at, "vfork", 5) == 0)) {
				char **begun = map_put(&pending, tid, NULL);
				bool cut = memmem(text.at, bytes, "<unfinished", 11) != NULL;

				strace_find_birth(log, tid, text);
				if (begun) {
					free(*begun);
					*begun = cut ? strndup(text.at, bytes) : NULL;
				}
			} else if (strace_literal(&text, "<... ")) {
				char **begun = map_get(&pending, tid);
				struct buf both = BUF_INIT;
				const char *gap, *rest = memmem(text.at, (size_t)(text.end - text.at), "resumed>", 8);

				if (!begun || !*begun || !rest)
					continue;
				gap = strstr(*begun, "<unfinished");
				(void)buf_add(&both, *begun, (size_t)(gap - *begun));
				(void)buf_add(&both, rest + 8, (size_t)(text.end - rest - 8));
				if (!both.failed)
					strace_find_birth(log, tid,
							  (struct strace_at){ both.data, both.data + both.bytes });
				buf_done(&both);
				free(*begun);
				*begun = NULL;
			}
		}
		{
			size_t at = 0;
			uint64_t key;
			char **begun;

			while ((begun = map_next(&pending, &at, &key)) != NULL)
				free(*begun);
		}
		map_done(&pending);
		rewind(file->stream);
		file->lines = 0;
		file->last_ns = 0;
		file->ended = file->ready = false;
	}
	/* All of it is counted by the second pass. */
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

static int open_file(struct strace_log *log, const char *path, struct error *err)
{
	struct strace_file *file = &log->files[log->file_count];
	const char *dot = strrchr(path, '.');
	char head[64];
	size_t bytes;

	file->name = strdup(path);
	file->stream = file->name ? fopen(path, "re") : NULL;
	if (!file->stream)
		return error_errno(err, file->name ? errno : ENOMEM, "%s", path);
	log->file_count++;
	/* The first pass needs a second look. */
	if (fseek(file->stream, 0, SEEK_SET) != 0)
		return error_set(err, ESPIPE, "%s: a log has to be in a file, this cannot be read twice", path);
	bytes = fread(head, 1, sizeof head - 1, file->stream);
	head[bytes] = '\0';
	rewind(file->stream);
	if (strncmp(head, "% time ", 7) == 0)
		return error_set(
			err, EINVAL,
			"%s: a table of strace -c has sums and no calls; write a log: strace -f -T -ttt -o FILE", path);
	/* log.123 of a set */
	if (dot && dot[1] >= '1' && dot[1] <= '9' && strspn(dot + 1, "0123456789") == strlen(dot + 1) &&
	    strlen(dot + 1) < 10) {
		struct strace_line line;

		if (ready(log, file) && strace_line_split(file->line, file->bytes, true, &line) && line.tid == 0)
			file->tid = (uint32_t)strtoul(dot + 1, NULL, 10);
		rewind(file->stream);
		file->lines = 0;
		file->last_ns = 0;
		file->ready = file->ended = false;
	}
	return 0;
}

/* FILE, or when there is none FILE.1, FILE.2, … of strace -ff. */
static int open_files(struct strace_log *log, const char *path, struct error *err)
{
	struct stat st;
	struct buf pattern = BUF_INIT;
	glob_t found = { 0 };
	int r = 0;

	if (stat(path, &st) == 0) {
		log->files = calloc(1, sizeof *log->files);
		return log->files ? open_file(log, path, err) : error_errno(err, ENOMEM, "%s", path);
	}
	for (const char *p = path; *p; p++)
		(void)buf_printf(&pattern, "%s%c", strchr("*?[\\", *p) ? "\\" : "", *p);
	(void)buf_puts(&pattern, ".[0-9]*");
	if (pattern.failed || glob(buf_text(&pattern), 0, NULL, &found) != 0 || found.gl_pathc == 0)
		r = error_errno(err, ENOENT, "%s", path);
	else if (found.gl_pathc > STRACE_FILES_MAX)
		r = error_set(err, E2BIG, "%s: %zu files of one log; at most %d", path, found.gl_pathc,
			      STRACE_FILES_MAX);
	if (r == 0) {
		log->files = calloc(found.gl_pathc, sizeof *log->files);
		r = log->files ? 0 : error_errno(err, ENOMEM, "%s", path);
	}
	for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
		r = open_file(log, found.gl_pathv[i], err);
	globfree(&found);
	buf_done(&pattern);
	return r;
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
	r = open_files(log, spec->file, err);
	if (r < 0) {
		strace_stop(&log->engine);
		return r;
	}
	find_births(log);
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
