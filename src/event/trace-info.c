/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first and the last block of a trace file: fields, each with its number
 * and its length, of which a reader takes those that it knows.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "event/trace-code.h"

enum {
	START_VERSION = 1,
	START_KERNEL,
	START_ARCH,
	START_LIBC,
	START_CPUS,
	START_ENGINE,
	START_ENGINE_WHY,
	START_ARGV,
	START_PIDS,
	START_ITEMS,
	START_ENV_NAMES,
};

#define END_ABORT_REASON 64

/* Of one text of ours, one list of words. */
#define WORDS_MAX 65536

static int put_number(struct buf *buf, uint64_t value)
{
	uint8_t bytes[TRACE_NUMBER_MAX];

	return buf_add(buf, bytes, (size_t)(trace_put(bytes, value) - bytes));
}

static int put_field(struct buf *buf, unsigned field, const void *data, size_t bytes)
{
	(void)put_number(buf, field);
	(void)put_number(buf, bytes);
	return buf_add(buf, data, bytes);
}

static void put_text(struct buf *buf, unsigned field, const char *text)
{
	if (text)
		(void)put_field(buf, field, text, strlen(text));
}

static void put_value(struct buf *buf, unsigned field, uint64_t value)
{
	uint8_t bytes[TRACE_NUMBER_MAX];

	(void)put_field(buf, field, bytes, (size_t)(trace_put(bytes, value) - bytes));
}

static void put_words(struct buf *buf, unsigned field, const char *const *words)
{
	struct buf all = BUF_INIT;

	if (!words)
		return;
	for (; *words; words++)
		(void)buf_add(&all, *words, strlen(*words) + 1);
	if (all.failed)
		buf->failed = true;
	else
		(void)put_field(buf, field, all.data, all.bytes);
	buf_done(&all);
}

int trace_start_put(struct buf *buf, const struct trace_start *start)
{
	struct buf pids = BUF_INIT;

	put_text(buf, START_VERSION, start->version);
	put_text(buf, START_KERNEL, start->kernel);
	put_text(buf, START_ARCH, start->arch);
	put_text(buf, START_LIBC, start->libc);
	put_value(buf, START_CPUS, start->cpus);
	put_text(buf, START_ENGINE, start->engine);
	put_text(buf, START_ENGINE_WHY, start->engine_why);
	put_words(buf, START_ARGV, (const char *const *)start->argv);
	for (size_t i = 0; i < start->pid_count; i++)
		(void)put_number(&pids, (uint64_t)start->pids[i]);
	if (pids.failed)
		buf->failed = true;
	else if (start->pid_count > 0)
		(void)put_field(buf, START_PIDS, pids.data, pids.bytes);
	buf_done(&pids);
	put_value(buf, START_ITEMS, start->items);
	put_words(buf, START_ENV_NAMES, start->env_names);
	return buf->failed ? -ENOMEM : 0;
}

int trace_end_put(struct buf *buf, const struct trace_end *end)
{
#define PUT(name, number) put_value(buf, number, end->name);
	TRACE_END_LIST(PUT)
#undef PUT
	put_text(buf, END_ABORT_REASON, end->abort_reason);
	return buf->failed ? -ENOMEM : 0;
}

/* Each field in turn: 1, 0 at the end, -EBADMSG. */
static int next_field(const uint8_t **at, const uint8_t *end, uint64_t *ret_field, const uint8_t **ret_data,
		      size_t *ret_bytes)
{
	uint64_t bytes;

	if (*at == end)
		return 0;
	if (!trace_get(at, end, ret_field) || !trace_get(at, end, &bytes) || bytes > (size_t)(end - *at))
		return -EBADMSG;
	*ret_data = *at;
	*ret_bytes = (size_t)bytes;
	*at += bytes;
	return 1;
}

/* A text of its own up to its first NUL, in info->texts, which has room. */
static const char *get_text(struct trace_info *info, const uint8_t *data, size_t bytes)
{
	const char *text = info->texts.data + info->texts.bytes;

	(void)buf_add(&info->texts, data, bytes);
	(void)buf_putc(&info->texts, '\0');
	return text;
}

static uint64_t get_value(const uint8_t *data, size_t bytes)
{
	uint64_t value = 0;

	return trace_get(&data, data + bytes, &value) ? value : 0;
}

/* Words, each with its NUL, as a NULL-ended list; NULL without memory. */
static char **get_words(struct trace_info *info, const uint8_t *data, size_t bytes)
{
	char *text = info->texts.data + info->texts.bytes, *end = text + bytes;
	size_t count = 0;
	char **words;

	(void)get_text(info, data, bytes);
	for (const char *at = text; at < end && count < WORDS_MAX; at += strlen(at) + 1)
		count++;
	words = calloc(count + 1, sizeof *words);
	for (size_t i = 0; words && i < count; i++) {
		words[i] = text;
		text += strlen(text) + 1;
	}
	return words;
}

static int get_pids(struct trace_info *info, const uint8_t *data, size_t bytes)
{
	const uint8_t *end = data + bytes;
	uint64_t pid;

	free(info->pids);
	info->start.pid_count = 0;
	info->start.pids = info->pids = calloc(bytes ? bytes : 1, sizeof *info->pids);
	if (!info->pids)
		return -ENOMEM;
	while (data < end && trace_get(&data, end, &pid))
		info->pids[info->start.pid_count++] = pid <= INT_MAX ? (int)pid : 0;
	return 0;
}

static int get_start_field(struct trace_info *info, uint64_t field, const uint8_t *data, size_t bytes)
{
	struct trace_start *start = &info->start;

	switch (field) {
	case START_VERSION:
		start->version = get_text(info, data, bytes);
		return 0;
	case START_KERNEL:
		start->kernel = get_text(info, data, bytes);
		return 0;
	case START_ARCH:
		start->arch = get_text(info, data, bytes);
		return 0;
	case START_LIBC:
		start->libc = get_text(info, data, bytes);
		return 0;
	case START_CPUS:
		start->cpus = get_value(data, bytes);
		return 0;
	case START_ENGINE:
		start->engine = get_text(info, data, bytes);
		return 0;
	case START_ENGINE_WHY:
		start->engine_why = get_text(info, data, bytes);
		return 0;
	case START_ARGV:
		free(info->argv);
		start->argv = info->argv = get_words(info, data, bytes);
		return info->argv ? 0 : -ENOMEM;
	case START_PIDS:
		return get_pids(info, data, bytes);
	case START_ITEMS:
		start->items = get_value(data, bytes);
		return 0;
	case START_ENV_NAMES:
		free(info->env_names);
		info->env_names = (const char **)get_words(info, data, bytes);
		start->env_names = info->env_names;
		return info->env_names ? 0 : -ENOMEM;
	default:
		return 0;
	}
}

int trace_start_get(struct trace_info *info, const void *data, size_t bytes)
{
	const uint8_t *at = data, *end = at + bytes, *value;
	uint64_t field;
	size_t value_bytes;
	int r;

	/* Each field has two bytes of its own, its text one more: pointers into it stay. */
	buf_clear(&info->texts);
	if (!buf_reserve(&info->texts, 2 * bytes + 1))
		return -ENOMEM;
	while ((r = next_field(&at, end, &field, &value, &value_bytes)) > 0) {
		r = get_start_field(info, field, value, value_bytes);
		if (r < 0)
			break;
	}
	return r;
}

int trace_end_get(struct trace_info *info, const void *data, size_t bytes)
{
	const uint8_t *at = data, *end = at + bytes, *value;
	uint64_t field;
	size_t value_bytes;
	int r;

	while ((r = next_field(&at, end, &field, &value, &value_bytes)) > 0) {
		switch (field) {
#define GET(name, number) \
	case number: \
		info->end.name = get_value(value, value_bytes); \
		break;
			TRACE_END_LIST(GET)
#undef GET
		case END_ABORT_REASON:
			free((char *)info->end.abort_reason);
			info->end.abort_reason = strndup((const char *)value, value_bytes);
			break;
		default:
			break;
		}
	}
	return r;
}

void trace_info_done(struct trace_info *info)
{
	free((char *)info->end.abort_reason);
	free(info->argv);
	free(info->env_names);
	free(info->pids);
	buf_done(&info->texts);
}
