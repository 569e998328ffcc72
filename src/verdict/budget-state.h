/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of budgets share; nobody else includes it. */
#ifndef SYSCULL_VERDICT_BUDGET_STATE_H
#define SYSCULL_VERDICT_BUDGET_STATE_H

#include "verdict/budget.h"

/* "--max" */
const char *budget_option(enum budget_kind kind);
void budget_done(struct budget *budget);
void budget_top_done(struct budget *budget);
/* Forgets the groups of the run that is over. */
void budget_groups_done(struct budget *budget);

/* budget-groups.c */
/* model: NULL, call sites are not told. */
int budget_group_add(struct budget *budget, struct model *model, const struct model_view *view,
		     const struct event_call *call, int err);
/* The largest groups as contributors. */
int budget_groups_top(struct budget *budget, const struct analysis_result *result);
/* The same from the findings of rules. */
int budget_findings_top(struct budget *budget, const struct analysis_result *result);
bool budget_counts_finding(const struct budget *budget, const struct analysis_result *result, size_t n);

/* budget-sites.c: model NULL, nothing is known of where calls come from. */
int budget_site_add(struct budget *budget, struct model *model, const struct model_view *view);
void budget_sites_want(const struct budget *budget, const struct analysis_stacks *stacks);
/* The count, the unknown ones and the contributors, when frames are known. */
int budget_sites_take(struct budget *budget, const struct analysis_result *result);
/* Would the unknown ones change the verdict? */
bool budget_site_doubtful(const struct budget *budget);

/* budget-uring.c: can io_uring do what this call does? */
bool budget_uring_can(enum sys_call_id id);

#endif
