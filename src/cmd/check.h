/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of `syscull check` share: options, one run, the end. */
#ifndef SYSCULL_CMD_CHECK_H
#define SYSCULL_CMD_CHECK_H

#include "cmd/call-sites.h"
#include "cmd/cmd.h"
#include "cmd/formats.h"
#include "cmd/output.h"
#include "cmd/project.h"
#include "cmd/watch-options.h"
#include "verdict/analysis.h"
#include "verdict/baseline.h"
#include "verdict/budget.h"

#define EXIT_BROKEN 121 /* a budget is broken */

/* --per-item n=100:1000 */
struct check_sizes {
	char name[32]; /* "n": {n} in the command becomes the size; "" without --per-item */
	uint64_t at[BUDGET_RUNS_MAX];
	size_t count;
};

/* --baseline, --update-baseline, --prune-baseline */
struct check_baseline {
	const char *path; /* NULL: none */
	bool update, prune;
	bool absent; /* not there, or of an earlier schema */
	struct buf text; /* as read */
	struct baseline known;
	struct baseline_report report;
};

struct check_settings {
	struct watch_options watch;
	const char *output, *verdict_file, *prepare;
	enum tty_color color;
	bool verbose, help, version, suggest;
	long runs; /* of --suggest; 0: not said */
	int broken_exit, cannot_judge_exit;
	bool expect; /* --expect-status was given */
	bool expected[256]; /* statuses that are no failure of the command */
	struct analysis_floor floor;
	struct check_sizes sizes;
	struct formats formats;
	struct budgets budgets;
	struct check_baseline baseline;
	struct project project;
};

#define CHECK_SETTINGS_INIT \
	((struct check_settings){ .watch = WATCH_OPTIONS_INIT, \
				  .broken_exit = EXIT_BROKEN, \
				  .cannot_judge_exit = EXIT_OURS, \
				  .expected = { true } })

extern const struct opt check_options[];
int check_set_option(void *data, int letter, const char *value, struct error *err);
int check_set_place(void *data, int letter, const char *value, struct error *err);
int check_set_budget(void *data, const char *key, const char *value, struct error *err);
void check_settings_done(struct check_settings *s);

/* The runs of one check; what is kept of them is that of the last one. */
struct check_run {
	struct watch watch;
	struct call_sites sites;
	struct analysis *analysis; /* finished; NULL: nothing came of it */
	char **argv; /* the command with the size put in */
	char *program;
	bool failed; /* the command ended as it should not have, in one of the runs: */
	int status, signal;
	bool ended; /* with a status: the last run's, or the one that failed */
	int exit; /* 0, or what to end with: it did not start, or a mistake of ours */
};

/*
 * All runs that the settings ask for, their budgets taken.  0; what stands in
 * the way of judging is in *check.  Negative errno with err: ret->exit says
 * how to end.
 */
int check_run_all(struct check_settings *s, char *const *argv, struct check_run *ret, struct check *check,
		  struct error *err);
/* One run of this command, without budgets. */
int check_run_once(struct check_settings *s, char *const *argv, struct budgets *budgets, struct check_run *run,
		   struct error *err);
/* With --per-item: does anything of a run depend on the size? */
bool check_has_size(const struct check_settings *s, char *const *argv);
/* The empty result of a command that did not run. */
int check_run_nothing(struct check_settings *s, char *const *argv, struct check_run *run);
void check_run_done(struct check_run *run);

/* check-baseline.c, in this order: before the run (negative with err: a wrong
 * command line), after it, and when it is known whether it can be judged. */
int check_baseline_begin(struct check_settings *s, struct check *check, struct error *err);
int check_baseline_judge(struct check_settings *s, const struct check_run *run, struct check *check);
int check_baseline_write(struct check_settings *s, const struct check_run *run, const struct check *check,
			 struct error *err);
void check_baseline_done(struct check_baseline *baseline);

/* --suggest: the exit status. */
int check_suggest(struct check_settings *s, char *const *argv);

#endif
