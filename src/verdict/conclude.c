/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of an analysis: books, time, findings, in this order. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules/claims.h"
#include "rules/merge.h"
#include "rules/scripts.h"
#include "verdict/analysis-state.h"
#include "verdict/books.h"
#include "verdict/budget-next.h"
#include "verdict/judge.h"
#include "verdict/upgrade.h"

#define USER_LEAST 0.05 /* of a program's work is its own, at the least */
#define FIT_LEAST 0.35 /* no price is off by more */

static void end_rules(struct analysis *analysis)
{
	struct model_process *process;

	for (size_t n = 0; (process = model_process_at(analysis->result.model, n)); n++)
		if (!process->ended)
			analysis_image_end(analysis, process);
	for (size_t i = 0; i < analysis->runs.used; i++) {
		struct rule_run *run = &analysis->runs.at[i];

		if (run->rule->end && !(run->rule->needs & analysis->result.facts.lacks))
			run->rule->end(run, &analysis->findings);
		analysis->result.evicted += run->evicted;
	}
	finding_list_settle(&analysis->findings);
	finding_list_scripts(&analysis->findings, analysis->result.model);
	finding_list_merge(&analysis->findings);
	if (analysis->stacks) {
		site_want_findings(&analysis->findings, analysis->stacks);
		if (analysis->budgets)
			budgets_want_sites(analysis->budgets, analysis->stacks);
		for (size_t site = 1; analysis->count_sites && site <= model_site_count(analysis->result.model); site++)
			analysis->stacks->want(analysis->stacks->data, (uint32_t)site);
		analysis->stacks->resolve(analysis->stacks->data, analysis->result.model);
		site_tell_findings(&analysis->findings, analysis->stacks);
		analysis->result.sites_trouble = analysis->stacks->trouble(analysis->stacks->data);
	}
}

/* Lost calls are in the counts, which so stay right; rules have not seen them. */
static void add_losses(struct analysis *analysis)
{
	const struct analysis_facts *facts = &analysis->result.facts;

	for (size_t i = 0; i < facts->loss_count; i++) {
		const struct analysis_loss *loss = &facts->losses[i];

		(void)tally_add_lost(&analysis->tally, loss->arch, loss->nr, loss->failed, loss->err, loss->count);
	}
	analysis->result.calls = analysis->tally.total;
}

static int by_time(const void *a, const void *b)
{
	const struct verdict_call *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->row.count != y->row.count)
		return x->row.count < y->row.count ? 1 : -1;
	return strcmp(x->name, y->name);
}

static struct verdict_call *list_calls(const struct tally *tally, const struct time_amount *amounts)
{
	size_t count = tally->rows.used;
	struct verdict_call *calls = calloc(count ? count : 1, sizeof *calls);

	if (!calls)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		struct verdict_call *call = &calls[i];

		call->row = tally->rows.at[i];
		call->ns = amounts[i].ns;
		call->low_ns = amounts[i].low_ns;
		call->high_ns = amounts[i].high_ns;
		call->usual_ns = amounts[i].usual_ns;
		call->most_ns = amounts[i].most_ns;
		call->source = amounts[i].source;
		if (call->row.nr == TALLY_OTHER_NR)
			(void)strcpy(call->name, "others");
		else
			(void)sys_call_print((enum sys_arch)call->row.arch, call->row.nr, call->name);
	}
	qsort(calls, count, sizeof *calls, by_time);
	return calls;
}

static int list_processes(struct analysis *analysis)
{
	struct analysis_result *result = &analysis->result;
	size_t rows = result->shown->rows.used;
	uint64_t *counts = calloc(rows ? rows : 1, sizeof *counts);
	double *row_ns = calloc(rows ? rows : 1, sizeof *row_ns);
	struct model_process *process;
	int r = counts && row_ns ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < result->by_call_count; i++) {
		counts[result->by_call[i].row.index] = result->by_call[i].row.count;
		row_ns[result->by_call[i].row.index] = result->by_call[i].ns;
	}
	for (size_t n = 0; r == 0 && (process = model_process_at(result->model, n)); n++) {
		if (process->folded)
			continue;
		programs_see(&analysis->programs, process);
		r = process_see(&analysis->processes, process);
	}
	if (r == 0)
		r = process_judge(&analysis->processes, row_ns, counts, rows, &result->by_process);
	if (r == 0)
		r = programs_judge(&analysis->programs, row_ns, counts, rows, result->dearer_ns, result->programs,
				   &result->by_exe, &result->by_exe_count);
	free(counts);
	free(row_ns);
	return r;
}

static bool is_firm(const struct tally *tally, const struct time_amount *amounts, size_t row)
{
	return amounts[row].source == PRICE_CALIBRATED && time_is_firm(tally->rows.at[row].id);
}

/* Firm prices have a factor of their own, mostly 1. */
static void scale_calls(const struct tally *tally, struct time_amount *amounts, size_t rows, double factor, double firm)
{
	for (size_t row = 0; row < rows; row++) {
		double by = is_firm(tally, amounts, row) ? firm : factor;

		amounts[row].ns *= by;
		amounts[row].low_ns *= by;
		amounts[row].usual_ns *= by;
	}
}

/* Of the calls that a filter lets through. */
static int list_shown(struct analysis *analysis)
{
	struct analysis_result *result = &analysis->result;
	struct analysis_shown *shown = analysis->shown;
	size_t rows = shown->tally.rows.used;
	struct time_amount *amounts = calloc(rows ? rows : 1, sizeof *amounts);

	if (!amounts)
		return -ENOMEM;
	shown->time.asleep_work_ns = analysis->time.asleep_work_ns;
	for (size_t row = 0; row < rows; row++)
		time_of_row(&shown->time, &shown->tally, &shown->tally.rows.at[row], result->prices, result->stop_ns,
			    &amounts[row]);
	scale_calls(&shown->tally, amounts, rows, result->price_fit, result->firm_fit);
	shown->all_calls = result->by_call;
	result->by_call = list_calls(&shown->tally, amounts);
	result->by_call_count = result->by_call ? rows : 0;
	free(amounts);
	return result->by_call ? list_processes(analysis) : -ENOMEM;
}

/* Prices a region's calls at the tree's average for each kind of call. */
static void price_region(const struct analysis_result *result, const struct region *region, struct verdict_region *ret)
{
	double measured_ns = 0;

	for (size_t i = 0; i < result->by_call_count; i++) {
		const struct verdict_call *call = &result->by_call[i];
		uint64_t count = call->row.index < region->by_row.used ? region->by_row.at[call->row.index] : 0;
		double ns = call->row.count > 0 ? call->ns * (double)count / (double)call->row.count : 0;
		size_t place = 0;

		ret->calls_ns += ns;
		ret->calls_low_ns += call->ns > 0 ? call->low_ns * ns / call->ns : 0;
		ret->calls_high_ns += call->ns > 0 ? call->high_ns * ns / call->ns : 0;
		measured_ns += call->source == PRICE_MEASURED ? ns : 0;
		while (count > 0 && place < VERDICT_REGION_TOP && ret->top[place].call &&
		       ret->top[place].call->ns * (double)ret->top[place].count /
				       (double)ret->top[place].call->row.count >=
			       ns)
			place++;
		if (count == 0 || place == VERDICT_REGION_TOP)
			continue;
		memmove(&ret->top[place + 1], &ret->top[place], (VERDICT_REGION_TOP - 1 - place) * sizeof ret->top[0]);
		ret->top[place].call = call;
		ret->top[place].count = count;
	}
	ret->source = measured_ns * 2 > ret->calls_ns ? PRICE_MEASURED : PRICE_CALIBRATED;
}

/* Work is all that is no waiting: of the way that leads to the end, so that tasks side by side count once. */
static void took(const struct analysis_result *result, const struct region *region, struct verdict_region *ret)
{
	double waiting_ns = region->took.wait_ns + region->took.io_ns,
	       ns = region->took.ns + region->took.stops * result->dearer_ns - waiting_ns;

	/* What some calls took says nothing of a region. */
	ret->waiting_ns = result->facts.scope || result->facts.calls_only ? NAN : waiting_ns;
	ret->work_ns = isnan(ret->waiting_ns) ? NAN : ns > 0 ? ns : 0;
}

static int list_regions(struct analysis *analysis)
{
	struct analysis_result *result = &analysis->result;
	const struct untraced_point end = untraced_now(&analysis->untraced, 0);
	struct region_book *book = &analysis->regions;

	region_end(book, &end);
	if (book->regions.used == 0)
		return 0;
	result->regions = calloc(book->regions.used, sizeof *result->regions);
	if (!result->regions)
		return -ENOMEM;
	result->region_count = book->regions.used;
	result->regions_refused = book->refused;
	for (size_t i = 0; i < book->regions.used; i++) {
		const struct region *region = &book->regions.at[i];

		result->regions[i] = (struct verdict_region){
			.name = region->name,
			.marks = region->marks,
			.calls = region->calls,
			.failed = region->failed,
			.wall_ns = region->wall_ns,
		};
		took(result, region, &result->regions[i]);
		price_region(result, region, &result->regions[i]);
	}
	return 0;
}

/* The tree cannot be faster than its work on all CPUs, nor than the first
 * task's own calls, nor slower than it was. */
static double untraced_ns(const struct analysis_result *result, const struct untraced_result *untraced,
			  const struct time_result *time)
{
	double wall_ns = (double)result->facts.wall_ns, ns = untraced->ns, least_ns = time->root_calls_ns;
	long cpus = result->tasks <= 1 ? 1 : sysconf(_SC_NPROCESSORS_ONLN);

	/* One task without a clock: its parts are known better than its whole. */
	if (!untraced->clocked && result->tasks <= 1)
		ns = result->task_ns + result->waiting_ns;
	if (cpus > 0 && least_ns < result->task_ns / (double)cpus)
		least_ns = result->task_ns / (double)cpus;
	ns = ns < least_ns ? least_ns : ns;
	return wall_ns > 0 && ns > wall_ns ? wall_ns : ns;
}

/*
 * Prices are of warm loops at another moment; what all calls come to must
 * still fit into what the kernel's account says that all tasks had, and that
 * a program does something between its calls.  By how much they have to be
 * less; a far lower account is not to be trusted either.
 */
static double fit_calls(const struct analysis_result *result, const struct untraced_result *untraced,
			const struct time_result *time, double firm_ns)
{
	double wall_ns = (double)result->facts.wall_ns, most_ns = time->calls_ns, soft_ns = time->calls_ns - firm_ns;
	long cpus = result->tasks <= 1 ? 1 : sysconf(_SC_NPROCESSORS_ONLN);

	if (soft_ns <= 0)
		return 1;
	if (untraced->clocked)
		most_ns = untraced->work_ns * (1 - USER_LEAST);
	if (wall_ns > 0 && cpus > 0 && most_ns > wall_ns * (double)cpus * (1 - USER_LEAST))
		most_ns = wall_ns * (double)cpus * (1 - USER_LEAST);
	most_ns -= firm_ns;
	if (most_ns < soft_ns * FIT_LEAST)
		most_ns = soft_ns * FIT_LEAST;
	return most_ns < soft_ns ? most_ns / soft_ns : 1;
}

/* Without an account of the tasks it is all from durations. */
#define SPREAD 0.05
#define SPREAD_BY_DURATIONS 0.3
/* A stop that wakes us up on another CPU costs now this, now five times as much. */
#define SPREAD_ACROSS 5

static void judge_ranges(struct analysis_result *result, const struct untraced_result *untraced,
			 const struct time_amount *amounts, size_t rows)
{
	double spread = untraced->clocked ? SPREAD : SPREAD_BY_DURATIONS, wall_ns = (double)result->facts.wall_ns,
	       stops = !untraced->clocked     ? 0
		       : result->facts.pinned ? 1
					      : SPREAD_ACROSS,
	       task_ns = spread * result->task_ns + stops * untraced->work_spread,
	       whole_ns = spread * result->untraced_ns + stops * untraced->ns_spread;

	for (size_t row = 0; row < rows; row++) {
		result->calls_low_ns += amounts[row].low_ns;
		result->calls_high_ns += amounts[row].high_ns;
	}
	result->task_low_ns = result->task_ns > 2 * task_ns ? result->task_ns - task_ns : result->task_ns / 2;
	result->task_high_ns = result->task_ns + task_ns;
	result->untraced_low_ns =
		result->untraced_ns > 2 * whole_ns ? result->untraced_ns - whole_ns : result->untraced_ns / 2;
	result->untraced_high_ns = result->untraced_ns + whole_ns;
	if (wall_ns >= result->untraced_ns && result->untraced_high_ns > wall_ns)
		result->untraced_high_ns = wall_ns;
}

/* What some calls took says nothing of a run; they keep their own prices. */
static void forget_time(struct analysis_result *result)
{
	double *const amounts[] = { &result->calls_ns,	  &result->calls_low_ns,    &result->calls_high_ns,
				    &result->user_ns,	  &result->waiting_ns,	    &result->task_ns,
				    &result->task_low_ns, &result->task_high_ns,    &result->untraced_ns,
				    &result->stop_ns,	  &result->untraced_low_ns, &result->untraced_high_ns };

	for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++)
		*amounts[i] = NAN;
}

static int judge_time(struct analysis *analysis)
{
	struct analysis_result *result = &analysis->result;
	size_t rows = analysis->tally.rows.used;
	struct time_amount *amounts = calloc(rows ? rows : 1, sizeof *amounts);
	struct untraced_result untraced;
	struct time_result time;
	double firm_ns = 0, most_ns;
	int r;

	if (!amounts)
		return -ENOMEM;
	time_settle(&analysis->time);
	time_judge(&analysis->time, &analysis->tally, result->prices, &time, amounts);
	untraced_judge(&analysis->untraced, result->prices, &untraced);
	for (size_t row = 0; row < rows; row++)
		firm_ns += is_firm(&analysis->tally, amounts, row) ? amounts[row].ns : 0;
	/* Not even they can be more than the time that passed. */
	most_ns = (double)result->facts.wall_ns * (1 - USER_LEAST);
	result->firm_fit = most_ns > 0 && firm_ns > most_ns ? most_ns / firm_ns : 1;
	time.calls_ns -= firm_ns * (1 - result->firm_fit);
	firm_ns *= result->firm_fit;
	result->price_fit =
		result->facts.scope || result->facts.calls_only ? 1 : fit_calls(result, &untraced, &time, firm_ns);
	if (time.calls_ns > 0)
		time.root_calls_ns *= (firm_ns + (time.calls_ns - firm_ns) * result->price_fit) / time.calls_ns;
	time.calls_ns = firm_ns + (time.calls_ns - firm_ns) * result->price_fit;
	scale_calls(&analysis->tally, amounts, rows, result->price_fit, result->firm_fit);
	if ((untraced.clocked || result->in_kernel) && !result->facts.scope)
		result->programs = &analysis->programs;
	result->dearer_ns = untraced.dearer_ns;
	result->stop_ns = time.stop_ns;
	result->stop_guessed = time.stop_guessed;
	result->calls_ns = time.calls_ns;
	result->user_ns = untraced.clocked ? untraced.work_ns - time.calls_ns : time.user_ns;
	if ((untraced.clocked || analysis->time.user_gaps > 0) && result->user_ns < USER_LEAST * time.calls_ns)
		result->user_ns = USER_LEAST * time.calls_ns;
	result->waiting_ns = !untraced.clocked && result->tasks <= 1 ? time.waiting_ns : untraced.wait_ns;
	result->task_ns = result->user_ns + result->calls_ns;
	result->untraced_ns = untraced_ns(result, &untraced, &time);
	judge_ranges(result, &untraced, amounts, rows);
	if (result->facts.scope)
		forget_time(result);
	if (result->facts.calls_only)
		result->untraced_ns = result->untraced_low_ns = result->untraced_high_ns = -1;
	result->by_call = list_calls(&analysis->tally, amounts);
	result->by_call_count = result->by_call ? rows : 0;
	result->all_calls = result->by_call;
	result->all_call_count = result->by_call_count;
	free(amounts);
	if (!result->by_call)
		return -ENOMEM;
	r = analysis->shown ? list_shown(analysis) : list_processes(analysis);
	return r < 0 ? r : list_regions(analysis);
}

int analysis_finish(struct analysis *analysis, const struct analysis_facts *facts, struct error *err)
{
	struct analysis_result *result = &analysis->result;
	struct model_stats stats;
	int r;

	if (analysis->finished)
		return error_set(err, EALREADY, "the analysis is finished already");
	analysis->finished = true;
	result->facts = *facts;
	end_rules(analysis);
	model_stats(result->model, &stats);
	result->processes = stats.processes;
	result->tasks = stats.tasks;
	result->model_losses = stats.losses;
	result->model_limit = stats.limit;
	result->calls = analysis->tally.total;
	books_judge(result, analysis->tally.total, analysis->tally.lost);
	add_losses(analysis);
	analysis_tell_environment(result);
	r = judge_time(analysis);
	if (r == 0) {
		analysis_narrow(analysis);
		r = upgrade_judge(result, &analysis->findings, analysis->packages);
	}
	if (r == 0)
		r = suppress_apply(result, analysis->suppressions);
	if (r == 0 && analysis->count_sites)
		r = site_table_judge(&analysis->sites, analysis->stacks, result);
	if (r == 0)
		budget_next(result, &result->next_budget);
	return r < 0 ? error_errno(err, -r, "cannot judge the run") : 0;
}
