/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What writer and reader of trace files agree on; docs/trace-format.md says
 * the same in words.  For trace-*.c only.
 */
#ifndef SYSCULL_EVENT_TRACE_CODE_H
#define SYSCULL_EVENT_TRACE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "event/trace.h"

/* The file's first bytes: what is no text, our name, and what FTP would spoil; then the two version numbers. */
#define TRACE_MAGIC "\223SYSCULL\r\n\032\n"
#define TRACE_MAGIC_BYTES 12
#define TRACE_HEAD_BYTES 16
#define TRACE_MAJOR 1 /* a reader of another one cannot read it */
#define TRACE_MINOR 0 /* a reader of another one skips what it does not know */

/* Before each block; little-endian, as is everything. */
struct trace_block {
	uint32_t bytes; /* that follow */
	uint32_t plain_bytes; /* when decoded */
	uint32_t check; /* CRC-32 of the bytes that follow */
	uint8_t type; /* enum trace_block_type */
	uint8_t coding; /* enum trace_coding */
	uint16_t zero;
};
_Static_assert(sizeof(struct trace_block) == 16, "written into trace files");

enum trace_block_type { TRACE_START = 1, TRACE_RECORDS, TRACE_END };
enum trace_coding { TRACE_PLAIN };

/* No block is larger: two of the largest records, which can grow by a quarter. */
#define TRACE_BLOCK_MAX (4u << 20)
/* A block of records is closed when it has so many bytes or shapes, or is so old.
 * While the file is small blocks are, too: what is cut off it lacks its last part only. */
#define TRACE_BLOCK_FULL (256u << 10)
#define TRACE_BLOCK_LEAST (16u << 10)
#define TRACE_BLOCK_PART 4 /* of the file so far */
#define TRACE_BLOCK_NS 250000000
#define TRACE_SHAPES_MAX 16384

/* First number of an entry in a block of records.  From TRACE_TAG_SHAPE on it
 * names a shape; what is not known below has its length in the second number. */
enum trace_tag { TRACE_TAG_RECORD, TRACE_TAG_DEFINE, TRACE_TAG_TASK, TRACE_TAG_SHAPE = 8 };

#define TRACE_WORDS_MAX 16 /* of a record's fixed part, behind its head */
#define TRACE_ITEMS_MAX 12 /* items of a shape */
#define TRACE_ITEM_WORDS_MAX 16 /* an item of more is a text */
#define TRACE_WORDS_STACK 64 /* in place of words: a copy of a stack, trace-pack.c */
#define TRACE_TEXT_MAX 1024 /* longer texts are not remembered */
#define TRACE_ITEM_TYPES 64

/* A record's form: all that two records of the same kind, made at the same place, have in common. */
struct trace_item_shape {
	uint16_t type;
	uint8_t arg, flags;
	uint8_t words; /* 0: a text of any length */
};

struct trace_shape {
	uint16_t type, flags;
	uint8_t fixed; /* words behind the head */
	uint8_t items;
	uint8_t known; /* reader: can be given out */
	struct trace_item_shape item[TRACE_ITEMS_MAX];
	uint64_t word[TRACE_WORDS_MAX]; /* of the last record of this shape */
};

/* A call's words behind its head: duration, args, result, ip, the rest.  The
 * last two are the shape's own. */
#define TRACE_CALL_WORDS 10
#define TRACE_CALL_DURATION 0
#define TRACE_CALL_FIRST 1 /* the words that the mask is of: args and result */
#define TRACE_CALL_MASKED 7
#define TRACE_CALL_IP 8
#define TRACE_CALL_REST 9 /* nr, arch, items */
_Static_assert(sizeof(struct event_call) == sizeof(struct event_head) + 8 * TRACE_CALL_WORDS, "as in the file");

/* The last item of each type that has words: what the next one is told by. */
struct trace_last {
	uint64_t word[TRACE_ITEM_WORDS_MAX];
};

/* The last copy of a stack in the block. */
#define TRACE_STACK_WORDS_MAX (2 + ITEM_STACK_REGISTERS_MAX + ITEM_STACK_BYTES_MAX / 8)
struct trace_stack {
	unsigned count; /* 0: none yet */
	uint64_t word[TRACE_STACK_WORDS_MAX];
};

static inline uint64_t trace_zigzag(uint64_t delta)
{
	return delta << 1 ^ -(delta >> 63);
}

static inline uint64_t trace_unzigzag(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

static inline uint8_t *trace_put(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)value | 0x80;
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

#define TRACE_NUMBER_MAX 10 /* bytes of a number */

/* Is an item of this type and size kept as words?  Texts never are, whatever their length. */
static inline bool trace_item_is_words(uint16_t type, uint32_t bytes)
{
	switch (type) {
	case SYS_ITEM_PATH:
	case SYS_ITEM_NAME:
	case SYS_ITEM_CWD:
	case SYS_ITEM_EXE:
	case SYS_ITEM_ARGV:
	case SYS_ITEM_ENV:
	case SYS_ITEM_MOUNTINFO:
	case SYS_ITEM_COMM:
	case SYS_ITEM_SOCKADDR:
	case SYS_ITEM_RIGHTS:
	/* One of few, in turns. */
	case SYS_ITEM_CALLER:
		return false;
	default:
		return type < TRACE_ITEM_TYPES && bytes > 0 && bytes % 8 == 0 && bytes / 8 <= TRACE_ITEM_WORDS_MAX;
	}
}

/* As words against the last one: at most TRACE_STACK_BYTES_MAX bytes. */
#define TRACE_STACK_BYTES_MAX (TRACE_NUMBER_MAX * (2 * TRACE_STACK_WORDS_MAX + 2))
uint8_t *trace_pack(uint8_t *to, const struct trace_stack *stack, const struct trace_stack *last);
bool trace_unpack(const uint8_t **at, const uint8_t *end, const struct trace_stack *last, struct trace_stack *ret);

uint32_t trace_check(const void *data, size_t bytes);

/* The start and the end as bytes of a block. */
int trace_start_put(struct buf *buf, const struct trace_start *start);
int trace_end_put(struct buf *buf, const struct trace_end *end);

struct trace_info {
	struct trace_start start;
	struct trace_end end;
	struct buf texts; /* what they point at */
	char **argv;
	const char **env_names;
	int *pids;
};
/* Take what they know; -EBADMSG when the bytes are none, -ENOMEM. */
int trace_start_get(struct trace_info *info, const void *data, size_t bytes);
int trace_end_get(struct trace_info *info, const void *data, size_t bytes);
void trace_info_done(struct trace_info *info);

/* Seven bits of each of eight bytes, next to each other. */
static inline uint64_t trace_gather(uint64_t word)
{
	word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
	word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
	return (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

static inline bool trace_get(const uint8_t **at, const uint8_t *end, uint64_t *ret);

/* The number at `at`, where TRACE_NUMBER_MAX bytes can be read: what follows it, or NULL when it is none. */
static inline const uint8_t *trace_get_roomy(const uint8_t *at, uint64_t *ret)
{
	uint64_t word, last;

	memcpy(&word, at, 8);
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
		if (!(word & 0x80)) {
			*ret = word & 0x7f;
			return at + 1;
		}
		last = ~word & UINT64_C(0x8080808080808080);
		if (last != 0) {
			*ret = trace_gather(word & ((last & -last) - 1));
			return at + ((unsigned)__builtin_ctzll(last) >> 3) + 1;
		}
	}
	return trace_get(&at, at + TRACE_NUMBER_MAX, ret) ? at : NULL;
}

/* The number at *at; false when there is none before the end. */
static inline bool trace_get(const uint8_t **at, const uint8_t *end, uint64_t *ret)
{
	const uint8_t *p = *at;
	uint64_t value = 0;

	if (p < end && *p < 0x80) {
		*ret = *p;
		*at = p + 1;
		return true;
	}
	for (unsigned shift = 0; p < end && shift < 70; shift += 7) {
		uint64_t bits = *p & 0x7f;

		if (shift == 63 && bits > 1)
			return false;
		value |= bits << shift;
		if (*p++ < 0x80) {
			*ret = value;
			*at = p;
			return true;
		}
	}
	return false;
}

#endif
