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
		if (sites->site[i].module == module && sites->site[i].offset == offset) {
			sites->site[i].count++;
			return;
		}
	}
	if (sites->used == RULE_SITES_MAX) {
		sites->other++;
		return;
	}
	sites->site[sites->used].module = module;
	sites->site[sites->used].offset = offset;
	sites->site[sites->used].count = 1;
	sites->used++;
}

void rule_sites_top(const struct rule_sites *sites, struct finding *finding, unsigned most)
{
	bool told[RULE_SITES_MAX] = { false };

	if (!finding)
		return;
	for (unsigned n = 0; n < most && n < sites->used; n++) {
		struct finding_site site = { 0 };
		uint32_t best = RULE_SITES_MAX;

		for (uint32_t i = 0; i < sites->used; i++)
			if (!told[i] && (best == RULE_SITES_MAX || sites->site[i].count > sites->site[best].count))
				best = i;
		told[best] = true;
		site.offset = sites->site[best].offset;
		site.count = sites->site[best].count;
		if (sites->site[best].module)
			finding_set(&site.module, "%s", sites->site[best].module);
		if (!vec_push(&finding->sites, site))
			free(site.module);
	}
}
