/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables and tellings of the rules that follow the common law. */
#include "rules/law.h"

#include <stdlib.h>

#define IDLE_NS UINT64_C(1000000000)

static struct law_state *state_of(const struct rule_run *run)
{
	return run->state;
}

static void free_entry(struct rule_run *run, struct rule_key *key)
{
	struct law_entry *entry = (struct law_entry *)key;

	if (run->rule->law->free)
		run->rule->law->free(entry);
	if (entry->places)
		rule_places_done(entry->places);
	free(entry->places);
}

int law_start(struct rule_run *run)
{
	const struct law *law = run->rule->law;
	struct law_state *state = run->state;

	rule_keys_init(&state->entries, law->entry_bytes ? law->entry_bytes : sizeof(struct law_entry), law->entries);
	state->entries.free = free_entry;
	/* One table for all kinds: of their limits the least. */
	state->entries.candidate = UINT64_MAX;
	for (const struct law_kind *kind = law->kinds; kind->object; kind++)
		if (run->limits[kind->least] < state->entries.candidate)
			state->entries.candidate = run->limits[kind->least];
	rule_keys_init(&state->followed, law->followed_bytes, law->followed);
	state->followed.idle_ns = law->followed_stay ? 0 : IDLE_NS;
	state->followed.free = law->free_followed;
	state->followed.candidate = UINT64_MAX;
	return law->recent > 0 ? rule_recent_init(&state->recent, law->recent_bytes, law->recent) : 0;
}

void law_image_end(struct rule_run *run, struct model_process *process)
{
	struct law_state *state = run->state;
	struct rule_key *key = NULL;

	while ((key = rule_keys_next_of(&state->entries, process->id, key)))
		((struct law_entry *)key)->process_calls = process->calls;
	rule_keys_image_end(run, &state->followed, process);
	rule_keys_image_end(run, &state->entries, process);
}

static bool holds(struct rule_run *run, const struct law_entry *entry, const struct law_kind *kind)
{
	const struct law *law = run->rule->law;

	if (entry->key.value < run->limits[kind->least])
		return false;
	if (kind->share > 0 &&
	    (double)entry->key.tally.calls * 100 < (double)entry->process_calls * (double)run->limits[kind->share])
		return false;
	return !law->holds || law->holds(run, entry);
}

/* "2 files in /w and files without a name" */
static char *files_text(const struct law_entry *entry, const char *nameless)
{
	char *files = entry->places ? rule_places_text(entry->places, "file", "files") : NULL, *text = NULL;

	finding_set(&text, "%s%s%s", files ? files : "", files && entry->nameless ? " and " : "",
		    files && !entry->nameless ? "" : nameless);
	free(files);
	return text;
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct law_entry *entry = (const struct law_entry *)key;
	const struct law *law = run->rule->law;
	const struct law_kind *kind = &law->kinds[entry->kind];
	struct finding *finding =
		holds(run, entry, kind) ? rule_key_finding(run, key, kind->tier, kind->detail, out) : NULL;
	struct finding_remedy *remedy;

	if (!finding)
		return;
	finding->least = run->limits[kind->least];
	finding_set(&finding->object, "%s", kind->object);
	if (kind->what)
		finding_set(&finding->what, "%s", kind->what);
	if (kind->where)
		finding_set(&finding->where, "%s", kind->where);
	else if (kind->nameless)
		finding->where = files_text(entry, kind->nameless);
	finding->place = entry->places && !entry->nameless ? rule_places_place(entry->places) : NULL;
	remedy = kind->text ? finding_add_remedy_all(finding, REMEDY_SOURCE, kind->remedy, kind->text) : NULL;
	if (remedy && kind->changes)
		finding_set(&remedy->changes, "%s", kind->changes);
	if (kind->note)
		finding_add_note(finding, "%s", kind->note);
	if (law->tell)
		law->tell(run, entry, finding);
	rule_burst_note(&entry->burst, finding);
}

void law_end(struct rule_run *run, struct finding_list *out)
{
	rule_keys_tell(run, &state_of(run)->entries, out, tell);
}

void law_done(struct rule_run *run)
{
	struct law_state *state = run->state;

	rule_keys_done(run, &state->entries);
	rule_keys_done(run, &state->followed);
	rule_recent_done(&state->recent);
}

static uint64_t hash_of(const struct model_view *view, uint64_t object, unsigned kind)
{
	return map_mix(object ? map_mix(view->process->id, object) : view->process->id, kind);
}

void *law_entry_of(struct rule_run *run, const struct model_view *view, uint64_t object, unsigned kind, bool *ret_new)
{
	struct law_entry *entry;
	bool fresh = false;

	entry = (struct law_entry *)rule_keys_get(run, &state_of(run)->entries, view, hash_of(view, object, kind),
						  &fresh);
	if (entry && fresh)
		entry->kind = kind;
	if (ret_new)
		*ret_new = fresh;
	return entry;
}

void *law_entry(struct rule_run *run, const struct model_view *view, unsigned kind)
{
	return law_entry_of(run, view, 0, kind, NULL);
}

void *law_entry_known(struct rule_run *run, const struct model_view *view, unsigned kind)
{
	const struct law_state *state = run->state;

	return state->entries.by_hash.used > 0 ? rule_keys_find(&state->entries, hash_of(view, 0, kind)) : NULL;
}

void law_count(struct rule_run *run, struct law_entry *entry, const struct model_view *view)
{
	(void)rule_tally_add(&entry->key.tally, run->model, view);
	rule_keys_value(&state_of(run)->entries, &entry->key, entry->key.tally.calls);
}

void law_take(struct rule_run *run, struct law_entry *entry, struct rule_tally *from)
{
	rule_tally_merge(&entry->key.tally, from);
	rule_keys_value(&state_of(run)->entries, &entry->key, entry->key.tally.calls);
}

struct rule_places *law_places(const struct rule_run *run, struct law_entry *entry)
{
	if (entry->places)
		return entry->places;
	entry->places = calloc(1, sizeof *entry->places);
	if (entry->places)
		(void)rule_places_init(entry->places, run->rule->law->files);
	return entry->places;
}

void law_file(const struct rule_run *run, struct law_entry *entry, const struct model_file *file)
{
	bool named = file && file->path && *file->path == '/';
	struct rule_places *places = named ? law_places(run, entry) : NULL;

	if (places)
		(void)rule_places_add(places, file->path, file->path_hash);
	else
		entry->nameless = true;
}
