/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Budgets: how often calls may be made.  What was said is parsed here
 * (budget-parse.c), the calls of each run are counted (budget.c: the analysis
 * feeds them), and in the end every budget gets one of four words and the
 * whole check one of three (budget-judge.c).  Knows no engine and prints
 * nothing; reporters read struct check.
 *
 *   struct budgets budgets = BUDGETS_INIT;
 *   budgets_add(…) for each; budgets_ready(…);
 *   for each run: an analysis with .budgets, then budgets_take(…);
 *   budgets_judge(…, &check); check_add_reason(…) for what else is wrong;
 *   check_conclude(…); analysis_set_check(…); the reporters; check_done, budgets_done.
 */
#ifndef SYSCULL_VERDICT_BUDGET_H
#define SYSCULL_VERDICT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/model.h"
#include "rules/rule.h"
#include "sys/expr.h"

#define BUDGETS_MAX 4096 /* of one check */
#define BUDGET_RUNS_MAX 64 /* sizes of --per-item, runs of --suggest */
#define BUDGET_GROUPS_MAX 4096 /* contributors that are told apart, of one budget */
#define BUDGET_TOP 3

struct analysis_result;
struct baseline_report;

enum budget_kind { BUDGET_MAX, BUDGET_MIN, BUDGET_CANARY };
enum budget_measure { BUDGET_COUNT, BUDGET_PER_ITEM, BUDGET_FIXED };
/* Of two that say the same of the same the command line's counts. */
enum budget_origin { BUDGET_FROM_FILE, BUDGET_FROM_COMMAND_LINE };

/* A set of calls, or of those of them that failed in one way. */
struct budget_term {
	struct sys_expr calls;
	bool family; /* said as @family or %class */
	int err; /* 0: whatever the result */
};

struct budget_rule_term {
	const struct rule *rule;
	bool worth; /* findings worth fixing only */
};

/* Equal calls of a broken budget, by the directory of their path. */
struct budget_group {
	uint16_t arch;
	int32_t nr;
	int err;
	const struct model_exe *exe; /* of the run that is going on */
	char *dir; /* as the program wrote it; "" none */
	char *first; /* the first path; NULL: the calls have none */
	uint64_t first_hash, first_count;
	uint32_t site; /* model_site of the first call, 0 not known */
	uint64_t site_count; /* calls from there */
	uint64_t count;
};

struct budget_sample {
	uint64_t item; /* the n of --per-item */
	bool sized; /* there is one */
	uint64_t count;
	bool known; /* false: what was seen says too little (why is told) */
};

struct budget {
	/* What was said. */
	enum budget_kind kind;
	enum budget_measure measure;
	enum budget_origin origin;
	char *what; /* without the limit: "@xattr in region list" */
	char *calls; /* of that the calls or rules: "@xattr" */
	double limit; /* the largest (max) or smallest number that is good */
	char *program; /* NULL all: base name, or path when it has a '/' */
	char *site; /* where they come from, as of site-match.h; NULL anywhere */
	char *region; /* NULL all */
	bool total; /* all calls */
	VEC(struct budget_term) terms; /* none: a budget on rules */
	VEC(struct budget_rule_term) rules;

	/* Of the run that is going on. */
	uint64_t count;
	bool program_seen;
	uint64_t image; /* of the last call, */
	bool image_is; /* and whether it is of the program */
	VEC(struct budget_group) groups; /* max only */
	struct map group_index;
	uint64_t ungrouped;
	struct map sites; /* of a budget with a site: calls (uint64_t) by where they come from */
	uint64_t site_unknown; /* … and those that may come from there, or not */

	/* Of the runs that are over. */
	VEC(struct budget_sample) samples;
	char *why; /* the first reason why it cannot be judged, NULL none */
	struct budget_contributor *top; /* of the last run that had any */
	size_t top_count;
};

/* One of the largest contributors, ready to be printed. */
struct budget_contributor {
	uint64_t count;
	char *name; /* "getxattr ENODATA"; of a rule its id */
	char *place; /* "d1k/f12 and others in d1k"; NULL none; printable */
	char *program; /* printable base name; NULL when the budget names it */
	char *site; /* call site, NULL not known */
};

struct budgets {
	VEC(struct budget) items;
	bool per_item; /* runs have items: budgets are per item or fixed */
	bool strict; /* what counted nothing cannot be judged */

	/* Of the run that is going on. */
	struct model *model; /* call sites are told with it; NULL: they are not */
	VEC(uint32_t) active; /* those of no region or the present one */
	struct map regions; /* hash of the name → nothing: those that began */
	uint64_t unnamed; /* calls that the kernel knows and we do not */
	bool uncounted; /* for want of memory */
	bool need_regions; /* some are of a region */
};

#define BUDGETS_INIT ((struct budgets){ 0 })

/*
 * "@xattr=3", "getxattr+lgetxattr<=3", "close:EBADF=0", "fd-sweep:worth=0",
 * "@stat in program ls=100", "@stat at site ls:main=2", "@stat per item=1", "total<5000".  -EINVAL with
 * err: what is wrong, without the option's name.
 */
int budgets_add(struct budgets *budgets, enum budget_kind kind, const char *text, enum budget_origin origin,
		struct error *err);
/* After the last one: contradictions, and budgets that fit no run.  -EINVAL. */
int budgets_ready(struct budgets *budgets, struct error *err);
void budgets_done(struct budgets *budgets);

/* What has to be watched: false when it is everything.  The bit of an enum
 * sys_call_id in ret_calls; *ret_regions: marks too. */
bool budgets_scope(const struct budgets *budgets, uint64_t ret_calls[static SYS_EXPR_WORDS], bool *ret_regions);
bool budgets_need_rules(const struct budgets *budgets);
/* Is it asked where calls come from? */
bool budgets_need_sites(const struct budgets *budgets);

/* Fed by the analysis, in this order: begin, then marks and calls. */
int budgets_begin(struct budgets *budgets);
int budgets_call(struct budgets *budgets, const struct model_view *view, const struct event_call *call,
		 enum sys_call_id id, int err);
/* Before sites are resolved: whose will be told. */
struct analysis_stacks;
void budgets_want_sites(const struct budgets *budgets, const struct analysis_stacks *stacks);
/* The name of the region that begins. */
int budgets_region(struct budgets *budgets, const char *name);
/* After analysis_finish: keeps what the run says of every budget. */
int budgets_take(struct budgets *budgets, const struct analysis_result *result, uint64_t item);

enum budget_state { BUDGET_OK, BUDGET_BROKEN, BUDGET_NOT_EXERCISED, BUDGET_CANNOT_JUDGE };
/* "ok", "broken", "not-exercised", "cannot-judge": the words of JSON. */
const char *budget_state_name(enum budget_state state);
const char *budget_kind_name(enum budget_kind kind); /* "max", "min", "canary" */

struct budget_verdict {
	const struct budget *budget;
	enum budget_state state;
	bool seen_known;
	double seen; /* a whole number unless the budget is per item or fixed */
	const char *why; /* when it cannot be judged */
	const struct budget_contributor *top; /* largest first, at most BUDGET_TOP; budgets that are broken */
	size_t top_count;
};

enum check_state { CHECK_PASSED, CHECK_FAILED, CHECK_CANNOT_JUDGE };
/* "passed", "failed", "cannot-judge" */
const char *check_state_name(enum check_state state);

/* The whole verdict of a check; what reporters read. */
#define CHECK_REASONS_MAX 100
struct check {
	struct budget_verdict *budgets; /* in the order they were given; then the canaries */
	size_t budget_count;
	size_t broken_count, canary_count, not_exercised_count;
	bool failed_beside; /* something else than a budget: a baseline, say */
	bool unjudged; /* something cannot be judged */
	VEC(char *) reasons; /* why it failed or cannot be judged, printable; those that cannot be judged first */
	size_t unjudged_count; /* reasons why not */
	size_t run_count; /* of those the first ones: of the whole run, and of no budget */
	size_t beside_count; /* behind them: of failed_beside; then those of budgets */
	uint64_t reasons_left_out;
	enum check_state state;
	bool command_known;
	bool command_failed; /* it ended as --expect-status does not have it */
	int command_status; /* as a shell has it: 128 + signal */
	int exit_status; /* ours */
	const char *more; /* the command that shows more, up to its "--"; printable; NULL none */
	const struct baseline_report *baseline; /* NULL: none was given */
};

#define CHECK_INIT ((struct check){ 0 })

/* One verdict for every budget; -ENOMEM. */
int budgets_judge(const struct budgets *budgets, struct check *ret);
/* A reason of another kind: `state` is failed or cannot judge. */
int check_add_reason(struct check *check, enum check_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The state, from budgets and reasons. */
void check_conclude(struct check *check);
void check_done(struct check *check);

/* "at most 3", "at least 100"; a limit or a number as people read it. */
#define BUDGET_NUMBER_MAX 48
const char *budget_number(double value, char out[static BUDGET_NUMBER_MAX]);
const char *budget_limit(const struct budget *budget, char out[static BUDGET_NUMBER_MAX + 16]);

#endif
