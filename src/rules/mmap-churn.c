/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mmap-churn: memory, or a part of a file, that a thread maps and unmaps
 * again and again with nothing like it mapped meanwhile.  Kept, it would save
 * both calls and the page faults.  What the loader does and stacks of threads
 * are not meant.  How it is told is in mmap-churn-tell.c.
 */
#include "rules/mmap-churn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"

#define LANES_MAX 4096
#define PAIRS_MAX 2048 /* of each kind */
#define IDLE_NS UINT64_C(10000000000)
#define OTHER_FLAGS (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_GROWSDOWN | MAP_STACK | MAP_DENYWRITE | MAP_EXECUTABLE)

static uint64_t lane_hash(const struct model_view *view, enum churn_kind kind)
{
	uint64_t thread = map_mix(view->process->id, view->call->head.tid);

	return map_mix(map_mix(thread, memory_pages(view->call->args[1])), kind);
}

/* Equal for one file, 0: of no interest. */
static uint64_t file_of(const struct model_view *view)
{
	const struct model_file *file = view->file;

	if (!file || !file->path || file->path[0] != '/' || (view->call->args[2] & PROT_EXEC) ||
	    strcmp(file->path, "/etc/ld.so.cache") == 0)
		return 0;
	if (file->made_by == CALL_memfd_create)
		return file->id;
	return file->ino ? map_mix(file->dev, file->ino) : file->path_hash;
}

/* What malloc maps, and not by the program itself or by an allocator of its own. */
static bool by_malloc(struct rule_run *run, const struct model_view *view)
{
	const uint64_t *args = view->call->args;

	return args[0] == 0 && args[1] > MEMORY_THRESHOLD && args[2] == (PROT_READ | PROT_WRITE) &&
	       args[3] == (MAP_PRIVATE | MAP_ANONYMOUS) && !rule_called_outside(run->model, view);
}

static bool threshold_is_set(const struct model_process *process)
{
	const char *tunables = model_getenv(process, "GLIBC_TUNABLES");

	return model_getenv(process, "MALLOC_MMAP_THRESHOLD_") ||
	       (tunables && strstr(tunables, "glibc.malloc.mmap_threshold="));
}

static void name_file(struct churn_pairs *pairs, const struct model_view *view)
{
	struct buf text = BUF_INIT;

	if (pairs->path)
		return;
	(void)text_escape(&text, view->file->path, strlen(view->file->path), '\0', true);
	pairs->path = text.failed ? NULL : buf_steal(&text);
	buf_done(&text);
}

static void mapped(struct rule_run *run, const struct model_view *view)
{
	struct churn_state *state = run->state;
	const uint64_t *args = view->call->args;
	bool anonymous = args[3] & MAP_ANONYMOUS, new;
	uint64_t file = anonymous ? 0 : file_of(view), hash;
	enum churn_kind kind = anonymous ? CHURN_MEMORY : CHURN_FILE;
	struct churn_pairs *pairs;
	struct churn_lane *lane;

	if ((args[3] & OTHER_FLAGS) || args[2] == PROT_NONE || (!anonymous && file == 0))
		return;
	/* What is written to a private one is to be forgotten with it. */
	if (!anonymous && (args[2] & PROT_WRITE) && (args[3] & MAP_TYPE) == MAP_PRIVATE)
		return;
	lane = (struct churn_lane *)rule_keys_get(run, &state->lanes, view, lane_hash(view, kind), NULL);
	if (!lane)
		return;
	hash = anonymous ? lane->key.hash : map_mix(map_mix(lane->key.hash, file), args[5]);
	pairs = (struct churn_pairs *)rule_keys_get(run, &state->pairs[kind], view, hash, &new);
	if (!pairs)
		return;
	if (new) {
		pairs->bytes = args[1];
		pairs->set = anonymous && threshold_is_set(view->process);
	}
	pairs->file = file;
	if (!anonymous)
		name_file(pairs, view);
	lane->pairs = hash;
	lane->address = (uint64_t)view->call->ret;
	lane->late = lane->burst.begun && !rule_burst_next(&lane->burst, view, run->limits[CHURN_LIMIT_HELD]);
	lane->block = by_malloc(run, view);
	rule_tally_done(&lane->mapping);
	if (++lane->live == 1) {
		(void)rule_tally_place(&lane->mapping, run->model, view);
		lane->first = *view->call;
		lane->first.items = 0;
		lane->first.head.bytes = sizeof lane->first;
	}
}

static void count_pair(struct rule_run *run, struct churn_lane *lane, enum churn_kind kind,
		       const struct model_view *view)
{
	struct churn_state *state = run->state;
	struct churn_pairs *pairs = (struct churn_pairs *)rule_keys_find(&state->pairs[kind], lane->pairs);

	if (!pairs)
		return;
	if (lane->late) {
		pairs->late++;
		return;
	}
	pairs->blocks += lane->block;
	rule_tally_merge(&pairs->key.tally, &lane->mapping);
	if (!pairs->key.tally.sample)
		pairs->key.tally.sample = rule_sample_of(&lane->first);
	(void)rule_tally_add(&pairs->key.tally, run->model, view);
	rule_keys_value(&state->pairs[kind], &pairs->key, pairs->key.value + 1);
}

static void unmapped(struct rule_run *run, const struct model_view *view)
{
	struct churn_state *state = run->state;
	struct churn_lane *lane = NULL;
	enum churn_kind kind = CHURN_KINDS;

	/* The one whose latest it is; else it was an earlier one of either. */
	for (unsigned k = 0; k < CHURN_KINDS; k++) {
		struct rule_key *key = rule_keys_find(&state->lanes, lane_hash(view, k));
		struct churn_lane *other = (struct churn_lane *)key;

		if (!other || other->live == 0 || (lane && other->address != view->call->args[0]))
			continue;
		lane = other;
		kind = k;
	}
	if (!lane)
		return;
	if (lane->address == view->call->args[0] && lane->mapping.calls > 0)
		count_pair(run, lane, kind, view);
	rule_tally_done(&lane->mapping);
	lane->live--;
	lane->burst.begun = true;
	lane->burst.last_ns = view->call->head.time_ns + view->call->duration_ns;
	lane->burst.last_calls = view->process->calls;
}

static void churn_call(struct rule_run *run, const struct model_view *view)
{
	if (view->err || !rule_returned(view) || (view->call->head.flags & EVENT_F_NO_ENTER))
		return;
	if (view->id == CALL_mmap)
		mapped(run, view);
	else
		unmapped(run, view);
}

static void churn_image_end(struct rule_run *run, struct model_process *process)
{
	struct churn_state *state = run->state;

	rule_keys_image_end(run, &state->lanes, process);
	for (unsigned kind = 0; kind < CHURN_KINDS; kind++)
		rule_keys_image_end(run, &state->pairs[kind], process);
}

static void lane_free(struct rule_run *run, struct rule_key *key)
{
	rule_tally_done(&((struct churn_lane *)key)->mapping);
}

static void pairs_free(struct rule_run *run, struct rule_key *key)
{
	free(((struct churn_pairs *)key)->path);
}

static int churn_start(struct rule_run *run)
{
	struct churn_state *state = run->state;

	rule_keys_init(&state->lanes, sizeof(struct churn_lane), LANES_MAX);
	state->lanes.idle_ns = IDLE_NS;
	state->lanes.candidate = UINT64_MAX;
	state->lanes.free = lane_free;
	for (unsigned kind = 0; kind < CHURN_KINDS; kind++) {
		rule_keys_init(&state->pairs[kind], sizeof(struct churn_pairs), PAIRS_MAX);
		state->pairs[kind].idle_ns = IDLE_NS;
		state->pairs[kind].candidate = run->limits[kind];
		state->pairs[kind].free = pairs_free;
	}
	return 0;
}

static void churn_done(struct rule_run *run)
{
	struct churn_state *state = run->state;

	rule_keys_done(run, &state->lanes);
	for (unsigned kind = 0; kind < CHURN_KINDS; kind++)
		rule_keys_done(run, &state->pairs[kind]);
}

static const uint16_t churn_calls[] = { CALL_mmap, CALL_munmap, 0 };

static const char *const churn_env[] = { "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES", NULL };

static const struct rule_limit churn_limits[] = {
	[CHURN_LIMIT_MEMORY] = { "pairs", RULE_COUNT, 50, "of mmap and munmap of one length of memory by one thread" },
	[CHURN_LIMIT_FILE] = { "file-pairs", RULE_COUNT, 20, "of one part of one file by one thread" },
	[CHURN_LIMIT_HELD] = { "held", RULE_NS, 1000000000, "memory given back for longer was rightly given back" },
	{ 0 },
};

const struct rule rule_mmap_churn = {
	.id = "mmap-churn",
	.title = "the same memory or file mapped and unmapped over and over",
	.needs = RULE_NEEDS_FDS | RULE_NEEDS_TIMES,
	.env = churn_env,
	.calls = churn_calls,
	.limits = churn_limits,
	.state_bytes = sizeof(struct churn_state),
	.start = churn_start,
	.call = churn_call,
	.image_end = churn_image_end,
	.end = churn_end,
	.done = churn_done,
};
