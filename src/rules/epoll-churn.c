/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll-churn: a descriptor taken off an epoll set and put back, more often
 * than anything is read or written; or set to the mask that it has.  What
 * arms an edge or one shot anew (EPOLLET, EPOLLONESHOT) does something.
 */
#include <string.h>
#include <sys/epoll.h>

#include "base/text.h"
#include "rules/law.h"

enum { LIMIT_CALLS, LIMIT_EACH, LIMIT_GAP };
enum { CHURN_AGAIN, CHURN_SAME };

/* One image and one descriptor in one set. */
struct watched {
	struct rule_key key; /* first; its tally has the DEL that may be undone */
	struct item_epoll_event event;
	bool known, is_in;
};

struct loop {
	struct law_entry entry; /* first */
	uint64_t useful; /* reads and writes that moved something */
};

/* By image and descriptor. */
struct target {
	uint64_t hash; /* first */
	bool is_in; /* some set */
};

/* What undoes `before`, or with NULL changes nothing. */
static void count(struct rule_run *run, const struct model_view *view, unsigned kind, struct rule_tally *before)
{
	struct loop *loop = law_entry(run, view, kind);

	if (!loop || !rule_burst_next(&loop->entry.burst, view, run->limits[LIMIT_GAP]))
		return;
	if (before)
		rule_tally_merge(&loop->entry.key.tally, before);
	law_count(run, &loop->entry, view);
}

static void controlled(struct rule_run *run, const struct model_view *view)
{
	struct law_state *state = run->state;
	const struct item_epoll_event *event =
		EVENT_ITEM_AS(struct item_epoll_event, event_item(&view->call->head, SYS_ITEM_EPOLL_EVENT));
	uint64_t op = view->call->args[1];
	struct watched *watched;
	struct target *target;

	if (!view->file || !view->file2)
		return;
	watched = law_follow(run, view, map_mix(view->file->id, view->file2->id), NULL);
	if (!watched)
		return;
	target = rule_recent_put(&state->recent, map_mix(view->process->id, view->file2->id), NULL);
	target->is_in = op != EPOLL_CTL_DEL;
	if (op == EPOLL_CTL_DEL) {
		rule_tally_done(&watched->key.tally);
		(void)rule_tally_add(&watched->key.tally, run->model, view);
		watched->is_in = false;
		return;
	}
	if (op == EPOLL_CTL_ADD && !watched->is_in && watched->key.tally.calls > 0)
		count(run, view, CHURN_AGAIN, &watched->key.tally);
	if (op == EPOLL_CTL_MOD && event && watched->known && watched->event.events == event->events &&
	    watched->event.data == event->data && !(event->events & (EPOLLET | EPOLLONESHOT)))
		count(run, view, CHURN_SAME, NULL);
	watched->is_in = true;
	watched->known = event != NULL;
	if (event)
		watched->event = *event;
}

static void churn_call(struct rule_run *run, const struct model_view *view)
{
	struct law_state *state = run->state;
	const struct target *target;
	struct loop *loop;

	if (view->err || !rule_returned(view))
		return;
	if (view->id == CALL_epoll_ctl) {
		controlled(run, view);
		return;
	}
	if (!view->file || view->call->ret < 0)
		return;
	loop = law_entry_known(run, view, CHURN_AGAIN);
	target = loop ? rule_recent_get(&state->recent, map_mix(view->process->id, view->file->id)) : NULL;
	if (target)
		loop->useful++;
}

static bool churn_holds(struct rule_run *run, const struct law_entry *entry)
{
	return entry->kind != CHURN_AGAIN ||
	       entry->key.tally.calls >= ((const struct loop *)entry)->useful * run->limits[LIMIT_EACH];
}

static void churn_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	char number[TEXT_NUMBER_MAX];

	if (entry->kind == CHURN_AGAIN)
		finding_set(&finding->where, "%s reads and writes meanwhile",
			    text_count(((const struct loop *)entry)->useful, number));
}

static const struct law_kind churn_kinds[] = {
	[CHURN_AGAIN] = { .tier = FINDING_LIKELY,
			  .least = LIMIT_CALLS,
			  .what = "takes descriptors off an epoll set and puts them back",
			  .object = "epoll ADD and DEL",
			  .remedy = "keep",
			  .text = "add once, and leave it in the set" },
	[CHURN_SAME] = { .tier = FINDING_CERTAIN,
			 .least = LIMIT_CALLS,
			 .what = "sets descriptors in an epoll set to what they are set to",
			 .object = "epoll MOD",
			 .where = "equal events, equal data",
			 .remedy = "compare",
			 .text = "keep the mask, and call when it changes" },
	{ 0 },
};

static const struct law churn_law = {
	.kinds = churn_kinds,
	.entries = 4096,
	.entry_bytes = sizeof(struct loop),
	.followed = 16384, /* descriptors in sets */
	.followed_bytes = sizeof(struct watched),
	.followed_stay = true,
	.recent = 16384,
	.recent_bytes = sizeof(struct target),
	.holds = churn_holds,
	.tell = churn_tell,
};

static const uint16_t churn_calls[] = {
	CALL_epoll_ctl, CALL_read,  CALL_readv,	 CALL_recvfrom, CALL_recvmsg, CALL_recvmmsg, CALL_accept,
	CALL_accept4,	CALL_write, CALL_writev, CALL_sendto,	CALL_sendmsg, CALL_sendmmsg, CALL_sendfile,
	CALL_splice,	0,
};

static const struct rule_limit churn_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 100, "of one process that undo each other, or change nothing" },
	[LIMIT_EACH] = { "each", RULE_COUNT, 2, "of those that undo each other, for each read or write" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "calls further apart do not count" },
	{ 0 },
};

const struct rule rule_epoll_churn = {
	.id = "epoll-churn",
	.title = "descriptors registered with epoll again and again",
	.items = SYS_ITEM_BIT(EPOLL_EVENT),
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.calls = churn_calls,
	.limits = churn_limits,
	.breadth = 1,
	.call = churn_call,
	LAW_RULE(churn_law),
};
