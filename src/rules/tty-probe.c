/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tty-probe: a descriptor that is asked again whether it is a terminal, or
 * asked although fstat has said that it is a file.  What a descriptor stands
 * for never changes, so one answer lasts from its opening to its closing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/text.h"
#include "rules/keyed.h"

#define OPENED_MAX 16384 /* descriptors that were asked, at a time */
#define GROUPS_MAX 16384 /* images that ask */
#define FILES_MAX 4096 /* told apart in an image */

#define TCGETS_REQUEST 0x5401u
#define TCGETS2_REQUEST 0x802c542au
#define WINDOW_REQUEST 0x5413u

enum { LIMIT_TIMES, LIMIT_CALLS, LIMIT_FILES, LIMIT_GAP };
enum { PROBE_AGAIN, PROBE_FILES };

/* One opened file and one image. */
struct opened {
	struct rule_key key; /* first; its tally has the questions after the first, below the limit */
	struct rule_burst burst;
	uint64_t asked;
};

/* One image: what was asked again, and in a key of its own what was asked of files. */
struct asker {
	struct rule_key key; /* first */
	struct rule_places places;
	int what;
	bool nameless;
	bool more; /* than the size of the window was asked for */
};

struct probe_state {
	struct rule_keys opened, askers;
};

static struct asker *asker_of(struct rule_run *run, const struct model_view *view, int what)
{
	struct probe_state *state = run->state;
	const struct model_file *file = view->file;
	struct asker *asker;
	bool fresh = false;

	asker = (struct asker *)rule_keys_get(run, &state->askers, view, map_mix(view->process->id, (uint64_t)what),
					      &fresh);
	if (!asker)
		return NULL;
	if (fresh) {
		(void)rule_places_init(&asker->places, FILES_MAX);
		asker->what = what;
	}
	if (file->path && *file->path == '/')
		(void)rule_places_add(&asker->places, file->path, file->path_hash);
	else
		asker->nameless = true;
	return asker;
}

static void ask_again(struct rule_run *run, struct opened *opened, const struct model_view *view)
{
	struct probe_state *state = run->state;
	struct asker *asker;

	(void)rule_tally_add(&opened->key.tally, run->model, view);
	rule_keys_value(&state->opened, &opened->key, opened->key.tally.calls);
	if (opened->asked < run->limits[LIMIT_TIMES])
		return;
	asker = asker_of(run, view, PROBE_AGAIN);
	if (!asker)
		return;
	asker->more = asker->more || (uint32_t)view->call->args[1] != WINDOW_REQUEST;
	rule_tally_merge(&asker->key.tally, &opened->key.tally);
	rule_keys_value(&state->askers, &asker->key, asker->key.tally.calls);
}

/* Opened by the image itself, which then asked what it is. */
static bool known_as_file(const struct model_file *file)
{
	return file->made_by != CALL_unknown && file->mode && (S_ISREG(file->mode) || S_ISDIR(file->mode));
}

static void probe_call(struct rule_run *run, const struct model_view *view)
{
	uint32_t request = (uint32_t)view->call->args[1];
	struct probe_state *state = run->state;
	const struct model_file *file = view->file;
	struct opened *opened;
	struct asker *asker;

	if (request != TCGETS_REQUEST && request != TCGETS2_REQUEST && request != WINDOW_REQUEST)
		return;
	if (!file || view->err != ENOTTY || !rule_returned(view))
		return;
	opened = (struct opened *)rule_keys_get(run, &state->opened, view, map_mix(view->process->id, file->id), NULL);
	if (!opened || !rule_burst_next(&opened->burst, view, run->limits[LIMIT_GAP]))
		return;
	if (++opened->asked > 1) {
		ask_again(run, opened, view);
		return;
	}
	if (!known_as_file(file))
		return;
	asker = asker_of(run, view, PROBE_FILES);
	if (!asker)
		return;
	(void)rule_tally_add(&asker->key.tally, run->model, view);
	/* One limit of the table for both kinds. */
	rule_keys_value(&state->askers, &asker->key, asker->key.tally.calls);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct asker *asker = (const struct asker *)key;
	bool again = asker->what == PROBE_AGAIN;
	const char *shell = again && asker->more ? rule_shell_remedy(key->exe) : NULL;
	bool window = again && !asker->more && strcmp(rule_base_name(key->exe->path), "bash") == 0;
	struct finding_remedy *remedy;
	struct finding *finding;
	char *places;

	if (key->tally.calls < run->limits[again ? LIMIT_CALLS : LIMIT_FILES])
		return;
	finding = rule_key_finding(run, key, again ? FINDING_CERTAIN : FINDING_LIKELY, NULL, out);
	if (!finding)
		return;
	finding->least = run->limits[again ? LIMIT_CALLS : LIMIT_FILES];
	finding_set(&finding->what, again ? "asks the same descriptor again whether it is a terminal"
					  : "asks whether files are terminals, which fstat has told");
	places = asker->places.distinct ? rule_places_text(&asker->places, "file", "files") : NULL;
	finding_set(&finding->where, "%s%s", places ? places : "descriptors without a name",
		    places && asker->nameless ? " and descriptors without a name" : "");
	finding_set(&finding->object, again ? "the same descriptors" : "files");
	free(places);
	finding->place = !asker->nameless ? rule_places_place(&asker->places) : NULL;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = window ? "checkwinsize" : shell ? "mapfile" : again ? "once" : "by-mode";
		finding_set(&remedy->text, "%s",
			    window  ? "shopt -u checkwinsize: without it bash asks after each child"
			    : shell ? shell
			    : again ? "ask once for each descriptor and keep the answer"
				    : "ask only what fstat says is a character device");
		finding_remedy_saves_all(remedy, finding);
	}
}

static void free_asker(struct rule_run *run, struct rule_key *key)
{
	rule_places_done(&((struct asker *)key)->places);
}

static void probe_image_end(struct rule_run *run, struct model_process *process)
{
	struct probe_state *state = run->state;

	rule_keys_image_end(run, &state->opened, process);
	rule_keys_image_end(run, &state->askers, process);
}

static void probe_end(struct rule_run *run, struct finding_list *out)
{
	struct probe_state *state = run->state;

	rule_keys_tell(run, &state->askers, out, tell);
}

static int probe_start(struct rule_run *run)
{
	struct probe_state *state = run->state;

	rule_keys_init(&state->opened, sizeof(struct opened), OPENED_MAX);
	state->opened.idle_ns = UINT64_C(1000000000);
	state->opened.candidate = UINT64_MAX;
	rule_keys_init(&state->askers, sizeof(struct asker), GROUPS_MAX);
	state->askers.candidate = run->limits[LIMIT_CALLS] < run->limits[LIMIT_FILES] ? run->limits[LIMIT_CALLS]
										      : run->limits[LIMIT_FILES];
	state->askers.free = free_asker;
	return 0;
}

static void probe_done(struct rule_run *run)
{
	struct probe_state *state = run->state;

	rule_keys_done(run, &state->opened);
	rule_keys_done(run, &state->askers);
}

static const uint16_t probe_calls[] = { CALL_ioctl, 0 };

static const struct rule_limit probe_limits[] = {
	[LIMIT_TIMES] = { "times", RULE_COUNT, 4, "that one descriptor is asked, at least" },
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 20, "questions after the first of each, in one process" },
	[LIMIT_FILES] = { "files", RULE_COUNT, 100, "or so many asked that fstat had told to be files" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "questions further apart do not count" },
	{ 0 },
};

const struct rule rule_tty_probe = {
	.id = "tty-probe",
	.title = "descriptors asked again whether they are terminals",
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.calls = probe_calls,
	.limits = probe_limits,
	.state_bytes = sizeof(struct probe_state),
	.breadth = 1,
	.start = probe_start,
	.call = probe_call,
	.image_end = probe_image_end,
	.end = probe_end,
	.done = probe_done,
};
