/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * noop-seek: lseek to where the descriptor stands, or to learn where that is.
 * The kernel's answer is what the program could have counted itself.  Seeks
 * that ask the file (its end, its holes) are none of these, nor is the first
 * question of a descriptor, which tells whether it can seek at all.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "rules/keyed.h"

#define PROCESSES_MAX 16384 /* images that seek, at a time */
#define FILES_MAX 4096 /* told apart in an image */
#define OPENED_MAX 16384 /* descriptors that were asked, at a time */

enum { LIMIT_CALLS, LIMIT_GAP };

/* One image, and in a key of its own what it does to offsets that others may move. */
struct seeker {
	struct rule_key key; /* first */
	struct rule_burst burst;
	struct rule_places places;
	bool shared, nameless;
};

struct seek_state {
	struct rule_keys seekers, opened;
};

static void seek_call(struct rule_run *run, const struct model_view *view)
{
	struct seek_state *state = run->state;
	const struct model_file *file = view->file;
	struct seeker *seeker;
	bool fresh = false, first = false;

	if (!file || view->err || !rule_returned(view))
		return;
	if (!rule_keys_get(run, &state->opened, view, map_mix(view->process->id, file->id), &first))
		return;
	if (view->call->args[2] != SEEK_SET && (view->call->args[2] != SEEK_CUR || first))
		return;
	if (file->offset < 0 || view->call->ret != file->offset)
		return;
	seeker = (struct seeker *)rule_keys_get(run, &state->seekers, view,
						map_mix(view->process->id, file->offset_shared), &fresh);
	if (!seeker)
		return;
	if (fresh) {
		(void)rule_places_init(&seeker->places, FILES_MAX);
		seeker->shared = file->offset_shared;
	}
	if (!rule_burst_next(&seeker->burst, view, run->limits[LIMIT_GAP]))
		return;
	if (file->path)
		(void)rule_places_add(&seeker->places, file->path, file->path_hash);
	else
		seeker->nameless = true;
	(void)rule_tally_add(&seeker->key.tally, run->model, view);
	rule_keys_value(&state->seekers, &seeker->key, seeker->key.tally.calls);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct seeker *seeker = (const struct seeker *)key;
	const char *shell = rule_shell_remedy(key->exe);
	enum finding_tier tier = shell ? FINDING_BY_DESIGN : seeker->shared ? FINDING_LIKELY : FINDING_CERTAIN;
	struct finding *finding = rule_key_finding(run, key, tier, NULL, out);
	struct finding_remedy *remedy;
	char *places;

	if (!finding)
		return;
	finding->least = run->limits[LIMIT_CALLS];
	finding_set(&finding->what, "seeks to where the file stands already");
	places = seeker->places.distinct ? rule_places_text(&seeker->places, "file", "files") : NULL;
	finding_set(&finding->where, "%s%s", places ? places : "files without a name",
		    places && seeker->nameless ? " and files without a name" : "");
	finding_set(&finding->object, "offsets%s", seeker->shared ? " that are shared" : "");
	free(places);
	finding->place = !seeker->nameless ? rule_places_place(&seeker->places) : NULL;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = shell ? "mapfile" : "count";
		finding_set(&remedy->text, "%s",
			    shell ? shell
				  : "count what was read and written; pread and pwrite where the place is known");
		finding_remedy_saves_all(remedy, finding);
	}
	if (shell)
		finding_add_note(finding, "a shell gives back what it has read ahead: others may go on from there");
	else if (seeker->shared)
		finding_add_note(finding,
				 "others have the same descriptor and may move it, but did not as far as seen");
	rule_burst_note(&seeker->burst, finding);
}

static void seek_free(struct rule_run *run, struct rule_key *key)
{
	rule_places_done(&((struct seeker *)key)->places);
}

static void seek_image_end(struct rule_run *run, struct model_process *process)
{
	struct seek_state *state = run->state;

	rule_keys_image_end(run, &state->opened, process);
	rule_keys_image_end(run, &state->seekers, process);
}

static void seek_end(struct rule_run *run, struct finding_list *out)
{
	struct seek_state *state = run->state;

	rule_keys_tell(run, &state->seekers, out, tell);
}

static int seek_start(struct rule_run *run)
{
	struct seek_state *state = run->state;

	rule_keys_init(&state->opened, sizeof(struct rule_key), OPENED_MAX);
	state->opened.idle_ns = UINT64_C(1000000000);
	state->opened.candidate = UINT64_MAX;
	rule_keys_init(&state->seekers, sizeof(struct seeker), PROCESSES_MAX);
	state->seekers.candidate = run->limits[LIMIT_CALLS];
	state->seekers.free = seek_free;
	return 0;
}

static void seek_done(struct rule_run *run)
{
	struct seek_state *state = run->state;

	rule_keys_done(run, &state->opened);
	rule_keys_done(run, &state->seekers);
}

static const uint16_t seek_calls[] = { CALL_lseek, 0 };

static const struct rule_limit seek_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 100, "seeks of one process that moved nothing" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "seeks further apart do not count" },
	{ 0 },
};

const struct rule rule_noop_seek = {
	.id = "noop-seek",
	.title = "seeks that move nothing",
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.calls = seek_calls,
	.limits = seek_limits,
	.state_bytes = sizeof(struct seek_state),
	.breadth = 1,
	.start = seek_start,
	.call = seek_call,
	.image_end = seek_image_end,
	.end = seek_end,
	.done = seek_done,
};
