/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --redact: a copy of a result in which arguments, paths or user names are
 * stable hashes, for any reporter.  Where our words and names of the traced
 * program cannot be told apart, a word that we do not know is hashed.  Equal
 * names have equal hashes in all reports, so that they can be compared; who
 * guesses a name can check the guess.
 */
#ifndef SYSCULL_REPORT_REDACT_H
#define SYSCULL_REPORT_REDACT_H

#include <limits.h>

#include "base/buf.h"
#include "base/error.h"
#include "verdict/analysis.h"

#define REDACT_ARGV 0x1u
#define REDACT_PATHS 0x2u
#define REDACT_USERS 0x4u
/* No word of --redact: for a baseline, which is committed.  Names and counts
 * in a fixed order; without processes, times, remedies, samples, notes,
 * suppressions and what a check said, and of other texts without what
 * redact_strip takes out. */
#define REDACT_BASELINE 0x8u

struct redacted;

/* "argv,paths,users" added to *set. */
int redact_parse(const char *list, unsigned *set, struct error *err);
/* NULL without memory.  The result has to outlive it. */
struct redacted *redact_result(const struct analysis_result *result, unsigned set);
const struct analysis_result *redacted_result(const struct redacted *redacted);
void redacted_free(struct redacted *redacted);

/* redact-text.c: appended to buf. */
#define REDACT_USERS_MAX 8
struct redact_words {
	unsigned set;
	const char *users[REDACT_USERS_MAX]; /* NULL-ended unless full */
	const char *home; /* NULL unknown */
	char host[HOST_NAME_MAX + 1]; /* "" unknown */
};
/* The users of this environment. */
void redact_words_init(struct redact_words *words, unsigned set);
/* A path, component by component. */
void redact_path(const struct redact_words *words, struct buf *buf, const char *path, size_t bytes);
/* One word of a command line; the first names the program. */
void redact_argument(const struct redact_words *words, struct buf *buf, const char *word, size_t bytes, bool first);
/* A text of ours with paths in it, which have a slash. */
void redact_prose(const struct redact_words *words, struct buf *buf, const char *text);
/* A call as text: what stands in quotes is a name. */
void redact_call(const struct redact_words *words, struct buf *buf, const char *text);
/* Without homes, this machine's name, process ids and temporary names. */
void redact_strip(const struct redact_words *words, struct buf *buf, const char *text);
/* Of a copy: what is of one run, times and proof. */
void redact_strip_finding(struct verdict_finding *verdict, struct finding *finding);
void redact_strip_result(struct analysis_result *result);
/* A text that is mostly names: of the words only those that we know stay. */
void redact_names(const struct redact_words *words, struct buf *buf, const char *text);

#endif
