/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a JSON report says, as far as two of them are compared, and the
 * comparison: multisets of calls and findings, never sequences.  Reports may
 * be anybody's files.
 */
#ifndef SYSCULL_VERDICT_SNAPSHOT_H
#define SYSCULL_VERDICT_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "verdict/fingerprint.h"

struct snapshot_call {
	char *name;
	uint64_t count, failed;
	double ns; /* below 0: not known */
};

struct snapshot_finding {
	char fingerprint[FINGERPRINT_BYTES];
	char *rule, *exe, *what, *object, *where; /* exe, object, where NULL: not known */
	uint64_t costs; /* which calls and errors: equal for equal ones */
	uint64_t calls;
	double ns;
	bool worth;
};

/* Texts are foreign, NULL where the report has none. */
struct snapshot {
	char *name; /* of the file */
	char *kernel, *arch, *libc, *locale, *tz, *engine;
	bool path_known, nofile_known;
	uint64_t path_entries, nofile_soft, nofile_hard; /* UINT64_MAX: no limit */
	bool closed, complete, scoped;
	uint64_t seen;
	double task_ns, untraced_ns; /* below 0: not known */
	VEC(char *) argv;
	VEC(char *) not_run; /* rules that its source has too little for */
	VEC(struct snapshot_call) calls; /* by name, each once */
	VEC(struct snapshot_finding) findings; /* by fingerprint, each once; waste only */
};

/* -EINVAL, -EPROTO, -EFBIG, -ENOMEM with err, one line. */
int snapshot_parse(struct snapshot *ret, const char *name, const char *text, size_t bytes, struct error *err);
void snapshot_done(struct snapshot *snapshot);

struct compare_call {
	const char *name;
	uint64_t before, after, failed_before, failed_after;
	double ns_before, ns_after; /* 0 for none, below 0 not known */
};

enum compare_change { COMPARE_GONE, COMPARE_SHRUNK, COMPARE_SAME, COMPARE_GROWN, COMPARE_NEW, COMPARE_NOT_JUDGED };

struct compare_finding {
	enum compare_change change;
	const struct snapshot_finding *before, *after; /* one may be NULL; the first of several */
	uint64_t calls_before, calls_after;
	double ns_before, ns_after; /* 0 for none, below 0 not known */
};

struct compare {
	const struct snapshot *before, *after;
	VEC(struct compare_call) calls; /* largest change first, then what stayed */
	VEC(struct compare_finding) findings; /* as above */
	size_t changed_calls, changed_findings, same_findings;
	uint64_t calls_before, calls_after, failed_before, failed_after;
	double ns_before, ns_after; /* in calls; below 0 not known */
	VEC(char *) differences; /* of the machines and environments, printable */
};

int compare_make(const struct snapshot *before, const struct snapshot *after, struct compare *ret, struct error *err);
void compare_done(struct compare *compare);
/* compare-findings.c: the rows of findings; false without memory. */
bool compare_findings(struct compare *compare);
const char *compare_change_name(enum compare_change change); /* "gone" */

#endif
