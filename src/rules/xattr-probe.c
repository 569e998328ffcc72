/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xattr-probe: one attribute name asked of file after file of one device, in
 * one image of a process, and never there.  Here is the keeping of counts;
 * xattr-probe-tell.c makes findings of them.  Says nothing of a single file
 * asked many times: that is another rule's matter.
 */
#include "rules/xattr-probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define GROUPS_MAX 4096 /* (image, device) pairs at a time */
#define NAMES_MAX 32 /* attribute names in a group */
#define DROPPED_MAX 1024 /* names beyond those that are told apart */
#define OBJECTS_MAX 131072 /* files told apart in a group */
#define OBJECTS_MAX_ALL 524288 /* … in all groups that are alive */

/* Lower bits are those of names, by their index. */
#define OBJECT_LISTED (UINT64_C(1) << NAMES_MAX)
#define OBJECT_FAILED (OBJECT_LISTED - 1)

/* The value of a group that is a candidate; below it the failures count. */
#define CANDIDATE (UINT64_C(1) << 62)

struct probe_state {
	struct rule_keys groups;
	uint64_t objects; /* entries in the objects maps of all groups */
};

static void group_drop_maps(struct probe_state *state, struct probe_group *group)
{
	state->objects -= group->objects.used;
	map_done(&group->objects);
	map_done(&group->pairs);
	rule_places_seal(&group->places);
	group->sealed = true;
}

static void group_free(struct rule_run *run, struct rule_key *key)
{
	struct probe_group *group = (struct probe_group *)key;

	group_drop_maps(run->state, group);
	rule_places_done(&group->places);
	for (size_t i = 0; i < group->names.used; i++) {
		free(group->names.at[i].text);
		free(group->names.at[i].sample);
		rule_tally_done(&group->names.at[i].failures);
	}
	vec_done(&group->names);
	free(group->fs_type);
	free(group->fs_source);
}

bool probe_name_flagged(const struct rule_run *run, const struct probe_name *name)
{
	if (name->distinct == 0 || name->distinct < run->limits[PROBE_LIMIT_CALLS])
		return false;
	return name->values * 100 <= name->asked * run->limits[PROBE_LIMIT_VALUES];
}

static bool group_flagged(const struct rule_run *run, const struct probe_group *group)
{
	for (size_t i = 0; i < group->names.used; i++)
		if (probe_name_flagged(run, &group->names.at[i]))
			return true;
	return false;
}

/* Keeps of the files what findings need: how many, of the names to be told. */
static void group_seal(struct rule_run *run, struct probe_group *group)
{
	uint64_t told = 0, *bits;
	size_t iter = 0;

	if (group->sealed)
		return;
	for (size_t i = 0; i < group->names.used; i++)
		if (probe_name_flagged(run, &group->names.at[i]))
			told |= UINT64_C(1) << i;
	while ((bits = map_next(&group->objects, &iter, NULL))) {
		if (!(*bits & told))
			continue;
		group->failed_objects++;
		if (*bits & OBJECT_LISTED)
			group->listed_objects++;
	}
	group->places.distinct = group->failed_objects;
	bits = group->places.itself ? map_get(&group->objects, group->places.itself_hash) : NULL;
	if (bits && !(*bits & told))
		group->places.itself = false;
	group_drop_maps(run->state, group);
}

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

static struct probe_group *group_of(struct rule_run *run, const struct model_view *view,
				    const struct rule_object *object)
{
	struct probe_state *state = run->state;
	bool fresh = false;
	struct probe_group *group = (struct probe_group *)rule_keys_get(
		run, &state->groups, view, map_mix(view->process->id, object->dev), &fresh);

	if (!group || !fresh)
		return group;
	group->dev = object->dev;
	group->fs_type = object->mount ? copy_text(object->mount->type) : NULL;
	group->fs_source = object->mount ? copy_text(object->mount->source) : NULL;
	probe_read_command(group, view->process);
	map_init(&group->objects, sizeof(uint64_t), OBJECTS_MAX);
	map_init(&group->pairs, 0, 0);
	(void)rule_places_init(&group->places, 0);
	/* Tell names as the user typed them, unless they were absolute. */
	if (!view->path || view->path->passed_bytes == 0 || view->path->passed[0] != '/')
		rule_places_relative(&group->places, model_cwd(run->model, view->process));
	return group;
}

static struct probe_name *name_of(struct probe_group *group, const char *text, size_t bytes, bool list)
{
	uint64_t hash = list ? 0 : map_hash(text, bytes);
	struct buf printable = BUF_INIT;
	struct probe_name *name;

	for (size_t i = 0; i < group->names.used; i++) {
		name = &group->names.at[i];
		if (name->hash == hash && name->list == list)
			return name;
	}
	if (group->names.used >= NAMES_MAX)
		return NULL;
	name = vec_add(&group->names);
	if (!name)
		return NULL;
	name->hash = hash;
	name->list = list;
	if (!list) {
		(void)text_escape(&printable, text, bytes, 0, true);
		name->text = printable.failed ? NULL : buf_steal(&printable);
	}
	buf_done(&printable);
	return name;
}

/* Marks the object; *ret_before are its bits so far.  False when it could not
 * be told apart from others. */
static bool object_mark(struct probe_state *state, struct probe_group *group, const struct rule_object *object,
			uint64_t bit, uint64_t *ret_before)
{
	uint64_t *bits;

	*ret_before = 0;
	if (group->sealed)
		return false;
	bits = map_get(&group->objects, object->id);
	if (!bits) {
		if (state->objects >= OBJECTS_MAX_ALL)
			return false;
		bits = map_put(&group->objects, object->id, NULL);
		if (!bits)
			return false;
		state->objects++;
	}
	*ret_before = *bits;
	*bits |= bit;
	return true;
}

static void count_object(struct probe_state *state, struct probe_group *group, const struct rule_object *object,
			 uint64_t bit)
{
	uint64_t before;

	if (!object_mark(state, group, object, bit, &before)) {
		group->beyond++;
		group->places.more = true;
	} else if (!(before & OBJECT_FAILED) && object->path) {
		(void)rule_places_add(&group->places, object->path, object->id);
	} else if (!object->path) {
		group->nameless = true;
	}
}

static void count_failure(struct rule_run *run, struct probe_group *group, struct probe_name *name,
			  const struct model_view *view, const struct rule_object *object)
{
	uint32_t index = (uint32_t)(name - group->names.at);
	bool fresh = false;

	(void)rule_tally_count(&name->failures, view);
	(void)rule_tally_count(&group->key.tally, view);
	rule_sites_add_tagged(&group->sites, run->model, view, index);
	if (view->err == EOPNOTSUPP)
		name->unsupported++;
	else
		name->absent++;
	count_object(run->state, group, object, UINT64_C(1) << index);
	/* Only the way to the threshold has to be exact. */
	if (name->distinct < run->limits[PROBE_LIMIT_CALLS] &&
	    map_put(&group->pairs, map_mix(object->id, name->hash + name->list), &fresh) && fresh) {
		name->distinct++;
		/* The second one is typical; the first is often the directory itself. */
		if (name->distinct <= 2) {
			free(name->sample);
			name->sample = rule_sample(view);
		}
	}
}

/* A name that there is no room for: told once each, as far as they can be
 * kept apart. */
static void count_dropped(struct rule_run *run, struct probe_group *group, uint64_t hash)
{
	bool fresh = false;

	if (group->dropped < DROPPED_MAX && map_put(&group->pairs, map_mix(hash, UINT64_MAX), &fresh) && fresh) {
		group->dropped++;
		run->evicted++;
	}
}

static void probe_call(struct rule_run *run, const struct model_view *view)
{
	const struct event_item *item = event_item(&view->call->head, SYS_ITEM_NAME);
	bool list = view->id == CALL_listxattr || view->id == CALL_llistxattr || view->id == CALL_flistxattr ||
		    view->id == CALL_listxattrat;
	struct probe_state *state = run->state;
	struct probe_group *group;
	struct probe_name *name;
	struct rule_object object;
	uint64_t before;

	if (!rule_returned(view) || (!list && !item) || !rule_object_of(run->model, view, &object))
		return;
	group = group_of(run, view, &object);
	if (!group)
		return;
	name = name_of(group, item ? event_item_data(item) : "", item ? item->bytes : 0, list);
	if (!name) {
		count_dropped(run, group, item ? map_hash(event_item_data(item), item->bytes) : 0);
		return;
	}
	name->asked++;
	if (view->err == ENODATA || view->err == EOPNOTSUPP) {
		count_failure(run, group, name, view, &object);
	} else {
		/* An empty list is no value, and no failure: it may be the only call. */
		if (view->err == ERANGE || view->err == E2BIG || (view->err == 0 && (!list || view->call->ret > 0)))
			name->values++;
		if (list && view->err == 0)
			(void)object_mark(state, group, &object, OBJECT_LISTED, &before);
	}
	rule_keys_value(&state->groups, &group->key,
			group->key.tally.calls + (group_flagged(run, group) ? CANDIDATE : 0));
}

static void probe_image_end(struct rule_run *run, struct model_process *process)
{
	struct probe_state *state = run->state;
	struct rule_key *key = NULL;

	rule_keys_image_end(run, &state->groups, process);
	while ((key = rule_keys_next_of(&state->groups, process->id, key)))
		group_seal(run, (struct probe_group *)key);
}

static void seal_and_tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	struct probe_group *group = (struct probe_group *)key;

	group_seal(run, group);
	probe_tell(run, group, out);
}

static void probe_end(struct rule_run *run, struct finding_list *out)
{
	struct probe_state *state = run->state;

	rule_keys_tell(run, &state->groups, out, seal_and_tell);
}

static int probe_start(struct rule_run *run)
{
	struct probe_state *state = run->state;

	rule_keys_init(&state->groups, sizeof(struct probe_group), GROUPS_MAX);
	state->groups.candidate = CANDIDATE;
	state->groups.free = group_free;
	return 0;
}

static void probe_done(struct rule_run *run)
{
	struct probe_state *state = run->state;

	rule_keys_done(run, &state->groups);
}

static const uint16_t probe_calls[] = {
	CALL_getxattr,	 CALL_lgetxattr,   CALL_fgetxattr,
	CALL_getxattrat, CALL_listxattr,   CALL_llistxattr,
	CALL_flistxattr, CALL_listxattrat, 0,
};

static const struct rule_limit probe_limits[] = {
	[PROBE_LIMIT_CALLS] = { "calls", RULE_COUNT, 50, "files of one device that a name was asked of in vain" },
	[PROBE_LIMIT_VALUES] = { "values", RULE_PERCENT, 5, "of a name's look-ups may answer with a value" },
	{ 0 },
};

const struct rule rule_xattr_probe = {
	.id = "xattr-probe",
	.title = "attributes asked of file after file that has none",
	.items = SYS_ITEM_BIT(PATH) | SYS_ITEM_BIT(NAME),
	.needs = RULE_NEEDS_PATHS,
	.calls = probe_calls,
	.limits = probe_limits,
	.state_bytes = sizeof(struct probe_state),
	.start = probe_start,
	.call = probe_call,
	.image_end = probe_image_end,
	.end = probe_end,
	.done = probe_done,
};
