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

#include "rules/law.h"

enum { LIMIT_CALLS, LIMIT_SHARE };

enum way { WAY_REMOVE, WAY_MAKE };

/* What one process was told of one path. */
struct told {
	uint64_t hash; /* first */
	uint64_t asked; /* by model_now */
	bool absent;
};

/* One image and a way. */
struct cleaner {
	struct law_entry entry; /* first */
	uint64_t all; /* calls of the kind */
};

static uint64_t told_hash(const struct model_view *view, const struct model_path *path)
{
	return map_mix(view->process->id, path->hash);
}

static void note(struct rule_run *run, const struct model_view *view, const struct model_path *path, bool absent)
{
	struct law_state *state = run->state;
	struct told *told;

	if (!path || !path->absolute)
		return;
	told = rule_recent_put(&state->recent, told_hash(view, path), NULL);
	told->asked = model_now(run->model);
	told->absent = absent;
}

static bool knows(struct rule_run *run, const struct model_view *view, bool absent)
{
	const struct law_state *state = run->state;
	const struct told *told;

	if (!view->path || !view->path->absolute)
		return false;
	told = rule_recent_get(&state->recent, told_hash(view, view->path));
	/* Who has slept since looks whether somebody else has come. */
	return told && told->absent == absent && view->slept <= told->asked &&
	       model_changed(run->model, view->process, view->path->text, NULL) <= told->asked;
}

static void tried(struct rule_run *run, const struct model_view *view, enum way way)
{
	bool failed = view->err == (way == WAY_REMOVE ? ENOENT : EEXIST);
	struct cleaner *cleaner = law_entry(run, view, way);
	struct rule_places *places = cleaner ? law_places(run, &cleaner->entry) : NULL;

	if (!places)
		return;
	if (cleaner->all++ == 0 && view->path && view->path->passed[0] != '/')
		rule_places_relative(places, model_cwd(run->model, view->process));
	if (failed && knows(run, view, way == WAY_REMOVE)) {
		law_count(run, &cleaner->entry, view);
		(void)rule_places_add(places, view->path->text, view->path->hash);
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

static bool cleanup_holds(struct rule_run *run, const struct law_entry *entry)
{
	return entry->key.tally.calls * 100 >= ((const struct cleaner *)entry)->all * run->limits[LIMIT_SHARE];
}

static void cleanup_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	finding->where = entry->places ? rule_places_name(entry->places, "path", "paths") : NULL;
	if (!finding->where)
		finding_set(&finding->where, "?");
	if (entry->kind == WAY_MAKE) {
		(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "use-answer", "remember which folders are there");
	} else if (strcmp(rule_base_name(entry->key.exe->path), "rm") == 0) {
		finding->information = true;
		finding_add_note(finding, "making sure that nothing is there is what this program is for");
	} else {
		(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "use-answer",
					     "remove only what the look before it found");
	}
}

static const struct law_kind cleanup_kinds[] = {
	[WAY_REMOVE] = { .tier = FINDING_LIKELY,
			 .least = LIMIT_CALLS,
			 .what = "removes what it was told before is not there (ENOENT)",
			 .object = "remove" },
	[WAY_MAKE] = { .tier = FINDING_LIKELY,
		       .least = LIMIT_CALLS,
		       .what = "makes folders that it was told before are there (EEXIST)",
		       .object = "mkdir" },
	{ 0 },
};

static const struct law cleanup_law = {
	.kinds = cleanup_kinds,
	.entries = 4096,
	.entry_bytes = sizeof(struct cleaner),
	.files = 65536,
	.recent = 2048, /* paths of processes */
	.recent_bytes = sizeof(struct told),
	.holds = cleanup_holds,
	.tell = cleanup_tell,
};

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
	.call = cleanup_call,
	LAW_RULE(cleanup_law),
};
