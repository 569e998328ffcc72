/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which finding of one run is which of the other.  Fingerprints say it, unless
 * one source cannot know what the other tells: a log has no mounts and no
 * working directory.  What is not known makes no difference, and a rule that
 * was not judged tells nothing of its findings.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rule.h"
#include "verdict/snapshot.h"

/* Findings without their like on the other side are compared each with each
 * only as long as there are few. */
#define PAIRS_MAX 4000000

static size_t word(const char *text)
{
	return strcspn(text, " ,;");
}

/* "d/f" of "/home/d/f" */
static bool is_tail(const char *path, size_t bytes, const char *tail, size_t tail_bytes)
{
	return bytes > tail_bytes && path[0] == '/' && tail_bytes > 0 && tail[0] != '/' &&
	       path[bytes - tail_bytes - 1] == '/' && memcmp(path + bytes - tail_bytes, tail, tail_bytes) == 0;
}

static bool word_fits(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	return (a_bytes == b_bytes && memcmp(a, b, a_bytes) == 0) || (a_bytes == 1 && *a == '?' && b_bytes > 0) ||
	       (b_bytes == 1 && *b == '?' && a_bytes > 0) || is_tail(a, a_bytes, b, b_bytes) ||
	       is_tail(b, b_bytes, a, a_bytes);
}

/* Word by word: "?" is whatever the other one says. */
static bool object_fits(const char *a, const char *b)
{
	struct buf left = BUF_INIT, right = BUF_INIT;
	bool fits = fingerprint_steady(&left, a) == 0 && fingerprint_steady(&right, b) == 0;

	a = buf_text(&left);
	b = buf_text(&right);
	while (fits && (*a || *b)) {
		size_t a_bytes = word(a), b_bytes = word(b);

		fits = word_fits(a, a_bytes, b, b_bytes) && a[a_bytes] == b[b_bytes];
		a += a_bytes + (a[a_bytes] != '\0');
		b += b_bytes + (b[b_bytes] != '\0');
	}
	buf_done(&left);
	buf_done(&right);
	return fits;
}

/* What a name leads to here, as far as it is here; else itself. */
static const char *real_name(const char *path, char *room)
{
	return rule_base_name(*path == '/' && realpath(path, room) ? room : path);
}

/* "/usr/bin/sh", as a log has it, is what everybody else calls /usr/bin/dash. */
static bool exe_fits(const char *a, const char *b)
{
	char real_a[PATH_MAX], real_b[PATH_MAX];

	return strcmp(rule_base_name(a), rule_base_name(b)) == 0 ||
	       strcmp(real_name(a, real_a), real_name(b, real_b)) == 0;
}

static bool finding_fits(const struct snapshot_finding *a, const struct snapshot_finding *b)
{
	return a->costs == b->costs && strcmp(a->rule, b->rule) == 0 &&
	       (!a->exe || !b->exe || exe_fits(a->exe, b->exe)) &&
	       object_fits(a->object ? a->object : "", b->object ? b->object : "");
}

static double sum_ns(double a, double b)
{
	return a < 0 || b < 0 ? -1 : a + b;
}

static void take_after(struct compare_finding *row, const struct snapshot_finding *after)
{
	row->after = row->after ? row->after : after;
	row->calls_after += after->calls;
	row->ns_after = sum_ns(row->ns_after, after->ns);
}

static bool add_row(struct compare *compare, const struct snapshot_finding *before,
		    const struct snapshot_finding *after)
{
	struct compare_finding *row = vec_add(&compare->findings);

	if (!row)
		return false;
	if (before) {
		row->before = before;
		row->calls_before = before->calls;
		row->ns_before = before->ns;
	}
	if (after)
		take_after(row, after);
	return true;
}

/* One that says less than the other run does may stand for several of that.
 * Rows from `first` on had no like. */
static bool place(struct compare *compare, size_t first, const struct snapshot_finding *after)
{
	struct compare_finding *into = NULL;

	for (size_t i = first; i < compare->findings.used; i++) {
		struct compare_finding *row = &compare->findings.at[i];

		if (!row->before || !finding_fits(row->before, after))
			continue;
		if (!into) {
			into = row;
			take_after(row, after);
		} else if (!row->after) {
			into->calls_before += row->calls_before;
			into->ns_before = sum_ns(into->ns_before, row->ns_before);
			row->before = NULL;
		}
	}
	return into || add_row(compare, NULL, after);
}

static bool is_judged(const struct snapshot *snapshot, const char *rule)
{
	for (size_t i = 0; i < snapshot->not_run.used; i++)
		if (strcmp(snapshot->not_run.at[i], rule) == 0)
			return false;
	return true;
}

static enum compare_change change_of(const struct compare *compare, const struct compare_finding *row)
{
	if (!row->after)
		return is_judged(compare->after, row->before->rule) ? COMPARE_GONE : COMPARE_NOT_JUDGED;
	if (!row->before)
		return is_judged(compare->before, row->after->rule) ? COMPARE_NEW : COMPARE_NOT_JUDGED;
	return row->calls_before > row->calls_after   ? COMPARE_SHRUNK
	       : row->calls_before < row->calls_after ? COMPARE_GROWN
						      : COMPARE_SAME;
}

/* Rows that are in others now have no side. */
static void settle(struct compare *compare)
{
	size_t used = 0;

	for (size_t i = 0; i < compare->findings.used; i++) {
		struct compare_finding row = compare->findings.at[i];

		if (!row.before && !row.after)
			continue;
		row.change = change_of(compare, &row);
		compare->changed_findings += row.change != COMPARE_SAME && row.change != COMPARE_NOT_JUDGED;
		compare->same_findings += row.change == COMPARE_SAME;
		compare->findings.at[used++] = row;
	}
	compare->findings.used = used;
}

bool compare_findings(struct compare *compare)
{
	const struct snapshot *a = compare->before, *b = compare->after;
	VEC(const struct snapshot_finding *) lone_before = { 0 };
	VEC(const struct snapshot_finding *) lone_after = { 0 };
	size_t i = 0, k = 0, first;
	bool ok = true, few;

	/* Both lists are sorted. */
	while (ok && (i < a->findings.used || k < b->findings.used)) {
		int order = i == a->findings.used ? 1
			    : k == b->findings.used
				    ? -1
				    : strcmp(a->findings.at[i].fingerprint, b->findings.at[k].fingerprint);

		if (order < 0)
			ok = vec_push(&lone_before, &a->findings.at[i]);
		else if (order > 0)
			ok = vec_push(&lone_after, &b->findings.at[k]);
		else
			ok = add_row(compare, &a->findings.at[i], &b->findings.at[k]);
		i += order <= 0;
		k += order >= 0;
	}
	first = compare->findings.used;
	few = lone_before.used == 0 || lone_after.used <= PAIRS_MAX / lone_before.used;
	for (i = 0; ok && i < lone_before.used; i++)
		ok = add_row(compare, lone_before.at[i], NULL);
	for (k = 0; ok && k < lone_after.used; k++)
		ok = few ? place(compare, first, lone_after.at[k]) : add_row(compare, NULL, lone_after.at[k]);
	vec_done(&lone_before);
	vec_done(&lone_after);
	if (ok)
		settle(compare);
	return ok;
}
