/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waste that is known to be gone in a newer version: the rows of
 * data/known.tbl.  Knows nothing of what is installed here; that is package.h,
 * and upgrade.c brings the two together.
 */
#ifndef SYSCULL_VERDICT_KNOWN_H
#define SYSCULL_VERDICT_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

struct known_row {
	const char *rule;
	const char *path; /* pattern of fnmatch(3) for the program or library */
	const char *name; /* "coreutils", for people */
	const char *package; /* Debian's source package */
	const char *fixed; /* first upstream version that has the fix */
	const char *saves; /* "all", "unknown" or a finding_remedy.id */
	const char *text; /* "lists once per file" */
	const char *source; /* where the version can be looked up */
};

extern const struct known_row known_rows[];
extern const size_t known_row_count;

bool known_fits(const struct known_row *row, const char *rule, const char *path);

#endif
