/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeding: what happens for every record is here and has to be short; the
 * judging is in conclude.c.
 */
#include "verdict/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/analysis-state.h"
#include "verdict/judge.h"

/* What the result tells of the environment. */
static const char *const environment[] = { "LC_ALL", "LC_CTYPE", "LANG", "TZ", "PATH", NULL };

static bool wanted(const struct analysis_spec *spec, const struct rule *rule)
{
	if (!spec->only_rules)
		return true;
	for (const char *const *id = spec->only_rules; *id; id++)
		if (strcmp(*id, rule->id) == 0)
			return true;
	return false;
}

static int check_ids(const struct analysis_spec *spec, struct error *err)
{
	for (const char *const *id = spec->only_rules; id && *id; id++)
		if (!rule_by_id(*id))
			return error_set(err, EINVAL, "there is no rule \"%s\"", *id);
	return 0;
}

static int add_env(struct analysis *analysis, const char *const *names)
{
	for (; names && *names; names++) {
		bool there = false;

		for (size_t i = 0; i < analysis->env.used; i++)
			there = there || strcmp(analysis->env.at[i], *names) == 0;
		if (!there && !vec_push(&analysis->env, *names))
			return -ENOMEM;
	}
	return 0;
}

static int start_run(struct analysis *analysis, const struct rule *rule)
{
	struct rule_run *run = vec_add(&analysis->runs);
	size_t n = 0;
	int r;

	if (!run)
		return -ENOMEM;
	run->rule = rule;
	run->model = analysis->result.model;
	run->claims = &analysis->claims;
	run->state = calloc(1, rule->state_bytes ? rule->state_bytes : 1);
	if (!run->state)
		return -ENOMEM;
	for (const struct rule_limit *limit = rule->limits; limit && limit->name; limit++) {
		if (n == sizeof run->limits / sizeof run->limits[0])
			return -E2BIG;
		run->limits[n] = settings_limit(analysis->result.settings, rule, n);
		n++;
	}
	r = rule->start ? rule->start(run) : 0;
	if (r < 0)
		return r;
	analysis->items |= rule->items;
	return add_env(analysis, rule->env);
}

static bool subscribes(const struct rule *rule, unsigned call)
{
	for (const uint16_t *id = rule->call ? rule->calls : NULL; id && *id; id++)
		if (*id == call)
			return true;
	return false;
}

/* One list of rules per call, back to back, once all runs have their place: a call that no rule reads costs
 * the comparison of two numbers. */
static int make_subscriptions(struct analysis *analysis)
{
	for (unsigned call = 0; call < CALL_COUNT; call++) {
		analysis->first[call] = (uint32_t)analysis->subscribers.used;
		for (size_t i = 0; i < analysis->runs.used; i++) {
			struct rule_run *run = &analysis->runs.at[i];

			if (subscribes(run->rule, call) &&
			    !vec_push(&analysis->subscribers,
				      (struct analysis_subscriber){ .call = run->rule->call, .run = run }))
				return -ENOMEM;
		}
	}
	analysis->first[CALL_COUNT] = (uint32_t)analysis->subscribers.used;
	return 0;
}

static int set_up(struct analysis *analysis, const struct analysis_spec *spec)
{
	struct analysis_result *result = &analysis->result;
	int r = 0;

	result->model = model_new();
	if (!result->model || !result->prices)
		return -ENOMEM;
	analysis->claims.model = result->model;
	for (const struct rule *const *rule = rule_list; *rule && r == 0; rule++)
		if (wanted(spec, *rule))
			r = start_run(analysis, *rule);
	if (r == 0)
		r = make_subscriptions(analysis);
	if (r == 0)
		r = add_env(analysis, environment);
	if (r == 0 && filter_active(spec->filter))
		r = analysis_set_filter(analysis, spec->filter);
	if (r == 0 && !vec_push(&analysis->env, NULL))
		r = -ENOMEM;
	return r;
}

int analysis_new(const struct analysis_spec *spec, struct analysis **ret, struct error *err)
{
	struct price_book *prices = spec->prices ? spec->prices : price_book_new();
	struct analysis *analysis = calloc(1, sizeof *analysis);
	int r = check_ids(spec, err);

	if (r < 0 || !analysis) {
		price_book_free(prices);
		package_book_free(spec->packages);
		free(analysis);
		return r < 0 ? r : error_errno(err, ENOMEM, "cannot begin the analysis");
	}
	tally_init(&analysis->tally);
	time_init(&analysis->time);
	untraced_init(&analysis->untraced);
	region_init(&analysis->regions);
	process_init(&analysis->processes);
	programs_init(&analysis->programs);
	analysis->items = MODEL_ITEMS;
	analysis->result.prices = prices;
	analysis->packages = spec->packages;
	analysis->budgets = spec->budgets;
	analysis->result.tally = analysis->result.shown = &analysis->tally;
	analysis->result.floor = spec->floor;
	analysis->result.settings = spec->settings;
	analysis->suppressions = spec->suppressions;
	analysis->stacks = analysis->result.stacks = spec->stacks;
	analysis->count_sites = spec->sites;
	site_table_init(&analysis->sites);
	if (!spec->floor.set && spec->floor.share == 0 && spec->floor.least_ns == 0 && spec->floor.enough_ns == 0)
		analysis->result.floor = JUDGE_FLOOR_DEFAULT;
	r = set_up(analysis, spec);
	if (r == 0 && analysis->budgets)
		r = budgets_begin(analysis->budgets);
	if (r == 0 && analysis->budgets)
		analysis->budgets->model = analysis->stacks ? analysis->result.model : NULL;
	if (r < 0) {
		analysis_free(analysis);
		return error_errno(err, -r, "cannot begin the analysis");
	}
	*ret = analysis;
	return 0;
}

void analysis_free(struct analysis *analysis)
{
	if (!analysis)
		return;
	judge_done(&analysis->result);
	processes_done(&analysis->result.by_process);
	finding_list_done(&analysis->findings);
	rule_claims_done(&analysis->claims);
	for (size_t i = 0; i < analysis->runs.used; i++) {
		struct rule_run *run = &analysis->runs.at[i];

		/* start may have made half of it: done has to bear zeroed state. */
		if (run->rule->done && run->state)
			run->rule->done(run);
		free(run->state);
	}
	free(analysis->result.by_call);
	vec_done(&analysis->runs);
	vec_done(&analysis->subscribers);
	vec_done(&analysis->env);
	tally_done(&analysis->tally);
	time_done(&analysis->time);
	untraced_done(&analysis->untraced);
	region_done(&analysis->regions);
	process_done(&analysis->processes);
	site_table_done(&analysis->sites);
	site_table_result_done(&analysis->result);
	programs_done(&analysis->programs);
	analysis_shown_free(analysis->shown);
	free(analysis->result.regions);
	free(analysis->result.by_exe);
	model_free(analysis->result.model);
	price_book_free(analysis->result.prices);
	package_book_free(analysis->packages);
	free(analysis);
}

uint64_t analysis_items(const struct analysis *analysis)
{
	return analysis->items;
}

const char *const *analysis_env(const struct analysis *analysis)
{
	return analysis->env.at;
}

const struct analysis_result *analysis_result(const struct analysis *analysis)
{
	return &analysis->result;
}

void analysis_add_warning(struct analysis_facts *facts, const char *text)
{
	size_t used = 0;

	while (facts->warnings[used])
		used++;
	if (used + 1 < sizeof facts->warnings / sizeof facts->warnings[0])
		facts->warnings[used] = text;
}

void analysis_set_check(struct analysis *analysis, const struct check *check)
{
	analysis->result.check = check;
}

static int feed_call(struct analysis *analysis, const struct model_view *view)
{
	unsigned components = (view->path ? view->path->components : 0) + (view->path2 ? view->path2->components : 0);
	const struct tally_row *row = tally_add(&analysis->tally, view->call, view->err, components);
	int r = row ? time_add_call(&analysis->time, row, view->call, view->err, &analysis->untraced.call) : -ENOMEM;

	if (row) {
		int s = analysis_show(analysis, view, view->call, view->err, components, row, &row);

		r = r < 0 ? r : s;
	}
	if (row && analysis->count_sites)
		site_table_add(&analysis->sites, model_site(analysis->result.model, view), row, view->err);
	if (analysis->stacks && event_item(&view->call->head, SYS_ITEM_STACK))
		analysis->stacks->take(analysis->stacks->data, analysis->result.model, view,
				       model_site(analysis->result.model, view));
	if (row)
		programs_add_call(&analysis->programs, view->process, row->index, view->phase, view->err);
	if (analysis->regions.regions.used > 0) {
		region_look(&analysis->regions, view->call);
		if (row)
			(void)region_add(&analysis->regions, row->index, view->err);
	}
	if (view->call->head.flags & EVENT_F_UNFINISHED)
		return r;
	if (analysis->first[view->id] == analysis->first[view->id + 1])
		return r;
	for (const struct analysis_subscriber *at = analysis->subscribers.at + analysis->first[view->id],
					      *end = analysis->subscribers.at + analysis->first[view->id + 1];
	     at < end; at++)
		at->call(at->run, view);
	return r;
}

void analysis_image_end(struct analysis *analysis, struct model_process *process)
{
	for (size_t i = 0; i < analysis->runs.used; i++) {
		struct rule_run *run = &analysis->runs.at[i];

		if (run->rule->image_end)
			run->rule->image_end(run, process);
	}
}

int analysis_feed(struct analysis *analysis, const struct event_head *head)
{
	const struct event_call *call = (const struct event_call *)head;
	struct model_view view;
	int r = model_feed(analysis->result.model, head, &view), s = 0;

	if (view.ended) {
		analysis_image_end(analysis, view.ended);
		process_end(&analysis->processes, view.ended);
	}
	if (head->type == EVENT_EXIT)
		time_add_exit(&analysis->time, (const struct event_exit *)head);
	if (head->type == EVENT_FLOOR) {
		const struct event_floor *floor = (const struct event_floor *)(const void *)head;

		time_add_floor(&analysis->time, floor);
		if (analysis->shown)
			time_add_floor(&analysis->shown->time, floor);
		analysis->result.in_kernel = true;
	}
	if (head->type != EVENT_CALL) {
		untraced_feed(&analysis->untraced, head, CALL_unknown, 0);
		if (view.ended || (head->type == EVENT_EXIT && view.process))
			programs_add_work(&analysis->programs, view.ended ? view.ended : view.process, view.ended,
					  analysis->untraced.ended_ns, analysis->untraced.ended_stops);
		return r;
	}
	untraced_feed(&analysis->untraced, head, view.call ? view.id : event_call_id(call),
		      view.call ? view.err : event_call_errno(call));
	if (head->flags & EVENT_F_MARK) {
		const struct untraced_point now = untraced_now(&analysis->untraced, head->tid);

		s = region_mark(&analysis->regions, call, analysis->result.shown, &now);
		if (analysis->budgets && analysis->regions.regions.used > 0) {
			const struct region *present = &analysis->regions.regions.at[analysis->regions.present];
			int t = budgets_region(analysis->budgets, present->name);

			s = s < 0 ? s : t;
		}
		return r < 0 ? r : s;
	}
	if (analysis->budgets) {
		s = budgets_call(analysis->budgets, &view, call, view.call ? view.id : event_call_id(call),
				 view.call ? view.err : event_call_errno(call));
		r = r < 0 ? r : s;
	}
	if (view.call) {
		s = feed_call(analysis, &view);
	} else {
		/* The model could not take it; it was made all the same. */
		int err = event_call_errno(call);
		const struct tally_row *row = tally_add(&analysis->tally, call, err, 0);

		s = row ? time_add_call(&analysis->time, row, call, err, &analysis->untraced.call) : -ENOMEM;
		if (s == 0)
			s = analysis_show(analysis, &view, call, err, 0, row, &row);
	}
	return r < 0 ? r : s;
}
