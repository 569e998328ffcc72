/* SPDX-License-Identifier: BSD-2-Clause */
/* One cause: equal programs, equal remedies.  Information has none. */
#include "verdict/cause.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

static uint64_t text_hash(const char *text)
{
	return text ? map_hash(text, strlen(text)) : 0;
}

static uint64_t remedy_hash(const struct finding *finding, const struct finding_remedy *remedy)
{
	return map_mix(map_mix(text_hash(finding->exe), finding->process_id),
		       map_mix(text_hash(remedy->text), (uint64_t)remedy->kind));
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool share_a_remedy(const struct finding *a, const struct finding *b)
{
	if (!same_text(a->exe, b->exe) || a->process_id != b->process_id)
		return false;
	for (size_t i = 0; i < a->remedies.used; i++)
		for (size_t k = 0; k < b->remedies.used; k++)
			if (a->remedies.at[i].kind == b->remedies.at[k].kind &&
			    same_text(a->remedies.at[i].text, b->remedies.at[k].text))
				return true;
	return false;
}

/* The place of the first finding that shares a remedy, its own when none does. */
static size_t first_sharing(const struct verdict_finding *findings, size_t at, struct map *first)
{
	const struct finding *finding = findings[at].finding;
	size_t sharing = at;

	for (size_t i = 0; !finding->information && i < finding->remedies.used; i++) {
		bool fresh = false;
		size_t *place = map_put(first, remedy_hash(finding, &finding->remedies.at[i]), &fresh);

		if (!place)
			continue;
		if (fresh)
			*place = at;
		else if (*place < sharing && share_a_remedy(findings[*place].finding, finding))
			sharing = *place;
	}
	return sharing;
}

/* Where a finding belongs: behind which one, and what comes behind it. */
struct place {
	size_t cause; /* of all that share */
	size_t head; /* the one that it stands behind, or itself */
	size_t other; /* of a cause: the head of those of other worth; itself: none yet */
	size_t next, last; /* of a head: its row */
};

static void find_place(struct verdict_finding *findings, struct place *places, size_t i, size_t sharing)
{
	struct place *place = &places[i], *cause;

	*place = (struct place){ .cause = places[sharing].cause, .head = i, .other = i, .next = i, .last = i };
	if (sharing == i) {
		place->cause = i;
		return;
	}
	cause = &places[place->cause];
	findings[i].cause = findings[place->cause].finding;
	if (findings[place->cause].worth == findings[i].worth)
		place->head = place->cause;
	else if (cause->other != place->cause)
		place->head = cause->other;
	else
		cause->other = i;
	if (place->head == i)
		return;
	places[places[place->head].last].next = i;
	places[place->head].last = i;
}

void cause_group(struct verdict_finding *findings, size_t count)
{
	struct verdict_finding *sorted = calloc(count ? count : 1, sizeof *sorted);
	struct place *places = calloc(count ? count : 1, sizeof *places);
	struct map first; /* remedy of a program → place */
	size_t used = 0;

	map_init(&first, sizeof(size_t), 0);
	for (size_t i = 0; sorted && places && i < count; i++)
		find_place(findings, places, i, first_sharing(findings, i, &first));
	for (size_t i = 0; sorted && places && i < count; i++) {
		if (places[i].head != i)
			continue;
		for (size_t k = i;; k = places[k].next) {
			sorted[used++] = findings[k];
			if (k == places[i].last)
				break;
		}
	}
	if (sorted && used == count && count > 0)
		memcpy(findings, sorted, count * sizeof *findings);
	map_done(&first);
	free(sorted);
	free(places);
}
