/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zero-timeout: asking again and again whether something is ready, without
 * waiting, where nothing is; and waiting for files, which are always ready.  One
 * question for each batch of work is how event loops go, and is left alone.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "rules/keyed.h"
#include "rules/stream.h"

#define THREADS_MAX 4096 /* that asked of late */
#define GROUPS_MAX 4096 /* images with something to tell */

enum { LIMIT_CALLS, LIMIT_BETWEEN, LIMIT_PAUSE, LIMIT_FILES };
enum { ASKS_IN_VAIN, WAITS_FOR_FILES };

/* One thread: the row of questions that it is in. */
struct asker {
	struct rule_key key; /* first; its tally has the row below the limit */
	struct rule_burst burst;
	uint64_t process_calls, row, begun_ns;
};

/* One image, one key for each of the two. */
struct group {
	struct rule_key key; /* first */
	struct rule_burst burst;
	int what;
	bool unsure;
};

struct poll_state {
	struct rule_keys askers, groups;
};

/* Which argument is the timeout, -1 where it is no struct. */
static int timeout_arg(enum sys_call_id id)
{
	switch ((int)id) {
	case CALL_ppoll:
		return 2;
	case CALL_select:
	case CALL_pselect6:
		return 4;
	case CALL_epoll_pwait2:
		return 3;
	default:
		return -1;
	}
}

static bool is_zero(const struct model_view *view)
{
	const struct event_call *call = view->call;
	const struct item_time *time = EVENT_ITEM_AS(struct item_time, event_item(&call->head, SYS_ITEM_TIMEOUT));
	int arg = timeout_arg(view->id);

	if (arg >= 0)
		return call->args[arg] != 0 && time && time->sec == 0 && time->nsec == 0;
	return (int32_t)call->args[view->id == CALL_poll ? 2 : 3] == 0;
}

static struct group *group_of(struct rule_run *run, const struct model_view *view, int what)
{
	struct poll_state *state = run->state;
	struct group *group = (struct group *)rule_keys_get(run, &state->groups, view,
							    map_mix(view->process->id, (uint64_t)what), NULL);

	if (group)
		group->what = what;
	return group;
}

static void asked_in_vain(struct rule_run *run, const struct model_view *view)
{
	struct poll_state *state = run->state;
	struct asker *asker = (struct asker *)rule_keys_get(run, &state->askers, view,
							    map_mix(view->process->id, view->call->head.tid), NULL);
	uint64_t now_ns = view->call->head.time_ns;
	struct group *group;
	bool close;

	if (!asker)
		return;
	close = rule_burst_next(&asker->burst, view, RULE_BURST_GAP_NS) && asker->process_calls > 0 &&
		view->process->calls <= asker->process_calls + 1 + run->limits[LIMIT_BETWEEN];
	asker->process_calls = view->process->calls;
	/* On the average: one of them may have been late. */
	if (asker->row >= run->limits[LIMIT_CALLS] / 2 &&
	    now_ns - asker->begun_ns > asker->row * run->limits[LIMIT_PAUSE])
		close = false;
	if (!close) {
		rule_tally_done(&asker->key.tally);
		asker->row = 0;
		asker->begun_ns = now_ns;
		return;
	}
	(void)rule_tally_add(&asker->key.tally, run->model, view);
	if (++asker->row < run->limits[LIMIT_CALLS])
		return;
	group = group_of(run, view, ASKS_IN_VAIN);
	if (!group)
		return;
	rule_tally_merge(&group->key.tally, &asker->key.tally);
	rule_keys_value(&state->groups, &group->key, group->key.tally.calls);
}

/* 1 a file, 0 not, -1 probably one. */
static int file_at(struct rule_run *run, const struct model_view *view, int32_t fd)
{
	struct model_view one = *view;

	one.file = model_fd(run->model, view, fd);
	if (!one.file || rule_behind(run->model, &one) != RULE_BEHIND_FILE)
		return 0;
	return S_ISREG(one.file->mode) ? 1 : -1;
}

/* Are all descriptors that it asks for files? */
static bool only_files(struct rule_run *run, const struct model_view *view, bool *ret_unsure)
{
	const struct event_item *item = NULL;
	unsigned files = 0;

	while ((item = event_item_next(&view->call->head, item))) {
		const unsigned char *bits = event_item_data(item);
		uint32_t room = item->type == SYS_ITEM_POLLFDS ? item->bytes / sizeof(struct item_pollfd)
				: item->type == SYS_ITEM_FDSET ? item->bytes * 8
							       : 0;

		if (item->type == SYS_ITEM_FDSET && room > (uint32_t)view->call->args[0])
			room = (uint32_t)view->call->args[0];
		if (room > 0 && (item->flags & (EVENT_ITEM_TRUNCATED | EVENT_ITEM_UNREAD)))
			return false;
		for (uint32_t i = 0; i < room; i++) {
			int32_t fd = (int32_t)i;
			int is;

			if (item->type == SYS_ITEM_POLLFDS)
				memcpy(&fd, bits + i * sizeof(struct item_pollfd), sizeof fd);
			if (fd < 0 || (item->type == SYS_ITEM_FDSET && !(bits[i / 8] >> i % 8 & 1)))
				continue;
			is = file_at(run, view, fd);
			if (is == 0)
				return false;
			files++;
			*ret_unsure = *ret_unsure || is < 0;
		}
	}
	return files > 0;
}

static void poll_call(struct rule_run *run, const struct model_view *view)
{
	struct poll_state *state = run->state;
	struct group *group;
	bool unsure = false;

	if (view->err || !rule_returned(view))
		return;
	if (view->call->ret == 0) {
		if (is_zero(view))
			asked_in_vain(run, view);
		return;
	}
	if (!only_files(run, view, &unsure))
		return;
	group = group_of(run, view, WAITS_FOR_FILES);
	if (!group || !rule_burst_next(&group->burst, view, RULE_BURST_GAP_NS))
		return;
	group->unsure = group->unsure || unsure;
	(void)rule_tally_add(&group->key.tally, run->model, view);
	rule_keys_value(&state->groups, &group->key, group->key.tally.calls);
}

/* No script can ask by itself there: the loop asks between two rounds of its work. */
static bool is_loop(const struct model_exe *exe)
{
	const char *name = rule_base_name(exe->path);

	return strcmp(name, "node") == 0 || strcmp(name, "nodejs") == 0;
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct group *group = (const struct group *)key;
	bool files = group->what == WAITS_FOR_FILES, loop = !files && is_loop(key->exe);
	uint64_t least = run->limits[files ? LIMIT_FILES : LIMIT_CALLS];
	struct finding_remedy *remedy;
	struct finding *finding;

	if (key->tally.calls < least)
		return;
	finding = rule_key_finding(run, key,
				   loop			     ? FINDING_BY_DESIGN
				   : files && !group->unsure ? FINDING_CERTAIN
							     : FINDING_LIKELY,
				   NULL, out);
	if (!finding)
		return;
	finding->least = least;
	finding_set(&finding->what, files ? "waits for files, which are always ready"
					  : "asks again and again whether something is ready, without waiting");
	finding_set(&finding->where, files ? "nothing but files is asked for" : "nothing was ready, each time");
	finding_set(&finding->object, files ? "files" : "questions in vain");
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (!remedy)
		return;
	remedy->id = files ? "leave-out" : loop ? "larger" : "wait";
	finding_set(&remedy->text, "%s",
		    files  ? "leave files out: read them when there is time"
		    : loop ? "more work in each setImmediate; an event or a timer in place of looking"
			   : "wait in it: until the next deadline, or without end (-1)");
	finding_remedy_saves_all(remedy, finding);
	if (loop)
		finding_add_note(finding,
				 "node asks once for each round of callbacks, and may not wait with more to do");
	else if (!files)
		finding_add_note(finding, "who works in between can do more before it looks again");
}

static void poll_image_end(struct rule_run *run, struct model_process *process)
{
	struct poll_state *state = run->state;

	rule_keys_image_end(run, &state->askers, process);
	rule_keys_image_end(run, &state->groups, process);
}

static void poll_end(struct rule_run *run, struct finding_list *out)
{
	rule_keys_tell(run, &((struct poll_state *)run->state)->groups, out, tell);
}

static int poll_start(struct rule_run *run)
{
	struct poll_state *state = run->state;

	rule_keys_init(&state->askers, sizeof(struct asker), THREADS_MAX);
	state->askers.idle_ns = UINT64_C(1000000000);
	state->askers.candidate = UINT64_MAX;
	rule_keys_init(&state->groups, sizeof(struct group), GROUPS_MAX);
	/* One table for both. */
	state->groups.candidate = run->limits[LIMIT_FILES] < run->limits[LIMIT_CALLS] ? run->limits[LIMIT_FILES]
										      : run->limits[LIMIT_CALLS];
	return 0;
}

static void poll_done(struct rule_run *run)
{
	struct poll_state *state = run->state;

	rule_keys_done(run, &state->askers);
	rule_keys_done(run, &state->groups);
}

static const uint16_t poll_calls[] = { CALL_poll,	CALL_ppoll,	  CALL_select,	     CALL_pselect6,
				       CALL_epoll_wait, CALL_epoll_pwait, CALL_epoll_pwait2, 0 };

static const struct rule_limit poll_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 100, "questions in vain in one row, by one thread" },
	[LIMIT_BETWEEN] = { "between", RULE_COUNT, 2, "other calls of the process between two of a row" },
	[LIMIT_PAUSE] = { "pause", RULE_NS, 10000000, "and no more time on the average, so that it is 100 a second" },
	[LIMIT_FILES] = { "files", RULE_COUNT, 50, "or so many that ask for nothing but files" },
	{ 0 },
};

const struct rule rule_zero_timeout = {
	.id = "zero-timeout",
	.title = "asking whether something is ready, without waiting",
	.items = SYS_ITEM_BIT(TIMEOUT) | SYS_ITEM_BIT(POLLFDS) | SYS_ITEM_BIT(FDSET),
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.calls = poll_calls,
	.limits = poll_limits,
	.state_bytes = sizeof(struct poll_state),
	.breadth = 1,
	.start = poll_start,
	.call = poll_call,
	.image_end = poll_image_end,
	.end = poll_end,
	.done = poll_done,
};
