/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a report shows and how: the options that subcommands with a report
 * have in common, and the report itself from a finished analysis.
 */
#ifndef SYSCULL_CMD_VIEW_H
#define SYSCULL_CMD_VIEW_H

#include "cmd/call-sites.h"
#include "cmd/formats.h"
#include "cmd/project.h"
#include "verdict/analysis.h"
#include "verdict/judge.h"

struct view {
	const char *output; /* -o */
	bool by_exe, by_region, by_site, weight_given, weigh_savings, quiet, verbose;
	long finding; /* of formats that tell one; 0 the first */
	enum tty_color color;
	struct formats formats;
	struct filter filter;
	struct analysis_floor floor;
	struct project project;
	struct buf selection; /* facts point there */
	const struct stack_options *stack_options; /* NULL: who called is told as records tell it */
	struct call_sites sites;
};

/* Letters of the options without one, for a subcommand's table. */
enum { VIEW_BY = 512, VIEW_COLOR, VIEW_FAILED, VIEW_FLOOR, VIEW_FORMAT, VIEW_REDACT, VIEW_FINDING, VIEW_WEIGHT };

/* Takes -e -o -P -q -v, those above and the project's: 0, or negative with err, also when it is another one. */
int view_option(struct view *view, int letter, const char *value, struct error *err);
/* Do the options go together? */
int view_check(const struct view *view, struct error *err);
/* There is none of that number: sets err. */
int view_no_finding(long number, const struct analysis_result *result, struct error *err);
/* An analysis with all rules for it, and what the project says. */
int view_analysis(struct view *view, struct analysis **ret, struct error *err);
/* Ends the analysis, says what is left out and set, writes the reports. */
int view_finish(struct view *view, struct analysis *analysis, struct analysis_facts *facts, struct error *err);
void view_done(struct view *view);

#endif
