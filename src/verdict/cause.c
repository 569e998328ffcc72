/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One cause: equal programs, equal remedies.  A setting or another version acts on
 * all calls of a program; a change of its source only where it is made.
 * Information has none.
 */
#include "verdict/cause.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "rules/rule.h"
#include "verdict/site.h"

#define CAUSES_MOST 64 /* with one remedy; what shares it with further ones stands alone */

/* A finding that has no cause but itself, in a row of those with one remedy. */
struct link {
	size_t place, next; /* next: 1 + its index; 0 none */
};

struct causes {
	struct map first; /* remedy of a program → 1 + index of the first link */
	VEC(struct link) links;
};

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

/* The same place outside the C library, whose functions are for everybody; false where it is not known. */
static bool same_site(const struct finding_site *a, const struct finding_site *b)
{
	const struct frame *one = site_outer(a->frames), *two = site_outer(b->frames);

	if (one && two)
		return !a->frames->outer_varies && site_equal(a->frames, b->frames);
	return !a->frames && !b->frames && a->offset == b->offset && same_text(a->module, b->module) &&
	       !rule_is_c_library(a->module);
}

/* Is all of `finding` called where `cause` is? */
static bool same_places(const struct finding *cause, const struct finding *finding)
{
	if (finding->sites.used == 0 || finding->sites_other > 0)
		return false;
	for (size_t i = 0; i < finding->sites.used; i++) {
		size_t k = 0;

		while (k < cause->sites.used && !same_site(&cause->sites.at[k], &finding->sites.at[i]))
			k++;
		if (k == cause->sites.used)
			return false;
	}
	return true;
}

/* Does a remedy of `cause` that is this one end both? */
static bool ends_both(const struct finding *cause, const struct finding *finding, const struct finding_remedy *remedy)
{
	if (!same_text(cause->exe, finding->exe) || cause->process_id != finding->process_id)
		return false;
	for (size_t i = 0; i < cause->remedies.used; i++)
		if (cause->remedies.at[i].kind == remedy->kind && same_text(cause->remedies.at[i].text, remedy->text))
			return remedy->kind != REMEDY_SOURCE || same_places(cause, finding);
	return false;
}

static void become_cause(struct causes *causes, const struct finding *finding, size_t at)
{
	for (size_t i = 0; i < finding->remedies.used; i++) {
		size_t *first = map_put(&causes->first, remedy_hash(finding, &finding->remedies.at[i]), NULL);
		struct link link = { .place = at, .next = first ? *first : 0 };

		if (first && vec_push(&causes->links, link))
			*first = causes->links.used;
	}
}

/* The place of the first finding whose remedy ends this one too, its own when none does. */
static size_t first_sharing(const struct verdict_finding *findings, size_t at, struct causes *causes)
{
	const struct finding *finding = findings[at].finding;
	size_t sharing = at;

	for (size_t i = 0; !finding->information && i < finding->remedies.used; i++) {
		const struct finding_remedy *remedy = &finding->remedies.at[i];
		const size_t *first = map_get(&causes->first, remedy_hash(finding, remedy));
		size_t next = first ? *first : 0;

		for (unsigned n = 0; next > 0 && n < CAUSES_MOST; n++) {
			const struct link *link = &causes->links.at[next - 1];

			if (link->place < sharing && ends_both(findings[link->place].finding, finding, remedy))
				sharing = link->place;
			next = link->next;
		}
	}
	if (sharing == at && !finding->information)
		become_cause(causes, finding, at);
	return sharing;
}

/* Where a finding belongs: behind which one, and what comes behind it. */
struct place {
	size_t cause; /* itself, or what ends it too */
	size_t head; /* the one that it stands behind, or itself */
	size_t other; /* of a cause: the head of those of other worth; itself: none yet */
	size_t next, last; /* of a head: its row */
};

static void find_place(struct verdict_finding *findings, struct place *places, size_t i, size_t sharing)
{
	struct place *place = &places[i], *cause;

	*place = (struct place){ .cause = sharing, .head = i, .other = i, .next = i, .last = i };
	if (sharing == i)
		return;
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
	struct causes causes = { 0 };
	size_t used = 0;

	map_init(&causes.first, sizeof(size_t), 0);
	for (size_t i = 0; sorted && places && i < count; i++)
		find_place(findings, places, i, first_sharing(findings, i, &causes));
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
	map_done(&causes.first);
	vec_done(&causes.links);
	free(sorted);
	free(places);
}
