/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eagain-spin: reading again where the last read said that nothing is there,
 * without having waited.  One failed read behind the last piece tells an event
 * loop that it has all, and is left alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"
#include "rules/stream.h"

#define OPENED_MAX 16384 /* descriptors that had nothing, at a time */
#define GROUPS_MAX 4096 /* images with something to tell */
#define THREADS_RECENT 4096

enum { LIMIT_CALLS, LIMIT_SHARE, LIMIT_BETWEEN, LIMIT_PAUSE };

/* One opened file in one image. */
struct opened {
	struct rule_key key; /* first; its tally has the reads in vain below the limit */
	struct rule_burst burst;
	uint64_t reads, vain; /* of all its reads, those that could have been left out */
	uint64_t empty; /* model_now of the last that found nothing, 0 when something was there since */
	uint64_t process_calls; /* and its number in the process */
	uint32_t tid; /* and whose it was */
};

struct group {
	struct rule_key key; /* first */
	struct rule_places places;
	bool nameless, sockets;
};

/* When a thread last waited, or got something. */
struct waited {
	uint64_t hash; /* first */
	uint64_t at;
};

struct spin_state {
	struct rule_keys opened, groups;
	struct rule_recent waited;
};

static bool is_read(enum sys_call_id id)
{
	switch ((int)id) {
	case CALL_read:
	case CALL_readv:
	case CALL_recvfrom:
	case CALL_recvmsg:
	case CALL_recvmmsg:
	case CALL_accept:
	case CALL_accept4:
		return true;
	default:
		return false;
	}
}

static void note_wait(struct rule_run *run, const struct model_view *view)
{
	struct spin_state *state = run->state;
	struct waited *waited = rule_recent_put(&state->waited, view->call->head.tid, NULL);

	waited->at = model_now(run->model);
}

static void count(struct rule_run *run, struct opened *opened, const struct model_view *view)
{
	struct spin_state *state = run->state;
	struct group *group;
	bool fresh = false;

	(void)rule_tally_add(&opened->key.tally, run->model, view);
	if (++opened->vain < run->limits[LIMIT_CALLS] || opened->vain * 100 < opened->reads * run->limits[LIMIT_SHARE])
		return;
	group = (struct group *)rule_keys_get(run, &state->groups, view, view->process->id, &fresh);
	if (!group)
		return;
	if (fresh)
		(void)rule_places_init(&group->places, 256);
	if (view->file->path && *view->file->path == '/')
		(void)rule_places_add(&group->places, view->file->path, view->file->path_hash);
	else
		group->nameless = true;
	group->sockets = group->sockets || rule_behind(run->model, view) == RULE_BEHIND_SOCKET;
	rule_tally_merge(&group->key.tally, &opened->key.tally);
	rule_keys_value(&state->groups, &group->key, group->key.tally.calls);
}

static void read_call(struct rule_run *run, const struct model_view *view)
{
	struct spin_state *state = run->state;
	uint64_t hash = view->file ? map_mix(view->process->id, view->file->id) : 0;
	bool nothing = view->err == EAGAIN, close, same;
	struct waited *waited;
	struct opened *opened;

	if (!nothing)
		note_wait(run, view);
	if (!view->file)
		return;
	/* What always has something is not followed. */
	opened = (struct opened *)(nothing ? rule_keys_get(run, &state->opened, view, hash, NULL)
					   : rule_keys_find(&state->opened, hash));
	if (!opened)
		return;
	opened->reads++;
	if (!nothing) {
		opened->empty = 0;
		return;
	}
	waited = rule_recent_get(&state->waited, view->call->head.tid);
	close = rule_burst_next(&opened->burst, view, run->limits[LIMIT_PAUSE]);
	same = opened->empty > 0 && opened->tid == view->call->head.tid &&
	       view->process->calls <= opened->process_calls + 1 + run->limits[LIMIT_BETWEEN];
	if (close && same && waited && waited->at < opened->empty)
		count(run, opened, view);
	if (!waited)
		rule_recent_put(&state->waited, view->call->head.tid, NULL);
	opened->empty = model_now(run->model);
	opened->process_calls = view->process->calls;
	opened->tid = view->call->head.tid;
}

static void spin_call(struct rule_run *run, const struct model_view *view)
{
	if (!rule_returned(view))
		return;
	if (is_read(view->id))
		read_call(run, view);
	else
		note_wait(run, view);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct group *group = (const struct group *)key;
	struct finding *finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	struct finding_remedy *remedy;
	char *places;

	if (!finding)
		return;
	finding->least = run->limits[LIMIT_CALLS];
	finding_set(&finding->what, "reads again where nothing is there, without waiting (EAGAIN)");
	places = group->places.distinct ? rule_places_name(&group->places, "file", "files") : NULL;
	finding_set(&finding->where, "%s%s",
		    places	     ? places
		    : group->sockets ? "sockets"
				     : "descriptors without a name",
		    places && group->nameless ? " and descriptors without a name" : "");
	finding_set(&finding->object, "reads in vain");
	free(places);
	finding->place = !group->nameless ? rule_places_place(&group->places) : NULL;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (!remedy)
		return;
	remedy->id = "wait";
	finding_set(&remedy->text, "wait first (poll, epoll), or read without O_NONBLOCK");
	finding_remedy_saves_all(remedy, finding);
}

static void free_group(struct rule_run *run, struct rule_key *key)
{
	rule_places_done(&((struct group *)key)->places);
}

static void spin_image_end(struct rule_run *run, struct model_process *process)
{
	struct spin_state *state = run->state;

	rule_keys_image_end(run, &state->opened, process);
	rule_keys_image_end(run, &state->groups, process);
}

static void spin_end(struct rule_run *run, struct finding_list *out)
{
	rule_keys_tell(run, &((struct spin_state *)run->state)->groups, out, tell);
}

static int spin_start(struct rule_run *run)
{
	struct spin_state *state = run->state;

	rule_keys_init(&state->opened, sizeof(struct opened), OPENED_MAX);
	state->opened.idle_ns = UINT64_C(1000000000);
	state->opened.candidate = UINT64_MAX;
	rule_keys_init(&state->groups, sizeof(struct group), GROUPS_MAX);
	state->groups.candidate = 1;
	state->groups.free = free_group;
	return rule_recent_init(&state->waited, sizeof(struct waited), THREADS_RECENT);
}

static void spin_done(struct rule_run *run)
{
	struct spin_state *state = run->state;

	rule_keys_done(run, &state->opened);
	rule_keys_done(run, &state->groups);
	rule_recent_done(&state->waited);
}

static const uint16_t spin_calls[] = {
	CALL_read,
	CALL_readv,
	CALL_recvfrom,
	CALL_recvmsg,
	CALL_recvmmsg,
	CALL_accept,
	CALL_accept4,
	CALL_poll,
	CALL_ppoll,
	CALL_select,
	CALL_pselect6,
	CALL_epoll_wait,
	CALL_epoll_pwait,
	CALL_epoll_pwait2,
	CALL_futex,
	CALL_nanosleep,
	CALL_pause,
	CALL_clock_nanosleep,
	CALL_rt_sigsuspend,
	CALL_rt_sigtimedwait,
	CALL_wait4,
	CALL_waitid,
	CALL_io_uring_enter,
	CALL_io_getevents,
	0,
};

static const struct rule_limit spin_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 100, "reads in vain of one descriptor behind a read in vain" },
	[LIMIT_SHARE] = { "share", RULE_PERCENT, 40, "of all reads of it since the first in vain, at least" },
	[LIMIT_BETWEEN] = { "between", RULE_COUNT, 4,
			    "other calls of the process between two of them, none that waits" },
	[LIMIT_PAUSE] = { "pause", RULE_NS, RULE_BURST_GAP_NS, "reads further apart do not count" },
	{ 0 },
};

const struct rule rule_eagain_spin = {
	.id = "eagain-spin",
	.title = "reading again where nothing is there, without waiting",
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.calls = spin_calls,
	.limits = spin_limits,
	.state_bytes = sizeof(struct spin_state),
	.breadth = 1,
	.start = spin_start,
	.call = spin_call,
	.image_end = spin_image_end,
	.end = spin_end,
	.done = spin_done,
};
