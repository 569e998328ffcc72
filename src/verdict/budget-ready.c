/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All budgets of a check together: what is said twice, what contradicts
 * itself, what fits no run.  Parses nothing and counts nothing.
 */
#include <errno.h>
#include <string.h>

#include "verdict/budget-state.h"

const char *budget_option(enum budget_kind kind)
{
	static const char *const options[] = { "--max", "--min", "--canary" };

	return options[kind];
}

/* Is every call that `a` counts counted by `b` too? */
static bool within(const struct budget *a, const struct budget *b)
{
	if (a->rules.used > 0 || b->rules.used > 0)
		return strcmp(a->what, b->what) == 0;
	if (b->region && (!a->region || strcmp(a->region, b->region) != 0))
		return false;
	if (b->program && (!a->program || strcmp(a->program, b->program) != 0))
		return false;
	if (b->site && (!a->site || strcmp(a->site, b->site) != 0))
		return false;
	for (size_t i = 0; i < a->terms.used; i++)
		for (unsigned id = 0; id < CALL_COUNT; id++) {
			const struct budget_term *term = &a->terms.at[i];
			bool has = !sys_expr_has(&term->calls, (enum sys_call_id)id);

			for (size_t k = 0; k < b->terms.used && !has; k++)
				has = sys_expr_has(&b->terms.at[k].calls, (enum sys_call_id)id) &&
				      (b->terms.at[k].err == 0 || b->terms.at[k].err == term->err);
			if (!has || term->calls.number_count > 0)
				return false;
		}
	return true;
}

static uint64_t same_key(const struct budget *budget)
{
	return map_mix(map_hash(budget->what, strlen(budget->what)), (uint64_t)budget->kind);
}

static void put_away(struct budgets *budgets, size_t at)
{
	budget_done(&budgets->items.at[at]);
	memmove(&budgets->items.at[at], &budgets->items.at[at + 1],
		(budgets->items.used - at - 1) * sizeof budgets->items.at[0]);
	budgets->items.used--;
}

/* The same said twice is said once; the command line's word goes over a file's. */
static int drop_doubles(struct budgets *budgets, struct error *err)
{
	struct map seen;
	int r = 0;

	map_init(&seen, sizeof(uint32_t), 0);
	for (size_t i = 0; i < budgets->items.used && r == 0;) {
		struct budget *budget = &budgets->items.at[i], *before;
		uint32_t *place = map_put(&seen, same_key(budget), NULL);
		char first[BUDGET_NUMBER_MAX], second[BUDGET_NUMBER_MAX];

		if (!place) {
			r = error_errno(err, ENOMEM, "budget");
			break;
		}
		before = *place ? &budgets->items.at[*place - 1] : NULL;
		if (!before || before->kind != budget->kind || strcmp(before->what, budget->what) != 0) {
			*place = (uint32_t)++i;
			continue;
		}
		if (before->origin == budget->origin && before->limit != budget->limit)
			r = error_set(err, EINVAL, "%s '%.80s' is given twice, as %s and as %s",
				      budget_option(budget->kind), budget->what, budget_number(before->limit, first),
				      budget_number(budget->limit, second));
		if (budget->origin > before->origin)
			before->limit = budget->limit;
		before->origin = budget->origin > before->origin ? budget->origin : before->origin;
		put_away(budgets, i);
	}
	map_done(&seen);
	return r;
}

static int find_contradiction(const struct budget *most, const struct budget *least, struct error *err)
{
	char at_most[BUDGET_NUMBER_MAX], at_least[BUDGET_NUMBER_MAX];

	if (most->measure != least->measure || least->limit <= most->limit || !within(least, most))
		return 0;
	return error_set(err, EINVAL, "nothing can be both: --max '%.80s=%s' and %s '%.80s>=%s'", most->what,
			 budget_number(most->limit, at_most), budget_option(least->kind), least->what,
			 budget_number(least->limit, at_least));
}

static int check_measure(const struct budgets *budgets, const struct budget *budget, struct error *err)
{
	if (budget->kind == BUDGET_CANARY)
		return 0;
	if (budgets->per_item && budget->measure == BUDGET_COUNT)
		return error_set(err, EINVAL, "'%.80s': with --per-item say '%.80s per item' or '%.80s fixed'",
				 budget->what, budget->calls, budget->calls);
	if (!budgets->per_item && budget->measure != BUDGET_COUNT)
		return error_set(err, EINVAL, "'%.80s' needs --per-item, as in --per-item n=100:1000", budget->what);
	return 0;
}

int budgets_ready(struct budgets *budgets, struct error *err)
{
	int r = drop_doubles(budgets, err);

	for (size_t i = 0; i < budgets->items.used && r == 0; i++) {
		const struct budget *budget = &budgets->items.at[i];

		budgets->need_regions = budgets->need_regions || budget->region;
		r = check_measure(budgets, budget, err);
		for (size_t k = 0; budget->kind == BUDGET_MAX && k < budgets->items.used && r == 0; k++)
			if (budgets->items.at[k].kind != BUDGET_MAX)
				r = find_contradiction(budget, &budgets->items.at[k], err);
	}
	return r;
}
