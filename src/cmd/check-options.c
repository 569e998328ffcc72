/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `syscull check`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/check.h"
#include "report/redact.h"
#include "verdict/judge.h"

enum {
	OPT_BASELINE = 256,
	OPT_CANARY,
	OPT_CANNOT_JUDGE_EXIT,
	OPT_COLOR,
	OPT_ERROR_EXITCODE,
	OPT_EXPECT_STATUS,
	OPT_FLOOR,
	OPT_FORMAT,
	OPT_MAX,
	OPT_MIN,
	OPT_PER_ITEM,
	OPT_PREPARE,
	OPT_PRUNE_BASELINE,
	OPT_REDACT,
	OPT_STRICT,
	OPT_SUGGEST,
	OPT_UPDATE_BASELINE,
	OPT_VERDICT_FILE,
};

const struct opt check_options[] = {
	{ 'n', "runs", "RUNS", "of --suggest: how often to run it (5)" },
	{ 'o', "output", "FILE", "write what there is to say to FILE" },
	{ 'v', "verbose", NULL, "also say what was kept and watched" },
	{ OPT_BASELINE, "baseline", "FILE", "fail on what is new or has grown since" },
	{ OPT_CANARY, "canary", "CALLS>=N", "fewer: the work was not done (repeatable)" },
	{ OPT_CANNOT_JUDGE_EXIT, "cannot-judge-exit", "N", "status when it cannot be judged (125)" },
	{ OPT_COLOR, "color", "WHEN", "auto, always or never" },
	{ WATCH_ENGINE, "engine", "NAME", "auto or ptrace" },
	{ OPT_ERROR_EXITCODE, "error-exitcode", "N", "status when a budget is broken (121)" },
	{ OPT_EXPECT_STATUS, "expect-status", "LIST", "the command's statuses that are good (0)" },
	{ OPT_FLOOR, "floor", "SHARE,TIME", "of what is worth fixing (1%,100us)" },
	{ OPT_FORMAT, "format", "FORMAT", "text, json, junit, github, markdown or prom[=FILE]" },
	{ OPT_MAX, "max", "CALLS=N", "at most N of calls or rules (repeatable)" },
	{ OPT_MIN, "min", "CALLS=N", "at least N (repeatable)" },
	{ OPT_PER_ITEM, "per-item", "NAME=N:N", "a run for each N in place of {NAME}" },
	WATCH_OPT_PIN,
	{ OPT_PREPARE, "prepare", "COMMAND", "run by a shell before each such run" },
	PROJECT_OPTIONS,
	{ OPT_PRUNE_BASELINE, "prune-baseline", NULL, "take out of it what is gone or has shrunk" },
	{ OPT_REDACT, "redact", "LIST", "hash argv, paths, users" },
	WATCH_OPT_STACKS,
	{ OPT_STRICT, "strict", NULL, "a --max that counted nothing cannot be judged" },
	{ OPT_SUGGEST, "suggest", NULL, "propose budgets from several runs" },
	{ WATCH_TASK_LIMIT, "task-limit", "N", "follow at most N tasks at a time (4096)" },
	{ OPT_UPDATE_BASELINE, "update-baseline", NULL, "take into it what is new or has grown" },
	{ OPT_VERDICT_FILE, "verdict-file", "FILE", "write passed, failed or cannot-judge there" },
	{ 'h', "help", NULL, "this text" },
	{ 'V', "version", NULL, "print the version" },
	{ 0, NULL, NULL, NULL },
};

static int add_budget(struct check_settings *s, enum budget_kind kind, const char *value, struct error *err)
{
	struct error why = { 0 };
	int r = budgets_add(&s->budgets, kind, value, BUDGET_FROM_COMMAND_LINE, &why);

	return r < 0 ? error_set(err, why.code, "--%s: %s", budget_kind_name(kind), why.text) : 0;
}

/* "0,1" */
static int set_expected(struct check_settings *s, const char *list, struct error *err)
{
	const char *at = list;

	memset(s->expected, 0, sizeof s->expected);
	s->expect = true;
	for (;;) {
		char *end;
		long status = strtol(at, &end, 10);

		if (end == at || *at < '0' || *at > '9' || (*end != '\0' && *end != ',') || status > 255)
			return error_set(err, EINVAL,
					 "--expect-status wants numbers from 0 to 255, as in '0,1', not '%s'", list);
		s->expected[status] = true;
		if (*end == '\0')
			return 0;
		at = end + 1;
	}
}

/* "n=100:1000" */
static int set_sizes(struct check_sizes *sizes, const char *value, struct error *err)
{
	size_t bytes = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
	const char *at = value + bytes + 1;

	if (bytes == 0 || bytes >= sizeof sizes->name || value[bytes] != '=')
		return error_set(err, EINVAL, "--per-item wants a name and sizes, as in 'n=100:1000', not '%s'", value);
	memcpy(sizes->name, value, bytes);
	sizes->name[bytes] = '\0';
	sizes->count = 0;
	for (;;) {
		char *end;
		unsigned long size = strtoul(at, &end, 10);

		if (end == at || *at < '0' || *at > '9' || (*end != '\0' && *end != ':') || size > 1000000000)
			return error_set(err, EINVAL, "--per-item: '%s' has a size that is no number up to 1000000000",
					 value);
		if (sizes->count == BUDGET_RUNS_MAX)
			return error_set(err, E2BIG, "--per-item: at most %d sizes", BUDGET_RUNS_MAX);
		for (size_t i = 0; i < sizes->count; i++)
			if (sizes->at[i] == size)
				return error_set(err, EINVAL, "--per-item: the size %lu is given twice", size);
		sizes->at[sizes->count++] = size;
		if (*end == '\0')
			break;
		at = end + 1;
	}
	if (sizes->count < 2)
		return error_set(err, EINVAL, "--per-item needs two sizes at least, as in '%s:1000'", value);
	return 0;
}

static int set_budget_option(struct check_settings *s, int letter, const char *value, struct error *err)
{
	struct error why = { 0 };
	long number = 0;
	int r;

	switch (letter) {
	case OPT_MAX:
		return add_budget(s, BUDGET_MAX, value, err);
	case OPT_MIN:
		return add_budget(s, BUDGET_MIN, value, err);
	case OPT_CANARY:
		return add_budget(s, BUDGET_CANARY, value, err);
	case OPT_STRICT:
		s->budgets.strict = true;
		return 0;
	case OPT_PER_ITEM:
		s->budgets.per_item = true;
		return set_sizes(&s->sizes, value, err);
	case OPT_PREPARE:
		s->prepare = value;
		return 0;
	case OPT_SUGGEST:
		s->suggest = true;
		return 0;
	case 'n':
		return command_number("-n", value, 2, BUDGET_RUNS_MAX, &s->runs, err);
	case OPT_EXPECT_STATUS:
		return set_expected(s, value, err);
	case OPT_ERROR_EXITCODE:
		r = command_number("--error-exitcode", value, 0, 255, &number, err);
		s->broken_exit = (int)number;
		return r;
	case OPT_CANNOT_JUDGE_EXIT:
		r = command_number("--cannot-judge-exit", value, 0, 255, &number, err);
		s->cannot_judge_exit = (int)number;
		return r;
	case OPT_VERDICT_FILE:
		s->verdict_file = value;
		return 0;
	case OPT_FLOOR:
		if (judge_floor_parse(value, &s->floor, &why) < 0)
			return error_set(err, EINVAL, "--floor: %s", why.text);
		return 0;
	case OPT_BASELINE:
		s->baseline.path = value;
		return 0;
	case OPT_UPDATE_BASELINE:
		s->baseline.update = true;
		return 0;
	case OPT_PRUNE_BASELINE:
		s->baseline.prune = true;
		return 0;
	default:
		r = project_option(&s->project, letter, value, err);
		return r > 0 ? error_set(err, EINVAL, "unknown option") : r;
	}
}

/* [budget] of the configuration. */
int check_set_budget(void *data, const char *key, const char *value, struct error *err)
{
	static const enum budget_kind kinds[] = { BUDGET_MAX, BUDGET_MIN, BUDGET_CANARY };
	struct check_settings *s = data;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(key, budget_kind_name(kinds[i])) == 0)
			return budgets_add(&s->budgets, kinds[i], value, BUDGET_FROM_FILE, err);
	/* strict */
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return error_set(err, EINVAL, "%s wants yes or no, not '%s'", key, value);
	s->budgets.strict = s->budgets.strict || strcmp(value, "yes") == 0;
	return 0;
}

int check_set_option(void *data, int letter, const char *value, struct error *err)
{
	struct check_settings *s = data;
	int when = 0, r;

	switch (letter) {
	case 'o':
		s->output = value;
		return 0;
	case 'v':
		s->verbose = true;
		return 0;
	case 'h':
		s->help = true;
		return 0;
	case 'V':
		s->version = true;
		return 0;
	case OPT_COLOR:
		r = command_when("--color", value, &when, err);
		s->color = (enum tty_color)when;
		return r;
	case OPT_FORMAT:
		return formats_add(&s->formats, value, err);
	case OPT_REDACT:
		return redact_parse(value, &s->formats.redact, err);
	default:
		r = watch_option(&s->watch, letter, value, err);
		return r > 0 ? set_budget_option(s, letter, value, err) : r;
	}
}

/* Where reports go, of a line that has a mistake. */
int check_set_place(void *data, int letter, const char *value, struct error *err)
{
	struct check_settings *s = data;

	switch (letter) {
	case 'o':
	case OPT_FORMAT:
	case OPT_VERDICT_FILE:
		return check_set_option(s, letter, value, err);
	case OPT_REDACT:
		/* Rather too little than what should have been hidden. */
		if (redact_parse(value, &s->formats.redact, err) < 0)
			s->formats.redact = REDACT_ARGV | REDACT_PATHS | REDACT_USERS;
		return 0;
	default:
		return 0;
	}
}

void check_settings_done(struct check_settings *s)
{
	budgets_done(&s->budgets);
	formats_discard(&s->formats);
	check_baseline_done(&s->baseline);
	project_done(&s->project);
}
