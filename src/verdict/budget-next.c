/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The budget that would keep a finding fixed: of the family of its calls what
 * the best remedy leaves, and a tenth more.
 */
#include "verdict/budget-next.h"

#include <stdio.h>
#include <string.h>

#define NAMES_MAX 2 /* more calls than that without a family of their own: no short budget */

static uint64_t class_members(uint64_t class)
{
	uint64_t members = 0;

	for (unsigned id = 1; id < CALL_COUNT; id++)
		members += (sys_call((enum sys_call_id)id)->classes & class) != 0;
	return members;
}

/* What the remedy makes instead counts too, or the waste could come back as that. */
static bool has_all(uint64_t class, const struct finding *finding, const struct finding_remedy *remedy)
{
	for (size_t i = 0; i < remedy->deltas.used; i++)
		if (!(sys_call(remedy->deltas.at[i].call)->classes & class))
			return false;
	for (size_t i = 0; i < finding->costs.used; i++)
		if (!(sys_call(finding->costs.at[i].call)->classes & class))
			return false;
	return finding->costs.used > 0;
}

/* The narrowest family that has all of these calls, NULL none. */
static const char *family(const struct finding *finding, const struct finding_remedy *remedy, uint64_t *ret_class)
{
	const char *best = NULL, *name;
	uint64_t least = UINT64_MAX, bit;

	for (size_t n = 0; (name = sys_class_name(n, &bit)); n++) {
		if (name[0] != '@' || !has_all(bit, finding, remedy) || class_members(bit) >= least)
			continue;
		least = class_members(bit);
		best = name;
		*ret_class = bit;
	}
	return best;
}

static bool named(const struct finding *finding, enum sys_call_id id)
{
	for (size_t i = 0; i < finding->costs.used; i++)
		if (finding->costs.at[i].call == id)
			return true;
	return false;
}

static bool name_calls(const struct finding *finding, struct verdict_budget *ret)
{
	size_t used = 0, names = 0;

	for (size_t i = 0; i < finding->costs.used; i++) {
		enum sys_call_id id = finding->costs.at[i].call;
		bool first = true;

		for (size_t k = 0; k < i; k++)
			first = first && finding->costs.at[k].call != id;
		if (!first)
			continue;
		if (id == CALL_unknown || ++names > NAMES_MAX)
			return false;
		used += (size_t)snprintf(ret->what + used, sizeof ret->what - used, "%s%s", names > 1 ? "+" : "",
					 sys_call(id)->name);
		if (used >= sizeof ret->what)
			return false;
	}
	return names > 0;
}

static const struct finding_remedy *best_remedy(const struct verdict_finding *verdict)
{
	for (size_t i = 0; i < verdict->remedy_count; i++)
		if (!verdict->remedies[i].remedy->changes && verdict->remedies[i].saves_calls > 0)
			return verdict->remedies[i].remedy;
	return NULL;
}

void budget_of_finding(const struct analysis_result *result, size_t number, struct verdict_budget *ret)
{
	const struct verdict_finding *verdict = number < result->finding_count ? &result->findings[number] : NULL;
	const struct finding_remedy *remedy =
		verdict && result->complete && !verdict->finding->information ? best_remedy(verdict) : NULL;
	uint64_t class = 0, total = 0;
	const char *name;
	int64_t left;

	*ret = (struct verdict_budget){ 0 };
	if (!remedy)
		return;
	name = family(verdict->finding, remedy, &class);
	if (name)
		(void)snprintf(ret->what, sizeof ret->what, "%s", name);
	else if (!name_calls(verdict->finding, ret))
		goto none;
#define IN_BUDGET(id) (name ? (sys_call(id)->classes & class) != 0 : named(verdict->finding, id))
	for (size_t i = 0; i < result->all_call_count; i++)
		if (IN_BUDGET(result->all_calls[i].row.id))
			total += result->all_calls[i].row.count;
	left = (int64_t)total;
	for (size_t i = 0; i < remedy->deltas.used; i++)
		if (IN_BUDGET(remedy->deltas.at[i].call))
			left += remedy->deltas.at[i].count;
#undef IN_BUDGET
	left = left < 0 ? 0 : left;
	ret->limit = (uint64_t)left + ((uint64_t)left + 9) / 10;
	if (ret->limit < total)
		return;
none:
	*ret = (struct verdict_budget){ 0 };
}

void budget_next(const struct analysis_result *result, struct verdict_budget *ret)
{
	*ret = (struct verdict_budget){ 0 };
	if (result->finding_count > 0 && result->findings[0].worth)
		budget_of_finding(result, 0, ret);
}
