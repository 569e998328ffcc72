/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One waste is told once.  Findings are gone through from the most specific to
 * the most general, so that what a finding gives up it gives up to findings
 * that stay.  A call that three of them count is given up by the last to each
 * of the others: it tells too little then, never too much.
 */
#include <stdlib.h>

#include "base/map.h"
#include "base/text.h"
#include "rules/claims.h"
#include "rules/keyed.h"

/* Taken from one finding, by call and errno. */
struct taken {
	enum sys_call_id call;
	int err;
	uint64_t count, components, duration_ns;
};

struct settling {
	VEC(struct taken) lines;
	const struct rule *to; /* whose they are; NULL: several rules' */
	bool any;
};

static size_t rule_place(const struct rule *rule)
{
	size_t i = 0;

	while (rule_list[i] && rule_list[i] != rule)
		i++;
	return i;
}

static int by_breadth(const void *a, const void *b)
{
	const struct finding *const *x = a, *const *y = b;
	size_t x_place = rule_place((*x)->rule), y_place = rule_place((*y)->rule);

	if ((*x)->rule->breadth != (*y)->rule->breadth)
		return (*x)->rule->breadth < (*y)->rule->breadth ? -1 : 1;
	if (x_place != y_place)
		return x_place < y_place ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

static void note_taken(struct settling *settling, const struct rule_shared *pair, const struct rule *to)
{
	struct taken *line = NULL;

	settling->to = settling->any && settling->to != to ? NULL : to;
	settling->any = true;
	for (size_t i = 0; i < settling->lines.used && !line; i++)
		if (settling->lines.at[i].call == pair->call && settling->lines.at[i].err == pair->err)
			line = &settling->lines.at[i];
	if (!line && (line = vec_add(&settling->lines)))
		*line = (struct taken){ .call = pair->call, .err = pair->err };
	if (!line)
		return;
	line->count += pair->count;
	line->components += pair->components;
	line->duration_ns += pair->duration_ns;
}

static uint64_t less(uint64_t amount, uint64_t by)
{
	return amount > by ? amount - by : 0;
}

static uint64_t part(uint64_t amount, uint64_t left, uint64_t of)
{
	return of > 0 ? (uint64_t)((double)amount * (double)left / (double)of + 0.5) : 0;
}

/* Calls of one kind go: what each remedy would save of them goes by the same share. */
static void shrink_remedies(struct finding *finding, enum sys_call_id call, int err, uint64_t left, uint64_t of)
{
	for (size_t i = 0; i < finding->remedies.used; i++) {
		struct finding_remedy *remedy = &finding->remedies.at[i];

		for (size_t k = 0; k < remedy->deltas.used; k++) {
			struct finding_delta *delta = &remedy->deltas.at[k];

			if (delta->call != call || delta->err != err || delta->count >= 0)
				continue;
			delta->count = -(int64_t)part((uint64_t)-delta->count, left, of);
			delta->components = part(delta->components, left, of);
		}
	}
}

static void take_line(struct finding *finding, const struct taken *taken)
{
	uint64_t of = 0, owed = taken->count, gone;

	for (size_t i = 0; i < finding->costs.used; i++)
		if (finding->costs.at[i].call == taken->call && finding->costs.at[i].err == taken->err)
			of += finding->costs.at[i].count;
	gone = owed < of ? owed : of;
	for (size_t i = 0; i < finding->costs.used && owed > 0; i++) {
		struct finding_cost *cost = &finding->costs.at[i];
		uint64_t now = cost->count < owed ? cost->count : owed, left = cost->count - now;

		if (cost->call != taken->call || cost->err != taken->err || cost->count == 0)
			continue;
		/* The very calls, where all that were counted twice are of this line. */
		if (of == cost->count && now == taken->count) {
			cost->components = less(cost->components, taken->components);
			cost->duration_ns = less(cost->duration_ns, taken->duration_ns);
		} else {
			cost->components = part(cost->components, left, cost->count);
			cost->duration_ns = part(cost->duration_ns, left, cost->count);
		}
		cost->count = left;
		owed -= now;
	}
	finding->calls -= gone;
	shrink_remedies(finding, taken->call, taken->err, of - gone, of);
}

/* Lines without calls are no lines. */
static void drop_empty(struct finding *finding)
{
	size_t kept = 0;

	for (size_t i = 0; i < finding->costs.used; i++) {
		if (finding->costs.at[i].count > 0)
			finding->costs.at[kept++] = finding->costs.at[i];
		else
			free(finding->costs.at[i].detail);
	}
	finding->costs.used = kept;
	for (size_t i = 0; i < finding->remedies.used; i++) {
		struct finding_remedy *remedy = &finding->remedies.at[i];

		kept = 0;
		for (size_t k = 0; k < remedy->deltas.used; k++)
			if (remedy->deltas.at[k].count != 0)
				remedy->deltas.at[kept++] = remedy->deltas.at[k];
		remedy->deltas.used = kept;
	}
}

/* What is left is told when it is enough for a finding. */
static bool give_up(struct finding *finding, struct map *owners)
{
	struct settling settling = { .any = false };
	uint64_t before = finding->calls;
	char number[TEXT_NUMBER_MAX + 8];
	bool stays;

	for (size_t i = 0; i < finding->claims.used; i++) {
		const struct rule_tally *tally = finding->claims.at[i];

		for (size_t k = 0; k < tally->shared.used; k++) {
			struct finding **to = map_get(owners, (uintptr_t)tally->shared.at[k].with);

			if (to && *to != finding && !(*to)->information)
				note_taken(&settling, &tally->shared.at[k], (*to)->rule);
		}
	}
	if (!settling.any)
		return true;
	for (size_t i = 0; i < settling.lines.used; i++)
		take_line(finding, &settling.lines.at[i]);
	vec_done(&settling.lines);
	drop_empty(finding);
	stays = finding->calls > 0 && finding->calls >= finding->least;
	if (stays && finding->calls < before)
		finding_add_note(finding, "left out: %s that %s tells",
				 text_plural(before - finding->calls, "call", "calls", number, sizeof number),
				 settling.to ? settling.to->id : "another rule");
	return stays;
}

void finding_list_settle(struct finding_list *list)
{
	size_t count = list->items.used, kept = 0;
	struct finding **order = calloc(count ? count : 1, sizeof *order);
	struct map owners; /* tally → finding that has its calls */

	if (!order)
		return;
	map_init(&owners, sizeof(struct finding *), 0);
	for (size_t i = 0; i < count; i++)
		order[i] = &list->items.at[i];
	qsort(order, count, sizeof(struct finding *), by_breadth);
	for (size_t i = 0; i < count; i++) {
		struct finding *finding = order[i];

		if (!finding->information && !give_up(finding, &owners)) {
			finding_done(finding);
			continue;
		}
		for (size_t k = 0; k < finding->claims.used; k++) {
			struct finding **owner = map_put(&owners, (uintptr_t)finding->claims.at[k], NULL);

			if (owner)
				*owner = finding;
		}
	}
	for (size_t i = 0; i < count; i++)
		if (list->items.at[i].rule)
			list->items.at[kept++] = list->items.at[i];
	list->items.used = kept;
	map_done(&owners);
	free(order);
}
