/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What subcommands that judge a run take from a project: its .syscull.conf,
 * files of suppressions, and entries made for what was found.
 */
#ifndef SYSCULL_CMD_PROJECT_H
#define SYSCULL_CMD_PROJECT_H

#include <stdbool.h>

#include "base/vec.h"
#include "cmd/conf.h"
#include "verdict/analysis.h"

#define PROJECT_FILES_MAX 64

struct project {
	const char *config; /* --config */
	VEC(const char *) files; /* --suppressions */
	bool generate; /* --gen-suppressions */
	struct conf conf;
	struct buf said; /* facts point there */
};

/* Letters of the options, for a subcommand's table. */
enum { PROJECT_CONFIG = 768, PROJECT_SUPPRESSIONS, PROJECT_GENERATE };
#define PROJECT_OPTIONS \
	{ PROJECT_CONFIG, "config", "FILE", "read FILE instead of .syscull.conf" }, \
		{ PROJECT_GENERATE, "gen-suppressions", NULL, "print a suppression for each finding" }, \
	{ \
		PROJECT_SUPPRESSIONS, "suppressions", "FILE", "do not tell what FILE excuses (repeatable)" \
	}

/* 0 or negative with err; 1 when it is another option. */
int project_option(struct project *project, int letter, const char *value, struct error *err);
/*
 * Reads everything; what cannot be used is an error, and nothing is kept.
 * `lenient`: a .syscull.conf that nobody named and that cannot be used is
 * told in one line, and left.
 */
int project_load(struct project *project, bool lenient, struct error *err);
/* Puts it into the spec of an analysis, which it has to outlive. */
void project_apply(const struct project *project, struct analysis_spec *spec);
/* Limits of rules that are not their own are told in every report. */
void project_tell(struct project *project, struct analysis_facts *facts);
/* With --gen-suppressions: to stderr, each entry once. */
void project_generate(const struct project *project, const struct analysis_result *result);
void project_done(struct project *project);

#endif
