/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * small-random: random bytes asked of the kernel a few at a time.  One call
 * gives 256 of them as safely as 16.  Opening /dev/urandom each time is told
 * here only as long as it is too seldom for reopen-pseudo-file.
 */
#include <string.h>

#include "base/text.h"
#include "rules/law.h"

#define AT_ONCE 256 /* bytes that getrandom gives whole */

enum { LIMIT_CALLS, LIMIT_BYTES, LIMIT_OPENS, LIMIT_GAP };
enum { BY_CALL, BY_FILE };

struct drawer {
	struct law_entry entry; /* first */
	uint64_t bytes, opens;
};

static bool is_urandom(const struct model_view *view)
{
	const char *path = view->path ? view->path->text : view->file ? view->file->path : NULL;

	return path && strcmp(path, "/dev/urandom") == 0;
}

static void random_call(struct rule_run *run, const struct model_view *view)
{
	bool drawn = view->id == CALL_getrandom;
	struct law_state *state = run->state;
	struct drawer *drawer;

	if (view->err || !rule_returned(view))
		return;
	if (drawn ? view->call->ret <= 0 || (uint64_t)view->call->ret > run->limits[LIMIT_BYTES] : !is_urandom(view))
		return;
	drawer = law_entry(run, view, drawn ? BY_CALL : BY_FILE);
	if (!drawer || (drawn && !rule_burst_next(&drawer->entry.burst, view, run->limits[LIMIT_GAP])))
		return;
	law_count(run, &drawer->entry, view);
	drawer->opens += (sys_call(view->id)->classes & SYS_FAMILY_open) != 0;
	drawer->bytes += drawn ? (uint64_t)view->call->ret : 0;
	if (!drawn)
		rule_keys_value(&state->entries, &drawer->entry.key, drawer->opens);
}

static void random_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	const struct drawer *drawer = (const struct drawer *)entry;
	bool drawn = entry->kind == BY_CALL;
	uint64_t instead = drawn ? (drawer->bytes + AT_ONCE - 1) / AT_ONCE : drawer->opens;
	char number[TEXT_NUMBER_MAX + 8];

	if (drawn)
		finding_set(
			&finding->where, "%s a call on the average",
			text_plural(drawer->bytes / entry->key.tally.calls, "byte", "bytes", number, sizeof number));
	else
		finding_set(&finding->where, "/dev/urandom, opened %s times", text_count(drawer->opens, number));
	/* With each opening go a read and a close. */
	if (!drawn && drawer->opens > 0)
		finding->least *= entry->key.tally.calls / drawer->opens;
	if (finding->remedies.used > 0)
		finding_add_delta(&finding->remedies.at[0], CALL_getrandom, 0, (int64_t)instead, 0);
}

static const struct law_kind random_kinds[] = {
	[BY_CALL] = { .tier = FINDING_LIKELY,
		      .least = LIMIT_CALLS,
		      .what = "draws few random bytes at a time",
		      .object = "getrandom",
		      .remedy = "buffer",
		      .text = "draw 256 bytes at once and hand them out",
		      .note = "what is left in a buffer has to be dropped in a child after a fork" },
	[BY_FILE] = { .tier = FINDING_LIKELY,
		      .least = LIMIT_OPENS,
		      .what = "opens /dev/urandom each time",
		      .object = "/dev/urandom",
		      .remedy = "getrandom",
		      .text = "getrandom, which needs no file" },
	{ 0 },
};

static const struct law random_law = {
	.kinds = random_kinds, .entries = 4096, .entry_bytes = sizeof(struct drawer), .tell = random_tell
};

static const uint16_t random_calls[] = {
	CALL_getrandom, CALL_open, CALL_openat, CALL_openat2, CALL_read, CALL_close, 0,
};

static const struct rule_limit random_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 100, "small draws of one process" },
	[LIMIT_BYTES] = { "bytes", RULE_BYTES, 32, "that a small draw gets, at most" },
	[LIMIT_OPENS] = { "opens", RULE_COUNT, 5, "or so many times that it opens /dev/urandom" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "draws further apart do not count" },
	{ 0 },
};

const struct rule rule_small_random = {
	.id = "small-random",
	.title = "random bytes a few at a time",
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_PATHS | RULE_NEEDS_FDS,
	.calls = random_calls,
	.limits = random_limits,
	.breadth = 1,
	.call = random_call,
	LAW_RULE(random_law),
};
