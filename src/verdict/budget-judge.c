/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Four words for a budget, three for a check.  Compares numbers that
 * budget.c took; looks at no call.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "verdict/budget-state.h"

#define CLOSE 1e-9 /* of a slope: what dividing whole numbers is off by */

const char *budget_state_name(enum budget_state state)
{
	static const char *const names[] = { "ok", "broken", "not-exercised", "cannot-judge" };

	return names[state];
}

const char *budget_kind_name(enum budget_kind kind)
{
	static const char *const names[] = { "max", "min", "canary" };

	return names[kind];
}

const char *check_state_name(enum check_state state)
{
	static const char *const names[] = { "passed", "failed", "cannot-judge" };

	return names[state];
}

const char *budget_number(double value, char out[static BUDGET_NUMBER_MAX])
{
	char count[TEXT_NUMBER_MAX];

	if (value >= 0 && value == (double)(uint64_t)value)
		(void)snprintf(out, BUDGET_NUMBER_MAX, "%s", text_count((uint64_t)value, count));
	else
		(void)snprintf(out, BUDGET_NUMBER_MAX, "%.3f", value);
	return out;
}

const char *budget_limit(const struct budget *budget, char out[static BUDGET_NUMBER_MAX + 16])
{
	char number[BUDGET_NUMBER_MAX];

	(void)snprintf(out, BUDGET_NUMBER_MAX + 16, "at %s %s", budget->kind == BUDGET_MAX ? "most" : "least",
		       budget_number(budget->limit, number));
	return out;
}

/* Calls per item and the fixed part, by the smallest and the largest size. */
static bool slope(const struct budget *budget, double *ret_per_item, double *ret_fixed)
{
	const struct budget_sample *low = &budget->samples.at[0], *high = low;

	for (size_t i = 1; i < budget->samples.used; i++) {
		low = budget->samples.at[i].item < low->item ? &budget->samples.at[i] : low;
		high = budget->samples.at[i].item > high->item ? &budget->samples.at[i] : high;
	}
	if (high->item == low->item)
		return false;
	*ret_per_item = ((double)high->count - (double)low->count) / (double)(high->item - low->item);
	*ret_fixed = (double)low->count - *ret_per_item * (double)low->item;
	return true;
}

/* Of several runs the one that is worst for the budget counts. */
static double worst(const struct budget *budget)
{
	double value = (double)budget->samples.at[0].count;

	for (size_t i = 1; i < budget->samples.used; i++) {
		double count = (double)budget->samples.at[i].count;

		if (budget->kind == BUDGET_MAX ? count > value : count < value)
			value = count;
	}
	return value;
}

static bool exercised(const struct budget *budget)
{
	for (size_t i = 0; i < budget->samples.used; i++)
		if (budget->samples.at[i].count > 0)
			return true;
	return false;
}

static void judge_one(const struct budgets *budgets, const struct budget *budget, struct budget_verdict *ret)
{
	double per_item = 0, fixed = 0;
	bool good;

	*ret = (struct budget_verdict){ .budget = budget, .state = BUDGET_CANNOT_JUDGE, .why = budget->why };
	if (budget->samples.used == 0) {
		ret->why = budget->why ? budget->why : "the command did not run";
		return;
	}
	if (budget->measure == BUDGET_COUNT) {
		ret->seen = worst(budget);
	} else if (slope(budget, &per_item, &fixed)) {
		ret->seen = budget->measure == BUDGET_PER_ITEM ? per_item : fixed;
	} else {
		ret->why = budget->why ? budget->why : "the runs have one size only";
		return;
	}
	ret->seen_known = true;
	if (ret->why)
		return;
	good = budget->kind == BUDGET_MAX ? ret->seen <= budget->limit + CLOSE : ret->seen >= budget->limit - CLOSE;
	if (good && budget->kind == BUDGET_MAX && !exercised(budget)) {
		ret->state = budgets->strict ? BUDGET_CANNOT_JUDGE : BUDGET_NOT_EXERCISED;
		ret->why = budgets->strict ? "nothing was counted (--strict)" : NULL;
	} else if (good) {
		ret->state = BUDGET_OK;
	} else if (budget->kind == BUDGET_CANARY) {
		ret->why = "too few: the work that is to be checked was not done";
	} else {
		ret->state = BUDGET_BROKEN;
		ret->top = budget->top;
		ret->top_count = budget->kind == BUDGET_MAX ? budget->top_count : 0;
	}
}

int budgets_judge(const struct budgets *budgets, struct check *ret)
{
	size_t count = budgets->items.used;

	ret->budgets = calloc(count ? count : 1, sizeof *ret->budgets);
	if (!ret->budgets)
		return -ENOMEM;
	for (int canaries = 0; canaries <= 1; canaries++)
		for (size_t i = 0; i < count; i++) {
			const struct budget *budget = &budgets->items.at[i];

			if ((budget->kind == BUDGET_CANARY) != canaries)
				continue;
			judge_one(budgets, budget, &ret->budgets[ret->budget_count]);
			ret->canary_count += canaries;
			ret->broken_count += ret->budgets[ret->budget_count].state == BUDGET_BROKEN;
			ret->not_exercised_count += ret->budgets[ret->budget_count].state == BUDGET_NOT_EXERCISED;
			ret->budget_count++;
		}
	return 0;
}

/* Reasons why not come first. */
static int add_reason(struct check *check, bool unjudged, char *reason_owned)
{
	size_t at = unjudged ? check->unjudged_count : check->reasons.used;

	if (!reason_owned)
		return -ENOMEM;
	if (check->reasons.used >= CHECK_REASONS_MAX) {
		check->reasons_left_out++;
		free(reason_owned);
		return 0;
	}
	if (!vec_push(&check->reasons, reason_owned)) {
		free(reason_owned);
		return -ENOMEM;
	}
	for (size_t i = check->reasons.used - 1; i > at; i--)
		check->reasons.at[i] = check->reasons.at[i - 1];
	check->reasons.at[at] = reason_owned;
	check->unjudged_count += unjudged;
	return 0;
}

int check_add_reason(struct check *check, enum check_state state, const char *format, ...)
{
	char *reason = NULL;
	va_list args;

	if (state == CHECK_PASSED)
		return 0;
	va_start(args, format);
	if (vasprintf(&reason, format, args) < 0)
		reason = NULL;
	va_end(args);
	if (reason)
		text_tame(reason);
	/* Even what could not be kept in words makes the state. */
	check->failed_beside = check->failed_beside || state == CHECK_FAILED;
	check->unjudged = check->unjudged || state == CHECK_CANNOT_JUDGE;
	return add_reason(check, state == CHECK_CANNOT_JUDGE, reason);
}

/* A reason that all budgets have is told once. */
static void add_budget_reason(struct check *check, const struct budget_verdict *verdict)
{
	char seen[BUDGET_NUMBER_MAX], limit[BUDGET_NUMBER_MAX + 16];
	const struct budget *budget = verdict->budget;
	const char *canary = budget->kind == BUDGET_CANARY ? "canary " : "";

	if (verdict->state == BUDGET_BROKEN)
		(void)check_add_reason(check, CHECK_FAILED, "%s: %s, %s", budget->what,
				       budget_number(verdict->seen, seen), budget_limit(budget, limit));
	else if (verdict->state == BUDGET_CANNOT_JUDGE && verdict->seen_known && !budget->why)
		(void)check_add_reason(check, CHECK_CANNOT_JUDGE, "%s%s: %s, %s: %s", canary, budget->what,
				       budget_number(verdict->seen, seen), budget_limit(budget, limit), verdict->why);
	else if (verdict->state == BUDGET_CANNOT_JUDGE)
		(void)check_add_reason(check, CHECK_CANNOT_JUDGE, "%s%s: %s", canary, budget->what, verdict->why);
}

void check_conclude(struct check *check)
{
	/* What stands in the way of every budget was said before, by the caller. */
	bool said = check->unjudged_count > 0;

	check->beside_count = check->reasons.used - check->unjudged_count;
	check->run_count = check->unjudged_count;
	for (size_t i = 0; i < check->budget_count; i++) {
		const struct budget_verdict *verdict = &check->budgets[i];

		check->unjudged = check->unjudged || verdict->state == BUDGET_CANNOT_JUDGE;
		if (verdict->state == BUDGET_BROKEN || !said || verdict->budget->samples.used > 0)
			add_budget_reason(check, verdict);
	}
	check->state = check->unjudged				     ? CHECK_CANNOT_JUDGE
		       : check->broken_count || check->failed_beside ? CHECK_FAILED
								     : CHECK_PASSED;
}

void check_done(struct check *check)
{
	if (!check)
		return;
	for (size_t i = 0; i < check->reasons.used; i++)
		free(check->reasons.at[i]);
	vec_done(&check->reasons);
	free(check->budgets);
	*check = CHECK_INIT;
}
