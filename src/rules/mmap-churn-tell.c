/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What mmap-churn says.  Whether a mapping is a block of malloc cannot be
 * seen, only whether malloc would have made such a call.
 */
#include <string.h>

#include "base/text.h"
#include "rules/mmap-churn.h"

static struct churn_group *group_of(struct churn_state *state, const struct churn_pairs *pairs)
{
	enum churn_kind kind = pairs->file ? CHURN_FILE : CHURN_MEMORY;
	uint64_t what = pairs->file ? pairs->file : 63 - (uint64_t)__builtin_clzll(pairs->bytes | 1);
	struct churn_group *group;

	for (size_t i = 0; i < state->groups.used; i++) {
		group = &state->groups.at[i];
		if (group->exe == pairs->key.exe && group->kind == kind && group->what == what)
			return group;
	}
	group = vec_add(&state->groups);
	if (!group)
		return NULL;
	group->exe = pairs->key.exe;
	group->kind = kind;
	group->what = what;
	group->process_id = pairs->key.process_id;
	group->pid = pairs->key.pid;
	group->least = pairs->bytes;
	group->path = pairs->path;
	return group;
}

static void collect(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	struct churn_pairs *pairs = (struct churn_pairs *)key;
	struct churn_group *group = group_of(run->state, pairs);

	if (!group)
		return;
	group->set |= pairs->set;
	group->several |= group->process_id != key->process_id;
	group->keys++;
	group->pairs += key->value;
	group->blocks += pairs->blocks;
	group->late += pairs->late;
	group->least = pairs->bytes < group->least ? pairs->bytes : group->least;
	group->most = pairs->bytes > group->most ? pairs->bytes : group->most;
	group->pages += key->value * memory_pages(pairs->bytes);
	group->first_pages += memory_pages(pairs->bytes);
	rule_tally_merge(&group->tally, &key->tally);
}

static char *where_of(const struct churn_group *group, bool block)
{
	char least[TEXT_NUMBER_MAX], most[TEXT_NUMBER_MAX], times[TEXT_NUMBER_MAX];
	struct buf text = BUF_INIT;
	char *where;

	(void)buf_puts(&text, text_count(group->least, least));
	if (group->most != group->least)
		(void)buf_printf(&text, " to %s", text_count(group->most, most));
	(void)buf_printf(&text, " bytes%s%s%s, %s times", group->path ? " of " : "", group->path ? group->path : "",
			 block ? " (likely malloc)" : "", text_count(group->pairs, times));
	where = text.failed ? NULL : buf_steal(&text);
	buf_done(&text);
	return where;
}

/* The first mapping is needed. */
static void tell_source(const struct churn_group *group, bool block, struct finding *finding)
{
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	int64_t saved = (int64_t)(group->pairs - group->keys);

	if (!remedy)
		return;
	remedy->id = "keep";
	if (group->kind == CHURN_FILE)
		finding_set(&remedy->text, "map the file once and keep the mapping");
	else if (block)
		finding_set(&remedy->text, "allocate the buffer once and use it again");
	else
		finding_set(&remedy->text, "map the memory once and use it again");
	finding_add_delta(remedy, CALL_mmap, 0, -saved, 0);
	finding_add_pages(remedy, CALL_mmap, 0, true, (uint64_t)saved, group->pages - group->first_pages);
	finding_add_delta(remedy, CALL_munmap, 0, -saved, 0);
}

/* The heap takes the blocks, grows once and, with the pad, keeps them. */
static void tell_settings(struct rule_run *run, const struct churn_group *group, struct finding *finding)
{
	unsigned long long bytes = memory_round(2 * group->most);
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_ENVIRONMENT);
	char number[TEXT_NUMBER_MAX];

	if (bytes > MEMORY_THRESHOLD_MOST)
		bytes = MEMORY_THRESHOLD_MOST;
	if (!remedy)
		return;
	remedy->id = "mmap-threshold";
	finding_set(&remedy->text, "MALLOC_MMAP_THRESHOLD_=%llu MALLOC_TOP_PAD_=%llu", bytes, bytes);
	if (remedy->text)
		remedy->command = rule_command(run->model, remedy->text, "MALLOC_MMAP_THRESHOLD_");
	finding_remedy_saves_all(remedy, finding);
	finding_add_delta(remedy, CALL_brk, 0, (int64_t)group->keys, 0);
	finding_add_pages(remedy, CALL_brk, 0, false, group->keys, group->first_pages);
	finding_add_note(finding, "with the setting, if this is malloc, the heap keeps up to %s bytes more",
			 text_count(bytes, number));
}

static void tell(struct rule_run *run, const struct churn_group *group, struct finding_list *out)
{
	bool block = group->kind == CHURN_MEMORY && group->blocks == group->pairs;
	struct finding *finding = finding_add(out, run->rule, FINDING_LIKELY);
	char number[TEXT_NUMBER_MAX + 8];

	if (!finding)
		return;
	finding->process_id = group->several ? 0 : group->process_id;
	finding->pid = group->several ? 0 : group->pid;
	finding_set(&finding->exe, "%s", group->exe->path);
	finding_set(&finding->what, group->kind == CHURN_FILE ? "maps the same part of a file and unmaps it again"
							      : "maps memory of the same size and unmaps it again");
	finding->where = where_of(group, block);
	if (group->kind == CHURN_FILE && group->path)
		finding_set(&finding->place, "%s", group->path);
	if (group->kind == CHURN_FILE)
		finding_set(&finding->object, "%s", group->path ? group->path : "?");
	else
		finding_set(&finding->object, "memory from %s bytes", text_count(UINT64_C(1) << group->what, number));
	rule_tally_tell(&group->tally, finding, NULL);
	memory_tell_faults(finding, CALL_mmap, group->pairs, group->pages, "a page of each");
	if (block && !group->set && group->most <= MEMORY_THRESHOLD_MOST && memory_by_glibc(group->tally.sites))
		tell_settings(run, group, finding);
	tell_source(group, block, finding);
	if (group->late > 0)
		finding_add_note(finding, "left out: %s that it was mapped long after the last",
				 text_plural(group->late, "time", "times", number, sizeof number));
}

void churn_end(struct rule_run *run, struct finding_list *out)
{
	struct churn_state *state = run->state;

	for (unsigned kind = 0; kind < CHURN_KINDS; kind++)
		rule_keys_tell(run, &state->pairs[kind], out, collect);
	for (size_t i = 0; i < state->groups.used; i++) {
		tell(run, &state->groups.at[i], out);
		rule_tally_done(&state->groups.at[i].tally);
	}
	vec_done(&state->groups);
}
