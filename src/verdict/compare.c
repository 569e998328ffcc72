/* SPDX-License-Identifier: BSD-2-Clause */
/* Two snapshots side by side: what is gone, new, more and fewer. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "verdict/snapshot.h"

static void add_call(struct compare *compare, const struct snapshot_call *before, const struct snapshot_call *after,
		     bool *ret_failed)
{
	struct compare_call *row = vec_add(&compare->calls);

	if (!row) {
		*ret_failed = true;
		return;
	}
	row->name = before ? before->name : after->name;
	if (before) {
		row->before = before->count;
		row->failed_before = before->failed;
		row->ns_before = before->ns;
	}
	if (after) {
		row->after = after->count;
		row->failed_after = after->failed;
		row->ns_after = after->ns;
	}
	compare->calls_before += row->before;
	compare->calls_after += row->after;
	compare->failed_before += row->failed_before;
	compare->failed_after += row->failed_after;
	compare->ns_before = row->ns_before < 0 || compare->ns_before < 0 ? -1 : compare->ns_before + row->ns_before;
	compare->ns_after = row->ns_after < 0 || compare->ns_after < 0 ? -1 : compare->ns_after + row->ns_after;
	compare->changed_calls += row->before != row->after || row->failed_before != row->failed_after;
}

/* Both lists are sorted. */
static void compare_calls(struct compare *compare, bool *ret_failed)
{
	const struct snapshot *a = compare->before, *b = compare->after;
	size_t i = 0, k = 0;

	while (i < a->calls.used || k < b->calls.used) {
		int order = i == a->calls.used	 ? 1
			    : k == b->calls.used ? -1
						 : strcmp(a->calls.at[i].name, b->calls.at[k].name);

		add_call(compare, order <= 0 ? &a->calls.at[i] : NULL, order >= 0 ? &b->calls.at[k] : NULL, ret_failed);
		i += order <= 0;
		k += order >= 0;
	}
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int by_change(const void *a, const void *b)
{
	const struct compare_call *x = a, *y = b;
	uint64_t left = distance(x->before, x->after), right = distance(y->before, y->after);

	if (left != right)
		return left < right ? 1 : -1;
	if (x->before != y->before)
		return x->before < y->before ? 1 : -1;
	return strcmp(x->name, y->name);
}

static double cost(const struct compare_finding *row)
{
	return fabs(row->ns_before - row->ns_after);
}

/* What changed, what nobody can tell, what stayed. */
static int kind_of(const struct compare_finding *row)
{
	return row->change == COMPARE_SAME ? 2 : row->change == COMPARE_NOT_JUDGED ? 1 : 0;
}

static int by_cost(const void *a, const void *b)
{
	const struct compare_finding *x = a, *y = b;

	if (kind_of(x) != kind_of(y))
		return kind_of(x) - kind_of(y);
	return (cost(x) < cost(y)) - (cost(x) > cost(y));
}

static void differ(struct compare *compare, bool *ret_failed, const char *what, const char *a, const char *b)
{
	struct buf text = BUF_INIT;
	char *copy;

	if (strcmp(a, b) == 0)
		return;
	(void)buf_printf(&text, "%s ", what);
	(void)text_escape(&text, a, strlen(a), '\0', true);
	(void)buf_puts(&text, " before, ");
	(void)text_escape(&text, b, strlen(b), '\0', true);
	(void)buf_puts(&text, " after");
	copy = buf_steal(&text);
	if (!copy || !vec_push(&compare->differences, copy)) {
		free(copy);
		*ret_failed = true;
	}
	buf_done(&text);
}

static void differ_number(struct compare *compare, bool *ret_failed, const char *what, bool known, uint64_t a,
			  uint64_t b)
{
	char left[24], right[24];

	if (!known)
		return;
	(void)snprintf(left, sizeof left, "%" PRIu64, a);
	(void)snprintf(right, sizeof right, "%" PRIu64, b);
	differ(compare, ret_failed, what, a == UINT64_MAX ? "unlimited" : left, b == UINT64_MAX ? "unlimited" : right);
}

static void compare_hosts(struct compare *compare, bool *ret_failed)
{
	const struct snapshot *a = compare->before, *b = compare->after;
	const struct {
		const char *what, *before, *after;
	} texts[] = {
		{ "kernel", a->kernel, b->kernel },
		{ "architecture", a->arch, b->arch },
		{ "libc", a->libc, b->libc },
		{ "locale", a->locale, b->locale },
		{ "TZ", a->tz ? a->tz : "unset", b->tz ? b->tz : "unset" },
		{ "engine", a->engine, b->engine },
	};

	/* What one of them does not know is no difference. */
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		if (texts[i].before && texts[i].after)
			differ(compare, ret_failed, texts[i].what, texts[i].before, texts[i].after);
	}
	differ_number(compare, ret_failed, "soft limit of descriptors", a->nofile_known && b->nofile_known,
		      a->nofile_soft, b->nofile_soft);
	differ_number(compare, ret_failed, "hard limit of descriptors", a->nofile_known && b->nofile_known,
		      a->nofile_hard, b->nofile_hard);
	differ_number(compare, ret_failed, "folders in PATH", a->path_known && b->path_known, a->path_entries,
		      b->path_entries);
}

int compare_make(const struct snapshot *before, const struct snapshot *after, struct compare *ret, struct error *err)
{
	bool failed = false;

	*ret = (struct compare){ .before = before, .after = after };
	if (before->scoped || after->scoped)
		return error_set(err, EPROTO, "%s is of some calls only, what else was called is not in it",
				 before->scoped ? before->name : after->name);
	compare_calls(ret, &failed);
	failed = !compare_findings(ret) || failed;
	compare_hosts(ret, &failed);
	if (failed) {
		compare_done(ret);
		return error_errno(err, ENOMEM, "comparing");
	}
	if (ret->calls.used > 1)
		qsort(ret->calls.at, ret->calls.used, sizeof *ret->calls.at, by_change);
	if (ret->findings.used > 1)
		qsort(ret->findings.at, ret->findings.used, sizeof *ret->findings.at, by_cost);
	return 0;
}

void compare_done(struct compare *compare)
{
	for (size_t i = 0; i < compare->differences.used; i++)
		free(compare->differences.at[i]);
	vec_done(&compare->differences);
	vec_done(&compare->calls);
	vec_done(&compare->findings);
}

const char *compare_change_name(enum compare_change change)
{
	static const char *const names[] = { "gone", "shrunk", "same", "grown", "new", "not-judged" };

	return names[change];
}
