/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records → a trace file.  Each record is told by its difference from the
 * last one of the same shape; what was told before is named by a number.
 * Every block begins anew, so that a reader can do without any other one.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "event/trace-code.h"
#include "event/trace-stream.h"

/* Kept free below the limit for the last block. */
#define END_ROOM 65536

struct kept_text {
	size_t offset; /* in the block */
	size_t bytes;
};

struct trace_writer {
	struct trace_out *out;
	int failed; /* the first failure, negative errno */
	uint64_t most_bytes, left_out;
	struct buf block; /* with its head */
	uint64_t calls; /* in it */
	uint64_t plain_bytes; /* before it, as if they were not compressed */
	uint64_t full; /* so large it ends */
	uint64_t first_ns; /* the first record in it; 0 none */
	/* What the block has told so far. */
	VEC(struct trace_shape) shapes;
	VEC(struct kept_text) texts;
	struct map shape_of, text_of, task_of; /* hash → uint32_t */
	uint64_t tasks, task; /* pid << 32 | tid of the last record */
	uint64_t time_ns, ip;
	struct trace_last last[TRACE_ITEM_TYPES];
	struct trace_stack stack[2];
	bool stack_at; /* which one is the last */
};

static void block_begin(struct trace_writer *writer, enum trace_block_type type)
{
	struct trace_block *head;

	buf_clear(&writer->block);
	head = buf_extend(&writer->block, sizeof *head);
	if (head)
		head->type = (uint8_t)type;
	writer->calls = 0;
	writer->first_ns = 0;
	writer->full = writer->plain_bytes / TRACE_BLOCK_PART;
	if (writer->full < TRACE_BLOCK_LEAST)
		writer->full = TRACE_BLOCK_LEAST;
	if (writer->full > TRACE_BLOCK_FULL)
		writer->full = TRACE_BLOCK_FULL;
	writer->shapes.used = 0;
	writer->texts.used = 0;
	map_clear(&writer->shape_of);
	map_clear(&writer->text_of);
	map_clear(&writer->task_of);
	writer->tasks = 0;
	writer->task = 0;
	writer->time_ns = 0;
	writer->ip = 0;
	memset(writer->last, 0, sizeof writer->last);
	writer->stack[0].count = writer->stack[1].count = 0;
}

static void fail(struct trace_writer *writer, int error)
{
	if (writer->failed == 0)
		writer->failed = error;
}

/* `room` stays free below the limit. */
static void block_end(struct trace_writer *writer, uint64_t room)
{
	struct trace_block head;
	size_t bytes = writer->block.bytes;

	if (writer->block.failed)
		fail(writer, -ENOMEM);
	else if (writer->most_bytes > 0 && trace_out_bytes(writer->out) + bytes + room > writer->most_bytes)
		fail(writer, -EFBIG);
	if (writer->failed == 0 || (room == 0 && writer->failed == -EFBIG && !writer->block.failed)) {
		int r;

		memcpy(&head, writer->block.data, sizeof head);
		head.bytes = head.plain_bytes = (uint32_t)(bytes - sizeof head);
		head.coding = TRACE_PLAIN;
		head.check = trace_check(writer->block.data + sizeof head, head.bytes);
		memcpy(writer->block.data, &head, sizeof head);
		writer->plain_bytes += bytes;
		r = trace_out_write(writer->out, writer->block.data, bytes);
		if (r == 0)
			return;
		fail(writer, r);
	}
	writer->left_out += writer->calls;
}

int trace_writer_new(int fd, uint64_t most_bytes, bool zstd, const struct trace_start *start, struct trace_writer **ret)
{
	struct trace_writer *writer = calloc(1, sizeof *writer);
	char head[TRACE_HEAD_BYTES] = TRACE_MAGIC;
	const uint16_t versions[2] = { TRACE_MAJOR, TRACE_MINOR };
	int r;

	if (!writer)
		return -ENOMEM;
	writer->most_bytes = most_bytes;
	map_init(&writer->shape_of, sizeof(uint32_t), 0);
	map_init(&writer->text_of, sizeof(uint32_t), 0);
	map_init(&writer->task_of, sizeof(uint32_t), 0);
	memcpy(head + TRACE_MAGIC_BYTES, versions, sizeof versions);
	r = trace_out_new(fd, zstd, &writer->out);
	if (r == 0)
		r = trace_out_write(writer->out, head, sizeof head);
	if (r == 0) {
		block_begin(writer, TRACE_START);
		r = trace_start_put(&writer->block, start);
	}
	if (r == 0) {
		block_end(writer, END_ROOM);
		r = writer->failed;
	}
	if (r < 0) {
		trace_writer_free(writer);
		return r;
	}
	block_begin(writer, TRACE_RECORDS);
	*ret = writer;
	return 0;
}

void trace_writer_free(struct trace_writer *writer)
{
	if (!writer)
		return;
	trace_out_free(writer->out);
	buf_done(&writer->block);
	vec_done(&writer->shapes);
	vec_done(&writer->texts);
	map_done(&writer->shape_of);
	map_done(&writer->text_of);
	map_done(&writer->task_of);
	free(writer);
}

uint64_t trace_writer_bytes(const struct trace_writer *writer)
{
	return trace_out_bytes(writer->out);
}

static void put(struct trace_writer *writer, uint64_t value)
{
	uint8_t *at = buf_reserve(&writer->block, TRACE_NUMBER_MAX);

	if (at)
		writer->block.bytes += (size_t)(trace_put(at, value) - at);
}

static void put_task(struct trace_writer *writer, const struct event_head *record)
{
	uint64_t task = (uint64_t)record->pid << 32 | record->tid;
	uint32_t *number;
	bool new;

	if (task == writer->task && writer->tasks > 0)
		return;
	number = map_put(&writer->task_of, task, &new);
	if (!number) {
		writer->block.failed = true;
		return;
	}
	if (new)
		*number = (uint32_t)writer->tasks++;
	writer->task = task;
	put(writer, TRACE_TAG_TASK);
	put(writer, *number);
	if (new) {
		put(writer, record->pid);
		put(writer, record->tid);
	}
}

/* The record's shape, its words included; false when it has none: it is then kept as it is. */
static bool shape_of(const struct event_head *record, struct trace_shape *ret)
{
	size_t fixed = event_fixed_bytes(record->type);
	const struct event_item *item = NULL;

	if (fixed < sizeof *record || (fixed - sizeof *record) / 8 > TRACE_WORDS_MAX)
		return false;
	memset(ret, 0, offsetof(struct trace_shape, word));
	ret->type = record->type;
	ret->flags = record->flags;
	ret->fixed = (uint8_t)((fixed - sizeof *record) / 8);
	memcpy(ret->word, record + 1, fixed - sizeof *record);
	while ((item = event_item_next(record, item))) {
		struct trace_item_shape *shape = &ret->item[ret->items];

		if (ret->items == TRACE_ITEMS_MAX)
			return false;
		*shape = (struct trace_item_shape){ item->type, item->arg, item->flags, 0 };
		if (trace_item_is_words(item->type, item->bytes))
			shape->words = (uint8_t)(item->bytes / 8);
		if (item->type == SYS_ITEM_STACK && item->bytes % 8 == 0 && item->bytes >= 2 * 8 &&
		    item->bytes / 8 <= TRACE_STACK_WORDS_MAX)
			shape->words = TRACE_WORDS_STACK;
		ret->items++;
	}
	return true;
}

/* What a call has no use for is in registers all the same, and different each time. */
static void drop_unused(struct trace_shape *shape, const struct event_call *call)
{
	enum sys_call_id id = event_call_id(call);
	unsigned used = id == CALL_unknown ? 6 : sys_call(id)->nargs;

	/* F_GETFD, F_GETFL, F_GETOWN */
	if (id == CALL_fcntl && (call->args[1] == 1 || call->args[1] == 3 || call->args[1] == 9))
		used = 2;
	for (unsigned arg = used; arg < 6; arg++)
		shape->word[TRACE_CALL_FIRST + arg] = 0;
}

static uint64_t shape_hash(const struct trace_shape *shape)
{
	uint64_t hash = map_hash(shape, offsetof(struct trace_shape, item) + shape->items * sizeof shape->item[0]);

	if (shape->type == EVENT_CALL)
		hash = map_mix(hash, map_mix(shape->word[TRACE_CALL_IP], shape->word[TRACE_CALL_REST]));
	return hash;
}

static bool same_shape(const struct trace_shape *a, const struct trace_shape *b)
{
	if (memcmp(a, b, offsetof(struct trace_shape, item) + a->items * sizeof a->item[0]) != 0)
		return false;
	return a->type != EVENT_CALL || (a->word[TRACE_CALL_IP] == b->word[TRACE_CALL_IP] &&
					 a->word[TRACE_CALL_REST] == b->word[TRACE_CALL_REST]);
}

static void put_define(struct trace_writer *writer, const struct trace_shape *shape)
{
	put(writer, TRACE_TAG_DEFINE);
	put(writer, shape->type);
	put(writer, shape->flags);
	put(writer, shape->fixed);
	put(writer, shape->items);
	for (unsigned i = 0; i < shape->items; i++) {
		put(writer, shape->item[i].type);
		put(writer, shape->item[i].arg);
		put(writer, shape->item[i].flags);
		put(writer, shape->item[i].words);
	}
	if (shape->type == EVENT_CALL) {
		put(writer, trace_zigzag(shape->word[TRACE_CALL_IP] - writer->ip));
		put(writer, shape->word[TRACE_CALL_REST]);
		writer->ip = shape->word[TRACE_CALL_IP];
	}
}

/* Names the shape, or defines it.  Its place, whose words are those of the
 * record before; NULL without memory. */
static struct trace_shape *put_shape(struct trace_writer *writer, const struct trace_shape *shape)
{
	bool new;
	uint32_t *number = map_put(&writer->shape_of, shape_hash(shape), &new);
	struct trace_shape *place;

	if (!number)
		return NULL;
	if (!new &&same_shape(&writer->shapes.at[*number], shape)) {
		put(writer, TRACE_TAG_SHAPE + (uint64_t)*number);
		return &writer->shapes.at[*number];
	}
	*number = (uint32_t)writer->shapes.used;
	if (!vec_push(&writer->shapes, *shape))
		return NULL;
	place = &writer->shapes.at[*number];
	memset(place->word, 0, sizeof place->word);
	if (shape->type == EVENT_CALL) {
		place->word[TRACE_CALL_IP] = shape->word[TRACE_CALL_IP];
		place->word[TRACE_CALL_REST] = shape->word[TRACE_CALL_REST];
	}
	put_define(writer, shape);
	return place;
}

/* Which of the words differ from those before, then by how much. */
static void put_words(struct trace_writer *writer, uint64_t *before, const uint64_t *words, unsigned count)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < count; i++)
		mask |= (uint64_t)(words[i] != before[i]) << i;
	put(writer, mask);
	for (unsigned i = 0; i < count; i++) {
		if (words[i] != before[i])
			put(writer, trace_zigzag(words[i] - before[i]));
		before[i] = words[i];
	}
}

static void put_text(struct trace_writer *writer, const char *data, size_t bytes)
{
	uint32_t *number = NULL;
	bool new = false;

	if (bytes > 0 && bytes <= TRACE_TEXT_MAX) {
		number = map_put(&writer->text_of, map_hash(data, bytes), &new);
		if (!number) {
			writer->block.failed = true;
			return;
		}
	}
	if (number && !new) {
		const struct kept_text *text = &writer->texts.at[*number];

		if (text->bytes == bytes && memcmp(writer->block.data + text->offset, data, bytes) == 0) {
			put(writer, (uint64_t)*number << 1);
			return;
		}
	}
	put(writer, (uint64_t)bytes << 1 | 1);
	if (number) {
		*number = (uint32_t)writer->texts.used;
		if (!vec_push(&writer->texts, (struct kept_text){ writer->block.bytes, bytes }))
			writer->block.failed = true;
	}
	(void)buf_add(&writer->block, data, bytes);
}

static void put_stack(struct trace_writer *writer, const struct event_item *item)
{
	const struct trace_stack *last = &writer->stack[writer->stack_at];
	struct trace_stack *stack = &writer->stack[!writer->stack_at];
	uint8_t *at = buf_reserve(&writer->block, TRACE_STACK_BYTES_MAX);

	if (!at)
		return;
	memcpy(stack->word, event_item_data(item), item->bytes);
	stack->count = item->bytes / 8;
	writer->block.bytes += (size_t)(trace_pack(at, stack, last) - at);
	writer->stack_at = !writer->stack_at;
}

static void put_items(struct trace_writer *writer, const struct event_head *record, const struct trace_shape *shape)
{
	const struct event_item *item = NULL;
	uint64_t words[TRACE_ITEM_WORDS_MAX];

	for (unsigned i = 0; i < shape->items; i++) {
		item = event_item_next(record, item);
		if (shape->item[i].words == TRACE_WORDS_STACK) {
			put_stack(writer, item);
		} else if (shape->item[i].words > 0) {
			memcpy(words, event_item_data(item), item->bytes);
			put_words(writer, writer->last[item->type].word, words, shape->item[i].words);
		} else {
			put_text(writer, event_item_data(item), item->bytes);
		}
	}
}

static void put_record(struct trace_writer *writer, const struct event_head *record)
{
	struct trace_shape shape;
	struct trace_shape *before;

	if (!shape_of(record, &shape)) {
		put(writer, TRACE_TAG_RECORD);
		put(writer, record->bytes);
		(void)buf_add(&writer->block, record, record->bytes);
		return;
	}
	if (record->type == EVENT_CALL)
		drop_unused(&shape, (const struct event_call *)record);
	put_task(writer, record);
	before = put_shape(writer, &shape);
	if (!before) {
		writer->block.failed = true;
		return;
	}
	put(writer, trace_zigzag(record->time_ns - writer->time_ns));
	writer->time_ns = record->time_ns;
	if (record->type == EVENT_CALL) {
		put(writer, shape.word[TRACE_CALL_DURATION]);
		writer->time_ns += shape.word[TRACE_CALL_DURATION];
		put_words(writer, before->word + TRACE_CALL_FIRST, shape.word + TRACE_CALL_FIRST, TRACE_CALL_MASKED);
	} else {
		put_words(writer, before->word, shape.word, shape.fixed);
	}
	put_items(writer, record, &shape);
}

static bool is_old(const struct trace_writer *writer, uint64_t now_ns)
{
	return writer->first_ns > 0 && now_ns > writer->first_ns && now_ns - writer->first_ns >= TRACE_BLOCK_NS;
}

int trace_write(struct trace_writer *writer, const struct event_head *record)
{
	bool counts = record->type == EVENT_CALL && !(record->flags & EVENT_F_MARK);

	if (writer->failed < 0) {
		writer->left_out += counts;
		return writer->failed;
	}
	if (writer->first_ns == 0)
		writer->first_ns = record->time_ns;
	put_record(writer, record);
	writer->calls += counts;
	if (writer->block.failed || writer->block.bytes >= writer->full || writer->shapes.used >= TRACE_SHAPES_MAX ||
	    is_old(writer, record->time_ns)) {
		block_end(writer, END_ROOM);
		block_begin(writer, TRACE_RECORDS);
	}
	return writer->failed;
}

int trace_tick(struct trace_writer *writer, uint64_t now_ns)
{
	if (writer->failed == 0 && is_old(writer, now_ns)) {
		block_end(writer, END_ROOM);
		block_begin(writer, TRACE_RECORDS);
	}
	return writer->failed;
}

int trace_writer_end(struct trace_writer *writer, const struct trace_end *end)
{
	struct trace_end last = *end;

	if (writer->block.bytes > sizeof(struct trace_block) && writer->failed == 0)
		block_end(writer, END_ROOM);
	last.left_out += writer->left_out;
	block_begin(writer, TRACE_END);
	if (trace_end_put(&writer->block, &last) < 0)
		fail(writer, -ENOMEM);
	else
		block_end(writer, 0);
	if (writer->failed == 0 || writer->failed == -EFBIG) {
		int r = trace_out_end(writer->out);

		if (r < 0)
			fail(writer, r);
	}
	return writer->failed;
}
