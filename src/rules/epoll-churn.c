/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll-churn: a descriptor taken off an epoll set and put back, more often
 * than anything is read or written; or set to the mask that it has.  What
 * arms an edge or one shot anew (EPOLLET, EPOLLONESHOT) does something.
 */
#include <string.h>
#include <sys/epoll.h>

#include "base/text.h"
#include "rules/keyed.h"

#define WATCHED_MAX 16384 /* descriptors in sets, at a time */
#define LOOPS_MAX 4096

enum { LIMIT_CALLS, LIMIT_EACH, LIMIT_GAP };
enum { CHURN_AGAIN, CHURN_SAME };

/* One image and one descriptor in one set. */
struct watched {
	struct rule_key key; /* first; its tally has the DEL that may be undone */
	struct item_epoll_event event;
	bool known, is_in;
};

/* One image: what it puts back, and in a key of its own what it sets to the same. */
struct loop {
	struct rule_key key; /* first */
	struct rule_burst burst;
	uint64_t useful; /* reads and writes that moved something */
	int what;
};

struct churn_state {
	struct rule_keys watched, loops;
	struct rule_recent targets; /* by image and descriptor: is in some set */
};

struct target {
	uint64_t hash; /* first */
	bool is_in;
};

static struct loop *loop_of(struct rule_run *run, const struct model_view *view, int what)
{
	struct churn_state *state = run->state;
	struct loop *loop;

	loop = (struct loop *)rule_keys_get(run, &state->loops, view, map_mix(view->process->id, (uint64_t)what), NULL);
	if (loop)
		loop->what = what;
	return loop;
}

static void put_back(struct rule_run *run, struct watched *watched, const struct model_view *view)
{
	struct churn_state *state = run->state;
	struct loop *loop = loop_of(run, view, CHURN_AGAIN);

	if (!loop || !rule_burst_next(&loop->burst, view, run->limits[LIMIT_GAP]))
		return;
	rule_tally_merge(&loop->key.tally, &watched->key.tally);
	(void)rule_tally_add(&loop->key.tally, run->model, view);
	rule_keys_value(&state->loops, &loop->key, loop->key.tally.calls);
}

static void set_to_same(struct rule_run *run, const struct model_view *view)
{
	struct churn_state *state = run->state;
	struct loop *loop = loop_of(run, view, CHURN_SAME);

	if (!loop || !rule_burst_next(&loop->burst, view, run->limits[LIMIT_GAP]))
		return;
	(void)rule_tally_add(&loop->key.tally, run->model, view);
	rule_keys_value(&state->loops, &loop->key, loop->key.tally.calls);
}

static void controlled(struct rule_run *run, const struct model_view *view)
{
	struct churn_state *state = run->state;
	const struct item_epoll_event *event =
		EVENT_ITEM_AS(struct item_epoll_event, event_item(&view->call->head, SYS_ITEM_EPOLL_EVENT));
	uint64_t op = view->call->args[1];
	struct watched *watched;
	struct target *target;

	if (!view->file || !view->file2)
		return;
	watched = (struct watched *)rule_keys_get(
		run, &state->watched, view, map_mix(map_mix(view->process->id, view->file->id), view->file2->id), NULL);
	if (!watched)
		return;
	target = rule_recent_put(&state->targets, map_mix(view->process->id, view->file2->id), NULL);
	target->is_in = op != EPOLL_CTL_DEL;
	if (op == EPOLL_CTL_DEL) {
		rule_tally_done(&watched->key.tally);
		(void)rule_tally_add(&watched->key.tally, run->model, view);
		watched->is_in = false;
		return;
	}
	if (op == EPOLL_CTL_ADD && !watched->is_in && watched->key.tally.calls > 0)
		put_back(run, watched, view);
	if (op == EPOLL_CTL_MOD && event && watched->known && watched->event.events == event->events &&
	    watched->event.data == event->data && !(event->events & (EPOLLET | EPOLLONESHOT)))
		set_to_same(run, view);
	watched->is_in = true;
	watched->known = event != NULL;
	if (event)
		watched->event = *event;
}

static void churn_call(struct rule_run *run, const struct model_view *view)
{
	struct churn_state *state = run->state;
	const struct target *target;
	struct rule_key *loop;

	if (view->err || !rule_returned(view))
		return;
	if (view->id == CALL_epoll_ctl) {
		controlled(run, view);
		return;
	}
	if (!view->file || view->call->ret < 0)
		return;
	loop = rule_keys_find(&state->loops, map_mix(view->process->id, CHURN_AGAIN));
	target = loop ? rule_recent_get(&state->targets, map_mix(view->process->id, view->file->id)) : NULL;
	if (target)
		((struct loop *)loop)->useful++;
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct loop *loop = (const struct loop *)key;
	bool again = loop->what == CHURN_AGAIN;
	struct finding_remedy *remedy;
	struct finding *finding;
	char number[TEXT_NUMBER_MAX];

	if (again && key->tally.calls < loop->useful * run->limits[LIMIT_EACH])
		return;
	finding = rule_key_finding(run, key, again ? FINDING_LIKELY : FINDING_CERTAIN, NULL, out);
	if (!finding)
		return;
	finding->least = run->limits[LIMIT_CALLS];
	finding_set(&finding->what, again ? "takes descriptors off an epoll set and puts them back"
					  : "sets descriptors in an epoll set to what they are set to");
	if (again)
		finding_set(&finding->where, "%s reads and writes meanwhile", text_count(loop->useful, number));
	else
		finding_set(&finding->where, "equal events, equal data");
	finding_set(&finding->object, again ? "epoll ADD and DEL" : "epoll MOD");
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = again ? "keep" : "compare";
		finding_set(&remedy->text,
			    again ? "add once, and leave it in the set" : "keep the mask, and call when it changes");
		finding_remedy_saves_all(remedy, finding);
	}
	rule_burst_note(&loop->burst, finding);
}

static void churn_image_end(struct rule_run *run, struct model_process *process)
{
	struct churn_state *state = run->state;

	rule_keys_image_end(run, &state->watched, process);
	rule_keys_image_end(run, &state->loops, process);
}

static void churn_end(struct rule_run *run, struct finding_list *out)
{
	struct churn_state *state = run->state;

	rule_keys_tell(run, &state->loops, out, tell);
}

static int churn_start(struct rule_run *run)
{
	struct churn_state *state = run->state;

	rule_keys_init(&state->watched, sizeof(struct watched), WATCHED_MAX);
	state->watched.candidate = UINT64_MAX;
	rule_keys_init(&state->loops, sizeof(struct loop), LOOPS_MAX);
	state->loops.candidate = run->limits[LIMIT_CALLS];
	return rule_recent_init(&state->targets, sizeof(struct target), WATCHED_MAX);
}

static void churn_done(struct rule_run *run)
{
	struct churn_state *state = run->state;

	rule_keys_done(run, &state->watched);
	rule_keys_done(run, &state->loops);
	rule_recent_done(&state->targets);
}

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
	.state_bytes = sizeof(struct churn_state),
	.breadth = 1,
	.start = churn_start,
	.call = churn_call,
	.image_end = churn_image_end,
	.end = churn_end,
	.done = churn_done,
};
