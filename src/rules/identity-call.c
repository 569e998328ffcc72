/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * identity-call: a process that asks who it is again and again, or sets ids
 * that it has set already.  The answers of getpid and the like are the same
 * until the process itself, or a fork, makes them others.  getppid is left
 * out: a parent's end is what it is asked for.
 */
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define PROCESSES_MAX 16384 /* images that asked, at a time */
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

/* One image: what it asks, and in a key of its own what it sets. */
struct ids_user {
	struct rule_key key; /* first */
	struct rule_burst burst;
	struct map known; /* thread and call, or kind of ids → struct known_ids */
	uint64_t process_calls; /* of the whole image */
	int what;
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

static void forget_set(const struct rule_run *run, const struct model_view *view)
{
	struct ids_user *user = (struct ids_user *)rule_keys_find(run->state, map_mix(view->process->id, IDS_SET));

	if (user)
		map_clear(&user->known);
}

static void ids_call(struct rule_run *run, const struct model_view *view)
{
	uint32_t kind = kind_set(view->id);
	int what = kind ? IDS_SET : IDS_ASKED;
	struct ids_user *user;
	bool fresh = false;

	if (is_other_change(view->id)) {
		forget_set(run, view);
		return;
	}
	if (view->err || !rule_returned(view))
		return;
	user = (struct ids_user *)rule_keys_get(run, run->state, view, map_mix(view->process->id, (uint64_t)what),
						&fresh);
	if (!user)
		return;
	if (fresh) {
		map_init(&user->known, sizeof(struct known_ids), THREADS_MAX);
		user->what = what;
	}
	if (!rule_burst_next(&user->burst, view, run->limits[LIMIT_GAP])) {
		(void)is_repeat(user, view, kind);
		return;
	}
	if (!is_repeat(user, view, kind))
		return;
	(void)rule_tally_add(&user->key.tally, run->model, view);
	rule_keys_value(run->state, &user->key, user->key.tally.calls);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct ids_user *user = (const struct ids_user *)key;
	bool set = user->what == IDS_SET;
	uint64_t calls = key->tally.calls;
	struct finding_remedy *remedy;
	struct finding *finding;

	if (calls < run->limits[set ? LIMIT_SETS : LIMIT_CALLS] ||
	    (!set && (double)calls * 100 < (double)user->process_calls * (double)run->limits[LIMIT_SHARE]))
		return;
	finding = rule_key_finding(run, key, FINDING_CERTAIN, NULL, out);
	if (!finding)
		return;
	finding_set(&finding->what, set ? "sets ids that it has set already" : "asks again who it is");
	finding_set(&finding->where, set ? "its own ids, nothing else set in between" : "its own ids, which stayed");
	finding_set(&finding->object, "%s",
		    key->tally.lines.used == 1 ? sys_call(key->tally.lines.at[0].call)->name
		    : set		       ? "set ids"
					       : "ids");
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = set ? "compare" : "remember";
		finding_set(&remedy->text, set ? "remember what was set, and set only what is different"
					       : "remember the answer, and forget it in the child of a fork");
		finding_remedy_saves_all(remedy, finding);
	}
	rule_burst_note(&user->burst, finding);
}

static void ids_image_end(struct rule_run *run, struct model_process *process)
{
	struct ids_user *user = (struct ids_user *)rule_keys_find(run->state, map_mix(process->id, IDS_ASKED));

	if (user)
		user->process_calls = process->calls;
	rule_keys_image_end(run, run->state, process);
}

static void ids_free(struct rule_run *run, struct rule_key *key)
{
	map_done(&((struct ids_user *)key)->known);
}

static void ids_end(struct rule_run *run, struct finding_list *out)
{
	rule_keys_tell(run, run->state, out, tell);
}

static int ids_start(struct rule_run *run)
{
	struct rule_keys *keys = run->state;

	rule_keys_init(keys, sizeof(struct ids_user), PROCESSES_MAX);
	keys->candidate =
		run->limits[LIMIT_SETS] < run->limits[LIMIT_CALLS] ? run->limits[LIMIT_SETS] : run->limits[LIMIT_CALLS];
	keys->free = ids_free;
	return 0;
}

static void ids_done(struct rule_run *run)
{
	rule_keys_done(run, run->state);
}

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
	.state_bytes = sizeof(struct rule_keys),
	.start = ids_start,
	.call = ids_call,
	.image_end = ids_image_end,
	.end = ids_end,
	.done = ids_done,
};
