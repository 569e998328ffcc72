/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting for budgets, call by call, and what a run that is over says of
 * each.  Counts here are exact or the budget cannot be judged: whatever could
 * have hidden a call from a budget becomes its reason.
 */
#include "verdict/budget.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "verdict/analysis.h"
#include "verdict/budget-state.h"

void budget_top_done(struct budget *budget)
{
	for (size_t i = 0; i < budget->top_count; i++) {
		free(budget->top[i].name);
		free(budget->top[i].place);
		free(budget->top[i].program);
		free(budget->top[i].site);
	}
	free(budget->top);
	budget->top = NULL;
	budget->top_count = 0;
}

void budget_groups_done(struct budget *budget)
{
	for (size_t i = 0; i < budget->groups.used; i++) {
		free(budget->groups.at[i].dir);
		free(budget->groups.at[i].first);
	}
	budget->groups.used = 0;
	map_clear(&budget->group_index);
	budget->ungrouped = 0;
}

void budget_done(struct budget *budget)
{
	budget_groups_done(budget);
	budget_top_done(budget);
	vec_done(&budget->groups);
	map_done(&budget->group_index);
	map_done(&budget->sites);
	vec_done(&budget->samples);
	vec_done(&budget->terms);
	vec_done(&budget->rules);
	free(budget->what);
	free(budget->calls);
	free(budget->program);
	free(budget->site);
	free(budget->region);
	free(budget->why);
}

void budgets_done(struct budgets *budgets)
{
	if (!budgets)
		return;
	for (size_t i = 0; i < budgets->items.used; i++)
		budget_done(&budgets->items.at[i]);
	vec_done(&budgets->items);
	vec_done(&budgets->active);
	map_done(&budgets->regions);
}

bool budgets_need_rules(const struct budgets *budgets)
{
	for (size_t i = 0; i < budgets->items.used; i++)
		if (budgets->items.at[i].rules.used > 0)
			return true;
	return false;
}

bool budgets_need_sites(const struct budgets *budgets)
{
	for (size_t i = 0; i < budgets->items.used; i++)
		if (budgets->items.at[i].site)
			return true;
	return false;
}

bool budgets_scope(const struct budgets *budgets, uint64_t ret_calls[static SYS_EXPR_WORDS], bool *ret_regions)
{
	memset(ret_calls, 0, SYS_EXPR_WORDS * sizeof ret_calls[0]);
	*ret_regions = budgets->need_regions;
	for (size_t i = 0; i < budgets->items.used; i++) {
		const struct budget *budget = &budgets->items.at[i];

		/* Who called is asked of a stopped task only where every call is watched. */
		if (budget->rules.used > 0 || budget->total || budget->site)
			return false;
		for (size_t k = 0; k < budget->terms.used; k++)
			for (unsigned id = 0; id < CALL_COUNT; id++)
				if (sys_expr_has(&budget->terms.at[k].calls, (enum sys_call_id)id))
					ret_calls[id >> 6] |= UINT64_C(1) << (id & 63);
	}
	return budgets->items.used > 0;
}

static uint64_t region_key(const char *name)
{
	return map_hash(name, strlen(name));
}

/* Those that count from here on. */
static int activate(struct budgets *budgets, const char *region)
{
	budgets->active.used = 0;
	for (size_t i = 0; i < budgets->items.used; i++) {
		const struct budget *budget = &budgets->items.at[i];

		if (budget->terms.used == 0 || (budget->region && (!region || strcmp(region, budget->region) != 0)))
			continue;
		if (!vec_push(&budgets->active, (uint32_t)i))
			return -ENOMEM;
	}
	return 0;
}

int budgets_begin(struct budgets *budgets)
{
	map_done(&budgets->regions);
	map_init(&budgets->regions, 0, 0);
	budgets->unnamed = 0;
	budgets->uncounted = false;
	for (size_t i = 0; i < budgets->items.used; i++) {
		struct budget *budget = &budgets->items.at[i];

		budget->count = budget->site_unknown = 0;
		map_clear(&budget->sites);
		budget->program_seen = budget->image_is = false;
		budget->image = UINT64_MAX;
		budget_groups_done(budget);
	}
	return activate(budgets, NULL);
}

int budgets_region(struct budgets *budgets, const char *name)
{
	int r = map_put(&budgets->regions, region_key(name), NULL) ? activate(budgets, name) : -ENOMEM;

	budgets->uncounted = budgets->uncounted || r < 0;
	return r;
}

static bool is_program(const struct budget *budget, const char *path)
{
	return strcmp(strchr(budget->program, '/') ? path : rule_base_name(path), budget->program) == 0;
}

static bool of_program(struct budget *budget, const struct model_process *process)
{
	/* One image runs one program: the comparison is made once for it. */
	if (process->id != budget->image) {
		budget->image = process->id;
		budget->image_is = is_program(budget, process->exe->path);
		budget->program_seen = budget->program_seen || budget->image_is;
	}
	return budget->image_is;
}

static bool counts(const struct budget *budget, const struct event_call *call, enum sys_call_id id, int err)
{
	for (size_t i = 0; i < budget->terms.used; i++) {
		const struct budget_term *term = &budget->terms.at[i];

		if (term->err != 0 && term->err != err)
			continue;
		if (id != CALL_unknown ? sys_expr_has(&term->calls, id)
				       : sys_expr_has_number(&term->calls, (enum sys_arch)call->arch, call->nr))
			return true;
	}
	return false;
}

int budgets_call(struct budgets *budgets, const struct model_view *view, const struct event_call *call,
		 enum sys_call_id id, int err)
{
	int r = 0;

	budgets->unnamed += id == CALL_unknown && err != ENOSYS;
	for (size_t i = 0; i < budgets->active.used; i++) {
		struct budget *budget = &budgets->items.at[budgets->active.at[i]];

		if (budget->program && !of_program(budget, view->process))
			continue;
		if (!counts(budget, call, id, err))
			continue;
		if (budget->site) {
			if (budget_site_add(budget, budgets->model, view) < 0)
				r = -ENOMEM;
			continue;
		}
		budget->count++;
		if (budget->kind == BUDGET_MAX && budget_group_add(budget, budgets->model, view, call, err) < 0)
			r = -ENOMEM;
	}
	return r;
}

/* Lost calls are still known by call, and mostly by errno: adds those of the
 * budget.  False: some could be its own, and nobody knows. */
static bool add_lost(struct budget *budget, const struct analysis_facts *facts)
{
	uint64_t known = 0, own = 0;

	for (size_t i = 0; i < facts->loss_count && !budget->total; i++) {
		const struct analysis_loss *loss = &facts->losses[i];
		struct event_call call = { .arch = loss->arch, .nr = loss->nr };

		/* Failed in a way that is not known: its own, if any way is. */
		for (size_t k = 0; k < budget->terms.used && loss->failed && loss->err == 0; k++)
			if (budget->terms.at[k].err != 0 &&
			    sys_expr_has_number(&budget->terms.at[k].calls, (enum sys_arch)loss->arch, loss->nr))
				return false;
		known += loss->nr >= 0 ? loss->count : 0;
		if (loss->nr >= 0 && counts(budget, &call, event_call_id(&call), loss->err))
			own += loss->count;
	}
	budget->count += budget->total ? facts->lost : own;
	return budget->total || known == facts->lost;
}

/* The first reason stays. */
static int cannot(struct budget *budget, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int cannot(struct budget *budget, const char *format, ...)
{
	va_list args;
	int bytes;

	if (budget->why)
		return 0;
	va_start(args, format);
	bytes = vasprintf(&budget->why, format, args);
	va_end(args);
	if (bytes >= 0)
		return 0;
	budget->why = NULL;
	return -ENOMEM;
}

static bool uring_can(const struct budget *budget)
{
	for (size_t i = 0; i < budget->terms.used; i++)
		for (unsigned id = 1; id < CALL_COUNT; id++)
			if (sys_expr_has(&budget->terms.at[i].calls, (enum sys_call_id)id) &&
			    budget_uring_can((enum sys_call_id)id))
				return true;
	return budget->rules.used > 0;
}

static bool has_family(const struct budget *budget)
{
	for (size_t i = 0; i < budget->terms.used; i++)
		if (budget->terms.at[i].family)
			return true;
	return false;
}

/* What could have hidden calls from this budget in this run becomes its reason. */
static int hidden(const struct budgets *budgets, struct budget *budget, const struct analysis_result *result,
		  bool lost_known)
{
	const struct analysis_facts *facts = &result->facts;
	char number[TEXT_NUMBER_MAX + 8];
	bool rules = budget->rules.used > 0, parts = rules || budget->program || budget->region || budget->site;

	if (!result->closed)
		return cannot(budget, "the books are not closed: %s", result->books_why);
	if (facts->aborted)
		return cannot(budget, "we let go early: %s",
			      facts->abort_reason ? facts->abort_reason : "an error of ours");
	if ((parts && !result->complete) || budgets->uncounted)
		return cannot(budget, "the books are not complete: %s",
			      result->books_why[0] ? result->books_why : "no memory");
	if (!lost_known)
		return cannot(budget, "%s lost, and it is not known which",
			      text_plural(facts->lost, "call was", "calls were", number, sizeof number));
	if (budget->region && !map_get(&budgets->regions, region_key(budget->region)))
		return cannot(budget, "no region '%s' began", budget->region);
	if (budget->region && result->regions_refused > 0)
		return cannot(budget, "more regions than are told apart");
	if (budget->site && !budgets->model)
		return cannot(budget,
			      "nothing is known of where calls come from: this syscull was built without libdw");
	if (budget_site_doubtful(budget))
		return cannot(budget, "where %s of the calls come from is not known",
			      text_count(budget->site_unknown, number));
	/* What is left can only hide calls: what is reached stays reached. */
	if (budget->kind != BUDGET_MAX && budget->measure == BUDGET_COUNT && (double)budget->count >= budget->limit)
		return 0;
	if (facts->io_uring && uring_can(budget))
		return cannot(budget, "io_uring was used, and what it does is no call that can be counted");
	if (facts->refused_unseen)
		return cannot(budget,
			      "a program's seccomp filter came over all its threads at once, and what it refused "
			      "is not known");
	if (facts->not_followed > 0)
		return cannot(budget, "%s of the children ran untraced", text_count(facts->not_followed, number));
	if (facts->foreign_calls && !budget->total)
		return cannot(budget, "a 32-bit program ran, whose calls have no names here");
	if (budgets->unnamed > 0 && has_family(budget))
		return cannot(budget, "a call without a name here was made, which may be one of %s", budget->calls);
	return 0;
}

static bool finding_of_program(const struct budget *budget, const struct finding *finding)
{
	return !budget->program || (finding->exe && is_program(budget, finding->exe));
}

bool budget_counts_finding(const struct budget *budget, const struct analysis_result *result, size_t n)
{
	const struct verdict_finding *verdict = &result->findings[n];
	const struct finding *finding = verdict->finding;

	if (finding->information || finding->tier == FINDING_BY_DESIGN || !finding_of_program(budget, finding))
		return false;
	for (size_t i = 0; i < budget->rules.used; i++)
		if (budget->rules.at[i].rule == finding->rule && (verdict->worth || !budget->rules.at[i].worth))
			return true;
	return false;
}

static void count_findings(struct budget *budget, const struct analysis_result *result)
{
	budget->count = 0;
	for (size_t n = 0; n < result->finding_count; n++)
		if (budget_counts_finding(budget, result, n))
			budget->count += result->findings[n].finding->calls;
}

/* A program that made no call that is watched was still there. */
static void look_for_program(struct budget *budget, const struct analysis_result *result)
{
	const struct model_exe *exe;

	for (size_t n = 0; budget->program && !budget->program_seen && (exe = model_exe_at(result->model, n)); n++)
		budget->program_seen = is_program(budget, exe->path);
}

int budgets_take(struct budgets *budgets, const struct analysis_result *result, uint64_t item)
{
	int r = 0;

	for (size_t i = 0; i < budgets->items.used && r == 0; i++) {
		struct budget *budget = &budgets->items.at[i];
		struct budget_sample sample = { .item = item, .sized = budgets->per_item };
		bool lost_known = true; /* of parts: a run that lost any is not complete */

		if (budget->site)
			r = budget_sites_take(budget, result);
		else if (budget->rules.used > 0)
			count_findings(budget, result);
		else if (!budget->program && !budget->region)
			lost_known = add_lost(budget, &result->facts);
		look_for_program(budget, result);
		if (r == 0)
			r = hidden(budgets, budget, result, lost_known);
		if (r == 0 && budget->program && !budget->program_seen)
			r = cannot(budget, "no program '%s' ran", budget->program);
		if (r == 0 && budget->kind == BUDGET_MAX && budget->count > 0 && !budget->site) {
			budget_top_done(budget);
			r = budget->rules.used > 0 ? budget_findings_top(budget, result)
						   : budget_groups_top(budget, result);
		}
		sample.count = budget->count;
		sample.known = !budget->why;
		budget_groups_done(budget);
		if (r == 0 && !vec_push(&budget->samples, sample))
			r = -ENOMEM;
	}
	return r;
}
