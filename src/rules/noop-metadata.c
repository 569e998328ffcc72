/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * noop-metadata: modes, owners and times set to what they are known to be,
 * by a look or by setting them before.  What is known of a path belongs to the
 * whole tree and is forgotten with each call that can put another file there;
 * times are known only as long as nothing but looks and settings follow.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "rules/keyed.h"

#define GROUPS_MAX 4096
#define KNOWN_ROOM 4096
#define PROCESS_ROOM 1024
#define MODE_BITS 07777u
#define SPECIAL_BITS 06000u /* which a change of owner takes away */

enum { LIMIT_CALLS, LIMIT_SHARE };

enum part { PART_MODE, PART_OWNER, PART_TIMES };

struct known {
	uint64_t hash; /* first: of the object */
	uint64_t epoch; /* below the state's: forgotten */
	uint32_t mode, uid, gid;
	bool has_mode, has_owner, has_time;
	int64_t mtime_ns;
	uint64_t looker, looked; /* the process, and its calls so far */
};

/* Since when has a process made only calls that this rule sees? */
struct streak {
	uint64_t hash; /* first: of the process */
	uint64_t last, from; /* by its calls */
};

/* One image; its tally has what changed nothing. */
struct group {
	struct rule_key key; /* first */
	uint64_t all; /* settings */
	bool job; /* setting is what the program is for */
	struct rule_places places;
};

struct noop_state {
	struct rule_keys groups;
	struct rule_recent known, streaks;
	uint64_t epoch;
};

static void group_free(struct rule_run *run, struct rule_key *key)
{
	(void)run;
	rule_places_done(&((struct group *)key)->places);
}

static uint64_t object_hash(const struct rule_object *object, bool link)
{
	return map_mix(object->id, link);
}

static struct known *known_of(const struct noop_state *state, uint64_t hash)
{
	struct known *known = rule_recent_get(&state->known, hash);

	return known && known->epoch == state->epoch ? known : NULL;
}

static struct known *known_put(struct noop_state *state, uint64_t hash)
{
	bool fresh = false;
	struct known *known = rule_recent_put(&state->known, hash, &fresh);

	if (known->epoch != state->epoch) {
		*known = (struct known){ .hash = known->hash };
		known->epoch = state->epoch;
	}
	return known;
}

static void forget(struct noop_state *state, const struct model_path *path)
{
	struct known *known;

	for (int link = 0; path && link < 2; link++) {
		known = rule_recent_get(&state->known, map_mix(path->hash, (uint64_t)link));
		if (known)
			known->epoch = 0;
	}
}

static void learn(struct noop_state *state, const struct model_view *view, uint64_t hash, const struct item_stat *stat)
{
	struct known *known = known_put(state, hash);

	known->mode = stat->mode & MODE_BITS;
	known->uid = stat->uid;
	known->gid = stat->gid;
	known->mtime_ns = stat->mtime_ns;
	known->has_mode = known->has_owner = known->has_time = true;
	known->looker = view->process->id;
	known->looked = view->process->calls;
}

/* Does the call mean the link itself? */
static bool means_link(const struct model_view *view)
{
	const uint64_t *args = view->call->args;

	switch ((int)view->id) {
	case CALL_lstat:
	case CALL_lchown:
		return true;
	case CALL_newfstatat:
	case CALL_fchmodat2:
	case CALL_utimensat:
		return args[3] & AT_SYMLINK_NOFOLLOW;
	case CALL_statx:
		return args[2] & AT_SYMLINK_NOFOLLOW;
	case CALL_fchownat:
		return args[4] & AT_SYMLINK_NOFOLLOW;
	default:
		return false;
	}
}

static void looked(struct rule_run *run, const struct model_view *view)
{
	const struct item_stat *stat = EVENT_ITEM_AS(struct item_stat, event_item(&view->call->head, SYS_ITEM_STAT));
	struct rule_object object;
	bool link = means_link(view);

	if (view->err || !stat || !rule_object_named(view, &object))
		return;
	learn(run->state, view, object_hash(&object, link), stat);
	/* What is no link is the same either way. */
	if (link && !S_ISLNK(stat->mode))
		learn(run->state, view, object_hash(&object, false), stat);
}

/* What the call sets, in terms of arguments.  False: no setting of ours. */
static bool setting_of(const struct model_view *view, enum part *ret_part, unsigned *ret_first)
{
	switch ((int)view->id) {
	case CALL_chmod:
	case CALL_fchmod:
		*ret_part = PART_MODE;
		*ret_first = 1;
		return true;
	case CALL_fchmodat:
	case CALL_fchmodat2:
		*ret_part = PART_MODE;
		*ret_first = 2;
		return true;
	case CALL_chown:
	case CALL_lchown:
	case CALL_fchown:
		*ret_part = PART_OWNER;
		*ret_first = 1;
		return true;
	case CALL_fchownat:
		*ret_part = PART_OWNER;
		*ret_first = 2;
		return true;
	case CALL_utimensat:
		*ret_part = PART_TIMES;
		*ret_first = 0;
		return true;
	default:
		return false;
	}
}

static bool same_owner(const struct known *known, uint32_t uid, uint32_t gid)
{
	if (!known->has_owner || (known->has_mode && known->mode & SPECIAL_BITS))
		return false;
	return (uid == UINT32_MAX || uid == known->uid) && (gid == UINT32_MAX || gid == known->gid);
}

/* The modification time that was told, and no other; nothing may have been written since. */
static bool same_times(const struct noop_state *state, const struct known *known, const struct model_view *view)
{
	const struct event_item *item = event_item(&view->call->head, SYS_ITEM_TIMES);
	const struct streak *streak = rule_recent_get(&state->streaks, view->process->id);
	struct item_time times[2];

	if (!item || item->bytes < sizeof times || !known->has_time || known->looker != view->process->id || !streak ||
	    streak->from > known->looked)
		return false;
	memcpy(times, event_item_data(item), sizeof times);
	return times[0].nsec == UTIME_OMIT && times[1].nsec != UTIME_NOW && times[1].nsec != UTIME_OMIT &&
	       times[1].sec * INT64_C(1000000000) + times[1].nsec == known->mtime_ns;
}

/* Was it so already?  Then keeps what it is now. */
static bool is_noop(struct noop_state *state, const struct model_view *view, uint64_t hash, enum part part,
		    unsigned first)
{
	const uint64_t *args = view->call->args;
	struct known *known = known_of(state, hash);
	bool noop = false;

	if (part == PART_TIMES) {
		noop = known && same_times(state, known, view);
		if (known && !noop)
			known->has_time = false;
		return noop;
	}
	if (part == PART_MODE) {
		uint32_t mode = (uint32_t)args[first] & MODE_BITS;

		/* Writing takes the special ones away. */
		noop = known && known->has_mode && known->mode == mode && !(mode & SPECIAL_BITS);
		known = known_put(state, hash);
		known->mode = mode;
		known->has_mode = true;
		return noop;
	}
	noop = known && same_owner(known, (uint32_t)args[first], (uint32_t)args[first + 1]);
	known = known_put(state, hash);
	if (!noop)
		known->has_mode = known->has_mode && !(known->mode & SPECIAL_BITS);
	if ((uint32_t)args[first] != UINT32_MAX && (uint32_t)args[first + 1] != UINT32_MAX) {
		known->uid = (uint32_t)args[first];
		known->gid = (uint32_t)args[first + 1];
		known->has_owner = true;
	} else if (!noop) {
		known->has_owner = false;
	}
	return noop;
}

static struct group *group_of(struct rule_run *run, const struct model_view *view)
{
	static const char *const jobs[] = { "chmod", "chown", "chgrp", "touch", "setfacl" };
	struct noop_state *state = run->state;
	const char *base = rule_base_name(view->process->exe->path);
	bool fresh = false;
	struct group *group = (struct group *)rule_keys_get(run, &state->groups, view, view->process->id, &fresh);

	if (!group || !fresh)
		return group;
	for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
		group->job = group->job || strcmp(base, jobs[i]) == 0;
	(void)rule_places_init(&group->places, 65536);
	if (view->path && view->path->passed[0] != '/')
		rule_places_relative(&group->places, model_cwd(run->model, view->process));
	return group;
}

static void set(struct rule_run *run, const struct model_view *view, enum part part, unsigned first)
{
	struct noop_state *state = run->state;
	struct rule_object object;
	struct group *group;

	if (!rule_object_named(view, &object))
		return;
	if (view->err) {
		struct known *known = known_of(state, object_hash(&object, means_link(view)));

		if (known)
			known->epoch = 0;
		return;
	}
	group = group_of(run, view);
	if (!group)
		return;
	group->all++;
	if (!is_noop(state, view, object_hash(&object, means_link(view)), part, first))
		return;
	(void)rule_tally_add(&group->key.tally, run->model, view);
	if (object.path)
		(void)rule_places_add(&group->places, object.path, object.path_hash);
	rule_keys_value(&state->groups, &group->key, group->key.tally.calls);
}

static void note_streak(struct noop_state *state, const struct model_view *view)
{
	bool fresh = false;
	struct streak *streak = rule_recent_put(&state->streaks, view->process->id, &fresh);

	if (fresh || view->process->calls != streak->last + 1)
		streak->from = view->process->calls;
	streak->last = view->process->calls;
}

static bool makes_files(const struct model_view *view)
{
	const uint64_t *args = view->call->args;

	if (view->id == CALL_open || view->id == CALL_openat)
		return (view->id == CALL_open ? args[1] : args[2]) & (O_CREAT | O_TRUNC);
	return true;
}

static void noop_call(struct rule_run *run, const struct model_view *view)
{
	struct noop_state *state = run->state;
	enum part part;
	unsigned first;

	switch ((int)view->id) {
	case CALL_stat:
	case CALL_lstat:
	case CALL_fstat:
	case CALL_newfstatat:
	case CALL_statx:
		note_streak(state, view);
		if (rule_returned(view))
			looked(run, view);
		return;
	case CALL_rename:
	case CALL_renameat:
	case CALL_renameat2:
	case CALL_mount:
	case CALL_umount2:
	case CALL_chroot:
	case CALL_unshare:
	case CALL_setns:
	case CALL_setxattr:
	case CALL_lsetxattr:
	case CALL_fsetxattr:
	case CALL_removexattr:
	case CALL_lremovexattr:
	case CALL_fremovexattr:
		/* Which files that concerns is more than can be followed. */
		if (!view->err)
			state->epoch++;
		return;
	default:
		break;
	}
	if (!setting_of(view, &part, &first)) {
		if (!view->err && makes_files(view)) {
			forget(state, view->path);
			forget(state, view->path2);
		}
		return;
	}
	note_streak(state, view);
	if (rule_returned(view))
		set(run, view, part, first);
	else
		state->epoch++;
}

static void noop_image_end(struct rule_run *run, struct model_process *process)
{
	struct noop_state *state = run->state;

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
	finding_set(&finding->what, "sets modes, owners or times to what they are");
	places = rule_places_name(&group->places, "file", "files");
	finding_set(&finding->where, "%s", places ? places : "?");
	free(places);
	finding->place = rule_places_place(&group->places);
	finding_set(&finding->object, "metadata");
	if (group->job) {
		finding->information = true;
		finding_add_note(finding, "setting them is what this program is for; it also sets the ctime");
		return;
	}
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (!remedy)
		return;
	remedy->id = "compare-first";
	finding_set(&remedy->text, "compare with what is known, set what differs");
	finding_remedy_saves_all(remedy, finding);
	finding_add_note(finding, "the calls set the ctime, too: leave them where that is wanted");
}

static void noop_end(struct rule_run *run, struct finding_list *out)
{
	struct noop_state *state = run->state;

	rule_keys_tell(run, &state->groups, out, tell);
}

static int noop_start(struct rule_run *run)
{
	struct noop_state *state = run->state;
	int r;

	state->epoch = 1;
	rule_keys_init(&state->groups, sizeof(struct group), GROUPS_MAX);
	state->groups.candidate = run->limits[LIMIT_CALLS];
	state->groups.free = group_free;
	r = rule_recent_init(&state->known, sizeof(struct known), KNOWN_ROOM);
	return r < 0 ? r : rule_recent_init(&state->streaks, sizeof(struct streak), PROCESS_ROOM);
}

static void noop_done(struct rule_run *run)
{
	struct noop_state *state = run->state;

	rule_keys_done(run, &state->groups);
	rule_recent_done(&state->known);
	rule_recent_done(&state->streaks);
}

static const uint16_t noop_calls[] = {
	/* looks */
	CALL_stat,
	CALL_lstat,
	CALL_fstat,
	CALL_newfstatat,
	CALL_statx,
	/* settings */
	CALL_chmod,
	CALL_fchmod,
	CALL_fchmodat,
	CALL_fchmodat2,
	CALL_chown,
	CALL_lchown,
	CALL_fchown,
	CALL_fchownat,
	CALL_utimensat,
	/* another file in its place, another meaning of a path, ACLs */
	CALL_open,
	CALL_openat,
	CALL_openat2,
	CALL_creat,
	CALL_unlink,
	CALL_unlinkat,
	CALL_rmdir,
	CALL_mkdir,
	CALL_mkdirat,
	CALL_mknod,
	CALL_mknodat,
	CALL_symlink,
	CALL_symlinkat,
	CALL_link,
	CALL_linkat,
	CALL_rename,
	CALL_renameat,
	CALL_renameat2,
	CALL_mount,
	CALL_umount2,
	CALL_chroot,
	CALL_unshare,
	CALL_setns,
	CALL_setxattr,
	CALL_lsetxattr,
	CALL_fsetxattr,
	CALL_removexattr,
	CALL_lremovexattr,
	CALL_fremovexattr,
	0,
};

static const struct rule_limit noop_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 20, "settings of one process that changed nothing" },
	[LIMIT_SHARE] = { "share", RULE_PERCENT, 50, "of its settings at least" },
	{ 0 },
};

const struct rule rule_noop_metadata = {
	.id = "noop-metadata",
	.title = "modes, owners and times set to what they are",
	.items = SYS_ITEM_BIT(PATH) | SYS_ITEM_BIT(STAT) | SYS_ITEM_BIT(TIMES),
	.needs = RULE_NEEDS_PATHS | RULE_NEEDS_FDS,
	.calls = noop_calls,
	.limits = noop_limits,
	.state_bytes = sizeof(struct noop_state),
	.start = noop_start,
	.call = noop_call,
	.image_end = noop_image_end,
	.end = noop_end,
	.done = noop_done,
};
