/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections of the text report; only text*.c include it. */
#ifndef SYSCULL_REPORT_TEXT_PARTS_H
#define SYSCULL_REPORT_TEXT_PARTS_H

#include "report/reporter.h"
#include "report/term.h"

#define TEXT_LABEL 8 /* columns of "Time    " */
#define TEXT_FULL 3 /* findings told in full without -v */

struct text {
	struct term term;
	const struct analysis_result *result;
	const struct report_options *options;
};

/* "Waste   " at the beginning of a line. */
void text_label(struct text *text, const char *label);
/* A label and a text of any length. */
void text_labelled(struct text *text, const char *label, enum term_style style, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
#define TEXT_PLURAL_MAX 80

void text_findings(struct text *text);
void text_calls(struct text *text);
void text_regions(struct text *text);
void text_programs(struct text *text);
void text_sites(struct text *text);
void text_suppressed(struct text *text);
/* Of a result that has a check: everything there is to print. */
int text_check(FILE *out, const struct analysis_result *result, const struct report_options *options);

#endif
