/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"

#define SITES_MAX 256 /* of a finding of several processes */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_remedies(const struct finding *a, const struct finding *b)
{
	if (a->remedies.used != b->remedies.used)
		return false;
	for (size_t i = 0; i < a->remedies.used; i++) {
		const struct finding_remedy *x = &a->remedies.at[i], *y = &b->remedies.at[i];

		if (x->kind != y->kind || !same_text(x->text, y->text) || !same_text(x->changes, y->changes))
			return false;
	}
	return true;
}

/* What is counted over several processes already, or per child, stays as the
 * rule told it. */
static bool mergeable(const struct finding *finding)
{
	return finding->pid != 0 && finding->scales.used == 0 && finding->exe && finding->object;
}

static bool same(const struct finding *a, const struct finding *b)
{
	return a->rule == b->rule && a->tier == b->tier && a->information == b->information && a->minor == b->minor &&
	       same_text(a->exe, b->exe) && same_text(a->object, b->object) && same_text(a->what, b->what) &&
	       same_remedies(a, b);
}

static uint64_t key(const struct finding *finding)
{
	return map_mix(map_hash(finding->exe, strlen(finding->exe)),
		       map_mix(map_hash(finding->object, strlen(finding->object)), (uintptr_t)finding->rule));
}

static void add_costs(struct finding *into, const struct finding *from)
{
	for (size_t i = 0; i < from->costs.used; i++) {
		const struct finding_cost *cost = &from->costs.at[i];
		struct finding_cost *target = NULL;

		for (size_t k = 0; k < into->costs.used && !target; k++) {
			struct finding_cost *old = &into->costs.at[k];

			if (old->call == cost->call && old->err == cost->err && same_text(old->detail, cost->detail))
				target = old;
		}
		if (target)
			target->count += cost->count;
		else
			target = finding_add_cost(into, cost->call, cost->err, cost->count, cost->detail);
		if (!target)
			continue;
		target->components += cost->components;
		target->duration_ns += cost->duration_ns;
		target->pages_low += cost->pages_low;
		target->pages_high += cost->pages_high;
	}
}

static void add_deltas(struct finding *into, const struct finding *from)
{
	for (size_t i = 0; i < from->remedies.used; i++) {
		const struct finding_remedy *remedy = &from->remedies.at[i];

		for (size_t k = 0; k < remedy->deltas.used; k++) {
			const struct finding_delta *delta = &remedy->deltas.at[k];

			finding_add_delta(&into->remedies.at[i], delta->call, delta->err, delta->count,
					  delta->components);
			if (delta->pages_low || delta->pages_high)
				finding_add_pages(&into->remedies.at[i], delta->call, delta->err, delta->count < 0,
						  delta->pages_low, delta->pages_high);
		}
	}
}

static bool add_site(struct finding *into, const struct finding_site *site)
{
	struct finding_site added = { .offset = site->offset, .count = site->count, .number = site->number };

	for (size_t k = 0; k < into->sites.used; k++) {
		struct finding_site *old = &into->sites.at[k];

		if (old->offset != site->offset || old->number != site->number || !same_text(old->module, site->module))
			continue;
		old->count += site->count;
		return true;
	}
	if (into->sites.used >= SITES_MAX)
		return false;
	added.module = site->module ? strdup(site->module) : NULL;
	if ((!site->module || added.module) && vec_push(&into->sites, added))
		return true;
	free(added.module);
	return false;
}

static void add_sites(struct finding *into, const struct finding *from)
{
	into->sites_other += from->sites_other;
	for (size_t i = 0; i < from->sites.used; i++)
		if (!add_site(into, &from->sites.at[i]))
			into->sites_other += from->sites.at[i].count;
}

/* The leading part of both: a folder. */
static void join_place(struct finding *into, const struct finding *from)
{
	size_t last = 0, i = 0;

	if (same_text(into->place, from->place))
		return;
	for (; into->place && from->place && into->place[i] && into->place[i] == from->place[i]; i++)
		if (into->place[i] == '/')
			last = i + 1;
	if (last > 0) {
		into->place[last] = '\0';
	} else {
		free(into->place);
		into->place = NULL;
	}
}

/* Of several nobody is named. */
static void join_script(struct finding *into, const struct finding *from)
{
	if (into->script_kind == from->script_kind && same_text(into->script, from->script))
		return;
	into->script_kind = SCRIPT_NONE;
	free(into->script);
	into->script = NULL;
}

static void merge(struct finding *into, const struct finding *from)
{
	into->pid = 0;
	into->process_id = 0;
	into->calls += from->calls;
	add_costs(into, from);
	add_deltas(into, from);
	add_sites(into, from);
	for (size_t i = 0; i < from->children.used; i++)
		finding_add_child(into, from->children.at[i].exe, from->children.at[i].life,
				  from->children.at[i].count);
	for (size_t i = 0; i < from->parts.used; i++)
		finding_add_part(into, from->parts.at[i].exe, from->parts.at[i].life, from->parts.at[i].count);
	into->owned += from->owned;
	join_place(into, from);
	join_script(into, from);
}

void finding_list_merge(struct finding_list *list)
{
	struct map first; /* key → place in the list */
	struct map merged; /* place in the list → processes */
	size_t kept = 0;

	map_init(&first, sizeof(size_t), 0);
	map_init(&merged, sizeof(uint64_t), 0);
	for (size_t i = 0; i < list->items.used; i++) {
		struct finding finding = list->items.at[i];
		bool fresh = true;
		size_t *place = mergeable(&finding) ? map_put(&first, key(&finding), &fresh) : NULL;

		if (place && !fresh && same(&list->items.at[*place], &finding)) {
			uint64_t *processes = map_put(&merged, *place, NULL);

			if (processes) {
				merge(&list->items.at[*place], &finding);
				*processes += *processes == 0 ? 2 : 1;
				finding_done(&finding);
				continue;
			}
		} else if (place && fresh) {
			*place = kept;
		}
		list->items.at[kept++] = finding;
	}
	list->items.used = kept;
	for (size_t i = 0; i < kept; i++) {
		const uint64_t *processes = map_get(&merged, i);
		char number[TEXT_NUMBER_MAX];

		if (!processes)
			continue;
		if (list->items.at[i].sites.used > 1)
			qsort(list->items.at[i].sites.at, list->items.at[i].sites.used, sizeof(struct finding_site),
			      finding_site_by_count);
		finding_add_note(&list->items.at[i], "in %s processes; place and proof are of the first",
				 text_count(*processes, number));
	}
	map_done(&first);
	map_done(&merged);
}
