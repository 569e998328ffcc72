/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zero-timeout: asking again and again whether something is ready, without
 * waiting, where nothing is; and waiting for files, which are always ready.  One
 * question for each batch of work is how event loops go, and is left alone.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/law.h"
#include "rules/stream.h"

enum { LIMIT_CALLS, LIMIT_BETWEEN, LIMIT_PAUSE, LIMIT_FILES };
enum { ASKS_IN_VAIN, WAITS_FOR_FILES };

/* One thread: the row of questions that it is in. */
struct asker {
	struct rule_key key; /* first; its tally has the row below the limit */
	struct rule_burst burst;
	uint64_t process_calls, row, begun_ns;
};

struct poller {
	struct law_entry entry; /* first */
	bool unsure; /* whether all of them were files */
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

static void asked_in_vain(struct rule_run *run, const struct model_view *view)
{
	struct asker *asker = law_follow(run, view, view->call->head.tid, NULL);
	uint64_t now_ns = view->call->head.time_ns;
	struct law_entry *entry;
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
	entry = ++asker->row >= run->limits[LIMIT_CALLS] ? law_entry(run, view, ASKS_IN_VAIN) : NULL;
	if (entry)
		law_take(run, entry, &asker->key.tally);
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
	struct poller *poller;
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
	poller = law_entry(run, view, WAITS_FOR_FILES);
	if (!poller || !rule_burst_next(&poller->entry.burst, view, RULE_BURST_GAP_NS))
		return;
	poller->unsure = poller->unsure || unsure;
	law_count(run, &poller->entry, view);
}

/* No script can ask by itself there: the loop asks between two rounds of its work. */
static bool is_loop(const struct model_exe *exe)
{
	const char *name = rule_base_name(exe->path);

	return strcmp(name, "node") == 0 || strcmp(name, "nodejs") == 0;
}

static void poll_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	if (entry->kind == WAITS_FOR_FILES) {
		if (((const struct poller *)entry)->unsure)
			finding->tier = FINDING_LIKELY;
		return;
	}
	if (is_loop(entry->key.exe)) {
		finding->tier = FINDING_BY_DESIGN;
		(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "larger",
					     "more work in each setImmediate; an event or a timer in place of looking");
		finding_add_note(finding,
				 "node asks once for each round of callbacks, and may not wait with more to do");
		return;
	}
	(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "wait",
				     "wait in it: until the next deadline, or without end (-1)");
	finding_add_note(finding, "who works in between can do more before it looks again");
}

static const struct law_kind poll_kinds[] = {
	[ASKS_IN_VAIN] = { .tier = FINDING_LIKELY,
			   .least = LIMIT_CALLS,
			   .what = "asks again and again whether something is ready, without waiting",
			   .object = "questions in vain",
			   .where = "nothing was ready, each time" },
	[WAITS_FOR_FILES] = { .tier = FINDING_CERTAIN,
			      .least = LIMIT_FILES,
			      .what = "waits for files, which are always ready",
			      .object = "files",
			      .where = "nothing but files is asked for",
			      .remedy = "leave-out",
			      .text = "leave files out: read them when there is time" },
	{ 0 },
};

static const struct law poll_law = {
	.kinds = poll_kinds,
	.entries = 4096,
	.entry_bytes = sizeof(struct poller),
	.followed = 4096, /* threads that asked of late */
	.followed_bytes = sizeof(struct asker),
	.tell = poll_tell,
};

static const uint16_t poll_calls[] = { RULE_POLLS_CALLS, 0 };

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
	.breadth = 1,
	.call = poll_call,
	LAW_RULE(poll_law),
};
