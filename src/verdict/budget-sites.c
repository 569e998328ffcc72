/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Budgets on calls from one place.  Calls are counted by their sites, which are
 * compared when frames are known: at the end of the run.  What may come from the
 * place, and may not, is counted apart: it can make a verdict impossible, and never
 * makes one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "verdict/analysis.h"
#include "verdict/budget-state.h"
#include "verdict/site-match.h"

/* A site's number, and whether the dynamic loader was at work before the program. */
static uint64_t key_of(uint32_t site, bool loader)
{
	return (uint64_t)site << 1 | loader;
}

int budget_site_add(struct budget *budget, struct model *model, const struct model_view *view)
{
	uint32_t site = model && view->call ? model_site(model, view) : 0;
	uint64_t *count;

	if (site == 0) {
		budget->site_unknown++;
		return 0;
	}
	count = map_put(&budget->sites, key_of(site, view->phase == MODEL_PHASE_LOADER), NULL);
	if (!count) {
		budget->site_unknown++;
		return -ENOMEM;
	}
	++*count;
	return 0;
}

void budget_sites_want(const struct budget *budget, const struct analysis_stacks *stacks)
{
	uint64_t key;
	size_t iter = 0;

	while (map_next(&budget->sites, &iter, &key))
		stacks->want(stacks->data, (uint32_t)(key >> 1));
}

static struct finding_site site_of(const struct analysis_result *result, uint32_t number)
{
	const struct model_site *known = model_site_at(result->model, number);
	struct finding_site site = { .number = number };

	if (known) {
		site.module = (char *)(uintptr_t)known->module;
		site.offset = known->offset;
	}
	if (result->stacks)
		site.frames = result->stacks->frames(result->stacks->data, number);
	return site;
}

/* Largest first, at most BUDGET_TOP. */
static int add_top(struct budget *budget, const struct finding_site *site, uint64_t count)
{
	struct buf foreign = BUF_INIT, buf = BUF_INIT;
	struct budget_contributor made = { .count = count };
	size_t at = budget->top_count;

	while (at > 0 && budget->top[at - 1].count < count)
		at--;
	if (at == BUDGET_TOP)
		return 0;
	site_put(&foreign, site);
	(void)text_escape(&buf, buf_text(&foreign), foreign.bytes, '\0', true);
	made.site = buf_steal(&buf);
	made.name = strdup(budget->calls);
	buf_done(&foreign);
	buf_done(&buf);
	if (!made.site || !made.name) {
		free(made.site);
		free(made.name);
		return -ENOMEM;
	}
	if (budget->top_count == BUDGET_TOP) {
		free(budget->top[BUDGET_TOP - 1].site);
		free(budget->top[BUDGET_TOP - 1].name);
	} else {
		budget->top_count++;
	}
	for (size_t i = budget->top_count - 1; i > at; i--)
		budget->top[i] = budget->top[i - 1];
	budget->top[at] = made;
	return 0;
}

static int count_one(struct budget *budget, const struct finding_site *site, enum site_match match, uint64_t count)
{
	budget->count += match == SITE_YES ? count : 0;
	budget->site_unknown += match == SITE_UNKNOWN ? count : 0;
	return match == SITE_YES && budget->kind == BUDGET_MAX ? add_top(budget, site, count) : 0;
}

static int count_calls(struct budget *budget, const struct analysis_result *result)
{
	uint64_t *count, key;
	size_t iter = 0;
	int r = 0;

	while (r == 0 && (count = map_next(&budget->sites, &iter, &key))) {
		const struct model_site *known = model_site_at(result->model, (uint32_t)(key >> 1));
		struct finding_site site = site_of(result, (uint32_t)(key >> 1));

		r = count_one(budget, &site,
			      key & 1 ? site_match_alone(budget->site, &site)
				      : site_match(budget->site, &site, known ? known->program : NULL, true),
			      *count);
	}
	return r;
}

static int count_findings(struct budget *budget, const struct analysis_result *result)
{
	int r = 0;

	for (size_t n = 0; n < result->finding_count && r == 0; n++) {
		const struct finding *finding = result->findings[n].finding;
		uint64_t told = 0;

		if (!budget_counts_finding(budget, result, n))
			continue;
		for (size_t i = 0; i < finding->sites.used && r == 0; i++) {
			const struct finding_site *site = &finding->sites.at[i];
			uint64_t count = site->count < finding->calls - told ? site->count : finding->calls - told;

			r = count_one(budget, site, site_match(budget->site, site, finding->exe, true), count);
			told += count;
		}
		budget->site_unknown += finding->calls - told;
	}
	return r;
}

int budget_sites_take(struct budget *budget, const struct analysis_result *result)
{
	budget_top_done(budget);
	budget->top = calloc(BUDGET_TOP, sizeof *budget->top);
	if (!budget->top)
		return -ENOMEM;
	budget->count = 0;
	if (budget->rules.used == 0)
		return count_calls(budget, result);
	budget->site_unknown = 0;
	return count_findings(budget, result);
}

bool budget_site_doubtful(const struct budget *budget)
{
	double least = (double)budget->count, most = (double)(budget->count + budget->site_unknown);

	if (budget->site_unknown == 0)
		return false;
	/* How many calls each run made goes into the slope. */
	if (budget->measure != BUDGET_COUNT)
		return true;
	return budget->kind == BUDGET_MAX ? least <= budget->limit && most > budget->limit
					  : least < budget->limit && most >= budget->limit;
}
