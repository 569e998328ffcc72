/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sigprocmask-churn: a thread that asks which signals it blocks and knows it,
 * sets what is set, or blocks and lets go with no call in between.  The mask is
 * the thread's own: nobody else changes it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define GROUPS_MAX 16384 /* images that do so */
#define THREADS_MAX 16384 /* whose mask was told, at a time */

enum { LIMIT_CALLS, LIMIT_SHARE, LIMIT_GAP };
enum { MASK_ASKED, MASK_SET, MASK_AROUND_NOTHING };

/* One thread. */
struct masker {
	struct rule_key key; /* first */
	struct rule_burst burst;
	bool asked; /* the mask is known to the program */
	bool blocked; /* the last call blocked more */
	uint64_t before; /* from this */
	uint64_t process_calls; /* and its number in the process */
};

/* One image, one key for each of MASK_. */
struct user {
	struct rule_key key; /* first */
	int what;
	uint64_t process_calls; /* of the whole image */
};

struct mask_state {
	struct rule_keys maskers, users;
};

static void count(struct rule_run *run, const struct model_view *view, int what, unsigned calls)
{
	struct mask_state *state = run->state;
	struct user *user = (struct user *)rule_keys_get(run, &state->users, view,
							 map_mix(view->process->id, (uint64_t)what), NULL);

	if (!user)
		return;
	user->what = what;
	/* Both of a pair are told where the second was made. */
	while (calls-- > 0)
		(void)rule_tally_add(&user->key.tally, run->model, view);
	rule_keys_value(&state->users, &user->key, user->key.tally.calls);
}

static void mask_call(struct rule_run *run, const struct model_view *view)
{
	struct model_sigmask mask = model_sigmask(run->model, view);
	struct mask_state *state = run->state;
	bool sets = view->call->args[1] != 0, next, close;
	struct masker *masker;

	if (view->err || !rule_returned(view))
		return;
	masker = (struct masker *)rule_keys_get(run, &state->maskers, view,
						map_mix(view->process->id, view->call->head.tid), NULL);
	if (!masker)
		return;
	close = rule_burst_next(&masker->burst, view, run->limits[LIMIT_GAP]);
	next = view->process->calls == masker->process_calls + 1;
	if (!mask.before_known || !mask.after_known) {
		masker->blocked = false;
		masker->asked = mask.after_known;
		return;
	}
	if (!sets) {
		if (close && masker->asked)
			count(run, view, MASK_ASKED, 1);
		masker->blocked = false;
	} else if (mask.before == mask.after) {
		if (close && masker->asked)
			count(run, view, MASK_SET, 1);
		masker->blocked = false;
	} else if (close && masker->blocked && next && mask.after == masker->before) {
		count(run, view, MASK_AROUND_NOTHING, 2);
		masker->blocked = false;
	} else {
		masker->blocked = (mask.before & ~mask.after) == 0;
		masker->before = mask.before;
	}
	masker->asked = true;
	masker->process_calls = view->process->calls;
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	static const char *const what[] = {
		[MASK_ASKED] = "asks again which signals it blocks",
		[MASK_SET] = "sets the blocked signals to what they are",
		[MASK_AROUND_NOTHING] = "blocks signals and lets them go with no call in between",
	};
	static const char *const text[] = {
		[MASK_ASKED] = "sigsetjmp(env, 0), where the mask need not come back; else keep the mask",
		[MASK_SET] = "remember the mask, and set only what is different",
		[MASK_AROUND_NOTHING] = "let handlers set a flag, or use signalfd: then nothing has to be blocked",
	};
	static const char *const id[] = { "no-mask", "remember", "flag" };
	const struct user *user = (const struct user *)key;
	struct finding_remedy *remedy;
	struct finding *finding;

	if ((double)key->tally.calls * 100 < (double)user->process_calls * (double)run->limits[LIMIT_SHARE])
		return;
	finding = rule_key_finding(run, key, user->what == MASK_AROUND_NOTHING ? FINDING_LIKELY : FINDING_CERTAIN, NULL,
				   out);
	if (!finding)
		return;
	finding->least = run->limits[LIMIT_CALLS];
	/* Calls cannot show what is done in memory in between. */
	finding->information = user->what == MASK_AROUND_NOTHING;
	finding_set(&finding->what, "%s", what[user->what]);
	finding_set(&finding->where, "the masks of its own threads");
	finding_set(&finding->object, "%s",
		    user->what == MASK_ASKED ? "masks asked for"
		    : user->what == MASK_SET ? "masks set"
					     : "masks around nothing");
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = id[user->what];
		finding_set(&remedy->text, "%s", text[user->what]);
		finding_remedy_saves_all(remedy, finding);
	}
	if (finding->information)
		finding_add_note(finding, "what is done in memory in between may be what handlers must not see");
}

static void mask_image_end(struct rule_run *run, struct model_process *process)
{
	struct mask_state *state = run->state;
	struct rule_key *key = NULL;

	while ((key = rule_keys_next_of(&state->users, process->id, key)))
		((struct user *)key)->process_calls = process->calls;
	rule_keys_image_end(run, &state->maskers, process);
	rule_keys_image_end(run, &state->users, process);
}

static void mask_end(struct rule_run *run, struct finding_list *out)
{
	rule_keys_tell(run, &((struct mask_state *)run->state)->users, out, tell);
}

static int mask_start(struct rule_run *run)
{
	struct mask_state *state = run->state;

	rule_keys_init(&state->maskers, sizeof(struct masker), THREADS_MAX);
	state->maskers.idle_ns = UINT64_C(1000000000);
	state->maskers.candidate = UINT64_MAX;
	rule_keys_init(&state->users, sizeof(struct user), GROUPS_MAX);
	state->users.candidate = run->limits[LIMIT_CALLS];
	return 0;
}

static void mask_done(struct rule_run *run)
{
	struct mask_state *state = run->state;

	rule_keys_done(run, &state->maskers);
	rule_keys_done(run, &state->users);
}

static const uint16_t mask_calls[] = { CALL_rt_sigprocmask, 0 };

static const struct rule_limit mask_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 500, "of one kind, by one process" },
	[LIMIT_SHARE] = { "share", RULE_PERCENT, 5, "of all its calls, at least" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "calls of a thread further apart do not count" },
	{ 0 },
};

const struct rule rule_sigprocmask_churn = {
	.id = "sigprocmask-churn",
	.title = "the signal mask asked for again, or set to what it is",
	.items = SYS_ITEM_BIT(SIGSET),
	.needs = RULE_NEEDS_TIMES,
	.calls = mask_calls,
	.limits = mask_limits,
	.state_bytes = sizeof(struct mask_state),
	.breadth = 1,
	.start = mask_start,
	.call = mask_call,
	.image_end = mask_image_end,
	.end = mask_end,
	.done = mask_done,
};
