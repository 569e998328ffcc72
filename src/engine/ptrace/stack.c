/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who makes a call: the word that its caller left, at each call, and copies of
 * the stack at the 1st, 2nd, 4th, 8th, ... hit of a key, so that what it costs
 * does not grow with the calls.  A key is a task's program, the call, where it is
 * made and, as long as there are few, who made it there.  Unwinds nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ptrace/proc.h"

#define SEEN_SETS 8192 /* a power of two */
#define SEEN_WAYS 4
/* Callers of one place that have a key of their own; what is no caller's address at all can differ each time. */
#define CALLERS_MAX 128
/* Others: each takes from who has its place, so that who comes often stays, and a stack is due at 32, 64, ... */
#define LATE_KEYS 1024 /* a power of two; behind the sets */
#define LATE_HITS 32
#define STAT_START_STACK 28 /* a field of /proc/PID/stat */
#define PEEKED_BYTES 1024 /* … when it is read word by word */

struct stack_seen {
	uint64_t key; /* 0: free */
	uint32_t hits;
	uint32_t callers;
};

int stacks_begin(struct engine_pt *e, enum engine_stacks stacks)
{
	e->stacks = stacks;
	if (stacks == ENGINE_STACKS_OFF)
		return 0;
	e->stacks_seen = calloc(SEEN_SETS * SEEN_WAYS + LATE_KEYS, sizeof *e->stacks_seen);
	return e->stacks_seen ? 0 : -ENOMEM;
}

void stacks_done(struct engine_pt *e)
{
	free(e->stacks_seen);
	e->stacks_seen = NULL;
}

/* A key without room takes that of the fewest hits: then it is sampled more often than it need be. */
static struct stack_seen *seen(struct engine_pt *e, uint64_t key, bool make)
{
	struct stack_seen *set = e->stacks_seen + (key & (SEEN_SETS - 1)) * SEEN_WAYS, *least = set;

	key |= key == 0;
	for (unsigned i = 0; i < SEEN_WAYS; i++) {
		if (set[i].key == key)
			return &set[i];
		if (set[i].hits < least->hits)
			least = &set[i];
	}
	if (!make)
		return NULL;
	*least = (struct stack_seen){ .key = key };
	return least;
}

static bool is_late_due(struct engine_pt *e, uint64_t key)
{
	struct stack_seen *late = e->stacks_seen + SEEN_SETS * SEEN_WAYS + (key & (LATE_KEYS - 1));

	if (late->key != key) {
		if (late->hits > 0) {
			late->hits--;
			return false;
		}
		late->key = key;
	}
	late->hits += late->hits < UINT32_MAX;
	return late->hits >= LATE_HITS && (late->hits & (late->hits - 1)) == 0;
}

static bool is_due(struct engine_pt *e, const struct task *task, uint64_t caller)
{
	uint64_t key = map_mix(map_mix(task->image, task->ip), (uint32_t)task->nr);
	struct stack_seen *place = seen(e, key, true), *one;
	bool more = place->callers < CALLERS_MAX;
	uint32_t hits = place->hits < UINT32_MAX ? ++place->hits : place->hits;

	one = seen(e, map_mix(key, caller), more);
	/* The set can be the same, and the place's own entry have gone for it. */
	if (one && one->hits == 0 && place->key == (key | (key == 0)))
		place->callers++;
	if (one)
		hits = one->hits < UINT32_MAX ? ++one->hits : one->hits;
	else if (is_late_due(e, map_mix(key, caller)))
		return true;
	return (hits & (hits - 1)) == 0;
}

/*
 * Of the environment nobody is told but the variables that rules name: copies
 * end where the program's arguments begin, above the first frame.  False: that
 * is not known.
 */
static bool stack_end(struct engine_pt *e, struct task *task)
{
	const char *text, *at;
	unsigned field = 2;

	if (task->stack_end != 0)
		return true;
	text = proc_text(e, task->tid, "stat", 4096);
	/* Behind the name, which can hold anything. */
	at = text ? strrchr(text, ')') : NULL;
	while (at && field < STAT_START_STACK) {
		at = strchr(at + 1, ' ');
		field++;
	}
	if (at)
		task->stack_end = strtoull(at, NULL, 10);
	return task->stack_end > 1;
}

static void copy_stack(struct engine_pt *e, struct task *task, uint64_t sp)
{
	uint64_t registers[ITEM_STACK_REGISTERS_MAX];
	struct item_stack head = { .sp = sp };
	size_t most = e->stacks == ENGINE_STACKS_DEEP ? ITEM_STACK_BYTES_MAX : ENGINE_SITES_BYTES, bytes;
	char *place;

	if (e->stack_bytes >= (e->stacks == ENGINE_STACKS_DEEP ? ENGINE_DEEP_BYTES_MAX : ENGINE_SITES_BYTES_MAX)) {
		e->stats.stacks_left_out++;
		return;
	}
	head.registers = arch_registers(task->tid, registers);
	if (head.registers == 0)
		return;
	if (!stack_end(e, task))
		return;
	if (e->no_readv)
		most = PEEKED_BYTES;
	if (sp < task->stack_end && task->stack_end - sp < most)
		most = (size_t)(task->stack_end - sp);
	buf_clear(&e->scratch);
	bytes = sizeof head + head.registers * sizeof registers[0];
	place = buf_reserve(&e->scratch, bytes + most);
	if (!place)
		return;
	memcpy(place, &head, sizeof head);
	memcpy(place + sizeof head, registers, head.registers * sizeof registers[0]);
	most = memory_read(e, task->tid, sp, place + bytes, most);
	if (most == 0) {
		e->stats.stacks_unread++;
		return;
	}
	bytes += most;
	if (event_item_add(&task->entered, SYS_ITEM_STACK, 0, 0, place, bytes) < 0)
		return;
	e->stack_bytes += bytes;
	e->stats.stacks++;
}

void stack_take(struct engine_pt *e, struct task *task, uint64_t sp)
{
	uint64_t words[ITEM_CALLER_WORDS];
	struct item_caller caller = { 0 };
	size_t count =
		memory_read(e, task->tid, sp, words, e->no_readv ? sizeof words[0] : sizeof words) / sizeof words[0];

	if (arch_caller_on_stack(task->tid, &caller.word) && count > 0)
		caller.word = words[0];
	if (!e->no_readv)
		caller.code = code_hash(task->code, words, count);
	/* All 0 too: the item says that it was looked at. */
	(void)event_item_add(&task->entered, SYS_ITEM_CALLER, 0, 0, &caller, sizeof caller);
	if (is_due(e, task, caller.code ? caller.code : caller.word))
		copy_stack(e, task, sp);
}
