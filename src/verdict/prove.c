/* SPDX-License-Identifier: BSD-2-Clause */
/* Medians, ratios of neighbours, and how far the median can be believed. */
#include "verdict/prove.h"

#include <stdlib.h>
#include <string.h>

/* So far beyond the quartiles, in their distance, lies what a disturbed run took. */
#define FAR 3.0

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double middle(const double *sorted, unsigned count)
{
	return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

struct prove_spread prove_spread_of(double *values, unsigned count)
{
	qsort(values, count, sizeof *values, by_size);
	return (struct prove_spread){ values[0], middle(values, count), values[count - 1] };
}

/*
 * Of `count` sorted values those that enclose the median with 95 %: as many
 * may lie outside on each side as a fair coin gives heads in at most 2.5 % of
 * all such series.  Below six values there is no such pair: the extremes.
 */
static unsigned outside(unsigned count)
{
	double chance = 1, sum;
	unsigned k = 0;

	for (unsigned i = 0; i < count; i++)
		chance /= 2;
	sum = chance;
	while (sum <= 0.025 && k < count / 2) {
		k++;
		chance = chance * (count - k + 1) / k;
		sum += chance;
	}
	return k > 0 ? k - 1 : 0;
}

/* values are sorted */
static unsigned count_far(const double *values, unsigned count)
{
	double quarter, three, most, least;
	unsigned far = 0;

	if (count < 8)
		return 0;
	quarter = values[count / 4];
	three = values[count - 1 - count / 4];
	most = three + FAR * (three - quarter);
	least = quarter - FAR * (three - quarter);
	for (unsigned i = 0; i < count; i++)
		far += values[i] > most || values[i] < least;
	return far;
}

void prove_judge(const double *before, const double *after, unsigned runs, struct prove_times *ret)
{
	double values[PROVE_RUNS_MAX];
	unsigned k;

	*ret = (struct prove_times){ .word = PROVE_NO_DIFFERENCE };
	if (runs == 0 || runs > PROVE_RUNS_MAX)
		return;
	memcpy(values, before, runs * sizeof *values);
	ret->before = prove_spread_of(values, runs);
	ret->outliers = count_far(values, runs);
	memcpy(values, after, runs * sizeof *values);
	ret->after = prove_spread_of(values, runs);
	ret->outliers += count_far(values, runs);
	for (unsigned i = 0; i < runs; i++)
		values[i] = after[i] > 0 ? before[i] / after[i] : 1;
	ret->ratio.median = prove_spread_of(values, runs).median;
	k = outside(runs);
	ret->ratio.low = values[k];
	ret->ratio.high = values[runs - 1 - k];
	if (runs >= 5 && ret->ratio.low > 1)
		ret->word = PROVE_FASTER;
	else if (runs >= 5 && ret->ratio.high < 1)
		ret->word = PROVE_SLOWER;
}
