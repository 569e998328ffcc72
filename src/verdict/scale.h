/* SPDX-License-Identifier: BSD-2-Clause */
/* What a finding's waste comes to per child, or under another limit. */
#ifndef SYSCULL_VERDICT_SCALE_H
#define SYSCULL_VERDICT_SCALE_H

#include "verdict/analysis.h"

/* The n-th scale, at the price that its cost has in this run. */
static inline double scale_ns(const struct verdict_finding *verdict, size_t n)
{
	const struct finding_scale *scale = &verdict->finding->scales.at[n];
	uint64_t count;

	if (scale->cost >= verdict->finding->costs.used)
		return 0;
	count = verdict->finding->costs.at[scale->cost].count;
	return count > 0 ? verdict->costs_ns[scale->cost] / (double)count * (double)scale->count : 0;
}

#endif
