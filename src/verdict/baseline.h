/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A baseline is the JSON report of an earlier run: what is in it is known and
 * may stay; what is new or has grown since is told.  Compared are multisets:
 * calls by name, findings by fingerprint; never an order.  What is read may
 * be anybody's file.
 */
#ifndef SYSCULL_VERDICT_BASELINE_H
#define SYSCULL_VERDICT_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "verdict/fingerprint.h"

#define BASELINE_SCHEMA 1
#define BASELINE_BYTES_MAX (32 << 20)
#define BASELINE_MEMORY_MAX (256u << 20) /* of its tree while it is read */
#define BASELINE_ENTRIES_MAX 100000 /* calls; findings */

struct analysis_result;

struct baseline_call {
	char *name;
	uint64_t count;
};

/* Findings of one fingerprint, together. */
struct baseline_finding {
	char fingerprint[FINGERPRINT_BYTES];
	char *rule, *exe; /* exe NULL: not known */
	uint64_t findings, calls;
};

/* All texts are foreign. */
struct baseline {
	char *kernel, *arch, *libc, *locale; /* NULL not known */
	char *program; /* argv[0]; NULL attached */
	bool nofile_known, path_known;
	uint64_t nofile_soft, nofile_hard; /* UINT64_MAX no limit */
	uint64_t path_entries;
	VEC(char *) selection; /* the options that narrowed it */
	VEC(struct baseline_call) calls; /* by name, each once */
	VEC(struct baseline_finding) findings; /* by fingerprint, each once; waste only */
};

/*
 * Negative errno with err, one line: -ENOENT not there, -EPROTO a report of
 * ours that cannot be compared with (of another schema, incomplete, or of
 * some calls only), -EINVAL no report of ours, -EFBIG.
 */
int baseline_read(struct baseline *ret, const char *path, struct error *err);
/* The same from memory; `name` is for errors. */
int baseline_parse(struct baseline *ret, const char *name, const char *text, size_t bytes, struct error *err);
void baseline_done(struct baseline *baseline);

enum baseline_kind { BASELINE_CALL, BASELINE_FINDING };

/* New when before is 0, else grown. */
struct baseline_change {
	enum baseline_kind kind;
	const char *name; /* of the call, or the rule's id; ours */
	const char *exe; /* of a finding, foreign; NULL */
	const char *what, *where; /* of a finding; NULL */
	char fingerprint[FINGERPRINT_BYTES]; /* of a finding */
	uint64_t before, after; /* calls */
};

struct baseline_changes {
	VEC(struct baseline_change) items; /* findings first, then calls; most growth first */
	uint64_t fewer; /* entries of the baseline that are gone or have shrunk */
	VEC(char *) differences; /* of the machines, printable: "kernel 6.1 (baseline), 6.12 (here)" */
};

/* Texts belong to the baseline and the result.  -EPROTO with err: they look
 * at different things. */
int baseline_compare(const struct baseline *baseline, const struct analysis_result *result,
		     struct baseline_changes *ret, struct error *err);
/* What a check says of its baseline; what reporters read. */
struct baseline_report {
	const char *file; /* as given */
	bool read; /* false: it could not be used, or is not there yet */
	bool written;
	struct baseline_changes changes;
};

void baseline_changes_done(struct baseline_changes *changes);

/*
 * baseline-merge.c: the text of a new baseline from an old one and a report of
 * now.  BASELINE_RAISE takes in what is new and has grown, BASELINE_LOWER
 * takes out what is gone and lowers what has shrunk; everything else in it is
 * of now.
 */
enum baseline_merge { BASELINE_RAISE, BASELINE_LOWER };
int baseline_merge(enum baseline_merge how, const char *old_name, const struct buf *old, const struct buf *now,
		   struct buf *ret, struct error *err);

/* json_load of a text within limits; and nothing more. */
struct json_t *baseline_load(const char *name, const char *text, size_t bytes, struct error *err);

#endif
