/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Budgets from what several runs of one command did: which calls are made
 * equally often, or nearly, and are worth a budget; which are not, and why.
 */
#ifndef SYSCULL_VERDICT_BUDGET_SUGGEST_H
#define SYSCULL_VERDICT_BUDGET_SUGGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "sys/sys.h"
#include "verdict/budget.h"

#define SUGGEST_RUNS 5 /* unless said otherwise */
#define SUGGEST_FEW 10 /* calls: fewer are no matter of budgets */
#define SUGGEST_SPREAD 0.1 /* of the largest number: more is no budget */

/* A family, or a call that is in none. */
struct suggest_row {
	char name[SYS_NAME_MAX];
	uint64_t counts[BUDGET_RUNS_MAX];
	uint64_t min, max; /* over all runs */
	uint64_t waste; /* of those the most that rules called waste in a run */
	const char *rule; /* the rule that found most of that, NULL none */
	uint64_t limit; /* proposed; 0: left out */
	const char *why; /* left out */
};

struct suggest {
	VEC(struct suggest_row) rows; /* in the end most calls first */
	struct map index; /* hash of the name → uint32_t row + 1 */
	unsigned runs;
	size_t canary; /* row + 1 that proves that the work was done; 0 none */
	uint64_t canary_limit;
};

#define SUGGEST_INIT ((struct suggest){ 0 })

/* What one run did.  -ENOMEM; -E2BIG: as many runs as there can be. */
int suggest_add(struct suggest *suggest, const struct analysis_result *result);
/* After the last run. */
void suggest_conclude(struct suggest *suggest);
void suggest_done(struct suggest *suggest);

#endif
