/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of stacks in a trace file.  Two of one task have most of their words
 * at the same addresses in common: only what differs is written.  Nothing that
 * is read is trusted.
 */
#include "event/trace-code.h"

/* Words of the item's head and its registers, which are compared by number. */
static unsigned head_words(const uint64_t *word, unsigned count)
{
	uint32_t registers = (uint32_t)word[1];

	return registers <= ITEM_STACK_REGISTERS_MAX && 2 + registers < count ? 2 + registers : count;
}

/* What the word at `i` would be if nothing had changed; the first two have to be known from 2 on. */
static uint64_t expected(const struct trace_stack *last, const uint64_t *word, unsigned head, unsigned i)
{
	uint64_t from = i;

	if (i >= head)
		from += (uint64_t)((int64_t)(word[0] - last->word[0]) / 8);
	return from < last->count && (i < head || from >= head) ? last->word[from] : 0;
}

uint8_t *trace_pack(uint8_t *to, const struct trace_stack *stack, const struct trace_stack *last)
{
	unsigned head = head_words(stack->word, stack->count), i = 0;

	to = trace_put(to, stack->count);
	while (i < stack->count) {
		unsigned same = i, other;

		while (same < stack->count && stack->word[same] == expected(last, stack->word, head, same))
			same++;
		to = trace_put(to, same - i);
		for (other = same; other < stack->count; other++)
			if (stack->word[other] == expected(last, stack->word, head, other))
				break;
		if (other > same)
			to = trace_put(to, other - same);
		for (i = same; i < other; i++) {
			uint64_t word = stack->word[i];

			/* No difference is written as 0, so that 0 is free for it. */
			to = trace_put(to, word ? trace_zigzag(word - expected(last, stack->word, head, i)) : 0);
		}
	}
	return to;
}

bool trace_unpack(const uint8_t **at, const uint8_t *end, const struct trace_stack *last, struct trace_stack *ret)
{
	uint64_t count, run, value;
	unsigned i = 0, head = UINT32_MAX;

	if (!trace_get(at, end, &count) || count < 2 || count > TRACE_STACK_WORDS_MAX)
		return false;
	ret->count = (unsigned)count;
	for (bool same = true; i < count; same = !same) {
		if (!trace_get(at, end, &run) || run > count - i || (!same && run == 0))
			return false;
		for (; run > 0; run--, i++) {
			uint64_t guess;

			if (i == 2)
				head = head_words(ret->word, ret->count);
			guess = expected(last, ret->word, head, i);
			if (!same && !trace_get(at, end, &value))
				return false;
			ret->word[i] = same ? guess : value ? guess + trace_unzigzag(value) : 0;
		}
	}
	return true;
}
