/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * failing-cleanup: removing or renaming what the process was just told is not
 * there, and making folders that it knows are there.  Without an earlier answer
 * the failing call is the cheapest way to ask, and nothing is said.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define GROUPS_MAX 4096
#define RECENT_ANSWERS 2048

enum { LIMIT_CALLS, LIMIT_SHARE };

enum way { WAY_REMOVE, WAY_MAKE };

/* What one process was told of one path. */
struct told {
	uint64_t hash; /* first */
	uint64_t asked; /* by model_now */
	bool absent;
};

/* One image and what it does; its tally has what failed and could be known to. */
struct group {
	struct rule_key key; /* first */
	enum way way;
	uint64_t all; /* calls of the kind */
	struct rule_places places;
};

struct cleanup_state {
	struct rule_keys groups;
	struct rule_recent told;
};

static void group_free(struct rule_run *run, struct rule_key *key)
{
	(void)run;
	rule_places_done(&((struct group *)key)->places);
}

static uint64_t told_hash(const struct model_view *view, const struct model_path *path)
{
	return map_mix(view->process->id, path->hash);
}

static void note(struct rule_run *run, const struct model_view *view, const struct model_path *path, bool absent)
{
	struct cleanup_state *state = run->state;
	struct told *told;

	if (!path || !path->absolute)
		return;
	told = rule_recent_put(&state->told, told_hash(view, path), NULL);
	told->asked = model_now(run->model);
	told->absent = absent;
}

static bool knows(struct rule_run *run, const struct model_view *view, bool absent)
{
	const struct cleanup_state *state = run->state;
	const struct told *told;

	if (!view->path || !view->path->absolute)
		return false;
	told = rule_recent_get(&state->told, told_hash(view, view->path));
	return told && told->absent == absent &&
	       model_changed(run->model, view->process, view->path->text, NULL) <= told->asked;
}

static void tried(struct rule_run *run, const struct model_view *view, enum way way)
{
	struct cleanup_state *state = run->state;
	bool failed = view->err == (way == WAY_REMOVE ? ENOENT : EEXIST), fresh = false;
	struct group *group =
		(struct group *)rule_keys_get(run, &state->groups, view, map_mix(view->process->id, way), &fresh);

	if (!group)
		return;
	if (fresh) {
		group->way = way;
		(void)rule_places_init(&group->places, 65536);
		if (view->path && view->path->passed[0] != '/')
			rule_places_relative(&group->places, model_cwd(run->model, view->process));
	}
	group->all++;
	if (failed && knows(run, view, way == WAY_REMOVE)) {
		(void)rule_tally_add(&group->key.tally, run->model, view);
		(void)rule_places_add(&group->places, view->path->text, view->path->hash);
		rule_keys_value(&state->groups, &group->key, group->key.tally.calls);
	}
}

/* What a call tells of its path whichever way it ends. */
static void learn(struct rule_run *run, const struct model_view *view, enum way way)
{
	if (way == WAY_REMOVE) {
		if (!view->err || view->err == ENOENT)
			note(run, view, view->path, true);
		if (!view->err && view->path2)
			note(run, view, view->path2, false);
	} else if (!view->err || view->err == EEXIST) {
		note(run, view, view->path, false);
	}
}

static void cleanup_call(struct rule_run *run, const struct model_view *view)
{
	if (!rule_returned(view) || !view->path)
		return;
	switch ((int)view->id) {
	case CALL_unlink:
	case CALL_unlinkat:
	case CALL_rmdir:
	case CALL_rename:
	case CALL_renameat:
	case CALL_renameat2:
		tried(run, view, WAY_REMOVE);
		learn(run, view, WAY_REMOVE);
		break;
	case CALL_mkdir:
	case CALL_mkdirat:
		tried(run, view, WAY_MAKE);
		learn(run, view, WAY_MAKE);
		break;
	default:
		if (!view->err || view->err == ENOENT)
			note(run, view, view->path, view->err != 0);
		break;
	}
}

static void cleanup_image_end(struct rule_run *run, struct model_process *process)
{
	struct cleanup_state *state = run->state;

	rule_keys_image_end(run, &state->groups, process);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct group *group = (const struct group *)key;
	struct finding_remedy *remedy;
	struct finding *finding;
	char *places;

	if (key->tally.calls * 100 < group->all * run->limits[LIMIT_SHARE])
		return;
	finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	if (!finding)
		return;
	finding_set(&finding->what, "%s",
		    group->way == WAY_REMOVE ? "removes what it was told before is not there (ENOENT)"
					     : "makes folders that it was told before are there (EEXIST)");
	places = rule_places_name(&group->places, "path", "paths");
	finding_set(&finding->where, "%s", places ? places : "?");
	free(places);
	finding->place = rule_places_place(&group->places);
	finding_set(&finding->object, "%s", group->way == WAY_REMOVE ? "remove" : "mkdir");
	if (group->way == WAY_REMOVE && strcmp(rule_base_name(key->exe->path), "rm") == 0) {
		finding->information = true;
		finding_add_note(finding, "making sure that nothing is there is what this program is for");
		return;
	}
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (!remedy)
		return;
	remedy->id = "use-answer";
	finding_set(&remedy->text, "%s",
		    group->way == WAY_REMOVE ? "remove only what the look before it found"
					     : "remember which folders are there");
	finding_remedy_saves_all(remedy, finding);
}

static void cleanup_end(struct rule_run *run, struct finding_list *out)
{
	struct cleanup_state *state = run->state;

	rule_keys_tell(run, &state->groups, out, tell);
}

static int cleanup_start(struct rule_run *run)
{
	struct cleanup_state *state = run->state;

	rule_keys_init(&state->groups, sizeof(struct group), GROUPS_MAX);
	state->groups.candidate = run->limits[LIMIT_CALLS];
	state->groups.free = group_free;
	return rule_recent_init(&state->told, sizeof(struct told), RECENT_ANSWERS);
}

static void cleanup_done(struct rule_run *run)
{
	struct cleanup_state *state = run->state;

	rule_keys_done(run, &state->groups);
	rule_recent_done(&state->told);
}

static const uint16_t cleanup_calls[] = {
	CALL_unlink, CALL_unlinkat,  CALL_rmdir, CALL_rename, CALL_renameat,   CALL_renameat2,
	CALL_mkdir,  CALL_mkdirat,   CALL_stat,	 CALL_lstat,  CALL_statx,      CALL_newfstatat,
	CALL_access, CALL_faccessat, CALL_open,	 CALL_openat, CALL_faccessat2, CALL_openat2,
	0,
};

static const struct rule_limit cleanup_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 20, "failures of one process that it could know of" },
	[LIMIT_SHARE] = { "share", RULE_PERCENT, 40, "of its calls that remove, or that make folders, at least" },
	{ 0 },
};

const struct rule rule_failing_cleanup = {
	.id = "failing-cleanup",
	.title = "removing what is known to be gone",
	.items = SYS_ITEM_BIT(PATH),
	.needs = RULE_NEEDS_PATHS,
	.calls = cleanup_calls,
	.limits = cleanup_limits,
	.state_bytes = sizeof(struct cleanup_state),
	.start = cleanup_start,
	.call = cleanup_call,
	.image_end = cleanup_image_end,
	.end = cleanup_end,
	.done = cleanup_done,
};
