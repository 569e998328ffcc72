/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/check-parts.h"

#include "base/text.h"
#include "report/words.h"

#define STATUS_SKIP 77 /* of Automake and meson */

void check_title(struct buf *buf, const struct budget *budget)
{
	(void)buf_printf(buf, "%s ", budget_kind_name(budget->kind));
	word_harmless(buf, budget->what);
}

void check_said(struct buf *buf, const struct budget_verdict *verdict)
{
	char seen[BUDGET_NUMBER_MAX], limit[BUDGET_NUMBER_MAX + 16];

	word_harmless(buf, verdict->budget->what);
	if (verdict->seen_known)
		(void)buf_printf(buf, ": %s, %s", budget_number(verdict->seen, seen),
				 budget_limit(verdict->budget, limit));
	if (verdict->why) {
		(void)buf_puts(buf, ": ");
		word_harmless(buf, verdict->why);
	}
}

void check_contributor(struct buf *buf, const struct budget_verdict *verdict, size_t number)
{
	const struct budget_contributor *top = &verdict->top[number];
	char count[TEXT_NUMBER_MAX];

	(void)buf_printf(buf, "%s ", text_count(top->count, count));
	word_harmless(buf, top->name);
	if (top->program) {
		(void)buf_puts(buf, " by ");
		word_harmless(buf, top->program);
	}
	if (top->place) {
		(void)buf_puts(buf, ": ");
		word_harmless(buf, top->place);
	}
	if (top->site) {
		(void)buf_puts(buf, "; ");
		word_harmless(buf, top->site);
	}
}

bool check_unjudged_fails(const struct check *check)
{
	return check->exit_status != 0 && check->exit_status != STATUS_SKIP;
}

bool check_idle(const struct check *check, const struct budget_verdict *verdict)
{
	return verdict->state == BUDGET_NOT_EXERCISED && check->canary_count == 0;
}

const char *check_idle_why(const struct analysis_result *result, const struct budget_verdict *verdict)
{
	const struct budget *budget = verdict->budget;

	for (size_t i = 0; i < budget->rules.used; i++)
		for (size_t k = 0; k < result->suppressed_count; k++)
			if (result->suppressed[k].finding->rule == budget->rules.at[i].rule)
				return "what was found is suppressed";
	return budget->rules.used > 0 ? "nothing of it was found" : "no such call was seen";
}
