/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * brk-churn: a heap that shrinks and grows again, over and over.  The memory
 * goes back to the kernel, which clears it and gives it again, a page fault
 * for each page.  Giving back what is not needed for a while is right.
 */
#include <stdlib.h>

#include "base/text.h"
#include "rules/law.h"
#include "rules/memory.h"

#define ROUND_CHUNK 65536 /* what programs that use sbrk(2) grow by is round */

enum { LIMIT_TIMES, LIMIT_GROWTH, LIMIT_AGAIN, LIMIT_HELD };

/* One image; its tally has what it shrank by and at once grew by again, the burst is since it last shrank. */
struct heap {
	struct law_entry entry; /* first */
	struct rule_tally shrinks; /* since it last grew */
	uint64_t end, first; /* the present break and the one at the begin, 0 not known */
	uint64_t grown, grown_before; /* since it last shrank, and before that */
	uint64_t given, owed; /* by `shrinks`, and in all not yet taken again */
	uint64_t times, largest, bytes; /* of what was wasted */
	uint64_t held; /* times that it stayed small for long */
	uint64_t unmapped; /* the largest that may have been a block of malloc */
	/* sbrk(2) and malloc are in the same library; see moved_as_malloc. */
	uint64_t pad; /* what malloc would ask for ahead of the need */
	uint64_t set; /* what it was told to by the environment, 0 nothing */
	bool not_malloc, uneven;
};

/*
 * malloc moves the break by whole pages.  It grows by what does not fit into
 * the top that is left, and the pad; so by more than the pad.  It shrinks only
 * as far as the pad stays (sysmalloc and systrim of malloc/malloc.c).  That
 * what is needed again is a round number each time is chance, and likely a
 * chunk of somebody else's.
 */
static void look_at_move(struct heap *heap, uint64_t was, uint64_t now)
{
	uint64_t bytes = now > was ? now - was : was - now;

	if (bytes % MEMORY_PAGE != 0 || (now > was && bytes <= heap->pad) ||
	    (now < was && heap->first != 0 && now < heap->first + heap->pad))
		heap->not_malloc = true;
	if (now > was && heap->shrinks.calls > 0 && bytes % ROUND_CHUNK != 0)
		heap->uneven = true;
}

static bool moved_as_malloc(const struct heap *heap)
{
	return !heap->not_malloc && heap->uneven;
}

static uint64_t set_of(const struct model_process *process)
{
	const char *set = model_getenv(process, "MALLOC_TOP_PAD_");

	return set ? strtoull(set, NULL, 10) : 0;
}

static uint64_t pad_of(const struct model_process *process)
{
	const char *set = model_getenv(process, "MALLOC_TOP_PAD_");
	uint64_t pad = set ? strtoull(set, NULL, 10) : MEMORY_PAD;

	/* A tunable may have set any. */
	if (model_getenv(process, "GLIBC_TUNABLES"))
		return 0;
	return pad < MEMORY_PAD ? pad : MEMORY_PAD;
}

static void shrank(struct rule_run *run, struct heap *heap, const struct model_view *view, uint64_t bytes)
{
	if (heap->grown > 0)
		heap->grown_before = heap->grown;
	heap->grown = 0;
	heap->given += bytes;
	heap->owed += bytes;
	(void)rule_tally_add(&heap->shrinks, run->model, view);
	heap->entry.burst.begun = true;
	heap->entry.burst.last_ns = view->call->head.time_ns + view->call->duration_ns;
	heap->entry.burst.last_calls = view->process->calls;
}

/* The first growth after shrinking says whether that was for nothing. */
static bool was_wasted(struct rule_run *run, struct heap *heap, const struct model_view *view)
{
	struct rule_burst burst = heap->entry.burst;

	if (!rule_burst_next(&heap->entry.burst, view, run->limits[LIMIT_HELD])) {
		heap->held++;
		return false;
	}
	if (heap->grown_before >= run->limits[LIMIT_GROWTH])
		return true;
	return rule_burst_next(&burst, view, run->limits[LIMIT_AGAIN]);
}

static void grew(struct rule_run *run, struct heap *heap, const struct model_view *view, uint64_t bytes)
{
	struct law_state *state = run->state;
	uint64_t again;

	heap->grown += bytes;
	if (heap->shrinks.calls > 0) {
		if (was_wasted(run, heap, view)) {
			heap->times++;
			heap->largest = heap->given > heap->largest ? heap->given : heap->largest;
			rule_tally_merge(&heap->entry.key.tally, &heap->shrinks);
			rule_keys_value(&state->entries, &heap->entry.key, heap->times);
		} else {
			heap->owed = 0;
		}
		rule_tally_done(&heap->shrinks);
		heap->given = 0;
	}
	again = bytes < heap->owed ? bytes : heap->owed;
	if (again == 0)
		return;
	heap->owed -= again;
	heap->bytes += again;
	(void)rule_tally_add(&heap->entry.key.tally, run->model, view);
}

static void heap_call(struct rule_run *run, const struct model_view *view)
{
	struct heap *heap;
	uint64_t now = (uint64_t)view->call->ret, was;

	if (view->err || !rule_returned(view))
		return;
	if (view->id == CALL_munmap) {
		uint64_t bytes = view->call->args[1];

		heap = law_entry_known(run, view, 0);
		if (heap && bytes > MEMORY_THRESHOLD && bytes <= MEMORY_THRESHOLD_MOST && bytes > heap->unmapped)
			heap->unmapped = bytes;
		return;
	}
	heap = law_entry(run, view, 0);
	if (!heap || now == 0)
		return;
	was = heap->end;
	heap->end = now;
	if (was == 0) {
		heap->pad = pad_of(view->process);
		heap->set = set_of(view->process);
		heap->first = view->call->args[0] == 0 ? now : 0;
	} else if (was != now) {
		look_at_move(heap, was, now);
	}
	if (was > now)
		shrank(run, heap, view, was - now);
	else if (was > 0 && now > was)
		grew(run, heap, view, now - was);
}

static uint64_t pad_to_set(const struct heap *heap)
{
	uint64_t pad = memory_round(heap->largest + MEMORY_PAD);

	return pad < 1000000 ? 1000000 : pad;
}

/* The settings that end it. */
static void tell_settings(struct rule_run *run, const struct heap *heap, struct finding *finding)
{
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_ENVIRONMENT);
	uint64_t pad = pad_to_set(heap);
	char number[TEXT_NUMBER_MAX];

	if (!remedy)
		return;
	remedy->id = "top-pad";
	if (heap->unmapped > 0)
		finding_set(&remedy->text, "MALLOC_TOP_PAD_=%llu MALLOC_MMAP_THRESHOLD_=%llu", (unsigned long long)pad,
			    (unsigned long long)memory_round(heap->unmapped));
	else
		finding_set(&remedy->text, "MALLOC_TOP_PAD_=%llu", (unsigned long long)pad);
	if (remedy->text)
		remedy->command = rule_command(run->model, remedy->text, "MALLOC_TOP_PAD_");
	finding_remedy_saves_all(remedy, finding);
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = "keep";
		finding_set(&remedy->text, "mallopt(M_TOP_PAD, %llu) at start, or keep the blocks and use them again",
			    (unsigned long long)pad);
		finding_remedy_saves_all(remedy, finding);
	}
	finding_add_note(finding,
			 "with either setting the heap keeps up to %s bytes more; malloc_trim, where the "
			 "program calls it, still gives them back",
			 text_count(pad, number));
}

static void heap_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	const struct heap *heap = (const struct heap *)entry;
	char number[TEXT_NUMBER_MAX + 8], number2[TEXT_NUMBER_MAX];
	bool glibc = memory_by_glibc(entry->key.tally.sites);
	uint64_t pages = memory_pages(heap->bytes);

	finding_set(&finding->where, "heap, up to %s bytes at a time, %s times", text_count(heap->largest, number),
		    text_count(heap->times, number2));
	memory_tell_faults(finding, CALL_brk, pages / 2, pages, "half of it");
	/* A pad that is set and does not help is no help. */
	if (glibc && moved_as_malloc(heap) && heap->set < pad_to_set(heap))
		tell_settings(run, heap, finding);
	else
		(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "keep", "keep the memory and use it again");
	if (glibc && !moved_as_malloc(heap))
		finding_add_note(finding,
				 "the program moves the end of its heap itself, by sbrk(2), it seems: settings "
				 "of malloc would do nothing");
	if (heap->held > 0)
		finding_add_note(finding, "left out: %s that it stayed small for longer",
				 text_plural(heap->held, "time", "times", number, sizeof number));
}

static void heap_free(struct law_entry *entry)
{
	rule_tally_done(&((struct heap *)entry)->shrinks);
}

static const struct law_kind heap_kinds[] = {
	{ .tier = FINDING_LIKELY,
	  .least = LIMIT_TIMES,
	  .what = "gives memory of its heap back and takes it again at once",
	  .object = "heap" },
	{ 0 },
};

static const struct law heap_law = {
	.kinds = heap_kinds,
	.entries = 16384,
	.entry_bytes = sizeof(struct heap),
	.tell = heap_tell,
	.free = heap_free,
};

static const uint16_t heap_calls[] = { CALL_brk, CALL_munmap, 0 };

static const char *const heap_env[] = { "MALLOC_TOP_PAD_", "GLIBC_TUNABLES", NULL };

static const struct rule_limit heap_limits[] = {
	[LIMIT_TIMES] = { "times", RULE_COUNT, 20, "that the heap of one process shrank and grew again" },
	[LIMIT_GROWTH] = { "growth", RULE_BYTES, 65536, "by so much it had grown before it shrank" },
	[LIMIT_AGAIN] = { "again", RULE_NS, 1000000, "or it grew again so soon, whatever it had grown by" },
	[LIMIT_HELD] = { "held", RULE_NS, 1000000000, "memory given back for longer was rightly given back" },
	{ 0 },
};

const struct rule rule_brk_churn = {
	.id = "brk-churn",
	.title = "heap memory given back and taken again",
	.needs = RULE_NEEDS_TIMES,
	.env = heap_env,
	.calls = heap_calls,
	.limits = heap_limits,
	.call = heap_call,
	LAW_RULE(heap_law),
};
