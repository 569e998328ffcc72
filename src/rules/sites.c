/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts by the place in the program that a call was made from.  A rule that
 * keeps one of these per finding answers "who asked"; frames above that
 * place are not known here.
 */
#include <stdlib.h>
#include <string.h>

#include "rules/rule.h"

bool rule_is_c_library(const char *module)
{
	static const char *const names[] = { "libc.so.",     "libc-2.",	   "libpthread", "ld-linux", "ld-2.",
					     "ld-musl",	     "libc.musl-", "librt.so.",	 "librt-2.", "libdl.so.2",
					     "libresolv.so", "libanl.so",  "libnss_" };
	const char *base = rule_base_name(module);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

bool rule_made_outside(struct model *model, const struct model_view *view)
{
	const char *module = NULL;
	uint64_t offset;

	return view->call->ip != 0 && model_locate(model, view->process, view->call->ip, &module, &offset) && module &&
	       !rule_is_c_library(module);
}

bool rule_called_outside(struct model *model, const struct model_view *view)
{
	const struct model_site *site;

	if (rule_made_outside(model, view))
		return true;
	if (!event_item(&view->call->head, SYS_ITEM_CALLER))
		return false;
	site = model_site_at(model, model_site(model, view));
	return site && site->caller_module && !rule_is_c_library(site->caller_module);
}

void rule_sites_add(struct rule_sites *sites, struct model *model, const struct model_view *view)
{
	rule_sites_add_tagged(sites, model, view, 0);
}

static bool is_same(const struct rule_sites *a, uint32_t i, const struct rule_sites *b, uint32_t j)
{
	/* The model shares module texts, so that equal ones have one address. */
	return a->site[i].module == b->site[j].module && a->site[i].offset == b->site[j].offset;
}

void rule_sites_add_tagged(struct rule_sites *sites, struct model *model, const struct model_view *view, uint32_t tag)
{
	const char *module = NULL;
	uint64_t offset = view->call->ip;
	uint32_t number = 0, least = 0, at;
	const struct model_site *site;

	if (offset == 0)
		return;
	if (event_item(&view->call->head, SYS_ITEM_CALLER) || event_item(&view->call->head, SYS_ITEM_STACK))
		number = model_site(model, view);
	site = model_site_at(model, number);
	if (site) {
		module = site->module;
		offset = site->offset;
	} else if (!model_locate(model, view->process, view->call->ip, &module, &offset)) {
		module = NULL;
		offset = view->call->ip;
	}
	for (uint32_t i = 0; i < sites->used; i++) {
		/* By the number first: it mostly tells. */
		if (sites->site[i].number == number && sites->site[i].tag == tag && sites->site[i].offset == offset &&
		    sites->site[i].module == module) {
			sites->site[i].count++;
			return;
		}
		if (sites->site[i].count < sites->site[least].count)
			least = i;
	}
	at = sites->used;
	if (at == (sites->room ? sites->room : RULE_SITES_MAX)) {
		at = least;
		sites->other += sites->site[at].count;
	} else {
		sites->used++;
	}
	sites->site[at].module = module;
	sites->site[at].offset = offset;
	sites->site[at].tag = tag;
	sites->site[at].number = number;
	sites->site[at].count = 1;
}

void rule_sites_top(const struct rule_sites *sites, struct finding *finding, unsigned most)
{
	rule_sites_top_tagged(sites, finding, most, UINT64_MAX);
}

static void tell(struct finding *finding, const struct rule_sites *sites, uint32_t i)
{
	struct finding_site site = { .offset = sites->site[i].offset,
				     .count = sites->site[i].count,
				     .number = sites->site[i].number };

	if (sites->site[i].module)
		finding_set(&site.module, "%s", sites->site[i].module);
	if (!vec_push(&finding->sites, site))
		free(site.module);
}

/* The entry with the most calls among those that are the same place as `of`, or with `places` of all places. */
static uint32_t most_of(const struct rule_sites *sum, const uint64_t counts[static RULE_SITES_MAX], uint32_t of,
			bool places)
{
	uint32_t best = RULE_SITES_MAX;

	for (uint32_t i = 0; i < sum->used; i++)
		if (counts[i] > 0 && (places || is_same(sum, i, sum, of)) &&
		    (best == RULE_SITES_MAX || counts[i] > counts[best]))
			best = i;
	return best;
}

void rule_sites_top_tagged(const struct rule_sites *sites, struct finding *finding, unsigned most, uint64_t tags)
{
	struct rule_sites sum = { .used = 0 };
	/* Of each place, at its first entry; and of each entry.  0: told. */
	uint64_t of_place[RULE_SITES_MAX] = { 0 }, counts[RULE_SITES_MAX] = { 0 };

	if (!finding)
		return;
	for (uint32_t i = 0; i < sites->used; i++) {
		uint32_t at = 0;

		if (!(tags >> (sites->site[i].tag & 63) & 1))
			continue;
		while (at < sum.used && (!is_same(&sum, at, sites, i) || sum.site[at].number != sites->site[i].number))
			at++;
		if (at == sum.used)
			sum.site[sum.used++] = sites->site[i];
		else
			sum.site[at].count += sites->site[i].count;
	}
	for (uint32_t i = 0; i < sum.used; i++) {
		uint32_t first = 0;

		while (!is_same(&sum, first, &sum, i))
			first++;
		of_place[first] += sum.site[i].count;
		counts[i] = sum.site[i].count;
	}
	for (unsigned n = 0; n < most; n++) {
		uint32_t place = most_of(&sum, of_place, 0, true), entry;

		if (place == RULE_SITES_MAX)
			break;
		of_place[place] = 0;
		while ((entry = most_of(&sum, counts, place, false)) < RULE_SITES_MAX) {
			tell(finding, &sum, entry);
			counts[entry] = 0;
		}
	}
	for (uint32_t i = 0; i < sum.used; i++)
		finding->sites_other += counts[i];
	/* Of what was asked for those nobody knows. */
	if (tags == UINT64_MAX)
		finding->sites_other += sites->other;
}
