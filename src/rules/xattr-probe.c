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

struct probe_state {
	struct map processes; /* image id → struct probe_group *, chained by next */
	VEC(struct probe_group *) groups;
	uint64_t next_number;
	uint64_t objects; /* entries in the objects maps of all groups */
};

static void name_done(struct probe_name *name)
{
	free(name->text);
	free(name->sample);
	vec_done(&name->lines);
}

static void group_drop_maps(struct probe_state *state, struct probe_group *group)
{
	state->objects -= group->objects.used;
	map_done(&group->objects);
	map_done(&group->pairs);
	rule_places_seal(&group->places);
	group->sealed = true;
}

static void group_free(struct probe_state *state, struct probe_group *group)
{
	if (!group)
		return;
	group_drop_maps(state, group);
	rule_places_done(&group->places);
	for (size_t i = 0; i < group->names.used; i++)
		name_done(&group->names.at[i]);
	vec_done(&group->names);
	free(group->fs_type);
	free(group->fs_source);
	free(group);
}

bool probe_name_flagged(const struct rule_run *run, const struct probe_name *name)
{
	if (name->distinct < run->limits[PROBE_LIMIT_CALLS])
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

static void group_unlink(struct probe_state *state, struct probe_group *group)
{
	struct probe_group **head = map_get(&state->processes, group->process_id);

	for (struct probe_group **at = head; at && *at; at = &(*at)->next) {
		if (*at == group) {
			*at = group->next;
			break;
		}
	}
	if (head && !*head)
		(void)map_remove(&state->processes, group->process_id);
	for (size_t i = 0; i < state->groups.used; i++) {
		if (state->groups.at[i] == group) {
			state->groups.at[i] = state->groups.at[--state->groups.used];
			break;
		}
	}
}

static uint64_t group_value(const struct rule_run *run, const struct probe_group *group)
{
	return group->failed + (group_flagged(run, group) ? UINT64_C(1) << 62 : 0);
}

static void evict_one(struct rule_run *run)
{
	struct probe_state *state = run->state;
	struct probe_group *least = NULL;

	for (size_t i = 0; i < state->groups.used; i++)
		if (!least || group_value(run, state->groups.at[i]) < group_value(run, least))
			least = state->groups.at[i];
	if (!least)
		return;
	group_unlink(state, least);
	group_free(state, least);
	run->evicted++;
}

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

static struct probe_group *group_new(struct rule_run *run, const struct model_view *view, uint64_t dev,
				     const struct model_mount *mount)
{
	const struct model_process *process = view->process;
	struct probe_state *state = run->state;
	struct probe_group *group, **head;

	if (state->groups.used >= GROUPS_MAX)
		evict_one(run);
	group = calloc(1, sizeof *group);
	if (!group)
		return NULL;
	group->number = state->next_number++;
	group->process_id = process->id;
	group->pid = process->pid;
	group->exe = process->exe;
	group->dev = dev;
	group->fs_type = mount ? copy_text(mount->type) : NULL;
	group->fs_source = mount ? copy_text(mount->source) : NULL;
	probe_read_command(group, process);
	map_init(&group->objects, sizeof(uint64_t), OBJECTS_MAX);
	map_init(&group->pairs, 0, 0);
	(void)rule_places_init(&group->places, 0);
	/* Tell names as the user typed them, unless they were absolute. */
	if (!view->path || view->path->passed_bytes == 0 || view->path->passed[0] != '/')
		rule_places_relative(&group->places, model_cwd(run->model, process));
	head = map_put(&state->processes, process->id, NULL);
	if (!head || !vec_push(&state->groups, group)) {
		if (head && !*head)
			(void)map_remove(&state->processes, process->id);
		group_free(state, group);
		return NULL;
	}
	group->next = *head;
	*head = group;
	return group;
}

static struct probe_group *group_of(struct rule_run *run, const struct model_view *view, uint64_t dev,
				    const struct model_mount *mount)
{
	struct probe_state *state = run->state;
	struct probe_group **head = map_get(&state->processes, view->process->id);

	for (struct probe_group *group = head ? *head : NULL; group; group = group->next)
		if (group->dev == dev)
			return group;
	return group_new(run, view, dev, mount);
}

/* The file that is asked. */
struct object {
	const char *path; /* NULL unknown */
	uint64_t hash;
	uint64_t dev; /* 0 unknown */
	const struct model_mount *mount;
};

/* /proc/PID/fd/… leads elsewhere: its own mount says nothing. */
static bool leads_elsewhere(const char *path)
{
	if (strncmp(path, "/proc/", 6) != 0)
		return false;
	path = strchr(path + 6, '/');
	return path &&
	       (strncmp(path, "/fd/", 4) == 0 || strncmp(path, "/cwd", 4) == 0 || strncmp(path, "/root", 5) == 0);
}

static bool object_of(struct rule_run *run, const struct model_view *view, struct object *ret)
{
	const struct model_file *file = view->file;

	*ret = (struct object){ 0 };
	if (view->path && view->path->bytes > 0) {
		ret->path = view->path->text;
		ret->hash = view->path->hash;
		if (!view->path->absolute)
			return true;
	} else if (file) {
		ret->path = file->path && file->path[0] == '/' ? file->path : NULL;
		ret->hash = ret->path ? file->path_hash : map_mix(file->dev, file->ino ? file->ino : file->id);
	} else {
		return false;
	}
	if (ret->path && !leads_elsewhere(ret->path))
		ret->mount = model_mount_of(run->model, view->process, ret->path);
	if (ret->mount)
		ret->dev = ret->mount->dev;
	else if (!view->path && file)
		ret->dev = file->dev;
	return true;
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
static bool object_mark(struct probe_state *state, struct probe_group *group, const struct object *object, uint64_t bit,
			uint64_t *ret_before)
{
	uint64_t *bits;

	*ret_before = 0;
	if (group->sealed)
		return false;
	bits = map_get(&group->objects, object->hash);
	if (!bits) {
		if (state->objects >= OBJECTS_MAX_ALL)
			return false;
		bits = map_put(&group->objects, object->hash, NULL);
		if (!bits)
			return false;
		state->objects++;
	}
	*ret_before = *bits;
	*bits |= bit;
	return true;
}

static void count_object(struct probe_state *state, struct probe_group *group, const struct object *object,
			 uint64_t bit)
{
	uint64_t before;

	if (!object_mark(state, group, object, bit, &before)) {
		group->beyond++;
		group->places.more = true;
	} else if (!(before & OBJECT_FAILED) && object->path) {
		(void)rule_places_add(&group->places, object->path, object->hash);
	}
}

static void count_failure(struct rule_run *run, struct probe_group *group, struct probe_name *name,
			  const struct model_view *view, const struct object *object)
{
	struct probe_line *line = NULL;
	bool fresh = false;

	for (size_t i = 0; i < name->lines.used; i++)
		if (name->lines.at[i].call == view->id && name->lines.at[i].err == view->err)
			line = &name->lines.at[i];
	if (!line) {
		line = vec_add(&name->lines);
		if (!line)
			return;
		line->call = view->id;
		line->err = view->err;
	}
	line->count++;
	line->components += view->path ? view->path->components : 0;
	line->duration_ns += view->call->duration_ns;
	group->failed++;
	if (view->err == EOPNOTSUPP)
		name->unsupported++;
	else
		name->absent++;
	rule_sites_add_tagged(&group->sites, run->model, view, (uint32_t)(name - group->names.at));
	count_object(run->state, group, object, UINT64_C(1) << (name - group->names.at));
	/* Only the way to the threshold has to be exact. */
	if (name->distinct < run->limits[PROBE_LIMIT_CALLS] &&
	    map_put(&group->pairs, map_mix(object->hash, name->hash + name->list), &fresh) && fresh) {
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
	struct probe_group *group;
	struct probe_name *name;
	struct object object;
	uint64_t before;

	if (view->call->head.flags & (EVENT_F_UNFINISHED | EVENT_F_KILLED))
		return;
	if ((!list && !item) || !object_of(run, view, &object))
		return;
	group = group_of(run, view, object.dev, object.mount);
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
		return;
	}
	/* An empty list is no value, and no failure: it may be the only call. */
	if (view->err == ERANGE || view->err == E2BIG || (view->err == 0 && (!list || view->call->ret > 0)))
		name->values++;
	if (list && view->err == 0)
		(void)object_mark(run->state, group, &object, OBJECT_LISTED, &before);
}

static void probe_image_end(struct rule_run *run, struct model_process *process)
{
	struct probe_state *state = run->state;
	struct probe_group **head = map_get(&state->processes, process->id);
	struct probe_group *group = head ? *head : NULL;

	while (group) {
		struct probe_group *next = group->next;

		if (group_flagged(run, group)) {
			group_seal(run, group);
		} else {
			group_unlink(state, group);
			group_free(state, group);
		}
		group = next;
	}
}

static int by_number(const void *a, const void *b)
{
	const struct probe_group *const *x = a, *const *y = b;

	return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

static void probe_end(struct rule_run *run, struct finding_list *out)
{
	struct probe_state *state = run->state;

	if (state->groups.used > 0)
		qsort(state->groups.at, state->groups.used, sizeof *state->groups.at, by_number);
	for (size_t i = 0; i < state->groups.used; i++) {
		if (!group_flagged(run, state->groups.at[i]))
			continue;
		group_seal(run, state->groups.at[i]);
		probe_tell(run, state->groups.at[i], out);
	}
}

static int probe_start(struct rule_run *run)
{
	struct probe_state *state = run->state;

	map_init(&state->processes, sizeof(struct probe_group *), 0);
	return 0;
}

static void probe_done(struct rule_run *run)
{
	struct probe_state *state = run->state;

	for (size_t i = 0; i < state->groups.used; i++)
		group_free(state, state->groups.at[i]);
	vec_done(&state->groups);
	map_done(&state->processes);
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
	.needs = RULE_NEEDS_PATHS | RULE_NEEDS_DEVICES,
	.calls = probe_calls,
	.limits = probe_limits,
	.state_bytes = sizeof(struct probe_state),
	.start = probe_start,
	.call = probe_call,
	.image_end = probe_image_end,
	.end = probe_end,
	.done = probe_done,
};
