/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * identity-call: a process that asks who it is again and again, or sets ids
 * that it has set already.  The answers of getpid and the like are the same
 * until the process itself, or a fork, makes them others.  getppid is left
 * out: a parent's end is what it is asked for.  So is what the C library asks
 * to send a thread a signal (raise), right before it does.
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

/* A question that may be raise's: until the next call of its thread that is seen here. */
struct asked_id {
	struct rule_tally tally;
	enum sys_call_id call; /* CALL_unknown: none */
	uint32_t tid;
	uint64_t number; /* of all calls of the process */
};

#define ASKED_BEFORE 2 /* getpid and gettid, in either order */

struct ids_user {
	struct law_entry entry; /* first */
	struct map known; /* thread and call, or kind of ids → struct known_ids */
	struct asked_id asked[ASKED_BEFORE];
	unsigned latest; /* of these; the others before it, in a ring: tallies stay where they are */
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

static void count_asked(struct rule_run *run, struct ids_user *user, struct asked_id *asked)
{
	if (asked->tally.calls > 0)
		law_take(run, &user->entry, &asked->tally);
	asked->call = CALL_unknown;
}

/* It waits: a tgkill may come. */
static void ask(struct rule_run *run, struct ids_user *user, const struct model_view *view, bool repeat)
{
	struct asked_id *last;

	user->latest = (user->latest + 1) % ASKED_BEFORE;
	last = &user->asked[user->latest];
	count_asked(run, user, last);
	last->call = view->id;
	last->tid = view->call->head.tid;
	last->number = view->process->calls;
	last->tally.claims = run->claims;
	/* One proof is enough. */
	if (repeat && user->entry.key.tally.sample)
		(void)rule_tally_place(&last->tally, run->model, view);
	else if (repeat)
		(void)rule_tally_add(&last->tally, run->model, view);
}

static void forget(struct asked_id *asked)
{
	rule_tally_done(&asked->tally);
	asked->call = CALL_unknown;
}

/* raise: to itself, with the ids that it has just asked for. */
static void raised(struct ids_user *user, const struct model_view *view)
{
	const struct event_call *call = view->call;
	struct asked_id *last = &user->asked[user->latest],
			*before = &user->asked[(user->latest + ASKED_BEFORE - 1) % ASKED_BEFORE];
	bool other = last->call == CALL_gettid ? before->call == CALL_getpid : before->call == CALL_gettid;

	if ((uint32_t)call->args[0] != view->process->pid || (uint32_t)call->args[1] != call->head.tid)
		return;
	if ((last->call != CALL_getpid && last->call != CALL_gettid) || last->tid != call->head.tid ||
	    last->number + 1 != view->process->calls)
		return;
	if (other && before->tid == last->tid && before->number + 1 == last->number)
		forget(before);
	forget(last);
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
	if (view->id == CALL_tgkill) {
		user = law_entry_known(run, view, IDS_ASKED);
		if (user)
			raised(user, view);
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
	close = is_repeat(user, view, kind) && close;
	if (view->id == CALL_getpid || view->id == CALL_gettid)
		ask(run, user, view, close);
	else if (close)
		law_count(run, &user->entry, view);
}

static void ids_image_end(struct rule_run *run, struct model_process *process)
{
	struct law_state *state = run->state;
	struct rule_key *key = NULL;

	while ((key = rule_keys_next_of(&state->entries, process->id, key)))
		for (size_t i = 0; i < ASKED_BEFORE; i++)
			count_asked(run, (struct ids_user *)key, &((struct ids_user *)key)->asked[i]);
	law_image_end(run, process);
}

static void ids_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	if (entry->key.tally.lines.used == 1)
		finding_set(&finding->object, "%s", sys_call(entry->key.tally.lines.at[0].call)->name);
}

static void ids_free(struct law_entry *entry)
{
	struct ids_user *user = (struct ids_user *)entry;

	map_done(&user->known);
	for (size_t i = 0; i < ASKED_BEFORE; i++)
		rule_tally_done(&user->asked[i].tally);
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

static const uint16_t ids_calls[] = { CALL_getpid,
				      CALL_gettid,
				      CALL_getuid,
				      CALL_geteuid,
				      CALL_getgid,
				      CALL_getegid,
				      CALL_setuid,
				      CALL_setgid,
				      CALL_setreuid,
				      CALL_setregid,
				      CALL_setresuid,
				      CALL_setresgid,
				      CALL_setfsuid,
				      CALL_setfsgid,
				      CALL_capset,
				      CALL_unshare,
				      CALL_setns,
				      CALL_tgkill,
				      0 };

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
	.law = &ids_law,
	.state_bytes = sizeof(struct law_state),
	.start = law_start,
	.image_end = ids_image_end,
	.end = law_end,
	.done = law_done,
};
