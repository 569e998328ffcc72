/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts by the place in the program that a call was made from.  A rule that
 * keeps one of these per finding answers "who asked"; frames above that
 * place are not known here.
 */
#include <stdlib.h>

#include "rules/rule.h"

void rule_sites_add(struct rule_sites *sites, struct model *model, const struct model_view *view)
{
	rule_sites_add_tagged(sites, model, view, 0);
}

void rule_sites_add_tagged(struct rule_sites *sites, struct model *model, const struct model_view *view, uint32_t tag)
{
	const char *module = NULL;
	uint64_t offset = view->call->ip;

	if (offset == 0)
		return;
	if (!model_locate(model, view->process, view->call->ip, &module, &offset)) {
		module = NULL;
		offset = view->call->ip;
	}
	for (uint32_t i = 0; i < sites->used; i++) {
		/* The model shares module texts, so that equal ones have one address. */
		if (sites->site[i].module == module && sites->site[i].offset == offset && sites->site[i].tag == tag) {
			sites->site[i].count++;
			return;
		}
	}
	if (sites->used == (sites->room ? sites->room : RULE_SITES_MAX)) {
		sites->other++;
		return;
	}
	sites->site[sites->used].module = module;
	sites->site[sites->used].offset = offset;
	sites->site[sites->used].tag = tag;
	sites->site[sites->used].count = 1;
	sites->used++;
}

void rule_sites_top(const struct rule_sites *sites, struct finding *finding, unsigned most)
{
	rule_sites_top_tagged(sites, finding, most, UINT64_MAX);
}

void rule_sites_top_tagged(const struct rule_sites *sites, struct finding *finding, unsigned most, uint64_t tags)
{
	struct rule_sites sum = { .used = 0 };

	if (!finding)
		return;
	for (uint32_t i = 0; i < sites->used; i++) {
		uint32_t at = 0;

		if (!(tags >> (sites->site[i].tag & 63) & 1))
			continue;
		while (at < sum.used &&
		       (sum.site[at].module != sites->site[i].module || sum.site[at].offset != sites->site[i].offset))
			at++;
		if (at == sum.used)
			sum.site[sum.used++] = sites->site[i];
		else
			sum.site[at].count += sites->site[i].count;
	}
	for (unsigned n = 0; n < most && n < sum.used; n++) {
		struct finding_site site = { 0 };
		uint32_t best = 0;

		/* What was told has a count of 0. */
		for (uint32_t i = 1; i < sum.used; i++)
			if (sum.site[i].count > sum.site[best].count)
				best = i;
		site.offset = sum.site[best].offset;
		site.count = sum.site[best].count;
		sum.site[best].count = 0;
		if (sum.site[best].module)
			finding_set(&site.module, "%s", sum.site[best].module);
		if (!vec_push(&finding->sites, site))
			free(site.module);
	}
}
