/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bounded table of a rule's keys.  Every step takes constant time: keys of
 * about equal value form one list, oldest first, so that the least valuable
 * one and those that have been idle are found at the heads.
 */
#include "rules/keyed.h"

#include <stdlib.h>
#include <string.h>

/* Idle keys that one look-up drops at most. */
#define DROPS_MAX 4
/* Dropped keys that wait to be used again. */
#define SPARES_MAX 64

static unsigned rank_of(const struct rule_keys *keys, uint64_t value)
{
	if (keys->candidate > 0 && value >= keys->candidate)
		return RULE_RANKS - 1;
	return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* Nothing can be idle before this: the least of the oldest keys of all ranks, or less. */
static void oldest_is(struct rule_keys *keys, const struct rule_key *key)
{
	if (key && key->rank < RULE_RANKS - 1 && key->last_ns < keys->oldest_ns)
		keys->oldest_ns = key->last_ns;
}

static void rank_leave(struct rule_keys *keys, struct rule_key *key)
{
	if (key->older)
		key->older->newer = key->newer;
	else
		oldest_is(keys, keys->ranks[key->rank].oldest = key->newer);
	if (key->newer)
		key->newer->older = key->older;
	else
		keys->ranks[key->rank].newest = key->older;
}

static void rank_enter(struct rule_keys *keys, struct rule_key *key, unsigned rank)
{
	key->rank = rank;
	key->newer = NULL;
	key->older = keys->ranks[rank].newest;
	if (key->older)
		key->older->newer = key;
	else
		oldest_is(keys, keys->ranks[rank].oldest = key);
	keys->ranks[rank].newest = key;
}

/* The head of a process's list, NULL when there is none. */
static struct rule_key **head_of(struct rule_keys *keys, uint64_t process_id)
{
	if (!keys->head || keys->head_process != process_id) {
		keys->head = map_get(&keys->by_process, process_id);
		keys->head_process = process_id;
	}
	return keys->head;
}

static bool process_enter(struct rule_keys *keys, struct rule_key *key)
{
	struct rule_key **head = head_of(keys, key->process_id);

	/* A new one can move all others. */
	if (!head)
		head = keys->head = map_put(&keys->by_process, key->process_id, NULL);
	if (!head)
		return false;
	key->after = *head;
	if (key->after)
		key->after->before = key;
	*head = key;
	return true;
}

static void process_leave(struct rule_keys *keys, struct rule_key *key)
{
	struct rule_key **head;

	if (key->after)
		key->after->before = key->before;
	if (key->before) {
		key->before->after = key->after;
		return;
	}
	head = head_of(keys, key->process_id);
	if (head && key->after) {
		*head = key->after;
	} else if (head) {
		(void)map_remove(&keys->by_process, key->process_id);
		keys->head = NULL;
	}
}

void rule_keys_init(struct rule_keys *keys, size_t bytes, uint32_t most)
{
	keys->bytes = bytes;
	keys->most = most;
	keys->oldest_ns = UINT64_MAX;
	map_init(&keys->by_hash, sizeof(struct rule_key *), most);
	map_init(&keys->by_process, sizeof(struct rule_key *), most);
}

static void key_free(struct rule_run *run, const struct rule_keys *keys, struct rule_key *key)
{
	if (keys->free)
		keys->free(run, key);
	rule_tally_done(&key->tally);
	free(key);
}

static void key_spare(struct rule_run *run, struct rule_keys *keys, struct rule_key *key)
{
	if (keys->spares >= SPARES_MAX) {
		key_free(run, keys, key);
		return;
	}
	if (keys->free)
		keys->free(run, key);
	rule_tally_reset(&key->tally);
	key->newer = keys->spare;
	keys->spare = key;
	keys->spares++;
}

/* Zeroed but for what its tally has room for. */
static struct rule_key *key_take(struct rule_keys *keys)
{
	struct rule_key *key = keys->spare;
	struct rule_tally tally;

	if (!key)
		return calloc(1, keys->bytes);
	keys->spare = key->newer;
	keys->spares--;
	tally = key->tally;
	memset(key, 0, keys->bytes);
	key->tally = tally;
	return key;
}

void rule_keys_drop(struct rule_run *run, struct rule_keys *keys, struct rule_key *key)
{
	rank_leave(keys, key);
	process_leave(keys, key);
	(void)map_remove(&keys->by_hash, key->hash);
	key_spare(run, keys, key);
}

static void fold(struct rule_run *run, struct rule_keys *keys, struct rule_key *key)
{
	if (keys->fold)
		keys->fold(run, key);
	keys->folded++;
	rule_keys_drop(run, keys, key);
}

void rule_keys_done(struct rule_run *run, struct rule_keys *keys)
{
	struct rule_key **at;
	size_t iter = 0;

	while ((at = map_next(&keys->by_hash, &iter, NULL)))
		key_free(run, keys, *at);
	while (keys->spare) {
		struct rule_key *key = keys->spare;

		keys->spare = key->newer;
		rule_tally_done(&key->tally);
		free(key);
	}
	keys->spares = 0;
	map_done(&keys->by_hash);
	map_done(&keys->by_process);
	keys->head = NULL;
	memset(keys->ranks, 0, sizeof keys->ranks);
}

static void drop_idle(struct rule_run *run, struct rule_keys *keys, uint64_t now_ns)
{
	unsigned dropped = 0;

	if (now_ns <= keys->oldest_ns || now_ns - keys->oldest_ns <= keys->idle_ns)
		return;
	keys->oldest_ns = UINT64_MAX;
	for (unsigned rank = 0; rank < RULE_RANKS - 1; rank++) {
		struct rule_key *key;

		while (dropped < DROPS_MAX && (key = keys->ranks[rank].oldest) && now_ns > key->last_ns &&
		       now_ns - key->last_ns > keys->idle_ns) {
			fold(run, keys, key);
			dropped++;
		}
		oldest_is(keys, keys->ranks[rank].oldest);
	}
}

static void evict_one(struct rule_run *run, struct rule_keys *keys)
{
	struct rule_key *least = NULL;

	for (unsigned rank = 0; rank < RULE_RANKS - 1 && !least; rank++)
		least = keys->ranks[rank].oldest;
	/* Nothing but candidates: the order of time would give up the wrong one. */
	for (struct rule_key *key = least ? NULL : keys->ranks[RULE_RANKS - 1].oldest; key; key = key->newer)
		if (!least || key->value < least->value)
			least = key;
	if (!least)
		return;
	rule_keys_drop(run, keys, least);
	run->evicted++;
}

struct rule_key *rule_keys_find(const struct rule_keys *keys, uint64_t hash)
{
	struct rule_key **at = map_get(&keys->by_hash, hash);

	return at ? *at : NULL;
}

static struct rule_key *key_new(struct rule_run *run, struct rule_keys *keys, const struct model_process *process,
				uint64_t now_ns, uint64_t hash)
{
	struct rule_key *key, **place;

	if (keys->by_hash.used >= keys->most)
		evict_one(run, keys);
	key = key_take(keys);
	if (!key)
		return NULL;
	key->hash = hash;
	key->last_ns = now_ns;
	key->process_id = process->id;
	key->pid = process->pid;
	key->exe = process->exe;
	key->tally.claims = run->claims;
	if (!process_enter(keys, key)) {
		rule_tally_done(&key->tally);
		free(key);
		return NULL;
	}
	place = map_put(&keys->by_hash, hash, NULL);
	if (!place) {
		process_leave(keys, key);
		rule_tally_done(&key->tally);
		free(key);
		return NULL;
	}
	*place = key;
	key->number = keys->next_number++;
	rank_enter(keys, key, 0);
	return key;
}

struct rule_key *rule_keys_get(struct rule_run *run, struct rule_keys *keys, const struct model_view *view,
			       uint64_t hash, bool *ret_new)
{
	return rule_keys_get_at(run, keys, view->process, view->call->head.time_ns, hash, ret_new);
}

struct rule_key *rule_keys_get_at(struct rule_run *run, struct rule_keys *keys, const struct model_process *process,
				  uint64_t now_ns, uint64_t hash, bool *ret_new)
{
	struct rule_key *key;

	if (keys->idle_ns > 0)
		drop_idle(run, keys, now_ns);
	key = rule_keys_find(keys, hash);
	if (ret_new)
		*ret_new = !key;
	if (!key)
		return key_new(run, keys, process, now_ns, hash);
	if (now_ns > key->last_ns)
		key->last_ns = now_ns;
	if (key->newer) {
		rank_leave(keys, key);
		rank_enter(keys, key, key->rank);
	}
	return key;
}

void rule_keys_value(struct rule_keys *keys, struct rule_key *key, uint64_t value)
{
	unsigned rank;

	if (value == key->value)
		return;
	rank = rank_of(keys, value);
	key->value = value;
	if (rank == key->rank)
		return;
	rank_leave(keys, key);
	rank_enter(keys, key, rank);
}

struct rule_key *rule_keys_next_of(const struct rule_keys *keys, uint64_t process_id, const struct rule_key *prev)
{
	struct rule_key **head;

	if (prev)
		return prev->after;
	head = map_get(&keys->by_process, process_id);
	return head ? *head : NULL;
}

void rule_keys_image_end(struct rule_run *run, struct rule_keys *keys, const struct model_process *process)
{
	struct rule_key *key = rule_keys_next_of(keys, process->id, NULL), *after;

	for (; key; key = after) {
		after = key->after;
		if (key->value < keys->candidate)
			fold(run, keys, key);
	}
}

static int by_number(const void *a, const void *b)
{
	const struct rule_key *const *x = a, *const *y = b;

	return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

void rule_keys_tell(struct rule_run *run, struct rule_keys *keys, struct finding_list *out,
		    void (*tell)(struct rule_run *run, struct rule_key *key, struct finding_list *out))
{
	VEC(struct rule_key *) list = { 0 };
	struct rule_key **at;
	size_t iter = 0;

	while ((at = map_next(&keys->by_hash, &iter, NULL)))
		/* A limit can be 0. */
		if ((*at)->value > 0 && (*at)->value >= keys->candidate)
			(void)vec_push(&list, *at);
	if (list.used > 0)
		qsort(list.at, list.used, sizeof *list.at, by_number);
	for (size_t i = 0; i < list.used; i++)
		tell(run, list.at[i], out);
	vec_done(&list);
}

struct finding *rule_key_finding(struct rule_run *run, const struct rule_key *key, enum finding_tier tier,
				 const char *detail, struct finding_list *out)
{
	struct finding *finding = finding_add(out, run->rule, tier);

	if (!finding)
		return NULL;
	finding->process_id = key->process_id;
	finding->pid = key->pid;
	finding_set(&finding->exe, "%s", key->exe->path);
	rule_tally_tell(&key->tally, finding, detail);
	return finding;
}
