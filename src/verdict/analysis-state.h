/* SPDX-License-Identifier: BSD-2-Clause */
/* What analysis.c and conclude.c share; nobody else includes it. */
#ifndef SYSCULL_VERDICT_ANALYSIS_STATE_H
#define SYSCULL_VERDICT_ANALYSIS_STATE_H

#include "base/vec.h"
#include "rules/claims.h"
#include "verdict/analysis.h"
#include "verdict/region.h"
#include "verdict/site-table.h"
#include "verdict/time.h"
#include "verdict/untraced.h"

/* The calls that a filter lets through. */
struct analysis_shown {
	struct tally tally;
	struct time_book time;
	struct map seen; /* analysis_seen_key → nothing; with paths only */
	struct verdict_call *all_calls; /* of the whole tree */
};

struct analysis_subscriber {
	void (*call)(struct rule_run *run, const struct model_view *view);
	struct rule_run *run;
};

struct analysis {
	struct analysis_result result; /* owns model, prices and by_call */
	struct package_book *packages;
	struct budgets *budgets; /* NULL: none */
	const struct suppressions *suppressions;
	const struct analysis_stacks *stacks; /* NULL: none */
	bool count_sites;
	struct site_table sites;
	struct tally tally;
	struct time_book time;
	struct untraced untraced;
	struct region_book regions;
	struct analysis_shown *shown; /* NULL without a filter */
	struct process_book processes;
	struct program_book programs;
	uint64_t items;
	VEC(const char *) env; /* NULL-ended */
	VEC(struct rule_run) runs;
	struct rule_claims claims; /* of all of them */
	VEC(struct analysis_subscriber) subscribers; /* by call */
	uint32_t first[CALL_COUNT + 1]; /* where a call's subscribers begin */
	struct finding_list findings;
	bool finished;
};

static inline uint64_t analysis_seen_key(uint64_t image, enum sys_call_id id, int err)
{
	return image << 24 | (uint64_t)id << 12 | ((uint32_t)err & 0xfff);
}

/* narrow.c */
int analysis_set_filter(struct analysis *analysis, const struct filter *filter);
void analysis_shown_free(struct analysis_shown *shown);
/* For every call: tables and processes get what the filter lets through, and
 * *ret_shown is its row there, or NULL.  view->call is NULL when the model could
 * not take the call. */
int analysis_show(struct analysis *analysis, const struct model_view *view, const struct event_call *call, int err,
		  unsigned components, const struct tally_row *row, const struct tally_row **ret_shown);
/* Findings and samples of other calls go. */
void analysis_narrow(struct analysis *analysis);
void analysis_tell_environment(struct analysis_result *result);

void analysis_image_end(struct analysis *analysis, struct model_process *process);

#endif
