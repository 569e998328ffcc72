/* SPDX-License-Identifier: BSD-2-Clause */
/* Hand-made results, one function per expected report. */
#ifndef SYSCULL_TESTS_GOLDEN_CASES_H
#define SYSCULL_TESTS_GOLDEN_CASES_H

#include "report/reporter.h"

struct golden {
	struct analysis_result result;
	struct report_options options;
	struct finding_list list;
	struct tally tally;
	struct package_book *packages;
	struct suppressions suppressions;
};

/* NULL when there is no such case.  Prices are fixed and times are made up. */
struct golden *golden_new(const char *name);
void golden_free(struct golden *golden);

#endif
