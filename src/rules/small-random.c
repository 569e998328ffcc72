/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * small-random: random bytes asked of the kernel a few at a time.  One call
 * gives 256 of them as safely as 16.  Opening /dev/urandom each time is told
 * here only as long as it is too seldom for reopen-pseudo-file.
 */
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define PROCESSES_MAX 4096
#define AT_ONCE 256 /* bytes that getrandom gives whole */

enum { LIMIT_CALLS, LIMIT_BYTES, LIMIT_OPENS, LIMIT_GAP };
enum { BY_CALL, BY_FILE };

/* One image, and in a key of its own what it reads of the device. */
struct drawer {
	struct rule_key key; /* first */
	struct rule_burst burst;
	uint64_t bytes, opens;
	int how;
};

static struct drawer *drawer_of(struct rule_run *run, const struct model_view *view, int how)
{
	struct drawer *drawer;

	drawer = (struct drawer *)rule_keys_get(run, run->state, view, map_mix(view->process->id, (uint64_t)how), NULL);
	if (drawer)
		drawer->how = how;
	return drawer;
}

static bool is_urandom(const struct model_view *view)
{
	const char *path = view->path ? view->path->text : view->file ? view->file->path : NULL;

	return path && strcmp(path, "/dev/urandom") == 0;
}

static void random_call(struct rule_run *run, const struct model_view *view)
{
	bool opens = (sys_call(view->id)->classes & SYS_FAMILY_open) != 0, drawn = view->id == CALL_getrandom;
	struct drawer *drawer;

	if (view->err || !rule_returned(view))
		return;
	if (drawn ? view->call->ret <= 0 || (uint64_t)view->call->ret > run->limits[LIMIT_BYTES] : !is_urandom(view))
		return;
	drawer = drawer_of(run, view, drawn ? BY_CALL : BY_FILE);
	if (!drawer || (drawn && !rule_burst_next(&drawer->burst, view, run->limits[LIMIT_GAP])))
		return;
	(void)rule_tally_add(&drawer->key.tally, run->model, view);
	drawer->opens += opens;
	drawer->bytes += drawn ? (uint64_t)view->call->ret : 0;
	rule_keys_value(run->state, &drawer->key, drawn ? drawer->key.tally.calls : drawer->opens);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct drawer *drawer = (const struct drawer *)key;
	bool drawn = drawer->how == BY_CALL;
	uint64_t least = run->limits[drawn ? LIMIT_CALLS : LIMIT_OPENS];
	struct finding_remedy *remedy;
	struct finding *finding;
	char number[TEXT_NUMBER_MAX];

	if (key->value < least)
		return;
	finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	if (!finding)
		return;
	/* With each opening go a read and a close. */
	finding->least = drawn || drawer->opens == 0 ? least : least * (key->tally.calls / drawer->opens);
	finding_set(&finding->what, drawn ? "draws few random bytes at a time" : "opens /dev/urandom each time");
	if (drawn)
		finding_set(&finding->where, "%s bytes a call on the average",
			    text_count(drawer->bytes / key->tally.calls, number));
	else
		finding_set(&finding->where, "/dev/urandom, opened %s times", text_count(drawer->opens, number));
	finding_set(&finding->object, drawn ? "getrandom" : "/dev/urandom");
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (!remedy)
		return;
	remedy->id = drawn ? "buffer" : "getrandom";
	finding_set(&remedy->text,
		    drawn ? "draw 256 bytes at once and hand them out" : "getrandom, which needs no file");
	finding_remedy_saves_all(remedy, finding);
	finding_add_delta(remedy, CALL_getrandom, 0,
			  (int64_t)(drawn ? (drawer->bytes + AT_ONCE - 1) / AT_ONCE : drawer->opens), 0);
	if (drawn)
		finding_add_note(finding, "what is left in a buffer has to be dropped in a child after a fork");
	rule_burst_note(&drawer->burst, finding);
}

static void random_image_end(struct rule_run *run, struct model_process *process)
{
	rule_keys_image_end(run, run->state, process);
}

static void random_end(struct rule_run *run, struct finding_list *out)
{
	rule_keys_tell(run, run->state, out, tell);
}

static int random_start(struct rule_run *run)
{
	struct rule_keys *drawers = run->state;

	rule_keys_init(drawers, sizeof(struct drawer), PROCESSES_MAX);
	/* Of the two limits; tell has both. */
	drawers->candidate = run->limits[LIMIT_OPENS] < run->limits[LIMIT_CALLS] ? run->limits[LIMIT_OPENS]
										 : run->limits[LIMIT_CALLS];
	return 0;
}

static void random_done(struct rule_run *run)
{
	rule_keys_done(run, run->state);
}

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
	.state_bytes = sizeof(struct rule_keys),
	.breadth = 1,
	.start = random_start,
	.call = random_call,
	.image_end = random_image_end,
	.end = random_end,
	.done = random_done,
};
