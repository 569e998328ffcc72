/* SPDX-License-Identifier: BSD-2-Clause */
/* What analysis.c and conclude.c share; nobody else includes it. */
#ifndef SYSCULL_VERDICT_ANALYSIS_STATE_H
#define SYSCULL_VERDICT_ANALYSIS_STATE_H

#include "base/vec.h"
#include "verdict/analysis.h"
#include "verdict/region.h"
#include "verdict/time.h"

struct analysis {
	struct analysis_result result; /* owns model, prices and by_call */
	struct package_book *packages;
	struct tally tally;
	struct time_book time;
	struct region_book regions;
	uint64_t items;
	VEC(const char *) env; /* NULL-ended */
	VEC(struct rule_run) runs;
	VEC(uint16_t) subscribers; /* indices of runs, by call */
	uint32_t first[CALL_COUNT + 1]; /* where a call's subscribers begin */
	struct finding_list findings;
	bool finished;
};

void analysis_image_end(struct analysis *analysis, struct model_process *process);

#endif
