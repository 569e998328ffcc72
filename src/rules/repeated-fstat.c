/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repeated-fstat: a descriptor asked again what it stands for, with the same
 * answer, nothing in the tree that could have changed it, and nothing read in
 * between: tar, for one, asks behind the reading whether the file changed, and
 * who maps a file must know how large it is now.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define OPENED_MAX 16384 /* descriptors that were asked, at a time */
#define GROUPS_MAX 16384 /* images that ask */
#define FILES_MAX 4096 /* told apart in an image */

enum { LIMIT_CALLS, LIMIT_GAP };

/* One opened file and one image. */
struct opened {
	struct rule_key key; /* first */
	struct rule_burst burst;
	struct item_stat stat;
	uint64_t asked; /* model_now then */
	int64_t offset; /* and how far it was read */
};

struct asker {
	struct rule_key key; /* first */
	struct rule_places places;
	bool nameless;
};

struct fstat_state {
	struct rule_keys opened, askers;
};

/* Does the old answer hold all that is asked now, and is it the same? */
static bool same_answer(const struct item_stat *was, const struct item_stat *now)
{
	return (now->mask & ~was->mask) == 0 && was->dev == now->dev && was->ino == now->ino &&
	       was->size == now->size && was->mtime_ns == now->mtime_ns && was->ctime_ns == now->ctime_ns &&
	       was->mode == now->mode && was->nlink == now->nlink && was->uid == now->uid && was->gid == now->gid;
}

static void count(struct rule_run *run, const struct model_view *view)
{
	struct fstat_state *state = run->state;
	const struct model_file *file = view->file;
	struct asker *asker;
	bool fresh = false;

	asker = (struct asker *)rule_keys_get(run, &state->askers, view, view->process->id, &fresh);
	if (!asker)
		return;
	if (fresh)
		(void)rule_places_init(&asker->places, FILES_MAX);
	if (file->path && *file->path == '/')
		(void)rule_places_add(&asker->places, file->path, file->path_hash);
	else
		asker->nameless = true;
	(void)rule_tally_add(&asker->key.tally, run->model, view);
	rule_keys_value(&state->askers, &asker->key, asker->key.tally.calls);
}

static void mapped(struct fstat_state *state, const struct model_view *view)
{
	struct rule_key *key =
		view->file ? rule_keys_find(&state->opened, map_mix(view->process->id, view->file->id)) : NULL;

	if (key)
		((struct opened *)key)->offset = -1;
}

static void fstat_call(struct rule_run *run, const struct model_view *view)
{
	struct fstat_state *state = run->state;
	const struct item_stat *stat;
	const struct model_file *file = view->file;
	struct opened *opened;
	bool close, fresh = false, same;

	if (view->id == CALL_mmap) {
		mapped(state, view);
		return;
	}
	if (view->path || !file || view->err || !rule_returned(view))
		return;
	stat = EVENT_ITEM_AS(struct item_stat, event_item(&view->call->head, SYS_ITEM_STAT));
	if (!stat)
		return;
	opened =
		(struct opened *)rule_keys_get(run, &state->opened, view, map_mix(view->process->id, file->id), &fresh);
	if (!opened)
		return;
	close = rule_burst_next(&opened->burst, view, run->limits[LIMIT_GAP]);
	/* Who reads and asks again wants to know whether it changed meanwhile. */
	same = !fresh && same_answer(&opened->stat, stat) && file->offset >= 0 && file->offset == opened->offset &&
	       model_changed(run->model, view->process, NULL, file) <= opened->asked;
	if (same && close)
		count(run, view);
	if (!same)
		opened->stat = *stat;
	opened->asked = model_now(run->model);
	opened->offset = file->offset;
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct asker *asker = (const struct asker *)key;
	struct finding *finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	struct finding_remedy *remedy;
	char *places;

	if (!finding)
		return;
	finding->least = run->limits[LIMIT_CALLS];
	finding_set(&finding->what, "asks open files again for what they have told");
	places = asker->places.distinct ? rule_places_text(&asker->places, "file", "files") : NULL;
	finding_set(&finding->where, "%s%s", places ? places : "files without a name",
		    places && asker->nameless ? " and files without a name" : "");
	finding_set(&finding->object, "open files");
	free(places);
	finding->place = !asker->nameless ? rule_places_place(&asker->places) : NULL;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = "pass-on";
		finding_set(&remedy->text, "keep the first answer and pass it on");
		finding_remedy_saves_all(remedy, finding);
	}
	finding_add_note(finding, "unchanged as far as seen: size, times, mode and owner were the same each time");
}

static void free_asker(struct rule_run *run, struct rule_key *key)
{
	rule_places_done(&((struct asker *)key)->places);
}

static void fstat_image_end(struct rule_run *run, struct model_process *process)
{
	struct fstat_state *state = run->state;

	rule_keys_image_end(run, &state->opened, process);
	rule_keys_image_end(run, &state->askers, process);
}

static void fstat_end(struct rule_run *run, struct finding_list *out)
{
	struct fstat_state *state = run->state;

	rule_keys_tell(run, &state->askers, out, tell);
}

static int fstat_start(struct rule_run *run)
{
	struct fstat_state *state = run->state;

	rule_keys_init(&state->opened, sizeof(struct opened), OPENED_MAX);
	state->opened.idle_ns = UINT64_C(1000000000);
	state->opened.candidate = UINT64_MAX;
	rule_keys_init(&state->askers, sizeof(struct asker), GROUPS_MAX);
	state->askers.candidate = run->limits[LIMIT_CALLS];
	state->askers.free = free_asker;
	return 0;
}

static void fstat_done(struct rule_run *run)
{
	struct fstat_state *state = run->state;

	rule_keys_done(run, &state->opened);
	rule_keys_done(run, &state->askers);
}

static const uint16_t fstat_calls[] = { CALL_fstat, CALL_newfstatat, CALL_statx, CALL_mmap, 0 };

static const struct rule_limit fstat_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 100, "questions of one process that were answered before" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "questions further apart do not count" },
	{ 0 },
};

const struct rule rule_repeated_fstat = {
	.id = "repeated-fstat",
	.title = "open files asked again for the same",
	.items = SYS_ITEM_BIT(STAT),
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.calls = fstat_calls,
	.limits = fstat_limits,
	.state_bytes = sizeof(struct fstat_state),
	.breadth = 1,
	.start = fstat_start,
	.call = fstat_call,
	.image_end = fstat_image_end,
	.end = fstat_end,
	.done = fstat_done,
};
