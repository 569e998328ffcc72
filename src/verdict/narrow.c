/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a filter leaves of a run, and how the command began.  The whole tally
 * stays beside it: the books are about everything.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/analysis-state.h"

#define SEEN_MAX 65536

int analysis_set_filter(struct analysis *analysis, const struct filter *filter)
{
	struct analysis_shown *shown = calloc(1, sizeof *shown);

	if (!shown)
		return -ENOMEM;
	tally_init(&shown->tally);
	time_init(&shown->time);
	map_init(&shown->seen, 0, SEEN_MAX);
	analysis->shown = shown;
	analysis->result.filter = filter;
	analysis->result.shown = &shown->tally;
	return 0;
}

void analysis_shown_free(struct analysis_shown *shown)
{
	if (!shown)
		return;
	tally_done(&shown->tally);
	time_done(&shown->time);
	map_done(&shown->seen);
	free(shown->all_calls);
	free(shown);
}

int analysis_show(struct analysis *analysis, const struct model_view *view, const struct event_call *call, int err,
		  unsigned components, const struct tally_row *row, const struct tally_row **ret_shown)
{
	struct analysis_environment *began = &analysis->result.environment;
	const struct filter *filter = analysis->result.filter;
	struct analysis_shown *shown = analysis->shown;
	int r;

	*ret_shown = NULL;
	/* Before the command changes its limits. */
	if (!began->nofile_known && view->process->nofile_known) {
		began->nofile_known = true;
		began->nofile_soft = view->process->nofile_soft;
		began->nofile_hard = view->process->nofile_hard;
	}
	if (shown) {
		if (!(view->call ? filter_has_view(filter, view) : filter_has_call(filter, row->id, err)))
			return 0;
		row = tally_add(&shown->tally, call, err, components);
		if (!row)
			return -ENOMEM;
		r = time_add_call(&shown->time, row, call, err, &analysis->untraced.call);
		if (r < 0)
			return r;
		if (filter->paths.used > 0)
			(void)map_put(&shown->seen, analysis_seen_key(view->process->id, row->id, err), NULL);
	}
	*ret_shown = row;
	return process_add(&analysis->processes, view->process, row->index, err);
}

/* With paths a finding stays when it can be about one of them and its process made
 * such a call there; of how many calls it tells does not change. */
static bool is_wanted(const struct analysis *analysis, const struct finding *finding)
{
	const struct filter *filter = analysis->result.filter;
	const struct map *seen = &analysis->shown->seen;

	if (!filter_touches(filter, finding))
		return false;
	for (size_t i = 0; i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];
		size_t iter = 0;
		uint64_t key;

		if (!filter_has_call(filter, cost->call, cost->err))
			continue;
		if (filter->paths.used == 0 || seen->refused > 0)
			return true;
		if (finding->process_id != 0) {
			if (map_get(seen, analysis_seen_key(finding->process_id, cost->call, cost->err)))
				return true;
			continue;
		}
		while (map_next(seen, &iter, &key))
			if ((key & 0xffffff) == analysis_seen_key(0, cost->call, cost->err))
				return true;
	}
	return false;
}

static void narrow_samples(const struct filter *filter, struct finding *finding)
{
	size_t kept = 0;

	for (size_t i = 0; i < finding->samples.used; i++) {
		if (filter_has_sample(filter, finding->samples.at[i]))
			finding->samples.at[kept++] = finding->samples.at[i];
		else
			free(finding->samples.at[i]);
	}
	finding->samples.used = kept;
}

void analysis_narrow(struct analysis *analysis)
{
	struct finding_list *list = &analysis->findings;
	size_t kept = 0;
	bool more = false;

	if (!analysis->shown)
		return;
	for (size_t i = 0; i < list->items.used; i++) {
		struct finding *finding = &list->items.at[i];

		if (!is_wanted(analysis, finding)) {
			finding_done(finding);
			continue;
		}
		narrow_samples(analysis->result.filter, finding);
		more = more || !filter_has_all_of(analysis->result.filter, finding);
		list->items.at[kept++] = *finding;
	}
	list->items.used = kept;
	if (more)
		analysis_add_warning(&analysis->result.facts,
				     "findings and their sum are whole: they have calls, too, that the table leaves "
				     "out");
}

static const char *locale_of(const struct model_process *process)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *value = model_getenv(process, names[i]);

		if (value && *value)
			return value;
	}
	return NULL;
}

/* Of the first program that we saw start, else of the first that we saw. */
void analysis_tell_environment(struct analysis_result *result)
{
	const struct model_process *first = model_process_at(result->model, 0), *process = first;
	const char *path;

	for (size_t n = 0; process && !process->execed; n++)
		process = model_process_at(result->model, n);
	if (!process || process->pid != first->pid)
		process = first;
	if (!process || !process->env_known)
		return;
	result->environment.env_known = true;
	result->environment.locale = locale_of(process);
	result->environment.tz = process->tz;
	path = model_getenv(process, "PATH");
	result->environment.path_entries = path && *path ? 1 : 0;
	for (; path && *path; path++)
		result->environment.path_entries += *path == ':';
}
