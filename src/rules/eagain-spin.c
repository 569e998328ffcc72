/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eagain-spin: reading again where the last read said that nothing is there,
 * without having waited.  One failed read behind the last piece tells an event
 * loop that it has all, and is left alone.
 */
#include <errno.h>
#include <stdlib.h>

#include "rules/law.h"
#include "rules/stream.h"

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

struct spinner {
	struct law_entry entry; /* first */
	bool sockets;
};

/* When a thread last waited, or got something. */
struct waited {
	uint64_t hash; /* first */
	uint64_t at;
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
	struct law_state *state = run->state;
	struct waited *waited = rule_recent_put(&state->recent, view->call->head.tid, NULL);

	waited->at = model_now(run->model);
}

static void count(struct rule_run *run, struct opened *opened, const struct model_view *view)
{
	struct spinner *spinner;

	(void)rule_tally_add(&opened->key.tally, run->model, view);
	if (++opened->vain < run->limits[LIMIT_CALLS] || opened->vain * 100 < opened->reads * run->limits[LIMIT_SHARE])
		return;
	spinner = law_entry(run, view, 0);
	if (!spinner)
		return;
	law_file(run, &spinner->entry, view->file);
	spinner->sockets = spinner->sockets || rule_behind(run->model, view) == RULE_BEHIND_SOCKET;
	law_take(run, &spinner->entry, &opened->key.tally);
}

static void read_call(struct rule_run *run, const struct model_view *view)
{
	struct law_state *state = run->state;
	bool nothing = view->err == EAGAIN, close, same;
	struct waited *waited;
	struct opened *opened;

	if (!nothing)
		note_wait(run, view);
	if (!view->file)
		return;
	/* What always has something is not followed. */
	opened = nothing ? law_follow(run, view, view->file->id, NULL) : law_followed(run, view, view->file->id);
	if (!opened)
		return;
	opened->reads++;
	if (!nothing) {
		opened->empty = 0;
		return;
	}
	waited = rule_recent_get(&state->recent, view->call->head.tid);
	close = rule_burst_next(&opened->burst, view, run->limits[LIMIT_PAUSE]);
	same = opened->empty > 0 && opened->tid == view->call->head.tid &&
	       view->process->calls <= opened->process_calls + 1 + run->limits[LIMIT_BETWEEN];
	if (close && same && waited && waited->at < opened->empty)
		count(run, opened, view);
	if (!waited)
		rule_recent_put(&state->recent, view->call->head.tid, NULL);
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

static void spin_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	bool sockets = ((const struct spinner *)entry)->sockets;
	char *name = entry->places ? rule_places_name(entry->places, "file", "files") : NULL;

	if (name)
		finding_set(&finding->where, "%s%s", name, entry->nameless ? " and descriptors without a name" : "");
	else if (sockets)
		finding_set(&finding->where, "sockets");
	free(name);
}

static const struct law_kind spin_kinds[] = {
	{ .tier = FINDING_LIKELY,
	  .least = LIMIT_CALLS,
	  .what = "reads again where nothing is there, without waiting (EAGAIN)",
	  .object = "reads in vain",
	  .nameless = "descriptors without a name",
	  .remedy = "wait",
	  .text = "wait first (poll, epoll), or read without O_NONBLOCK" },
	{ 0 },
};

static const struct law spin_law = {
	.kinds = spin_kinds,
	.entries = 4096,
	.entry_bytes = sizeof(struct spinner),
	.files = 256,
	.followed = 16384, /* descriptors that had nothing */
	.followed_bytes = sizeof(struct opened),
	.recent = 4096, /* threads */
	.recent_bytes = sizeof(struct waited),
	.tell = spin_tell,
};

static const uint16_t spin_calls[] = {
	CALL_read,
	CALL_readv,
	CALL_recvfrom,
	CALL_recvmsg,
	CALL_recvmmsg,
	CALL_accept,
	CALL_accept4,
	RULE_POLLS_CALLS,
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
	.breadth = 1,
	.call = spin_call,
	LAW_RULE(spin_law),
};
