/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of budgets on any bytes: a line each, its first letter the option
 * (m --min, c --canary, else --max).  What is taken can be said again from its
 * own parts and is then the same; what is not has one line that says why.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/budget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void must_tell(const struct error *err)
{
	must(err->code > 0 && err->text[0] && !strchr(err->text, '\n'));
}

/* `what` and the limit are all that there is to a budget. */
static void again(const struct budget *budget)
{
	struct budgets other = BUDGETS_INIT;
	struct error err = { 0 };
	char *text;

	must(asprintf(&text, "%s=%.17g", budget->what, budget->limit) >= 0);
	must(budgets_add(&other, budget->kind, text, BUDGET_FROM_COMMAND_LINE, &err) == 0);
	must(other.items.used == 1 && strcmp(other.items.at[0].what, budget->what) == 0);
	must(other.items.at[0].measure == budget->measure && other.items.at[0].limit == budget->limit);
	free(text);
	budgets_done(&other);
}

static void look(const struct budget *budget)
{
	char limit[BUDGET_NUMBER_MAX + 16];

	must(budget->what && *budget->what && budget->calls && *budget->calls);
	must(isfinite(budget->limit) && budget->limit >= 0);
	must(budget->terms.used + budget->rules.used > 0);
	must(!budget->region || *budget->region);
	must(!budget->program || *budget->program);
	must(strlen(budget_limit(budget, limit)) < sizeof limit);
	again(budget);
}

static void add(struct budgets *budgets, const char *line)
{
	enum budget_kind kind = *line == 'm' ? BUDGET_MIN : *line == 'c' ? BUDGET_CANARY : BUDGET_MAX;
	size_t before = budgets->items.used;
	struct error err = { 0 };

	if (budgets_add(budgets, kind, line + 1, BUDGET_FROM_FILE, &err) == 0) {
		must(budgets->items.used == before + 1);
		look(&budgets->items.at[before]);
	} else {
		must(budgets->items.used == before);
		must_tell(&err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct budgets budgets = BUDGETS_INIT;
	uint64_t calls[SYS_EXPR_WORDS];
	struct error err = { 0 };
	struct check check = CHECK_INIT;
	char *text = malloc(size + 1), *rest = text, *line;
	bool regions;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	while ((line = strsep(&rest, "\n")))
		if (*line)
			add(&budgets, line);
	if (budgets_ready(&budgets, &err) == 0) {
		(void)budgets_scope(&budgets, calls, &regions);
		(void)budgets_need_rules(&budgets);
		must(budgets_judge(&budgets, &check) == 0);
		check_conclude(&check);
		/* Nothing ran. */
		must(check.budget_count == budgets.items.used);
		must((check.state == CHECK_CANNOT_JUDGE) == (check.budget_count > 0));
	} else {
		must_tell(&err);
	}
	check_done(&check);
	budgets_done(&budgets);
	free(text);
	return 0;
}
