/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repeated-stat: one path looked at again and again in a burst, with the same
 * answer, when nothing that was seen could have changed it and nobody slept
 * to wait for that.  A path is told
 * apart from others only when it comes twice; so a walk over a million files
 * keeps nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define PATHS_MAX 4096 /* that came twice, at a time */
#define GROUPS_MAX 4096
#define RECENT_PATHS 4096
#define WAITED_MAX 16384
#define PATH_IDLE_NS UINT64_C(1000000000)
#define ZONE_PATH "/etc/localtime"

enum { LIMIT_CALLS, LIMIT_GAP, LIMIT_TOTAL, LIMIT_SHARE };

enum look { LOOK_STAT, LOOK_LSTAT, LOOK_ACCESS, LOOK_OPEN, LOOK_OPEN_NOFOLLOW };

/* What was answered last. */
struct answer {
	uint64_t value, asked; /* asked: by model_now */
	struct rule_burst burst;
	bool folder;
};

struct recent_path {
	uint64_t hash; /* first */
	struct answer last;
};

/* A path that came twice; its tally waits until there are enough in a burst. */
struct path {
	struct rule_key key; /* first */
	struct answer last;
	uint64_t again; /* in this burst, the first not counted */
	bool told; /* is one of the group's */
};

/* One image, and a way of looking. */
struct group {
	struct rule_key key; /* first */
	enum look look;
	uint64_t process_calls; /* of the image, when it ended */
	uint64_t folders; /* of the answers */
	struct rule_places places;
};

struct stat_state {
	struct rule_keys paths, groups;
	struct rule_recent recent;
	struct map waited; /* process → model_now when it last waited for a child */
	uint64_t waited_all; /* the same of those that there was no room for */
};

static void group_free(struct rule_run *run, struct rule_key *key)
{
	(void)run;
	rule_places_done(&((struct group *)key)->places);
}

static bool look_of_open(const struct model_view *view, enum look *ret)
{
	const struct item_open_how *how;
	uint64_t flags;

	how = view->id == CALL_openat2
		      ? EVENT_ITEM_AS(struct item_open_how, event_item(&view->call->head, SYS_ITEM_OPEN_HOW))
		      : NULL;
	flags = view->id == CALL_open ? view->call->args[1] : view->id == CALL_openat ? view->call->args[2] : 0;
	if (how)
		flags = how->flags;
	*ret = flags & O_NOFOLLOW ? LOOK_OPEN_NOFOLLOW : LOOK_OPEN;
	return flags & O_PATH;
}

/* How is it looked at, and with which mode of access?  False: not at all. */
static bool look_of(const struct model_view *view, enum look *ret_look, uint64_t *ret_mode)
{
	const uint64_t *args = view->call->args;
	uint64_t flags = 0;

	*ret_mode = 0;
	*ret_look = LOOK_STAT;
	if (view->id == CALL_open || view->id == CALL_openat || view->id == CALL_openat2)
		return look_of_open(view, ret_look);
	if (view->id == CALL_access || view->id == CALL_faccessat || view->id == CALL_faccessat2) {
		*ret_look = LOOK_ACCESS;
		*ret_mode = view->id == CALL_access ? args[1] : args[2];
		if (view->id == CALL_faccessat2)
			*ret_mode |= args[3] << 32;
		return true;
	}
	if (view->id == CALL_newfstatat)
		flags = args[3];
	else if (view->id == CALL_statx)
		flags = args[2];
	if (view->id == CALL_lstat || flags & AT_SYMLINK_NOFOLLOW)
		*ret_look = LOOK_LSTAT;
	return true;
}

/* Equal for equal answers.  False: not known. */
static bool answer_of(const struct model_view *view, enum look look, struct answer *ret)
{
	const struct item_stat *stat;
	uint64_t parts[8], value = 0;

	ret->value = (uint64_t)view->err + 1;
	if (view->err || (look != LOOK_STAT && look != LOOK_LSTAT))
		return true;
	stat = EVENT_ITEM_AS(struct item_stat, event_item(&view->call->head, SYS_ITEM_STAT));
	if (!stat)
		return false;
	parts[0] = stat->dev;
	parts[1] = stat->ino;
	parts[2] = stat->size;
	parts[3] = (uint64_t)stat->mtime_ns;
	parts[4] = (uint64_t)stat->ctime_ns;
	parts[5] = (uint64_t)stat->mode << 32 | stat->nlink;
	parts[6] = (uint64_t)stat->uid << 32 | stat->gid;
	parts[7] = (uint64_t)stat->rdev_major << 32 | stat->rdev_minor;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		value = (value ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
		value ^= value >> 29;
	}
	ret->value = value;
	ret->folder = (stat->mode & 0170000) == 0040000;
	return true;
}

/* Could it have become another answer since? */
static bool is_new(struct rule_run *run, const struct model_view *view, const struct answer *last,
		   const struct answer *now)
{
	struct stat_state *state = run->state;
	const uint64_t *waited = map_get(&state->waited, view->process->id);

	if (last->value != now->value || state->waited_all > last->asked || (waited && *waited > last->asked))
		return true;
	/* Who sleeps in between waits for another answer. */
	return view->slept > last->asked ||
	       model_changed(run->model, view->process, view->path->text, NULL) > last->asked;
}

static struct group *group_of(struct rule_run *run, const struct model_view *view, enum look look)
{
	struct stat_state *state = run->state;
	bool fresh = false;
	struct group *group =
		(struct group *)rule_keys_get(run, &state->groups, view, map_mix(view->process->id, look), &fresh);

	if (!group || !fresh)
		return group;
	group->look = look;
	(void)rule_places_init(&group->places, 0);
	if (view->path->passed[0] != '/')
		rule_places_relative(&group->places, model_cwd(run->model, view->process));
	return group;
}

static void count_again(struct rule_run *run, const struct model_view *view, struct path *path, enum look look)
{
	struct stat_state *state = run->state;
	struct group *group;

	path->again++;
	/* The first is no repeat, and asked all the same. */
	if (path->again + 1 < run->limits[LIMIT_CALLS]) {
		(void)rule_tally_place(&path->key.tally, run->model, view);
		rule_keys_value(&state->paths, &path->key, path->again);
		return;
	}
	group = group_of(run, view, look);
	if (!group)
		return;
	rule_tally_merge(&group->key.tally, &path->key.tally);
	(void)rule_tally_add(&group->key.tally, run->model, view);
	if (!path->told) {
		path->told = true;
		(void)rule_places_add(&group->places, view->path->text, view->path->hash);
		group->folders += path->last.folder;
	}
	rule_keys_value(&state->groups, &group->key, group->key.tally.calls);
}

static void looked(struct rule_run *run, const struct model_view *view, uint64_t hash, enum look look,
		   const struct answer *now)
{
	struct stat_state *state = run->state;
	struct path *path = (struct path *)rule_keys_find(&state->paths, hash);
	struct recent_path *recent = NULL;
	struct answer *last;
	bool fresh = false, again;

	if (!path) {
		recent = rule_recent_put(&state->recent, hash, &fresh);
		last = &recent->last;
	} else {
		last = &path->last;
	}
	again = rule_burst_next(&last->burst, view, run->limits[LIMIT_GAP]) && !fresh && !is_new(run, view, last, now);
	last->value = now->value;
	last->folder = now->folder;
	last->asked = model_now(run->model);
	if (path && !again) {
		path->again = 0;
		rule_tally_reset(&path->key.tally);
	}
	if (!again)
		return;
	path = (struct path *)rule_keys_get(run, &state->paths, view, hash, NULL);
	if (!path)
		return;
	if (recent)
		path->last = recent->last;
	count_again(run, view, path, look);
}

static void note_wait(struct stat_state *state, struct rule_run *run, const struct model_view *view)
{
	uint64_t *waited;

	if (view->err)
		return;
	waited = map_put(&state->waited, view->process->id, NULL);
	*(waited ? waited : &state->waited_all) = model_now(run->model);
}

static void stat_call(struct rule_run *run, const struct model_view *view)
{
	struct stat_state *state = run->state;
	struct answer now = { 0 };
	enum look look;
	uint64_t mode;

	if (!rule_returned(view))
		return;
	if (view->id == CALL_wait4 || view->id == CALL_waitid) {
		note_wait(state, run, view);
		return;
	}
	if (!view->path || !view->path->absolute)
		return;
	/* With TZ unset this is told by localtime-stat. */
	if (view->path->bytes == sizeof ZONE_PATH - 1 &&
	    memcmp(view->path->text, ZONE_PATH, sizeof ZONE_PATH - 1) == 0 &&
	    !(view->process->env_known && view->process->tz))
		return;
	if (!look_of(view, &look, &mode) || !answer_of(view, look, &now))
		return;
	looked(run, view, map_mix(map_mix(view->process->id, view->path->hash), map_mix(look, mode)), look, &now);
}

static void stat_image_end(struct rule_run *run, struct model_process *process)
{
	struct stat_state *state = run->state;
	struct rule_key *key = NULL;

	rule_keys_image_end(run, &state->paths, process);
	(void)map_remove(&state->waited, process->id);
	while ((key = rule_keys_next_of(&state->groups, process->id, key)))
		((struct group *)key)->process_calls = process->calls;
	rule_keys_image_end(run, &state->groups, process);
}

static void add_remedy(const struct group *group, struct finding *finding)
{
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_SOURCE);

	if (!remedy)
		return;
	if (group->look == LOOK_OPEN || group->look == LOOK_OPEN_NOFOLLOW) {
		remedy->id = "keep-descriptor";
		finding_set(&remedy->text, "keep the folder open, name what is in it relative to that (openat)");
	} else if (strcmp(group->places.first, "/etc/nsswitch.conf") == 0) {
		remedy->id = "keep-names";
		finding_set(&remedy->text, RULE_KEEP_NAMES);
	} else if (group->folders == group->places.distinct) {
		remedy->id = "keep-answer";
		finding_set(&remedy->text, "keep the first answer, of a folder for all names in it");
	} else {
		remedy->id = "keep-answer";
		finding_set(&remedy->text, "keep the first answer and pass it on");
	}
	finding_remedy_saves_all(remedy, finding);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct group *group = (const struct group *)key;
	enum finding_tier tier = group->look == LOOK_OPEN_NOFOLLOW ? FINDING_BY_DESIGN : FINDING_LIKELY;
	static const char *const objects[] = {
		[LOOK_STAT] = "stat",
		[LOOK_LSTAT] = "lstat",
		[LOOK_ACCESS] = "access",
		[LOOK_OPEN] = "open with O_PATH",
		[LOOK_OPEN_NOFOLLOW] = "open with O_PATH and O_NOFOLLOW",
	};
	struct finding *finding;
	char *places;

	if (key->tally.calls * 100 < group->process_calls * run->limits[LIMIT_SHARE])
		return;
	finding = rule_key_finding(run, key, tier, NULL, out);
	if (!finding)
		return;
	finding_set(&finding->what, "%s",
		    group->look == LOOK_OPEN_NOFOLLOW ? "opens each part of a path again, to trust none of its links"
						      : "looks at the same path again and again, with the same answer");
	places = rule_places_name(&group->places, "path", "paths");
	finding_set(&finding->where, "%s", places ? places : "?");
	free(places);
	finding->place = rule_places_place(&group->places);
	finding_set(&finding->object, "%s", objects[group->look]);
	add_remedy(group, finding);
	finding_add_note(finding, "unchanged as far as seen");
}

static void stat_end(struct rule_run *run, struct finding_list *out)
{
	struct stat_state *state = run->state;

	rule_keys_tell(run, &state->groups, out, tell);
}

static int stat_start(struct rule_run *run)
{
	struct stat_state *state = run->state;

	rule_keys_init(&state->paths, sizeof(struct path), PATHS_MAX);
	state->paths.candidate = UINT64_MAX;
	state->paths.idle_ns = PATH_IDLE_NS;
	rule_keys_init(&state->groups, sizeof(struct group), GROUPS_MAX);
	state->groups.candidate = run->limits[LIMIT_TOTAL];
	state->groups.free = group_free;
	map_init(&state->waited, sizeof(uint64_t), WAITED_MAX);
	return rule_recent_init(&state->recent, sizeof(struct recent_path), RECENT_PATHS);
}

static void stat_done(struct rule_run *run)
{
	struct stat_state *state = run->state;

	rule_keys_done(run, &state->paths);
	rule_keys_done(run, &state->groups);
	rule_recent_done(&state->recent);
	map_done(&state->waited);
}

static const uint16_t stat_calls[] = {
	CALL_stat,   CALL_lstat,     CALL_newfstatat, CALL_statx,
	CALL_access, CALL_faccessat, CALL_faccessat2, CALL_open,
	CALL_openat, CALL_openat2,   CALL_wait4,      CALL_waitid,
	0,
};

static const char *const stat_env[] = { "TZ", NULL };

static const struct rule_limit stat_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 10, "looks at one path in a burst" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "a longer pause ends a burst" },
	[LIMIT_TOTAL] = { "total", RULE_COUNT, 100, "such looks again by one process, at all its paths" },
	[LIMIT_SHARE] = { "share", RULE_PERCENT, 2, "of the process's calls at least" },
	{ 0 },
};

const struct rule rule_repeated_stat = {
	.id = "repeated-stat",
	.title = "one path looked at again and again",
	.items = SYS_ITEM_BIT(PATH) | SYS_ITEM_BIT(STAT) | SYS_ITEM_BIT(OPEN_HOW),
	.needs = RULE_NEEDS_PATHS | RULE_NEEDS_TIMES | RULE_NEEDS_ENV,
	.env = stat_env,
	.calls = stat_calls,
	.limits = stat_limits,
	.state_bytes = sizeof(struct stat_state),
	.breadth = 1,
	.start = stat_start,
	.call = stat_call,
	.image_end = stat_image_end,
	.end = stat_end,
	.done = stat_done,
};
