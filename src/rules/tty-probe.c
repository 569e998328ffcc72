/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tty-probe: a descriptor that is asked again whether it is a terminal, or
 * asked although fstat has said that it is a file.  What a descriptor stands
 * for never changes, so one answer lasts from its opening to its closing.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "rules/law.h"

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

struct asker {
	struct law_entry entry; /* first */
	bool more; /* than the size of the window was asked for */
};

static void ask_again(struct rule_run *run, struct opened *opened, const struct model_view *view)
{
	struct law_state *state = run->state;
	struct asker *asker;

	(void)rule_tally_add(&opened->key.tally, run->model, view);
	rule_keys_value(&state->followed, &opened->key, opened->key.tally.calls);
	asker = opened->asked >= run->limits[LIMIT_TIMES] ? law_entry(run, view, PROBE_AGAIN) : NULL;
	if (!asker)
		return;
	asker->more = asker->more || (uint32_t)view->call->args[1] != WINDOW_REQUEST;
	law_file(run, &asker->entry, view->file);
	law_take(run, &asker->entry, &opened->key.tally);
}

/* Opened by the image itself, which then asked what it is. */
static bool known_as_file(const struct model_file *file)
{
	return file->made_by != CALL_unknown && file->mode && (S_ISREG(file->mode) || S_ISDIR(file->mode));
}

static void probe_call(struct rule_run *run, const struct model_view *view)
{
	uint32_t request = (uint32_t)view->call->args[1];
	const struct model_file *file = view->file;
	struct opened *opened;
	struct asker *asker;

	if (request != TCGETS_REQUEST && request != TCGETS2_REQUEST && request != WINDOW_REQUEST)
		return;
	if (!file || view->err != ENOTTY || !rule_returned(view))
		return;
	opened = law_follow(run, view, file->id, NULL);
	if (!opened || !rule_burst_next(&opened->burst, view, run->limits[LIMIT_GAP]))
		return;
	if (++opened->asked > 1) {
		ask_again(run, opened, view);
		return;
	}
	asker = known_as_file(file) ? law_entry(run, view, PROBE_FILES) : NULL;
	if (!asker)
		return;
	law_file(run, &asker->entry, file);
	law_count(run, &asker->entry, view);
}

static void probe_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	bool more = ((const struct asker *)entry)->more;
	const char *shell = more ? rule_shell_remedy(entry->key.exe) : NULL;

	if (entry->kind != PROBE_AGAIN)
		return;
	if (!more && strcmp(rule_base_name(entry->key.exe->path), "bash") == 0)
		(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "checkwinsize",
					     "shopt -u checkwinsize: without it bash asks after each child");
	else
		(void)finding_add_remedy_all(finding, REMEDY_SOURCE, shell ? "mapfile" : "once",
					     shell ? shell : "ask once for each descriptor and keep the answer");
}

static const struct law_kind probe_kinds[] = {
	[PROBE_AGAIN] = { .tier = FINDING_CERTAIN,
			  .least = LIMIT_CALLS,
			  .what = "asks the same descriptor again whether it is a terminal",
			  .object = "the same descriptors",
			  .nameless = "descriptors without a name" },
	[PROBE_FILES] = { .tier = FINDING_LIKELY,
			  .least = LIMIT_FILES,
			  .what = "asks whether files are terminals, which fstat has told",
			  .object = "files",
			  .nameless = "descriptors without a name",
			  .remedy = "by-mode",
			  .text = "ask only what fstat says is a character device" },
	{ 0 },
};

static const struct law probe_law = {
	.kinds = probe_kinds,
	.entries = 16384,
	.entry_bytes = sizeof(struct asker),
	.files = 4096,
	.followed = 16384, /* descriptors that were asked */
	.followed_bytes = sizeof(struct opened),
	.tell = probe_tell,
};

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
	.breadth = 1,
	.call = probe_call,
	LAW_RULE(probe_law),
};
