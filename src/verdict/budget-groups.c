/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who broke a budget: its calls by program, call, errno and the directory of
 * their path.  Only tells; what a budget counts does not depend on it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "verdict/analysis.h"
#include "verdict/budget-state.h"
#include "verdict/site.h"

static const char *path_of(const struct model_view *view)
{
	if (view->path && view->path->passed && view->path->passed[0] != '\0')
		return view->path->passed;
	return view->file ? view->file->path : NULL;
}

/* Bytes of the path's directory. */
static size_t dir_bytes(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (!slash)
		return 0;
	return slash == path ? 1 : (size_t)(slash - path);
}

static struct budget_group *new_group(struct budget *budget, const struct model_view *view,
				      const struct event_call *call, int err, const char *path)
{
	struct budget_group *group = vec_add(&budget->groups);

	if (!group)
		return NULL;
	*group = (struct budget_group){
		.arch = call->arch,
		.nr = call->nr,
		.err = err,
		.exe = view->process->exe,
		.dir = strndup(path ? path : "", dir_bytes(path)),
		.first = path ? strdup(path) : NULL,
		.first_hash = path ? map_hash(path, strlen(path)) : 0,
	};
	if (group->dir && (group->first || !path))
		return group;
	free(group->dir);
	free(group->first);
	budget->groups.used--;
	return NULL;
}

/* 0: nothing tells it. */
static uint32_t site_number(struct model *model, const struct model_view *view)
{
	if (!model || !view->call || !event_item(&view->call->head, SYS_ITEM_CALLER))
		return 0;
	return model_site(model, view);
}

int budget_group_add(struct budget *budget, struct model *model, const struct model_view *view,
		     const struct event_call *call, int err)
{
	uint32_t site = site_number(model, view);
	const char *path = view->call ? path_of(view) : NULL;
	uint64_t hash = path ? map_hash(path, strlen(path)) : 0, key;
	struct budget_group *group;
	uint32_t *place;

	key = map_mix((uint64_t)call->arch << 48 ^ (uint64_t)(uint32_t)call->nr << 16 ^ (uint64_t)(uint32_t)err,
		      map_mix(view->process->exe->id, map_hash(path ? path : "", dir_bytes(path)) + !path));
	place = map_put(&budget->group_index, key, NULL);
	if (!place) {
		budget->ungrouped++;
		return 0;
	}
	if (*place == 0) {
		group = new_group(budget, view, call, err, path);
		if (!group) {
			(void)map_remove(&budget->group_index, key);
			budget->ungrouped++;
			return -ENOMEM;
		}
		*place = (uint32_t)budget->groups.used;
		group->site = site;
	}
	group = &budget->groups.at[*place - 1];
	group->count++;
	group->first_count += hash == group->first_hash;
	group->site_count += site == group->site;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct budget_group *x = a, *y = b;
	int order;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->nr != y->nr)
		return x->nr < y->nr ? -1 : 1;
	order = strcmp(x->dir, y->dir);
	return order ? order : x->err - y->err;
}

static char *printable(const char *text)
{
	struct buf buf = BUF_INIT;
	char *result;

	(void)text_escape(&buf, text, strlen(text), '\0', true);
	result = buf_steal(&buf);
	buf_done(&buf);
	return result;
}

/* "d1k/f0 and others in d1k" */
static char *place_of(const struct budget_group *group)
{
	struct buf buf = BUF_INIT;
	char *result;

	if (!group->first)
		return NULL;
	(void)text_escape(&buf, group->first, strlen(group->first), '\0', true);
	if (group->first_count < group->count) {
		(void)buf_puts(&buf, " and others");
		if (group->dir[0])
			(void)buf_puts(&buf, " in ");
		(void)text_escape(&buf, group->dir, strlen(group->dir), '\0', true);
	}
	result = buf_steal(&buf);
	buf_done(&buf);
	return result;
}

void budgets_want_sites(const struct budgets *budgets, const struct analysis_stacks *stacks)
{
	for (size_t i = 0; i < budgets->items.used; i++) {
		budget_sites_want(&budgets->items.at[i], stacks);
		for (size_t k = 0; k < budgets->items.at[i].groups.used; k++)
			if (budgets->items.at[i].groups.at[k].site > 0)
				stacks->want(stacks->data, budgets->items.at[i].groups.at[k].site);
	}
}

/* "libselinux.so.1 lgetfilecon_raw+0x49, called by ls+0x171cc": NULL not known. */
static char *place_in_code(const struct budget_group *group, const struct analysis_result *result)
{
	struct finding_site site = { .number = group->site };
	struct buf foreign = BUF_INIT, buf = BUF_INIT;
	char *text;

	if (group->site > 0 && result->stacks)
		site.frames = result->stacks->frames(result->stacks->data, group->site);
	if (!site_outer(site.frames))
		return NULL;
	site_put(&foreign, &site);
	(void)text_escape(&buf, buf_text(&foreign), foreign.bytes, '\0', true);
	if (group->site_count < group->count)
		(void)buf_puts(&buf, ", and others");
	text = buf_steal(&buf);
	buf_done(&foreign);
	buf_done(&buf);
	return text;
}

static char *name_of(const struct budget_group *group)
{
	char call[SYS_NAME_MAX], error[SYS_NAME_MAX];
	char *name;

	(void)sys_call_print((enum sys_arch)group->arch, group->nr, call);
	if (asprintf(&name, "%s%s%s", call, group->err ? " " : "",
		     group->err ? sys_errno_print(group->err, error) : "") < 0)
		return NULL;
	return name;
}

static int make_room(struct budget *budget, size_t count)
{
	budget->top = calloc(count ? count : 1, sizeof *budget->top);
	return budget->top ? 0 : -ENOMEM;
}

int budget_groups_top(struct budget *budget, const struct analysis_result *result)
{
	size_t count = budget->groups.used < BUDGET_TOP ? budget->groups.used : BUDGET_TOP;

	if (make_room(budget, count) < 0)
		return -ENOMEM;
	if (budget->groups.used > 0)
		qsort(budget->groups.at, budget->groups.used, sizeof budget->groups.at[0], by_count);
	for (size_t i = 0; i < count; i++) {
		const struct budget_group *group = &budget->groups.at[i];
		struct budget_contributor *top = &budget->top[budget->top_count++];

		top->count = group->count;
		top->name = name_of(group);
		top->place = place_of(group);
		top->site = place_in_code(group, result);
		top->program = printable(rule_base_name(group->exe->path));
		if (!top->name || !top->program || (group->first && !top->place))
			return -ENOMEM;
	}
	return 0;
}

static int by_calls(const void *a, const void *b)
{
	const struct verdict_finding *x = *(const struct verdict_finding *const *)a;
	const struct verdict_finding *y = *(const struct verdict_finding *const *)b;

	if (x->finding->calls != y->finding->calls)
		return x->finding->calls < y->finding->calls ? 1 : -1;
	return x < y ? -1 : 1;
}

/* Who made the most of them; NULL not known. */
static char *site_of_finding(const struct finding *finding)
{
	struct buf text = BUF_INIT;
	char *shown;

	if (finding->sites.used == 0 || !finding->sites.at[0].frames)
		return NULL;
	site_put(&text, &finding->sites.at[0]);
	shown = text.bytes > 0 ? printable(buf_text(&text)) : NULL;
	buf_done(&text);
	return shown;
}

int budget_findings_top(struct budget *budget, const struct analysis_result *result)
{
	const struct verdict_finding **found = calloc(result->finding_count ? result->finding_count : 1, sizeof *found);
	size_t used = 0;

	if (!found || make_room(budget, BUDGET_TOP) < 0) {
		free(found);
		return -ENOMEM;
	}
	for (size_t n = 0; n < result->finding_count; n++)
		if (budget_counts_finding(budget, result, n))
			found[used++] = &result->findings[n];
	qsort(found, used, sizeof found[0], by_calls);
	for (size_t i = 0; i < used && i < BUDGET_TOP; i++) {
		const struct finding *finding = found[i]->finding;
		struct budget_contributor *top = &budget->top[budget->top_count++];

		top->count = finding->calls;
		top->name = strdup(finding->rule->id);
		top->place = finding->where ? strdup(finding->where) : NULL;
		top->program = finding->exe ? printable(rule_base_name(finding->exe)) : NULL;
		top->site = site_of_finding(finding);
	}
	free(found);
	return 0;
}
