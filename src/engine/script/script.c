/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The script engine at work: lines, loops, time, and the engine's functions.
 * It never runs anything: what it tells is what the text says, in the order
 * of the lines.  The format: docs/howto/write-a-test.md, "Scripted streams".
 *
 *     task 100 exe=/bin/ls argv="ls -l" cwd=/tmp
 *     repeat 1000 i {
 *     100 lgetxattr("f{i}", "security.selinux", _, 255) = -1 ENODATA <2us>
 *     }
 *     exit 100 0
 */
#include "engine/script/script.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define DEFAULT_GAP_NS 1000
#define LOOP_MAX UINT64_C(1000000000)

static struct script *script_of(struct engine *engine)
{
	return (struct script *)engine;
}

struct buf *script_record(struct script *script)
{
	return &script->queue[script->queued];
}

uint32_t script_pid(const struct script *script, uint32_t tid)
{
	const uint32_t *pid = map_get(&script->pids, tid);

	return pid ? *pid : tid;
}

int script_set_pid(struct script *script, uint32_t tid, uint32_t pid)
{
	uint32_t *place = map_put(&script->pids, tid, NULL);

	if (!place)
		return -ENOMEM;
	*place = pid;
	return 0;
}

void *script_begin(struct scan *scan, enum event_type type, uint32_t tid)
{
	struct script *script = scan->script;
	struct event_head *head = event_begin(script_record(script), type);

	if (!head)
		return NULL;
	head->tid = tid;
	head->pid = script_pid(script, tid);
	head->time_ns = scan->time_ns;
	return head;
}

int script_end(struct scan *scan)
{
	struct script *script = scan->script;

	if (!event_end(script_record(script)))
		return error_errno(scan->err, ENOMEM, "%s", script->name);
	script->queued++;
	return 0;
}

/* Loops */

static bool is_variable(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The loop of this name; NULL when there is none. */
static const struct script_loop *loop_of(const struct script *script, const char *name, size_t bytes)
{
	for (unsigned depth = script->depth; depth > 0; depth--) {
		const struct script_loop *loop = &script->loops[depth - 1];

		if (strlen(loop->name) == bytes && memcmp(loop->name, name, bytes) == 0)
			return loop;
	}
	return NULL;
}

/* "{9-i}": counts down. */
static size_t fill_downwards(struct script *script, const char *text, size_t left)
{
	const struct script_loop *loop;
	uint64_t number = 0;
	size_t at = 1, name;

	while (at < left && isdigit((unsigned char)text[at]))
		number = number * 10 + (uint64_t)(text[at++] - '0');
	if (at == 1 || at == left || text[at] != '-')
		return 0;
	name = ++at;
	while (at < left && is_variable(text[at]))
		at++;
	loop = at < left && text[at] == '}' ? loop_of(script, text + name, at - name) : NULL;
	if (!loop)
		return 0;
	(void)buf_printf(&script->filled, "%lld", (long long)(number - loop->at));
	return at + 1;
}

/* "{i}", "{i+1}", "{i-1}", "{i*8}", "{i/8}", "{i%7}", "{9-i}": the bytes taken, 0 when it is none. */
static size_t fill_variable(struct script *script, const char *text, size_t left)
{
	const struct script_loop *loop;
	size_t at = 1;
	uint64_t number = 0;
	uint64_t value;
	char op = 0;

	while (at < left && is_variable(text[at]))
		at++;
	loop = loop_of(script, text + 1, at - 1);
	if (!loop)
		return fill_downwards(script, text, left);
	if (at == left)
		return 0;
	value = loop->at;
	if (strchr("+-*/%", text[at])) {
		op = text[at++];
		while (at < left && isdigit((unsigned char)text[at]))
			number = number * 10 + (uint64_t)(text[at++] - '0');
	}
	if (at == left || text[at] != '}' || ((op == '%' || op == '/') && number == 0))
		return 0;
	if (op == '+')
		value += number;
	else if (op == '-')
		value -= number;
	else if (op == '*')
		value *= number;
	else if (op == '/')
		value /= number;
	else if (op == '%')
		value %= number;
	(void)buf_printf(&script->filled, "%lld", (long long)value);
	return at + 1;
}

static int fill(struct script *script, const struct script_line *line)
{
	buf_clear(&script->filled);
	for (size_t i = 0; i < line->bytes;) {
		size_t taken = line->text[i] == '{' ? fill_variable(script, line->text + i, line->bytes - i) : 0;

		if (taken == 0)
			(void)buf_putc(&script->filled, line->text[i]);
		i += taken > 0 ? taken : 1;
	}
	return script->filled.failed ? -ENOMEM : 0;
}

/* repeat N [NAME] { */
static int repeat_line(struct scan *scan, size_t line)
{
	struct script *script = scan->script;
	struct script_loop *loop;
	const char *word;
	size_t bytes;
	uint64_t count;
	int r = scan_number(scan, &count);

	if (r < 0)
		return r;
	if (count > LOOP_MAX)
		return scan_fail(scan, "at most 1000000000 turns");
	if (script->depth == SCRIPT_LOOPS_MAX)
		return scan_fail(scan, "fewer loops inside each other");
	bytes = scan_word(scan, &word);
	if (bytes >= SCRIPT_NAME_MAX)
		return scan_fail(scan, "a shorter name");
	if (!scan_char(scan, '{') || !scan_done(scan))
		return scan_fail(scan, "'{' at the end of the line");
	if (count == 0) {
		script->line = script->lines.at[line].partner + 1;
		return 0;
	}
	loop = &script->loops[script->depth++];
	*loop = (struct script_loop){ .first = line, .count = count };
	memcpy(loop->name, word, bytes);
	return 0;
}

static void loop_end(struct script *script)
{
	struct script_loop *loop = &script->loops[script->depth - 1];

	if (++loop->at < loop->count)
		script->line = loop->first + 1;
	else
		script->depth--;
}

/* Lines */

static int run_line(struct script *script, struct error *err)
{
	size_t number = script->line;
	const struct script_line *line = &script->lines.at[number];
	struct scan scan = { .script = script, .number = script->lines_before + number + 1, .err = err };
	const char *word;
	uint64_t at_ns;
	size_t bytes;
	int r;

	scan.at = line->text;
	scan.end = line->text + line->bytes;
	if (scan_done(&scan)) {
		script->line++;
		return 0;
	}
	if (*scan.at == '}') {
		script->line++;
		loop_end(script);
		return 0;
	}
	if (script->depth > 0 && memchr(line->text, '{', line->bytes)) {
		if (fill(script, line) < 0)
			return error_errno(err, ENOMEM, "%s", script->name);
		scan.at = script->filled.data;
		scan.end = script->filled.data + script->filled.bytes;
	}
	scan.time_ns = script->now_ns + DEFAULT_GAP_NS;
	if (scan_char(&scan, '@')) {
		bool later = scan_char(&scan, '+');

		r = scan_time(&scan, &at_ns);
		if (r < 0)
			return r;
		scan.time_ns = at_ns + (later ? script->now_ns : SCRIPT_START_NS);
	}
	scan_blanks(&scan);
	if (scan.at < scan.end && isdigit((unsigned char)*scan.at)) {
		if (script->mounts.bytes > 0)
			return state_mounts_end(script);
		script->line++;
		return call_line(&scan);
	}
	bytes = scan_word(&scan, &word);
	if (script->mounts.bytes > 0 && !(bytes == 5 && memcmp(word, "mount", 5) == 0))
		return state_mounts_end(script);
	script->line++;
	if (bytes == 6 && memcmp(word, "repeat", 6) == 0)
		return repeat_line(&scan, number);
	script->now_ns = scan.time_ns;
	return state_line(&scan, word, bytes);
}

static int script_next(struct engine *engine, const struct event_head **ret_record, struct error *err)
{
	struct script *script = script_of(engine);

	if (script->sent == script->queued)
		script->sent = script->queued = 0;
	while (script->queued == 0) {
		int r;

		if (script->line < script->lines.used)
			r = run_line(script, err);
		else if (script->mounts.bytes > 0)
			r = state_mounts_end(script);
		else
			return ENGINE_END;
		if (r < 0)
			return error_set(err, -r, "%s: out of memory", script->name);
	}
	*ret_record = (const struct event_head *)(const void *)script->queue[script->sent++].data;
	script->stats.wall_ns = script->now_ns - SCRIPT_START_NS;
	return ENGINE_RECORD;
}

/* Takes the text apart and pairs "repeat" with "}". */
static int load(struct script *script, const char *text, size_t bytes, struct error *err)
{
	size_t open[SCRIPT_LOOPS_MAX];
	unsigned depth = 0;

	free(script->text);
	script->lines_before += script->lines.used;
	script->lines.used = script->line = 0;
	script->depth = 0;
	script->text = malloc(bytes + 1);
	if (!script->text)
		return error_errno(err, ENOMEM, "%s", script->name);
	memcpy(script->text, text, bytes);
	script->text[bytes] = '\0';
	for (size_t at = 0; at < bytes;) {
		const char *start = script->text + at;
		const char *newline = memchr(start, '\n', bytes - at);
		size_t line_bytes = newline ? (size_t)(newline - start) : bytes - at;
		size_t number = script->lines.used;
		struct script_line line = { .text = start };
		struct scan scan = { .script = script, .number = script->lines_before + number + 1, .err = err };

		if (line_bytes > EVENT_BYTES_MAX)
			return error_set(err, EFBIG, "%s:%zu: the line is too long", script->name, number + 1);
		line.bytes = (uint32_t)line_bytes;
		scan.at = start;
		scan.end = start + line_bytes;
		if (scan_literal(&scan, "repeat")) {
			if (depth == SCRIPT_LOOPS_MAX)
				return scan_fail(&scan, "fewer loops inside each other");
			open[depth++] = number;
		} else if (scan_char(&scan, '}')) {
			if (depth == 0 || !scan_done(&scan))
				return scan_fail(&scan,
						 depth ? "nothing behind '}'" : "no '}': nothing is repeated here");
			line.partner = (uint32_t)open[--depth];
			script->lines.at[line.partner].partner = (uint32_t)number;
		}
		if (!vec_push(&script->lines, line))
			return error_errno(err, ENOMEM, "%s", script->name);
		at += line_bytes + 1;
	}
	if (depth > 0)
		return error_set(err, EINVAL, "%s:%zu: expected '}' somewhere behind this repeat", script->name,
				 script->lines_before + open[depth - 1] + 1);
	return 0;
}

static void script_stop(struct engine *engine)
{
	struct script *script = script_of(engine);

	if (!script)
		return;
	for (unsigned i = 0; i < SCRIPT_QUEUE_MAX; i++)
		buf_done(&script->queue[i]);
	buf_done(&script->filled);
	buf_done(&script->mounts);
	for (size_t i = 0; i < script->points.used; i++)
		free(script->points.at[i]);
	vec_done(&script->points);
	vec_done(&script->lines);
	map_done(&script->pids);
	free(script->text);
	free(script->name);
	free(script);
}

int script_open(const char *text, size_t bytes, const char *name, const struct engine_spec *spec,
		struct engine **ret_engine, struct error *err)
{
	struct script *script = calloc(1, sizeof(*script));
	int r;

	*ret_engine = NULL;
	if (!script)
		return error_errno(err, ENOMEM, "%s", name);
	script->engine.ops = &engine_script;
	map_init(&script->pids, sizeof(uint32_t), 0);
	script->now_ns = SCRIPT_START_NS;
	script->items = spec ? spec->items : 0;
	script->env_names = spec ? spec->env_names : NULL;
	script->name = strdup(name);
	r = script->name ? load(script, text, bytes, err) : error_errno(err, ENOMEM, "%s", name);
	if (r < 0) {
		script_stop(&script->engine);
		return r;
	}
	*ret_engine = &script->engine;
	return 0;
}

int script_more(struct engine *engine, const char *text, size_t bytes, struct error *err)
{
	return load(script_of(engine), text, bytes, err);
}

static int script_start(const struct engine_spec *spec, struct engine **ret_engine, struct error *err)
{
	struct buf text = BUF_INIT;
	int r;

	*ret_engine = NULL;
	if (!spec->script)
		return error_set(err, EINVAL, "the script engine needs a file");
	r = buf_read_file(&text, AT_FDCWD, spec->script, SCRIPT_BYTES_MAX);
	if (r < 0)
		(void)error_errno(err, -r, "%s", spec->script);
	else
		r = script_open(buf_text(&text), text.bytes, spec->script, spec, ret_engine, err);
	buf_done(&text);
	return r;
}

static void script_probe(struct engine_probe *ret)
{
	*ret = (struct engine_probe){ .usable = true, .why = "needs nothing but its file" };
}

static void script_let_go(struct engine *engine)
{
	struct script *script = script_of(engine);

	script->line = script->lines.used;
	script->depth = 0;
}

static void script_forward(struct engine *engine, int signal)
{
}

static void script_stats(const struct engine *engine, struct engine_stats *ret)
{
	*ret = ((const struct script *)engine)->stats;
}

static void script_exit_of(const struct engine *engine, struct engine_exit *ret)
{
	*ret = ((const struct script *)engine)->exit;
}

const struct engine_ops engine_script = {
	.name = "script",
	.title = "records written as text, for tests",
	.live = false,
	.probe = script_probe,
	.start = script_start,
	.next = script_next,
	.let_go = script_let_go,
	.forward = script_forward,
	.stats = script_stats,
	.exit_of = script_exit_of,
	.stop = script_stop,
};
