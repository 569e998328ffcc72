/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "verdict/analysis.h"
#include "verdict/baseline.h"

static int compare_selection(const struct baseline *baseline, const struct analysis_result *result, struct error *err)
{
	size_t count = result->filter ? result->filter->said.used : 0, i = 0;

	if (result->facts.scope)
		return error_set(err, EPROTO, "only some calls were watched: a baseline needs all");
	while (i < count && i < baseline->selection.used &&
	       strcmp(result->filter->said.at[i], baseline->selection.at[i]) == 0)
		i++;
	if (i == count && i == baseline->selection.used)
		return 0;
	return error_set(err, EPROTO, "the baseline and this run look at different calls (-e, -P, --failed)");
}

static int add(struct baseline_changes *changes, struct baseline_change change)
{
	return vec_push(&changes->items, change) ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct baseline_call *)a)->name, ((const struct baseline_call *)b)->name);
}

static int by_fingerprint(const void *a, const void *b)
{
	return strcmp(((const struct baseline_finding *)a)->fingerprint,
		      ((const struct baseline_finding *)b)->fingerprint);
}

/* A name can be there once per architecture. */
static size_t list_calls(const struct analysis_result *result, struct baseline_call *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < result->by_call_count; i++)
		ret[i] = (struct baseline_call){ .name = (char *)(uintptr_t)result->by_call[i].name,
						 .count = result->by_call[i].row.count };
	if (result->by_call_count > 1)
		qsort(ret, result->by_call_count, sizeof *ret, by_name);
	for (size_t i = 0; i < result->by_call_count; i++) {
		if (count > 0 && by_name(&ret[count - 1], &ret[i]) == 0)
			ret[count - 1].count += ret[i].count;
		else
			ret[count++] = ret[i];
	}
	return count;
}

static int compare_calls(const struct baseline *baseline, const struct analysis_result *result,
			 struct baseline_changes *changes)
{
	struct baseline_call *now = calloc(result->by_call_count + 1, sizeof *now);
	size_t count = now ? list_calls(result, now) : 0, kept = 0;
	int r = now ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct baseline_call *old = NULL;

		if (baseline->calls.used > 0)
			old = bsearch(&now[i], baseline->calls.at, baseline->calls.used, sizeof *now, by_name);
		kept += old && now[i].count >= old->count;
		if (!old || now[i].count > old->count)
			r = add(changes, (struct baseline_change){ .kind = BASELINE_CALL,
								   .name = now[i].name,
								   .before = old ? old->count : 0,
								   .after = now[i].count });
	}
	changes->fewer += baseline->calls.used - kept;
	free(now);
	return r;
}

static bool counts(const struct verdict_finding *finding)
{
	return !finding->finding->information && finding->finding->tier != FINDING_BY_DESIGN;
}

static int by_mark(const void *a, const void *b)
{
	const struct verdict_finding *x = *(const struct verdict_finding *const *)a;
	const struct verdict_finding *y = *(const struct verdict_finding *const *)b;
	int order = strcmp(x->fingerprint, y->fingerprint);

	return order ? order : x < y ? -1 : x > y;
}

/* Of equal ones the first stands for all. */
static int compare_group(const struct baseline *baseline, const struct verdict_finding *const *group, size_t count,
			 struct baseline_changes *changes, size_t *kept)
{
	const struct finding *first = group[0]->finding;
	struct baseline_change change = { .kind = BASELINE_FINDING,
					  .name = first->rule->id,
					  .exe = first->exe,
					  .what = first->what,
					  .where = first->where };
	const struct baseline_finding *old = NULL;
	struct baseline_finding key = { 0 };

	(void)strcpy(key.fingerprint, group[0]->fingerprint);
	(void)strcpy(change.fingerprint, group[0]->fingerprint);
	for (size_t i = 0; i < count; i++)
		change.after += group[i]->finding->calls;
	if (baseline->findings.used > 0)
		old = bsearch(&key, baseline->findings.at, baseline->findings.used, sizeof key, by_fingerprint);
	change.before = old ? old->calls : 0;
	*kept += old && change.after >= change.before;
	return old && change.after <= change.before ? 0 : add(changes, change);
}

static int compare_findings(const struct baseline *baseline, const struct analysis_result *result,
			    struct baseline_changes *changes)
{
	const struct verdict_finding **list = calloc(result->finding_count + 1, sizeof(struct verdict_finding *));
	size_t count = 0, kept = 0, more;
	int r = list ? 0 : -ENOMEM;

	for (size_t i = 0; list && i < result->finding_count; i++)
		if (counts(&result->findings[i]))
			list[count++] = &result->findings[i];
	if (count > 1)
		qsort(list, count, sizeof *list, by_mark);
	for (size_t i = 0; i < count && r == 0; i += more) {
		more = 1;
		while (i + more < count && strcmp(list[i]->fingerprint, list[i + more]->fingerprint) == 0)
			more++;
		r = compare_group(baseline, list + i, more, changes, &kept);
	}
	changes->fewer += baseline->findings.used - kept;
	free(list);
	return r;
}

static int by_growth(const void *a, const void *b)
{
	const struct baseline_change *x = a, *y = b;
	uint64_t x_more = x->after - x->before, y_more = y->after - y->before;

	if (x->kind != y->kind)
		return x->kind == BASELINE_FINDING ? -1 : 1;
	if (x_more != y_more)
		return x_more < y_more ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int say(struct baseline_changes *changes, const char *what, const char *before, const char *after)
{
	struct buf buf = BUF_INIT;
	char *text;

	(void)buf_printf(&buf, "%s ", what);
	(void)text_escape(&buf, before, strlen(before), '\0', true);
	(void)buf_puts(&buf, " (baseline), ");
	(void)text_escape(&buf, after, strlen(after), '\0', true);
	(void)buf_puts(&buf, " (here)");
	text = buf.failed ? NULL : buf_steal(&buf);
	buf_done(&buf);
	if (text && vec_push(&changes->differences, text))
		return 0;
	free(text);
	return -ENOMEM;
}

/* What is not known on one side is no difference. */
static int say_texts(struct baseline_changes *changes, const char *what, const char *before, const char *after)
{
	if (!before || !after || strcmp(before, after) == 0)
		return 0;
	return say(changes, what, before, after);
}

static int say_numbers(struct baseline_changes *changes, const char *what, uint64_t before, uint64_t after)
{
	char a[TEXT_NUMBER_MAX] = "unlimited", b[TEXT_NUMBER_MAX] = "unlimited";

	if (before == after)
		return 0;
	if (before != UINT64_MAX)
		(void)text_count(before, a);
	if (after != UINT64_MAX)
		(void)text_count(after, b);
	return say(changes, what, a, b);
}

static int compare_worlds(const struct baseline *baseline, const struct analysis_result *result,
			  struct baseline_changes *changes)
{
	const struct analysis_host *host = &result->facts.host;
	const struct analysis_environment *here = &result->environment;
	const char *locale = here->env_known && !here->locale ? "C" : here->locale;
	const char *program =
		result->facts.argv && result->facts.argv[0] ? rule_base_name(result->facts.argv[0]) : NULL;
	int r;

	r = say_texts(changes, "program", baseline->program ? rule_base_name(baseline->program) : NULL, program);
	r = r < 0 ? r : say_texts(changes, "kernel", baseline->kernel, host->kernel);
	r = r < 0 ? r : say_texts(changes, "machine", baseline->arch, host->arch);
	r = r < 0 ? r : say_texts(changes, "C library", baseline->libc, host->libc);
	r = r < 0 ? r : say_texts(changes, "locale", baseline->locale, locale);
	if (r == 0 && baseline->nofile_known && here->nofile_known) {
		r = say_numbers(changes, "soft limit of open files", baseline->nofile_soft, here->nofile_soft);
		r = r < 0 ? r
			  : say_numbers(changes, "hard limit of open files", baseline->nofile_hard, here->nofile_hard);
	}
	if (r == 0 && baseline->path_known && here->env_known)
		r = say_numbers(changes, "entries of PATH", baseline->path_entries, here->path_entries);
	return r;
}

int baseline_compare(const struct baseline *baseline, const struct analysis_result *result,
		     struct baseline_changes *ret, struct error *err)
{
	int r;

	*ret = (struct baseline_changes){ 0 };
	r = compare_selection(baseline, result, err);
	if (r < 0)
		return r;
	r = compare_findings(baseline, result, ret);
	if (r == 0)
		r = compare_calls(baseline, result, ret);
	if (r == 0)
		r = compare_worlds(baseline, result, ret);
	if (r < 0) {
		baseline_changes_done(ret);
		return error_errno(err, -r, "comparing with the baseline");
	}
	if (ret->items.used > 1)
		qsort(ret->items.at, ret->items.used, sizeof *ret->items.at, by_growth);
	return 0;
}

void baseline_changes_done(struct baseline_changes *changes)
{
	if (!changes)
		return;
	vec_done(&changes->items);
	for (size_t i = 0; i < changes->differences.used; i++)
		free(changes->differences.at[i]);
	vec_done(&changes->differences);
	*changes = (struct baseline_changes){ 0 };
}
