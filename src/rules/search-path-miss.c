/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search-path-miss: one name looked for in directory after directory of a
 * list, again for each name or in each process.  Here is the keeping of
 * counts: misses of a name wait in its key until they are a search, then they
 * belong to the group of the program.
 */
#include "rules/search-path-miss.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NAMES_MAX 4096 /* names looked for at a time */
#define GROUPS_MAX 1024
#define RECENT_PIDS 256
#define USED_MAX 4096
#define WAITING 7 /* directories that are kept apart before a search is one */
#define TOLD_MAX 16384 /* names and processes of a group that are told apart */
#define NAME_IDLE_NS UINT64_C(1000000000)

/* One name that one process looks for. */
struct search_name {
	struct rule_key key; /* first; its tally has the misses that wait */
	enum search_kind kind;
	bool searched; /* in enough directories */
	uint64_t asked; /* model_now of the last miss */
	bool polled; /* after a sleep: it waits for the name, and searches no more */
	uint32_t waiting;
	struct {
		struct search_dir dir;
		char *resolved;
	} wait[WAITING];
};

struct recent_program {
	uint64_t hash; /* first: of the pid */
	uint64_t name, group;
};

static void dir_done(struct search_dir *dir)
{
	free(dir->text);
	rule_tally_done(&dir->misses);
}

static void name_free(struct rule_run *run, struct rule_key *key)
{
	struct search_name *name = (struct search_name *)key;

	(void)run;
	for (uint32_t i = 0; i < name->waiting; i++) {
		dir_done(&name->wait[i].dir);
		free(name->wait[i].resolved);
	}
}

static void group_free(struct rule_run *run, struct rule_key *key)
{
	struct search_group *group = (struct search_group *)key;

	(void)run;
	for (size_t i = 0; i < group->dirs.used; i++)
		dir_done(&group->dirs.at[i]);
	vec_done(&group->dirs);
	map_done(&group->names);
	map_done(&group->runs);
	rule_places_done(&group->places);
	free(group->name);
	free(group->list);
}

static bool split(const struct model_view *view, struct search_path *ret)
{
	const char *text = view->path->passed, *slash;

	slash = memrchr(text, '/', view->path->passed_bytes);
	/* A name alone is looked for in one place. */
	if (!slash || slash[1] == '\0')
		return false;
	ret->dir = text;
	ret->dir_bytes = slash == text ? 1 : (size_t)(slash - text);
	ret->name = slash + 1;
	ret->name_bytes = view->path->passed_bytes - (size_t)(slash + 1 - text);
	return true;
}

static uint64_t group_hash(const struct model_exe *exe, enum search_kind kind)
{
	return map_mix((uintptr_t)exe, kind);
}

static struct search_group *group_of(struct rule_run *run, const struct model_view *view, enum search_kind kind)
{
	struct search_state *state = run->state;
	const char *variable = search_variable(kind), *list;
	bool fresh = false;
	struct search_group *group = (struct search_group *)rule_keys_get(run, &state->groups, view,
									  group_hash(view->process->exe, kind), &fresh);

	if (!group || (!fresh && group->last_run == view->process->id))
		return group;
	if (fresh) {
		map_init(&group->names, 0, TOLD_MAX);
		map_init(&group->runs, 0, TOLD_MAX);
	}
	(void)map_put(&group->runs, view->process->id, NULL);
	group->last_run = view->process->id;
	list = variable && view->process->env_known ? model_getenv(view->process, variable) : NULL;
	if (fresh) {
		group->kind = kind;
		group->list = list ? strdup(list) : NULL;
		(void)rule_places_init(&group->places, SEARCH_DIRS_MAX * 8);
		if (view->path->passed[0] != '/')
			rule_places_relative(&group->places, model_cwd(run->model, view->process));
	} else if ((list == NULL) != (group->list == NULL) || (list && strcmp(list, group->list) != 0)) {
		group->list_differs = true;
	}
	return group;
}

/* The directory in the group, made when there is room. */
static struct search_dir *dir_of(struct search_group *group, const char *text, size_t bytes, bool make)
{
	uint64_t hash = map_hash(text, bytes);
	struct search_dir *dir;

	for (size_t i = 0; i < group->dirs.used; i++)
		if (group->dirs.at[i].hash == hash)
			return &group->dirs.at[i];
	if (!make || group->dirs.used >= SEARCH_DIRS_MAX)
		return NULL;
	dir = vec_add(&group->dirs);
	if (!dir)
		return NULL;
	dir->hash = hash;
	dir->text = strndup(text, bytes);
	return dir;
}

static void add_place(struct search_group *group, const char *resolved)
{
	(void)rule_places_add(&group->places, resolved, map_hash(resolved, strlen(resolved)));
}

/* What waited was a search. */
static void flush(struct search_group *group, struct search_name *name)
{
	for (uint32_t i = 0; i < name->waiting; i++) {
		struct search_dir *from = &name->wait[i].dir, *to;

		to = from->text ? dir_of(group, from->text, strlen(from->text), true) : NULL;
		if (to)
			rule_tally_merge(&to->misses, &from->misses);
		if (name->wait[i].resolved)
			add_place(group, name->wait[i].resolved);
		dir_done(from);
		free(name->wait[i].resolved);
	}
	name->waiting = 0;
	rule_tally_merge(&group->key.tally, &name->key.tally);
}

static char *resolved_dir(const struct model_view *view, const struct search_path *path)
{
	size_t bytes = view->path->bytes;

	/* Below an entry of a list: the entry. */
	if (path->name != path->dir + path->dir_bytes + 1 && path->dir_bytes > 1 && path->dir[0] == '/')
		return strndup(path->dir, path->dir_bytes);
	while (bytes > 1 && view->path->text[bytes - 1] != '/')
		bytes--;
	return strndup(view->path->text, bytes > 1 ? bytes - 1 : bytes);
}

/* False when with this directory it is a search. */
static bool wait_in(const struct rule_run *run, struct search_name *name, const struct model_view *view,
		    const struct search_path *path)
{
	uint64_t hash = map_hash(path->dir, path->dir_bytes), dirs = run->limits[SEARCH_LIMIT_DIRS];
	uint32_t at = 0;

	while (at < name->waiting && name->wait[at].dir.hash != hash)
		at++;
	if (at == WAITING || (at == name->waiting && at + 1 >= dirs))
		return false;
	if (at == name->waiting) {
		name->waiting++;
		name->wait[at].dir.hash = hash;
		name->wait[at].dir.text = strndup(path->dir, path->dir_bytes);
		name->wait[at].resolved = resolved_dir(view, path);
	}
	(void)rule_tally_count(&name->wait[at].dir.misses, view);
	return true;
}

static void name_group(struct search_group *group, const struct search_path *path)
{
	struct buf text = BUF_INIT;
	bool fresh = false;

	(void)map_put(&group->names, map_hash(path->name, path->name_bytes), &fresh);
	if (fresh && group->names.used == 1) {
		(void)text_escape(&text, path->name, path->name_bytes, 0, true);
		group->name = text.failed ? NULL : buf_steal(&text);
		buf_done(&text);
	}
}

static void missed(struct rule_run *run, const struct model_view *view, const struct search_path *path,
		   enum search_kind kind)
{
	struct search_state *state = run->state;
	uint64_t name_hash = map_hash(path->name, path->name_bytes);
	struct search_group *group = group_of(run, view, kind);
	struct search_name *name = (struct search_name *)rule_keys_get(
		run, &state->names, view, map_mix(map_mix(view->process->id, kind), name_hash), NULL);
	struct recent_program *recent;
	struct search_dir *dir;
	char *resolved;

	if (!group || !name)
		return;
	name->kind = kind;
	name->polled = name->polled || (name->asked > 0 && view->slept > name->asked);
	name->asked = model_now(run->model);
	if (name->polled)
		return;
	if (kind == SEARCH_PROGRAMS) {
		recent = rule_recent_put(&state->programs, view->process->pid, NULL);
		recent->name = name_hash;
		recent->group = group->key.hash;
	}
	if (!name->searched && wait_in(run, name, view, path)) {
		(void)rule_tally_add(&name->key.tally, run->model, view);
		rule_keys_value(&state->names, &name->key, name->waiting);
		return;
	}
	if (!name->searched) {
		name->searched = true;
		flush(group, name);
		/* The loader's looks at folders tell no library. */
		if (kind != SEARCH_LOADER || view->id == CALL_open || view->id == CALL_openat)
			name_group(group, path);
	}
	(void)rule_tally_add(&group->key.tally, run->model, view);
	dir = dir_of(group, path->dir, path->dir_bytes, true);
	if (dir)
		(void)rule_tally_count(&dir->misses, view);
	resolved = resolved_dir(view, path);
	if (resolved)
		add_place(group, resolved);
	free(resolved);
	rule_keys_value(&state->groups, &group->key, group->key.tally.calls);
}

/* Which entries of the variable were of use to anybody. */
static void mark_used(struct search_state *state, const struct model_view *view, const struct search_path *path,
		      enum search_kind kind)
{
	const char *variable = search_variable(kind), *list, *entry;
	size_t bytes;

	list = variable && view->process->env_known ? model_getenv(view->process, variable) : NULL;
	while (list && search_entry(&list, &entry, &bytes))
		if (search_below(path->dir, path->dir_bytes, entry, bytes))
			(void)map_put(&state->used, search_used_hash(kind, entry, bytes), NULL);
}

static void found(struct rule_run *run, const struct model_view *view, const struct search_path *path,
		  enum search_kind kind)
{
	struct search_state *state = run->state;
	bool looked = view->id == CALL_stat || view->id == CALL_lstat || view->id == CALL_newfstatat ||
		      view->id == CALL_statx;
	struct search_group *group;
	struct search_dir *dir;

	mark_used(state, view, path, kind);
	/* What is looked at is opened afterwards, and counts once. */
	if (looked && kind != SEARCH_MAKE && kind != SEARCH_PROGRAMS)
		return;
	if (kind == SEARCH_PROGRAMS) {
		struct recent_program *recent = rule_recent_get(&state->programs, view->process->pid);

		/* The exec itself is the next program's. */
		group = recent && recent->name == map_hash(path->name, path->name_bytes)
				? (struct search_group *)rule_keys_find(&state->groups, recent->group)
				: NULL;
		if (recent)
			recent->name = 0;
	} else {
		group = group_of(run, view, kind);
	}
	if (!group)
		return;
	group->found++;
	dir = dir_of(group, path->dir, path->dir_bytes, kind == SEARCH_PERL);
	if (dir)
		dir->found++;
}

static void search_call(struct rule_run *run, const struct model_view *view)
{
	bool absent = view->err == ENOENT || view->err == ENOTDIR;
	struct search_path path;
	enum search_kind kind;

	if (!rule_returned(view) || !view->path || (view->err && !absent) || !split(view, &path))
		return;
	kind = search_kind_of(run->state, run->model, view, &path);
	if (kind == SEARCH_NONE)
		return;
	if (absent)
		missed(run, view, &path, kind);
	else
		found(run, view, &path, kind);
}

static void search_image_end(struct rule_run *run, struct model_process *process)
{
	struct search_state *state = run->state;

	rule_keys_image_end(run, &state->names, process);
}

static void search_end(struct rule_run *run, struct finding_list *out)
{
	struct search_state *state = run->state;

	rule_keys_tell(run, &state->groups, out, search_tell);
}

static int search_start(struct rule_run *run)
{
	struct search_state *state = run->state;

	rule_keys_init(&state->names, sizeof(struct search_name), NAMES_MAX);
	state->names.candidate = UINT64_MAX;
	state->names.idle_ns = NAME_IDLE_NS;
	state->names.free = name_free;
	rule_keys_init(&state->groups, sizeof(struct search_group), GROUPS_MAX);
	state->groups.candidate = run->limits[SEARCH_LIMIT_CALLS];
	state->groups.free = group_free;
	map_init(&state->used, 0, USED_MAX);
	return rule_recent_init(&state->programs, sizeof(struct recent_program), RECENT_PIDS);
}

static void search_done(struct rule_run *run)
{
	struct search_state *state = run->state;

	rule_keys_done(run, &state->names);
	rule_keys_done(run, &state->groups);
	rule_recent_done(&state->programs);
	map_done(&state->used);
}

static const uint16_t search_calls[] = {
	CALL_open,	 CALL_openat,	CALL_openat2,  CALL_stat,	CALL_lstat,
	CALL_newfstatat, CALL_statx,	CALL_access,   CALL_faccessat,	CALL_faccessat2,
	CALL_execve,	 CALL_execveat, CALL_readlink, CALL_readlinkat, 0,
};

static const char *const search_env[] = { "PATH", "LD_LIBRARY_PATH", "PERL5LIB", NULL };

static const struct rule_limit search_limits[] = {
	[SEARCH_LIMIT_CALLS] = { "calls", RULE_COUNT, 30, "misses of one program, in all its runs" },
	[SEARCH_LIMIT_DIRS] = { "dirs", RULE_COUNT, 3, "in so many a process misses one name, or it is no search" },
	[SEARCH_LIMIT_FAILED] = { "failed", RULE_PERCENT, 60, "of its look-ups at least, found ones counted" },
	{ 0 },
};

const struct rule rule_search_path_miss = {
	.id = "search-path-miss",
	.title = "names looked for in directory after directory",
	.items = SYS_ITEM_BIT(PATH),
	.needs = RULE_NEEDS_PATHS | RULE_NEEDS_ENV,
	.env = search_env,
	.calls = search_calls,
	.limits = search_limits,
	.state_bytes = sizeof(struct search_state),
	.start = search_start,
	.call = search_call,
	.image_end = search_image_end,
	.end = search_end,
	.done = search_done,
};
