/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sigprocmask-churn: a thread that asks which signals it blocks and knows it,
 * sets what is set, or blocks and lets go with no call in between.  The mask is
 * the thread's own: nobody else changes it.
 */
#include "rules/law.h"

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

static void count(struct rule_run *run, const struct model_view *view, unsigned kind, unsigned calls)
{
	struct law_entry *entry = law_entry(run, view, kind);

	/* Both of a pair are told where the second was made. */
	while (entry && calls-- > 0)
		law_count(run, entry, view);
}

static void mask_call(struct rule_run *run, const struct model_view *view)
{
	struct model_sigmask mask = model_sigmask(run->model, view);
	bool sets = view->call->args[1] != 0, next, close;
	struct masker *masker;

	if (view->err || !rule_returned(view))
		return;
	masker = law_follow(run, view, view->call->head.tid, NULL);
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

/* Calls cannot show what is done in memory in between. */
static void mask_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	finding->information = entry->kind == MASK_AROUND_NOTHING;
}

#define MASK_KIND(certainty, ...) \
	{ \
		.tier = (certainty), .least = LIMIT_CALLS, .share = LIMIT_SHARE, \
		.where = "the masks of its own threads", __VA_ARGS__ \
	}

static const struct law_kind mask_kinds[] = {
	[MASK_ASKED] = MASK_KIND(FINDING_CERTAIN, .what = "asks again which signals it blocks",
				 .object = "masks asked for", .remedy = "no-mask",
				 .text = "sigsetjmp(env, 0), where the mask need not come back; else keep the mask"),
	[MASK_SET] =
		MASK_KIND(FINDING_CERTAIN, .what = "sets the blocked signals to what they are", .object = "masks set",
			  .remedy = "remember", .text = "remember the mask, and set only what is different"),
	[MASK_AROUND_NOTHING] =
		MASK_KIND(FINDING_LIKELY, .what = "blocks signals and lets them go with no call in between",
			  .object = "masks around nothing", .remedy = "flag",
			  .text = "let handlers set a flag, or use signalfd: then nothing has to be blocked",
			  .note = "what is done in memory in between may be what handlers must not see"),
	{ 0 },
};

static const struct law mask_law = {
	.kinds = mask_kinds,
	.entries = 16384,
	.followed = 16384, /* threads whose mask was told */
	.followed_bytes = sizeof(struct masker),
	.tell = mask_tell,
};

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
	.breadth = 1,
	.call = mask_call,
	LAW_RULE(mask_law),
};
