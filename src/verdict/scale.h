/* SPDX-License-Identifier: BSD-2-Clause */
/* What a finding's waste comes to per child, or under another limit. */
#ifndef SYSCULL_VERDICT_SCALE_H
#define SYSCULL_VERDICT_SCALE_H

#include "verdict/analysis.h"

/* The n-th scale, at the price that its cost has in this run. */
static inline struct verdict_cost scale_of(const struct verdict_finding *verdict, size_t n)
{
	const struct finding_scale *scale = &verdict->finding->scales.at[n];
	struct verdict_cost amount = { 0 };
	double factor;

	if (scale->cost >= verdict->finding->costs.used || verdict->finding->costs.at[scale->cost].count == 0)
		return amount;
	factor = (double)scale->count / (double)verdict->finding->costs.at[scale->cost].count;
	amount = verdict->costs[scale->cost];
	amount.ns *= factor;
	amount.low_ns *= factor;
	amount.high_ns *= factor;
	return amount;
}

static inline double scale_ns(const struct verdict_finding *verdict, size_t n)
{
	return scale_of(verdict, n).ns;
}

#endif
