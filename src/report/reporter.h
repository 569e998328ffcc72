/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One struct per format, one file per format, the list in reporters.def.
 * A reporter only formats: it computes nothing that a verdict could.
 */
#ifndef SYSCULL_REPORT_REPORTER_H
#define SYSCULL_REPORT_REPORTER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/tty.h"
#include "verdict/analysis.h"

struct report_options {
	struct tty tty; /* of the stream written to */
	bool verbose; /* -v: all findings in full, all calls */
	bool quiet; /* -q: findings only when there are any */
	bool by_site; /* --by site: a table of call sites */
	bool weigh_savings; /* collapsed stacks: by the time that can be saved, not by calls */
	bool by_region; /* --by region: a table of regions */
	bool by_exe; /* --by exe: a table of programs */
	size_t finding; /* --finding: of those that tell one; 0 the first */
	const char *output_note; /* NULL */
	const char *name; /* of the report's file, up to its last dot; "" none.  Foreign text */
};

struct reporter {
	const char *name; /* "text" */
	const char *title; /* for --help */
	bool machine; /* read by programs: never goes to stderr by itself */
	bool verdict; /* tells the verdict of a check, and of nothing else */
	int (*write)(FILE *out, const struct analysis_result *result, const struct report_options *options);
};

extern const struct reporter *const reporter_list[]; /* NULL-ended */
const struct reporter *reporter_by_name(const char *name);

#endif
