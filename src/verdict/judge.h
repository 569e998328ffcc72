/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings with their money: what they cost, what each remedy saves, which
 * are worth fixing, in which order they are told.
 */
#ifndef SYSCULL_VERDICT_JUDGE_H
#define SYSCULL_VERDICT_JUDGE_H

#include "base/error.h"
#include "verdict/analysis.h"

#define JUDGE_FLOOR_DEFAULT \
	((struct analysis_floor){ .share = 0.01, .least_ns = 100 * 1000, .enough_ns = 100 * 1000 * 1000, .set = true })

/* "1%,100us" or "1%,100us,100ms": share and least time, or so much in all.
 * -EINVAL with err: not that. */
int judge_floor_parse(const char *text, struct analysis_floor *ret, struct error *err);
/* "100us": a number and its unit. */
int judge_time_parse(const char *text, uint64_t *ret_ns, struct error *err);

/*
 * Reads result->prices, task_ns, calls, floor and complete (nothing is worth
 * fixing when the books are not); fills findings, finding_count,
 * waste_ns, waste_calls, worth_count and below_count.  The list must outlive
 * the result.  -ENOMEM: nothing was filled.
 */
int judge_findings(struct analysis_result *result, const struct finding_list *list);
/* waste_ns, waste_calls, worth_count and below_count of the findings that are left. */
void judge_sum(struct analysis_result *result);
void judge_done(struct analysis_result *result);

#endif
