/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * identity-call: a process that asks who it is again and again, or sets ids
 * that it has set already.  The answers of getpid and the like are the same
 * until the process itself, or a fork, makes them others.  getppid is left
 * out: a parent's end is what it is asked for.
 */
#include <string.h>

#include "rules/law.h"

#define THREADS_MAX 1024 /* told apart in an image */

enum { LIMIT_CALLS, LIMIT_SHARE, LIMIT_SETS, LIMIT_GAP };
enum { IDS_ASKED, IDS_SET };

/* What one thread knows of one call: the last answer, or what was set. */
struct known_ids {
	uint64_t changed; /* model_now of the last call that set ids, when it was asked */
	uint64_t args[3];
	int64_t ret;
	uint32_t call;
	bool used;
};

struct ids_user {
	struct law_entry entry; /* first */
	struct map known; /* thread and call, or kind of ids → struct known_ids */
};

/* The ids that a call sets: of users or of groups; 0 for a call that asks. */
static uint32_t kind_set(enum sys_call_id id)
{
	switch ((int)id) {
	case CALL_setuid:
	case CALL_setreuid:
	case CALL_setresuid:
		return 1;
	case CALL_setgid:
	case CALL_setregid:
	case CALL_setresgid:
		return 2;
	default:
		return 0;
	}
}

static bool is_repeat(struct ids_user *user, const struct model_view *view, uint32_t kind)
{
	const struct event_call *call = view->call;
	/* All threads have one pid; what is set is a thread's own. */
	uint64_t tid = view->id == CALL_getpid ? 0 : call->head.tid;
	struct known_ids *known = map_put(&user->known, map_mix(tid, kind ? kind : 16 + (uint64_t)view->id), NULL);
	struct known_ids now = { .call = view->id, .ret = call->ret, .used = true };
	bool repeat;

	if (!known)
		return false;
	now.changed = kind || view->id == CALL_getpid || view->id == CALL_gettid ? 0 : view->process->changed;
	memcpy(now.args, call->args, kind ? sizeof now.args : 0);
	repeat = known->used && known->call == now.call && known->ret == now.ret && known->changed == now.changed &&
		 memcmp(known->args, now.args, sizeof now.args) == 0;
	*known = now;
	return repeat;
}

/* After these the same call may change something. */
static bool is_other_change(enum sys_call_id id)
{
	return id == CALL_capset || id == CALL_setfsuid || id == CALL_setfsgid || id == CALL_unshare ||
	       id == CALL_setns;
}

static void ids_call(struct rule_run *run, const struct model_view *view)
{
	uint32_t kind = kind_set(view->id);
	struct ids_user *user;
	bool close;

	if (is_other_change(view->id)) {
		user = law_entry_known(run, view, IDS_SET);
		if (user)
			map_clear(&user->known);
		return;
	}
	if (view->err || !rule_returned(view))
		return;
	user = law_entry(run, view, kind ? IDS_SET : IDS_ASKED);
	if (!user)
		return;
	if (user->known.value_bytes == 0)
		map_init(&user->known, sizeof(struct known_ids), THREADS_MAX);
	close = rule_burst_next(&user->entry.burst, view, run->limits[LIMIT_GAP]);
	if (is_repeat(user, view, kind) && close)
		law_count(run, &user->entry, view);
}

static void ids_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	if (entry->key.tally.lines.used == 1)
		finding_set(&finding->object, "%s", sys_call(entry->key.tally.lines.at[0].call)->name);
}

static void ids_free(struct law_entry *entry)
{
	map_done(&((struct ids_user *)entry)->known);
}

static const struct law_kind ids_kinds[] = {
	[IDS_ASKED] = { .tier = FINDING_CERTAIN,
			.least = LIMIT_CALLS,
			.share = LIMIT_SHARE,
			.what = "asks again who it is",
			.where = "its own ids, which stayed",
			.object = "ids",
			.remedy = "remember",
			.text = "remember the answer, and forget it in the child of a fork" },
	[IDS_SET] = { .tier = FINDING_CERTAIN,
		      .least = LIMIT_SETS,
		      .what = "sets ids that it has set already",
		      .where = "its own ids, nothing else set in between",
		      .object = "set ids",
		      .remedy = "compare",
		      .text = "remember what was set, and set only what is different" },
	{ 0 },
};

static const struct law ids_law = {
	.kinds = ids_kinds, .entries = 16384, .entry_bytes = sizeof(struct ids_user), .tell = ids_tell, .free = ids_free
};

static const uint16_t ids_calls[] = {
	CALL_getpid,   CALL_gettid,   CALL_getuid,   CALL_geteuid,  CALL_getgid,    CALL_getegid,
	CALL_setuid,   CALL_setgid,   CALL_setreuid, CALL_setregid, CALL_setresuid, CALL_setresgid,
	CALL_setfsuid, CALL_setfsgid, CALL_capset,   CALL_unshare,  CALL_setns,	    0
};

static const struct rule_limit ids_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 200, "questions of one process that were answered before" },
	[LIMIT_SHARE] = { "share", RULE_PERCENT, 2, "of all its calls, at least" },
	[LIMIT_SETS] = { "sets", RULE_COUNT, 20, "or so many ids set that were set before" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "calls further apart do not count" },
	{ 0 },
};

const struct rule rule_identity_call = {
	.id = "identity-call",
	.title = "own ids asked for again, or set to what they are",
	.needs = RULE_NEEDS_TIMES,
	.calls = ids_calls,
	.limits = ids_limits,
	.call = ids_call,
	LAW_RULE(ids_law),
};
