/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings that somebody has looked at and wants to hear no more of: by rule,
 * then by path, program and call site, with a reason.  Suppressed findings
 * are counted and listed, never gone without a word.
 */
#ifndef SYSCULL_VERDICT_SUPPRESS_H
#define SYSCULL_VERDICT_SUPPRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "rules/finding.h"

#define SUPPRESS_MAX 1000 /* entries */
#define SUPPRESS_PATTERNS_MAX 64 /* of one kind in one entry */

struct analysis_result;
struct rule;

enum suppress_kind { SUPPRESS_EXE, SUPPRESS_PATH, SUPPRESS_SITE, SUPPRESS_KIND_COUNT };

struct suppress_patterns {
	VEC(char *) at; /* one of them has to match; none: anything does */
};

struct suppress_entry {
	const struct rule *rule;
	struct suppress_patterns patterns[SUPPRESS_KIND_COUNT];
	char *reason;
	char *file; /* where it stands */
	unsigned line;
};

struct suppressions {
	VEC(struct suppress_entry) entries;
};

void suppressions_done(struct suppressions *list);

/* An empty entry: suppress_set fills, suppress_check ends it. */
int suppressions_add(struct suppressions *list, const char *file, unsigned line, struct error *err);
/* Of the last entry: rule, exe, path, site (the last three repeatable), reason. */
int suppress_set(struct suppressions *list, const char *key, const char *value, struct error *err);
/* -EINVAL: the last entry has no rule or no reason. */
int suppress_check(const struct suppressions *list, struct error *err);

/* A pattern without '/' is compared with the last part of a path; a site is
 * "MODULE+0xOFFSET", "MODULE:FUNCTION", or the module alone, of the call itself, of
 * the first frame outside the C library or of the first in the program.  An entry with sites matches when
 * all calls of the finding are known to come from such sites. */
bool suppress_matches(const struct suppress_entry *entry, const struct finding *finding);

/* Takes suppressed findings out of result->findings into result->suppressed
 * and corrects the sums.  The list has to outlive the result. */
int suppress_apply(struct analysis_result *result, const struct suppressions *list);

/* suppress-print.c: an entry for a finding, in the words of a configuration;
 * it matches the finding also when temporary names in it are others. */
int suppress_print(struct buf *buf, const struct finding *finding);
/* The reason that suppress_print writes, for a person to replace. */
#define SUPPRESS_REASON "generated: say here why this may stay"

#endif
