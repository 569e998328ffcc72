/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: case-check CASE FORMAT: a made-up check in a format, on stdout.  The
 * texts of the cases are what others could put into one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/reporter.h"

#define HOSTILE \
	"a<b>&\"'c]]>--\x01\x1b[31m\x7f\xff\xef\xbf\xbe\xc2\x85\r\n::error title=no::no\n##[error]no\n|`%0A%25, x: " \
	"y=z\\"

#define BUDGETS_OF_A_CASE 25

struct made {
	struct check check;
	struct budget budgets[BUDGETS_OF_A_CASE];
	struct budget_verdict verdicts[BUDGETS_OF_A_CASE];
	struct analysis_result result;
};

static char *text(const char *from)
{
	char *copy = strdup(from);

	if (!copy)
		abort();
	return copy;
}

static void add(struct made *made, enum budget_kind kind, const char *what, enum budget_state state, double seen)
{
	size_t n = made->check.budget_count++;
	struct budget *budget = &made->budgets[n];

	*budget = (struct budget){ .kind = kind, .what = text(what), .limit = 3 };
	made->verdicts[n] =
		(struct budget_verdict){ .budget = budget, .state = state, .seen_known = true, .seen = seen };
	made->check.broken_count += state == BUDGET_BROKEN;
	made->check.canary_count += kind == BUDGET_CANARY;
	made->check.not_exercised_count += state == BUDGET_NOT_EXERCISED;
}

/* Every text that is not ours is hostile. */
static void make_hostile(struct made *made)
{
	static char name[] = "getxattr ENODATA", foreign[] = HOSTILE;
	static struct budget_contributor top[] = { { 12, name, foreign, foreign, foreign },
						   { 1, foreign, NULL, NULL, NULL } };
	static char *argv[] = { foreign, (char *)(uintptr_t) "SECRET", NULL };

	add(made, BUDGET_MAX, "@xattr in region " HOSTILE, BUDGET_BROKEN, 13);
	made->verdicts[0].top = top;
	made->verdicts[0].top_count = 2;
	add(made, BUDGET_MIN, HOSTILE, BUDGET_CANNOT_JUDGE, 0);
	made->verdicts[1].seen_known = false;
	made->verdicts[1].why = foreign;
	(void)check_add_reason(&made->check, CHECK_CANNOT_JUDGE, "%s", HOSTILE);
	made->check.more = "syscull run --by region";
	made->result.facts.argv = argv;
	made->check.exit_status = 125;
}

static void make_many(struct made *made)
{
	char what[32];

	for (int i = 0; i < BUDGETS_OF_A_CASE; i++) {
		(void)snprintf(what, sizeof what, "call_%d", 500 + i);
		add(made, BUDGET_MAX, what, i < 20 ? BUDGET_BROKEN : BUDGET_NOT_EXERCISED, i < 20 ? 4 : 0);
	}
	made->check.exit_status = 121;
}

/* A slope, and what cannot be judged where that skips the test. */
static void make_skip(struct made *made)
{
	add(made, BUDGET_MAX, "@stat per item", BUDGET_OK, 0.125);
	add(made, BUDGET_CANARY, "@open", BUDGET_CANNOT_JUDGE, 2);
	made->verdicts[1].why = "too few";
	made->check.exit_status = 77;
}

static void make_failed_command(struct made *made)
{
	add(made, BUDGET_MAX, "@xattr", BUDGET_OK, 2);
	made->check.command_failed = true;
	made->check.command_status = made->check.exit_status = 3;
}

static const struct {
	const char *name;
	void (*make)(struct made *made);
} cases[] = {
	{ "hostile", make_hostile },
	{ "many", make_many },
	{ "skip", make_skip },
	{ "command", make_failed_command },
};

int main(int argc, char **argv)
{
	const struct reporter *reporter = argc == 3 ? reporter_by_name(argv[2]) : NULL;
	struct report_options options = { .name = "re\"port<\n" };
	struct made made = { 0 };
	int r = -1;

	for (size_t i = 0; reporter && i < sizeof cases / sizeof cases[0]; i++) {
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		cases[i].make(&made);
		made.check.budgets = calloc(BUDGETS_OF_A_CASE, sizeof *made.check.budgets);
		if (!made.check.budgets)
			return 1;
		memcpy(made.check.budgets, made.verdicts, sizeof made.verdicts);
		made.check.command_known = true;
		check_conclude(&made.check);
		made.result.check = &made.check;
		made.result.complete = made.result.closed = true;
		r = reporter->write(stdout, &made.result, &options);
	}
	for (size_t i = 0; i < made.check.budget_count; i++)
		free(made.budgets[i].what);
	check_done(&made.check);
	return r < 0 || fflush(stdout) != 0;
}
