/* SPDX-License-Identifier: BSD-2-Clause */
/* Which budget a report proposes; see budget-next.c. */
#ifndef SYSCULL_VERDICT_BUDGET_NEXT_H
#define SYSCULL_VERDICT_BUDGET_NEXT_H

#include "verdict/analysis.h"

/* For the finding of that place, from 0, be it worth fixing or not: from its remedies
 * and all calls; empty when nothing short and true can be said. */
void budget_of_finding(const struct analysis_result *result, size_t number, struct verdict_budget *ret);
/* For the first one, if it is worth fixing. */
void budget_next(const struct analysis_result *result, struct verdict_budget *ret);

#endif
