/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * readlink-walk: the parts of path after path asked whether they are links,
 * the same folders again for each file in them.  Asking each name once is no
 * walk, and where links are found asking is right.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define PROCESSES_MAX 4096
#define PATHS_MAX 16384 /* told apart in a process */
#define PATHS_MAX_ALL 524288 /* … in all that run */

#define GCC_OPTION "-fno-canonical-system-headers"

enum { LIMIT_CALLS, LIMIT_AGAIN, LIMIT_LINKS };

/* One image; its tally has all that were no links. */
struct walk {
	struct rule_key key; /* first */
	uint32_t ppid;
	struct map paths; /* asked of → when, by model_now */
	struct rule_tally again; /* counts only: asked before */
	uint64_t links;
	struct rule_line before; /* what gcc asked of folders before it came to the first header */
	bool header, is_gcc;
	struct rule_places places;
};

struct walk_state {
	struct rule_keys keys;
	uint64_t paths; /* in all maps */
};

static void walk_free(struct rule_run *run, struct rule_key *key)
{
	struct walk_state *state = run->state;
	struct walk *walk = (struct walk *)key;

	state->paths -= walk->paths.used;
	map_done(&walk->paths);
	rule_tally_done(&walk->again);
	rule_places_done(&walk->places);
}

/* The folders before the first header; that one's own were the last few. */
static void note_header(struct walk *walk, const struct model_view *view)
{
	const struct rule_line *line = walk->key.tally.lines.used > 0 ? &walk->key.tally.lines.at[0] : NULL;
	const struct model_path *path = view->path;
	uint64_t own = path->components;

	if (walk->header || !line || path->bytes < 2 || strcmp(path->text + path->bytes - 2, ".h") != 0)
		return;
	walk->header = true;
	walk->before = *line;
	walk->before.count = line->count > own ? line->count - own : 0;
	walk->before.components = line->components > own * (own + 1) / 2 ? line->components - own * (own + 1) / 2 : 0;
}

/* Was this asked before, and nothing has changed since? */
static bool asked_before(struct rule_run *run, struct walk *walk, const struct model_view *view)
{
	struct walk_state *state = run->state;
	uint64_t *asked = map_get(&walk->paths, view->path->hash), was;

	if (!asked) {
		asked = state->paths < PATHS_MAX_ALL ? map_put(&walk->paths, view->path->hash, NULL) : NULL;
		state->paths += asked != NULL;
		if (asked)
			*asked = model_now(run->model);
		return false;
	}
	was = *asked;
	*asked = model_now(run->model);
	return model_changed(run->model, view->process, view->path->text, NULL) <= was;
}

static void walk_call(struct rule_run *run, const struct model_view *view)
{
	struct walk_state *state = run->state;
	struct walk *walk;
	bool fresh = false;

	if (!rule_returned(view) || !view->path || (view->err && view->err != EINVAL))
		return;
	walk = (struct walk *)rule_keys_get(run, &state->keys, view, view->process->id, &fresh);
	if (!walk)
		return;
	if (fresh) {
		const char *base = rule_base_name(view->process->exe->path);

		walk->ppid = view->process->ppid;
		walk->is_gcc = strcmp(base, "cc1") == 0 || strcmp(base, "cc1plus") == 0;
		map_init(&walk->paths, sizeof(uint64_t), PATHS_MAX);
		(void)rule_places_init(&walk->places, 0);
	}
	if (!view->err) {
		walk->links++;
		return;
	}
	(void)rule_tally_add(&walk->key.tally, run->model, view);
	if (walk->is_gcc)
		note_header(walk, view);
	if (asked_before(run, walk, view)) {
		(void)rule_tally_count(&walk->again, view);
	} else if (view->path->absolute) {
		(void)rule_places_add(&walk->places, view->path->text, view->path->hash);
	}
	rule_keys_value(&state->keys, &walk->key, walk->again.calls);
}

static void walk_image_end(struct rule_run *run, struct model_process *process)
{
	struct walk_state *state = run->state;
	struct rule_key *key = NULL;

	rule_keys_image_end(run, &state->keys, process);
	while ((key = rule_keys_next_of(&state->keys, process->id, key))) {
		struct walk *walk = (struct walk *)key;

		state->paths -= walk->paths.used;
		map_done(&walk->paths);
	}
}

/* Is the command itself the gcc that started this compiler? */
static bool is_gcc_command(const struct model_process *root, const struct walk *walk)
{
	const char *base = root ? rule_base_name(root->exe->path) : "";

	return root && walk->ppid == root->pid && (strstr(base, "gcc") || strstr(base, "g++"));
}

static void tell_gcc(struct rule_run *run, const struct walk *walk, struct finding *finding)
{
	const struct model_process *root = rule_command_process(run->model);
	struct finding_remedy *remedy = walk->header ? finding_add_remedy(finding, REMEDY_CONFIGURATION) : NULL;
	const struct rule_line *line = &walk->key.tally.lines.at[0];

	if (!remedy)
		return;
	remedy->id = "no-canonical-system-headers";
	finding_set(&remedy->text, GCC_OPTION);
	finding_set(&remedy->changes, "paths of headers in warnings, .d files and debug information are not shortened");
	if (is_gcc_command(root, walk))
		remedy->command = rule_command_option(run->model, GCC_OPTION, root->id);
	finding_add_delta(remedy, line->call, line->err, -(int64_t)(line->count - walk->before.count),
			  line->components - walk->before.components);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct walk *walk = (const struct walk *)key;
	uint64_t calls = key->tally.calls, asked = calls + walk->links;
	struct finding_remedy *remedy;
	struct finding *finding;
	char number[TEXT_NUMBER_MAX], *places;

	if (calls < run->limits[LIMIT_CALLS] || walk->again.calls * 100 < calls * run->limits[LIMIT_AGAIN] ||
	    walk->links * 100 > asked * run->limits[LIMIT_LINKS])
		return;
	finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	if (!finding)
		return;
	finding_set(&finding->what, "asks each part of path after path whether it is a link, and none is");
	places = rule_places_name(&walk->places, "path", "paths");
	finding_set(&finding->where, "%s; asked of before in %s calls", places ? places : "?",
		    text_count(walk->again.calls, number));
	free(places);
	finding->place = rule_places_place(&walk->places);
	finding_set(&finding->object, "readlink");
	if (walk->is_gcc)
		tell_gcc(run, walk, finding);
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (!remedy)
		return;
	remedy->id = "remember-folders";
	finding_set(&remedy->text, "remember which folders are no links");
	for (size_t i = 0; i < walk->again.lines.used; i++) {
		const struct rule_line *line = &walk->again.lines.at[i];

		finding_add_delta(remedy, line->call, line->err, -(int64_t)line->count, line->components);
	}
}

static void walk_end(struct rule_run *run, struct finding_list *out)
{
	struct walk_state *state = run->state;

	rule_keys_tell(run, &state->keys, out, tell);
}

static int walk_start(struct rule_run *run)
{
	struct walk_state *state = run->state;

	rule_keys_init(&state->keys, sizeof(struct walk), PROCESSES_MAX);
	/* What is asked again can be no more than what is asked. */
	state->keys.candidate = run->limits[LIMIT_CALLS] * run->limits[LIMIT_AGAIN] / 100 + 1;
	state->keys.free = walk_free;
	return 0;
}

static void walk_done(struct rule_run *run)
{
	struct walk_state *state = run->state;

	rule_keys_done(run, &state->keys);
}

static const uint16_t walk_calls[] = { CALL_readlink, CALL_readlinkat, 0 };

static const struct rule_limit walk_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 50, "answers of one process that a path is no link" },
	[LIMIT_AGAIN] = { "again", RULE_PERCENT, 33, "of them at least for paths that were asked of before" },
	[LIMIT_LINKS] = { "links", RULE_PERCENT, 20, "of its answers may be links; above, asking is right" },
	{ 0 },
};

const struct rule rule_readlink_walk = {
	.id = "readlink-walk",
	.title = "folders asked again and again whether they are links",
	.items = SYS_ITEM_BIT(PATH),
	.needs = RULE_NEEDS_PATHS,
	.calls = walk_calls,
	.limits = walk_limits,
	.state_bytes = sizeof(struct walk_state),
	.start = walk_start,
	.call = walk_call,
	.image_end = walk_image_end,
	.end = walk_end,
	.done = walk_done,
};
