/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a finding while it grows: equal calls with equal outcome,
 * where they came from, one as a proof; and whether calls are one burst.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define SITES_FIRST 2
#define LINES_SPARE 16 /* that an emptied tally keeps */

static struct rule_line *line_of(struct rule_tally *tally, enum sys_call_id call, int err)
{
	struct rule_line *line;

	for (size_t i = 0; i < tally->lines.used; i++)
		if (tally->lines.at[i].call == call && tally->lines.at[i].err == err)
			return &tally->lines.at[i];
	line = tally->lines.used < RULE_LINES_MAX ? vec_add(&tally->lines) : NULL;
	if (line) {
		line->call = call;
		line->err = err;
	}
	return line;
}

struct rule_line *rule_tally_count(struct rule_tally *tally, const struct model_view *view)
{
	struct rule_line *line = line_of(tally, view->id, view->err);

	rule_claims_count(tally, view);
	if (view->process)
		rule_owners_add(tally, view->process->id, 1);
	tally->calls++;
	if (!line) {
		tally->other++;
		return NULL;
	}
	line->count++;
	line->components += view->path ? view->path->components : 0;
	line->duration_ns += view->call->duration_ns;
	return line;
}

/* Most candidates are called from one place, and a walk makes one of each file. */
/* noinline: gcc -O3 takes the shorter object for a mistake. */
__attribute__((noinline)) static bool sites_make_room(struct rule_tally *tally, uint32_t room)
{
	struct rule_sites *sites = tally->sites;

	if (sites && sites->room >= room)
		return true;
	sites = realloc(sites, offsetof(struct rule_sites, site) + room * sizeof sites->site[0]);
	if (!sites)
		return false;
	if (!tally->sites)
		memset(sites, 0, offsetof(struct rule_sites, site));
	sites->room = room;
	tally->sites = sites;
	return true;
}

struct rule_line *rule_tally_place(struct rule_tally *tally, struct model *model, const struct model_view *view)
{
	if (!tally->sites)
		(void)sites_make_room(tally, SITES_FIRST);
	else if (tally->sites->used == tally->sites->room)
		(void)sites_make_room(tally, RULE_SITES_MAX);
	if (tally->sites)
		rule_sites_add(tally->sites, model, view);
	return rule_tally_count(tally, view);
}

struct rule_line *rule_tally_add(struct rule_tally *tally, struct model *model, const struct model_view *view)
{
	if (!tally->sample)
		tally->sample = rule_sample(view);
	return rule_tally_place(tally, model, view);
}

static void merge_sites(struct rule_sites *to, const struct rule_sites *from)
{
	for (uint32_t i = 0; i < from->used; i++) {
		uint32_t j = 0, least = 0;

		for (; j < to->used &&
		       (to->site[j].module != from->site[i].module || to->site[j].offset != from->site[i].offset ||
			to->site[j].tag != from->site[i].tag || to->site[j].number != from->site[i].number);
		     j++)
			least = to->site[j].count < to->site[least].count ? j : least;
		if (j == to->room && j == to->used && to->site[least].count < from->site[i].count) {
			to->other += to->site[least].count;
			to->site[least] = from->site[i];
		} else if (j == to->room && j == to->used) {
			to->other += from->site[i].count;
		} else if (j == to->used) {
			to->site[to->used++] = from->site[i];
		} else {
			to->site[j].count += from->site[i].count;
		}
	}
	to->other += from->other;
}

void rule_tally_merge(struct rule_tally *to, struct rule_tally *from)
{
	rule_claims_move(to, from);
	rule_owners_add(to, from->owner.process_id, from->owner.count);
	for (size_t i = 0; i < from->owners.used; i++)
		rule_owners_add(to, from->owners.at[i].process_id, from->owners.at[i].count);
	for (size_t i = 0; i < from->lines.used; i++) {
		const struct rule_line *add = &from->lines.at[i];
		struct rule_line *line = line_of(to, add->call, add->err);

		if (!line) {
			to->other += add->count;
			continue;
		}
		line->count += add->count;
		line->components += add->components;
		line->duration_ns += add->duration_ns;
	}
	to->calls += from->calls;
	to->other += from->other;
	if (!to->sites) {
		to->sites = from->sites;
		from->sites = NULL;
	} else if (from->sites) {
		/* Without memory the rest goes with the others. */
		(void)sites_make_room(to, RULE_SITES_MAX);
		merge_sites(to->sites, from->sites);
	}
	if (!to->sample) {
		to->sample = from->sample;
		from->sample = NULL;
	}
	rule_tally_done(from);
}

void rule_tally_tell(const struct rule_tally *tally, struct finding *finding, const char *detail)
{
	if (!finding)
		return;
	if (tally->claims)
		(void)vec_push(&finding->claims, tally);
	rule_owners_tell(tally, finding);
	for (size_t i = 0; i < tally->lines.used; i++) {
		const struct rule_line *line = &tally->lines.at[i];
		struct finding_cost *cost = finding_add_cost(finding, line->call, line->err, line->count, detail);

		if (!cost)
			continue;
		cost->components = line->components;
		cost->duration_ns = line->duration_ns;
	}
	if (tally->sites)
		rule_sites_top(tally->sites, finding, 5);
	if (tally->sample)
		finding_add_sample(finding, strdup(tally->sample));
}

void rule_tally_done(struct rule_tally *tally)
{
	rule_claims_drop(tally);
	vec_done(&tally->owners);
	vec_done(&tally->lines);
	free(tally->sites);
	free(tally->sample);
	*tally = (struct rule_tally){ .claims = tally->claims };
}

void rule_tally_reset(struct rule_tally *tally)
{
	rule_claims_drop(tally);
	free(tally->sample);
	tally->sample = NULL;
	tally->calls = tally->other = 0;
	memset(&tally->owner, 0, sizeof tally->owner);
	tally->owners.used = 0;
	tally->latest_owner = 0;
	tally->lines.used = 0;
	if (tally->lines.room > LINES_SPARE)
		vec_done(&tally->lines);
	if (tally->sites && tally->sites->room != SITES_FIRST) {
		free(tally->sites);
		tally->sites = NULL;
	}
	if (tally->sites)
		tally->sites->used = 0;
}

bool rule_burst_next(struct rule_burst *burst, const struct model_view *view, uint64_t gap_ns)
{
	uint64_t now_ns = view->call->head.time_ns, calls = view->process->calls, between, elapsed, stops;
	bool close = true;

	elapsed = burst->begun && now_ns > burst->last_ns ? now_ns - burst->last_ns : 0;
	if (elapsed > gap_ns) {
		between = calls > burst->last_calls ? calls - burst->last_calls - 1 : 0;
		stops = between > UINT64_MAX / RULE_STOP_MOST_NS ? UINT64_MAX : between * RULE_STOP_MOST_NS;
		close = stops >= elapsed || elapsed - stops <= gap_ns;
		burst->by_calls += close;
	}
	burst->begun = true;
	burst->last_calls = calls;
	if (now_ns > burst->last_ns)
		burst->last_ns = now_ns;
	return close;
}

void rule_burst_note(const struct rule_burst *burst, struct finding *finding)
{
	char number[TEXT_NUMBER_MAX];

	if (burst->by_calls > 0)
		finding_add_note(finding,
				 "%s %s told short by the number of calls in %s, since watching stretches time",
				 text_count(burst->by_calls, number), burst->by_calls == 1 ? "pause" : "pauses",
				 burst->by_calls == 1 ? "it" : "them");
}
