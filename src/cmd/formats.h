/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which reports are written, and where to: --format and -o together.  All
 * files are opened before the command starts, so that a wrong name costs
 * nothing, and all are written at its end.
 */
#ifndef SYSCULL_CMD_FORMATS_H
#define SYSCULL_CMD_FORMATS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/tty.h"
#include "cmd/output.h"
#include "report/redact.h"
#include "report/reporter.h"

#define FORMATS_MAX 16

struct formats {
	struct format {
		const struct reporter *reporter;
		const char *target; /* NULL: not said */
		bool literal; /* nothing in it is replaced, and it may fail: nobody named it to us */
		struct output output;
	} at[FORMATS_MAX];
	unsigned count;
	unsigned redact; /* REDACT_… */
	bool verdict; /* there will be one: of a check */
	bool told; /* people know already: formats for them alone are left out */
};

/* --format NAME or NAME=FILE. */
int formats_add(struct formats *formats, const char *value, struct error *err);
bool formats_has(const struct formats *formats, const char *name);
/* Is there one without a file of its own, or none at all? */
bool formats_bare(const struct formats *formats);
/*
 * Opens everything.  `output` is -o or NULL; without any format it is a text
 * report.  `live`: stdout belongs to a command, so that formats for programs
 * need a file.  `name` is the command's, for %n.
 */
int formats_open(struct formats *formats, const char *output, bool live, const char *name, struct error *err);
/*
 * Instead, when nothing will run because of a mistake: of the formats those
 * whose file can be opened, the others are forgotten.  What would only go to
 * stderr and is not a verdict is forgotten too.
 */
void formats_open_rest(struct formats *formats, const char *output, const char *name);
/* %p our process id, %n the command's name, %h this machine's, %% a '%'; malloc'ed, or NULL with err. */
char *formats_expand(const char *target, const char *name, struct error *err);
/* Writes and closes all of them: one line about each that fails, and the
 * first error. */
int formats_write(struct formats *formats, const struct analysis_result *result, struct report_options *options,
		  enum tty_color color, struct error *err);
void formats_discard(struct formats *formats);

#endif
