/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/budget-suggest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/analysis.h"

/* What differs from run to run or from machine to machine for reasons that
 * are not the program's, however steady it was just now. */
static const struct {
	const char *name, *why;
} unsteady[] = {
	{ "@futex", "depends on timing" },
	{ "@sched", "depends on timing" },
	{ "@sleep", "depends on timing" },
	{ "@mmap", "made by the loader and the allocator" },
	{ "@mprotect", "made by the loader and the allocator" },
	{ "brk", "made by the loader and the allocator" },
	{ "madvise", "made by the allocator" },
	{ "arch_prctl", "made at the start of each program" },
	{ "set_tid_address", "made at the start of each program" },
	{ "set_robust_list", "made at the start of each program" },
	{ "rseq", "made at the start of each program" },
	{ "prlimit64", "made at the start of each program" },
	{ "getrandom", "made at the start of each program" },
	{ "@exit", "made at the end of each program" },
	{ "restart_syscall", "depends on timing" },
};

/* The first family that a call is in: the order of the table has the wide
 * ones before the narrow ones. */
static const char *family_of(const struct verdict_call *call)
{
	uint64_t bit;
	const char *name;

	for (size_t n = 0; call->row.id != CALL_unknown && (name = sys_class_name(n, &bit)); n++)
		if (name[0] == '@' && (sys_call(call->row.id)->classes & bit))
			return name;
	return call->name;
}

static struct suggest_row *row_of(struct suggest *suggest, const char *name)
{
	uint32_t *place = map_put(&suggest->index, map_hash(name, strlen(name)), NULL);
	struct suggest_row *row;

	if (!place)
		return NULL;
	if (*place > 0)
		return &suggest->rows.at[*place - 1];
	row = vec_add(&suggest->rows);
	if (!row)
		return NULL;
	(void)snprintf(row->name, sizeof row->name, "%s", name);
	*place = (uint32_t)suggest->rows.used;
	return row;
}

/* How much of each row rules call waste in this run. */
static void add_waste(struct suggest *suggest, const struct analysis_result *result)
{
	for (size_t n = 0; n < suggest->rows.used; n++) {
		struct suggest_row *row = &suggest->rows.at[n];
		uint64_t waste = 0, most = 0, class = sys_class(row->name);

		for (size_t i = 0; i < result->finding_count; i++) {
			const struct finding *finding = result->findings[i].finding;
			uint64_t calls = 0;

			for (size_t k = 0; k < finding->costs.used && !finding->information; k++) {
				enum sys_call_id id = finding->costs.at[k].call;

				if (row->name[0] == '@' ? (sys_call(id)->classes & class) != 0
							: strcmp(sys_call(id)->name, row->name) == 0)
					calls += finding->costs.at[k].count;
			}
			waste += calls;
			if (calls > most && waste > row->waste) {
				most = calls;
				row->rule = finding->rule->id;
			}
		}
		row->waste = waste > row->waste ? waste : row->waste;
	}
}

int suggest_add(struct suggest *suggest, const struct analysis_result *result)
{
	if (suggest->runs >= BUDGET_RUNS_MAX)
		return -E2BIG;
	if (suggest->runs == 0)
		map_init(&suggest->index, sizeof(uint32_t), 0);
	for (size_t i = 0; i < result->all_call_count; i++) {
		struct suggest_row *row = row_of(suggest, family_of(&result->all_calls[i]));

		if (!row)
			return -ENOMEM;
		row->counts[suggest->runs] += result->all_calls[i].row.count;
	}
	add_waste(suggest, result);
	suggest->runs++;
	return 0;
}

static int by_most(const void *a, const void *b)
{
	const struct suggest_row *x = a, *y = b;

	if (x->max != y->max)
		return x->max < y->max ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void judge(struct suggest_row *row, unsigned runs)
{
	uint64_t spread;

	row->min = row->max = row->counts[0];
	for (unsigned i = 1; i < runs; i++) {
		row->min = row->counts[i] < row->min ? row->counts[i] : row->min;
		row->max = row->counts[i] > row->max ? row->counts[i] : row->max;
	}
	spread = row->max - row->min;
	for (size_t i = 0; i < sizeof unsteady / sizeof unsteady[0]; i++)
		if (strcmp(unsteady[i].name, row->name) == 0)
			row->why = unsteady[i].why;
	if (row->max < SUGGEST_FEW)
		row->why = "few";
	else if ((double)spread > SUGGEST_SPREAD * (double)row->max)
		row->why = "varies too much";
	else if (strncmp(row->name, "call_", 5) == 0 || strcmp(row->name, "others") == 0)
		row->why = "has no name";
	/* What varied a little in a few runs varies more in many. */
	if (!row->why)
		row->limit = row->max + (spread > 0 ? (uint64_t)(SUGGEST_SPREAD * (double)row->max) + 1 : 0);
}

void suggest_conclude(struct suggest *suggest)
{
	if (suggest->runs == 0)
		return;
	for (size_t i = 0; i < suggest->rows.used; i++)
		judge(&suggest->rows.at[i], suggest->runs);
	if (suggest->rows.used > 0)
		qsort(suggest->rows.at, suggest->rows.used, sizeof suggest->rows.at[0], by_most);
	/* What shows best that the work was done: made often, equally often, and
	 * no waste, which may be cured one day. */
	for (size_t i = 0; i < suggest->rows.used && suggest->canary == 0; i++) {
		const struct suggest_row *row = &suggest->rows.at[i];

		if (row->limit > 0 && row->min == row->max && row->waste == 0) {
			suggest->canary = i + 1;
			suggest->canary_limit = row->min / 2;
		}
	}
}

void suggest_done(struct suggest *suggest)
{
	vec_done(&suggest->rows);
	map_done(&suggest->index);
}
