/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of calls that were counted where they happen. */
#ifndef SYSCULL_REPORT_COUNTED_H
#define SYSCULL_REPORT_COUNTED_H

#include "report/reporter.h"
#include "verdict/counted.h"

int counted_text(FILE *out, const struct counted *counted, const struct counted_facts *facts,
		 const struct report_options *options);
/* A partial report: what passed since the last one. */
int counted_text_interval(FILE *out, const struct counted_interval *interval, const struct report_options *options);
int counted_json(FILE *out, const struct counted *counted, const struct counted_facts *facts);

#endif
