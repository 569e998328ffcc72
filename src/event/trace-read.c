/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace file → records.  Nothing in it is believed: a block counts when
 * its check sum is right, a number when it is below its limit, a record when
 * event_valid() says so.  What is not whole is left out, counted and told in
 * one line; it is no error.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/vec.h"
#include "event/trace-code.h"
#include "event/trace-stream.h"

struct kept_text {
	const uint8_t *data; /* in the block */
	uint32_t bytes;
};

struct kept_task {
	uint32_t pid, tid;
};

struct trace_reader {
	struct trace_in *in;
	char *name;
	struct trace_info info;
	bool ended; /* the end record was read */
	bool over; /* there is no more */
	/* The block at work, and what it has told so far. */
	uint8_t *block, *plain;
	const uint8_t *at, *end;
	VEC(struct trace_shape) shapes;
	VEC(struct kept_text) texts;
	VEC(struct kept_task) tasks;
	uint32_t pid, tid;
	uint64_t time_ns, ip;
	struct trace_last last[TRACE_ITEM_TYPES];
	struct trace_stack stack[2];
	bool stack_at; /* which one is the last */
	char *record; /* EVENT_BYTES_MAX, handed out */
	/* What is not whole. */
	uint64_t bad_blocks, bad_records, unknown_records, unknown_blocks;
	const char *cut; /* why reading ended before the end record */
	struct buf damage;
};

static void cut(struct trace_reader *reader, const char *why)
{
	if (!reader->cut)
		reader->cut = trace_in_trouble(reader->in) ? trace_in_trouble(reader->in) : why;
	reader->over = true;
}

/* 1 and a block that is whole, in reader->at; 0 at the end of all. */
static int next_block(struct trace_reader *reader, uint8_t *ret_type, struct error *err)
{
	for (;;) {
		struct trace_block head;
		ssize_t n = trace_in_read(reader->in, &head, sizeof head);

		if (n == 0) {
			if (!reader->ended)
				cut(reader, "the file has no end");
			reader->over = true;
			return 0;
		}
		if (n < 0)
			return error_errno(err, (int)-n, "%s", reader->name);
		if ((size_t)n < sizeof head || head.type < TRACE_START || head.bytes > TRACE_BLOCK_MAX ||
		    head.plain_bytes > TRACE_BLOCK_MAX) {
			cut(reader, (size_t)n < sizeof head ? "the file is cut off" : "what follows is no block");
			return 0;
		}
		n = trace_in_read(reader->in, reader->block, head.bytes);
		if (n < 0)
			return error_errno(err, (int)-n, "%s", reader->name);
		if ((size_t)n < head.bytes) {
			cut(reader, "the file is cut off");
			return 0;
		}
		if (trace_check(reader->block, head.bytes) != head.check) {
			reader->bad_blocks++;
			continue;
		}
		if (head.coding != TRACE_PLAIN || head.type > TRACE_END) {
			reader->unknown_blocks++;
			continue;
		}
		reader->at = reader->block;
		reader->end = reader->block + head.bytes;
		*ret_type = head.type;
		return 1;
	}
}

static void records_begin(struct trace_reader *reader)
{
	reader->shapes.used = 0;
	reader->texts.used = 0;
	reader->tasks.used = 0;
	reader->pid = reader->tid = 0;
	reader->time_ns = reader->ip = 0;
	memset(reader->last, 0, sizeof reader->last);
	reader->stack[0].count = reader->stack[1].count = 0;
}

int trace_reader_new(int fd, const char *name, struct trace_reader **ret, struct error *err)
{
	struct trace_reader *reader = calloc(1, sizeof *reader);
	char head[TRACE_HEAD_BYTES];
	uint16_t major;
	uint8_t type;
	ssize_t n;
	int r = -ENOMEM;

	if (reader) {
		reader->name = strdup(name);
		reader->block = malloc(TRACE_BLOCK_MAX);
		reader->record = malloc(EVENT_BYTES_MAX);
	}
	if (!reader || !reader->name || !reader->block || !reader->record) {
		trace_reader_free(reader);
		return error_errno(err, ENOMEM, "%s", name);
	}
	r = trace_in_new(fd, &reader->in);
	if (r < 0) {
		trace_reader_free(reader);
		return r == -EOPNOTSUPP ? error_set(err, EOPNOTSUPP,
						    "%s is compressed with zstd, which this build cannot read; "
						    "zstd -d makes a file that it can",
						    name)
					: error_errno(err, -r, "%s", name);
	}
	n = trace_in_read(reader->in, head, sizeof head);
	memcpy(&major, head + TRACE_MAGIC_BYTES, sizeof major);
	if (n < 0)
		r = error_errno(err, (int)-n, "%s", name);
	else if ((size_t)n < sizeof head && trace_in_trouble(reader->in))
		r = error_set(err, EINVAL, "%s: %s", name, trace_in_trouble(reader->in));
	else if ((size_t)n < sizeof head || memcmp(head, TRACE_MAGIC, TRACE_MAGIC_BYTES) != 0)
		r = error_set(err, EINVAL, "%s is no trace of syscull%s", name, n == 0 ? ": it is empty" : "");
	else if (major != TRACE_MAJOR)
		r = error_set(err, EINVAL, "%s is a trace of kind %u; this version reads kind %u", name, major,
			      TRACE_MAJOR);
	else
		r = next_block(reader, &type, err);
	if (r == 0 || (r > 0 && type != TRACE_START)) {
		r = error_set(err, EINVAL, "%s: %s", name,
			      reader->cut ? "the trace is cut off before it begins"
					  : "the beginning of the trace is damaged");
	} else if (r > 0) {
		r = trace_start_get(&reader->info, reader->at, (size_t)(reader->end - reader->at));
		if (r < 0)
			r = error_set(err, r == -ENOMEM ? ENOMEM : EINVAL, "%s: the beginning of the trace is damaged",
				      name);
		reader->at = reader->end;
	}
	if (r < 0) {
		trace_reader_free(reader);
		return r;
	}
	*ret = reader;
	return 0;
}

void trace_reader_free(struct trace_reader *reader)
{
	if (!reader)
		return;
	trace_info_done(&reader->info);
	vec_done(&reader->shapes);
	vec_done(&reader->texts);
	vec_done(&reader->tasks);
	buf_done(&reader->damage);
	trace_in_free(reader->in);
	free(reader->block);
	free(reader->record);
	free(reader->name);
	free(reader);
}

const struct trace_start *trace_reader_start(const struct trace_reader *reader)
{
	return &reader->info.start;
}

const struct trace_end *trace_reader_end(const struct trace_reader *reader)
{
	return reader->ended ? &reader->info.end : NULL;
}

static bool get(struct trace_reader *reader, uint64_t *ret)
{
	return trace_get(&reader->at, reader->end, ret);
}

/* A number up to a limit. */
static bool get_small(struct trace_reader *reader, uint64_t most, uint64_t *ret)
{
	return get(reader, ret) && *ret <= most;
}

static bool get_words_to_the_end(struct trace_reader *reader, uint64_t *words, unsigned count)
{
	uint64_t mask, delta;

	if (!get(reader, &mask) || mask >> count)
		return false;
	for (; mask; mask &= mask - 1) {
		if (!get(reader, &delta))
			return false;
		words[__builtin_ctzll(mask)] += trace_unzigzag(delta);
	}
	return true;
}

static bool get_words(struct trace_reader *reader, uint64_t *words, unsigned count)
{
	const uint8_t *at = reader->at;
	uint64_t mask, delta;

	if (reader->end - at < TRACE_NUMBER_MAX * (TRACE_WORDS_MAX + 1))
		return get_words_to_the_end(reader, words, count);
	at = trace_get_roomy(at, &mask);
	if (!at || mask >> count)
		return false;
	for (; mask; mask &= mask - 1) {
		at = trace_get_roomy(at, &delta);
		if (!at)
			return false;
		words[__builtin_ctzll(mask)] += trace_unzigzag(delta);
	}
	reader->at = at;
	return true;
}

static bool get_text(struct trace_reader *reader, struct kept_text *ret)
{
	uint64_t code;

	if (!get(reader, &code))
		return false;
	if (!(code & 1)) {
		if (code >> 1 >= reader->texts.used)
			return false;
		*ret = reader->texts.at[code >> 1];
		return true;
	}
	code >>= 1;
	if (code > (size_t)(reader->end - reader->at))
		return false;
	*ret = (struct kept_text){ reader->at, (uint32_t)code };
	reader->at += code;
	return code == 0 || code > TRACE_TEXT_MAX || vec_push(&reader->texts, *ret);
}

static bool get_task(struct trace_reader *reader)
{
	uint64_t number, pid, tid;

	if (!get_small(reader, reader->tasks.used, &number))
		return false;
	if (number == reader->tasks.used) {
		if (!get_small(reader, UINT32_MAX, &pid) || !get_small(reader, UINT32_MAX, &tid) ||
		    !vec_push(&reader->tasks, (struct kept_task){ (uint32_t)pid, (uint32_t)tid }))
			return false;
	}
	reader->pid = reader->tasks.at[number].pid;
	reader->tid = reader->tasks.at[number].tid;
	return true;
}

static bool get_item_shape(struct trace_reader *reader, struct trace_item_shape *item)
{
	uint64_t type, arg, flags, words;

	if (!get_small(reader, UINT16_MAX, &type) || !get_small(reader, UINT8_MAX, &arg) ||
	    !get_small(reader, UINT8_MAX, &flags) || !get_small(reader, TRACE_WORDS_STACK, &words))
		return false;
	if (words > TRACE_ITEM_WORDS_MAX && words != TRACE_WORDS_STACK)
		return false;
	if (words > 0 && type >= TRACE_ITEM_TYPES)
		return false;
	*item = (struct trace_item_shape){ (uint16_t)type, (uint8_t)arg, (uint8_t)flags, (uint8_t)words };
	return true;
}

/* NULL: damaged, or without memory. */
static struct trace_shape *get_define(struct trace_reader *reader)
{
	uint64_t type, flags, fixed, items, ip, rest;
	struct trace_shape shape = { 0 };

	if (!get_small(reader, UINT16_MAX, &type) || !get_small(reader, UINT16_MAX, &flags) ||
	    !get_small(reader, TRACE_WORDS_MAX, &fixed) || !get_small(reader, TRACE_ITEMS_MAX, &items))
		return NULL;
	shape.type = (uint16_t)type;
	shape.flags = (uint16_t)flags;
	shape.fixed = (uint8_t)fixed;
	shape.items = (uint8_t)items;
	shape.known = event_fixed_bytes(shape.type) == sizeof(struct event_head) + 8 * fixed;
	for (unsigned i = 0; i < items; i++)
		if (!get_item_shape(reader, &shape.item[i]))
			return NULL;
	if (type == EVENT_CALL) {
		if (!shape.known || !get(reader, &ip) || !get(reader, &rest) || rest >> 48 != items)
			return NULL;
		reader->ip += trace_unzigzag(ip);
		shape.word[TRACE_CALL_IP] = reader->ip;
		shape.word[TRACE_CALL_REST] = rest;
	}
	if (reader->shapes.used == TRACE_SHAPES_MAX || !vec_push(&reader->shapes, shape))
		return NULL;
	return &reader->shapes.at[reader->shapes.used - 1];
}

/* Appends the item at `used` of the record; the new end, 0 when damaged. */
static size_t get_item(struct trace_reader *reader, const struct trace_item_shape *shape, size_t used)
{
	struct event_item item = { .type = shape->type, .arg = shape->arg, .flags = shape->flags };
	struct kept_text text;
	size_t room;

	if (shape->words == TRACE_WORDS_STACK) {
		struct trace_stack *stack = &reader->stack[!reader->stack_at];

		if (!trace_unpack(&reader->at, reader->end, &reader->stack[reader->stack_at], stack))
			return 0;
		reader->stack_at = !reader->stack_at;
		text = (struct kept_text){ (const uint8_t *)stack->word, 8u * stack->count };
	} else if (shape->words > 0) {
		uint64_t *last = reader->last[shape->type].word;

		if (!get_words(reader, last, shape->words))
			return 0;
		text = (struct kept_text){ (const uint8_t *)last, 8u * shape->words };
	} else if (!get_text(reader, &text)) {
		return 0;
	}
	room = (text.bytes + 7) & ~(size_t)7;
	if (text.bytes > EVENT_BYTES_MAX || used + sizeof item + room > EVENT_BYTES_MAX ||
	    ((item.flags & EVENT_ITEM_UNREAD) && text.bytes > 0))
		return 0;
	item.bytes = text.bytes;
	memcpy(reader->record + used, &item, sizeof item);
	used += sizeof item;
	if (room > text.bytes)
		memset(reader->record + used + room - 8, 0, 8);
	/* Where a call was made from: with nearly every one. */
	if (text.bytes == sizeof(struct item_caller))
		memcpy(reader->record + used, text.data, sizeof(struct item_caller));
	else if (text.bytes > 0)
		memcpy(reader->record + used, text.data, text.bytes);
	return used + room;
}

/* One record: 1, 0 when it is not to be given out, -EBADMSG. */
static int get_record(struct trace_reader *reader, struct trace_shape *shape)
{
	struct event_head *head = (void *)reader->record;
	size_t used = sizeof *head + 8u * shape->fixed;
	uint64_t delta;
	bool whole;

	if (!get(reader, &delta))
		return -EBADMSG;
	reader->time_ns += trace_unzigzag(delta);
	*head = (struct event_head){ .type = shape->type,
				     .flags = shape->flags,
				     .pid = reader->pid,
				     .tid = reader->tid,
				     .time_ns = reader->time_ns };
	if (shape->type == EVENT_CALL) {
		whole = get(reader, &shape->word[TRACE_CALL_DURATION]) &&
			get_words(reader, shape->word + TRACE_CALL_FIRST, TRACE_CALL_MASKED);
		reader->time_ns += shape->word[TRACE_CALL_DURATION];
	} else {
		whole = get_words(reader, shape->word, shape->fixed);
	}
	if (!whole)
		return -EBADMSG;
	/* A known size is copied by moves. */
	if (shape->type == EVENT_CALL)
		memcpy(head + 1, shape->word, 8u * TRACE_CALL_WORDS);
	else
		memcpy(head + 1, shape->word, 8u * shape->fixed);
	for (unsigned i = 0; i < shape->items; i++) {
		used = get_item(reader, &shape->item[i], used);
		if (used == 0)
			return -EBADMSG;
	}
	head->bytes = (uint32_t)used;
	if (!shape->known) {
		reader->unknown_records++;
		return 0;
	}
	/* A call is right by the way it is made. */
	if (shape->type != EVENT_CALL && !event_valid(head, used)) {
		reader->bad_records++;
		return 0;
	}
	return 1;
}

/* A record that is kept as it is. */
static int get_plain_record(struct trace_reader *reader, size_t bytes)
{
	struct event_head *head = (void *)reader->record;

	if (bytes < sizeof *head || bytes > EVENT_BYTES_MAX)
		return -EBADMSG;
	memcpy(head, reader->at, bytes);
	reader->at += bytes;
	if (head->bytes != bytes || !event_valid(head, bytes)) {
		reader->bad_records++;
		return 0;
	}
	if (event_fixed_bytes(head->type) == 0) {
		reader->unknown_records++;
		return 0;
	}
	return 1;
}

static int get_entry(struct trace_reader *reader)
{
	struct trace_shape *shape;
	uint64_t tag, bytes;

	if (!get(reader, &tag))
		return -EBADMSG;
	if (tag >= TRACE_TAG_SHAPE) {
		if (tag - TRACE_TAG_SHAPE >= reader->shapes.used)
			return -EBADMSG;
		return get_record(reader, &reader->shapes.at[tag - TRACE_TAG_SHAPE]);
	}
	switch (tag) {
	case TRACE_TAG_DEFINE:
		shape = get_define(reader);
		return shape ? get_record(reader, shape) : -EBADMSG;
	case TRACE_TAG_TASK:
		return get_task(reader) ? 0 : -EBADMSG;
	default:
		if (!get_small(reader, (uint64_t)(reader->end - reader->at), &bytes) ||
		    bytes > (size_t)(reader->end - reader->at))
			return -EBADMSG;
		if (tag == TRACE_TAG_RECORD)
			return get_plain_record(reader, (size_t)bytes);
		reader->at += bytes;
		reader->unknown_records++;
		return 0;
	}
}

/* What comes behind the end is of nobody: it is not read, and told. */
static void look_behind(struct trace_reader *reader)
{
	char head[TRACE_MAGIC_BYTES];
	ssize_t n = trace_in_read(reader->in, head, sizeof head);

	if (n == (ssize_t)sizeof head && memcmp(head, TRACE_MAGIC, sizeof head) == 0)
		reader->cut = "behind its end comes another trace, which is left out";
	else if (n > 0 || (trace_in_trouble(reader->in) && !trace_in_ended(reader->in)))
		reader->cut = "behind its end comes something else, which is left out";
}

int trace_read(struct trace_reader *reader, const struct event_head **ret, struct error *err)
{
	uint8_t type = 0;
	int r;

	for (;;) {
		while (reader->at < reader->end) {
			r = get_entry(reader);
			if (r > 0) {
				*ret = (const struct event_head *)(const void *)reader->record;
				return 1;
			}
			if (r < 0) {
				reader->bad_blocks++;
				reader->at = reader->end;
			}
		}
		if (reader->over)
			return 0;
		r = next_block(reader, &type, err);
		if (r <= 0)
			return r;
		if (type == TRACE_RECORDS) {
			records_begin(reader);
		} else {
			if (type == TRACE_END) {
				r = trace_end_get(&reader->info, reader->at, (size_t)(reader->end - reader->at));
				reader->ended = r == 0;
				reader->bad_blocks += r < 0;
			}
			reader->at = reader->end;
		}
		if (reader->ended) {
			reader->over = true;
			look_behind(reader);
		}
	}
}

const char *trace_reader_damage(const struct trace_reader *reader)
{
	struct buf *text = (struct buf *)&reader->damage;
	const char *comma = "";

	buf_clear(text);
	if (reader->cut) {
		(void)buf_puts(text, reader->cut);
		comma = "; ";
	}
	if (reader->bad_blocks > 0) {
		(void)buf_printf(text, "%s%" PRIu64 " damaged block%s left out", comma, reader->bad_blocks,
				 reader->bad_blocks == 1 ? "" : "s");
		comma = "; ";
	}
	if (reader->bad_records > 0) {
		(void)buf_printf(text, "%s%" PRIu64 " damaged record%s left out", comma, reader->bad_records,
				 reader->bad_records == 1 ? "" : "s");
		comma = "; ";
	}
	if (reader->unknown_records + reader->unknown_blocks > 0)
		(void)buf_printf(text, "%s%" PRIu64 " part%s of a newer kind skipped", comma,
				 reader->unknown_records + reader->unknown_blocks,
				 reader->unknown_records + reader->unknown_blocks == 1 ? "" : "s");
	return text->bytes > 0 ? buf_text(text) : NULL;
}
