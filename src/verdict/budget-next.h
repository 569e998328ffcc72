/* SPDX-License-Identifier: BSD-2-Clause */
/* Which budget a report proposes; see budget-next.c. */
#ifndef SYSCULL_VERDICT_BUDGET_NEXT_H
#define SYSCULL_VERDICT_BUDGET_NEXT_H

#include "verdict/analysis.h"

/* From findings with their remedies and all calls; empty when nothing short
 * and true can be said. */
void budget_next(const struct analysis_result *result, struct verdict_budget *ret);

#endif
