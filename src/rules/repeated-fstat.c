/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repeated-fstat: a descriptor asked again what it stands for, with the same
 * answer, nothing in the tree that could have changed it, and nothing read in
 * between: tar, for one, asks behind the reading whether the file changed, and
 * who maps a file must know how large it is now.
 */
#include "rules/law.h"

enum { LIMIT_CALLS, LIMIT_GAP };

/* One opened file and one image. */
struct opened {
	struct rule_key key; /* first */
	struct rule_burst burst;
	struct item_stat stat;
	uint64_t asked; /* model_now then */
	int64_t offset; /* and how far it was read */
};

/* Does the old answer hold all that is asked now, and is it the same? */
static bool same_answer(const struct item_stat *was, const struct item_stat *now)
{
	return (now->mask & ~was->mask) == 0 && was->dev == now->dev && was->ino == now->ino &&
	       was->size == now->size && was->mtime_ns == now->mtime_ns && was->ctime_ns == now->ctime_ns &&
	       was->mode == now->mode && was->nlink == now->nlink && was->uid == now->uid && was->gid == now->gid;
}

static void fstat_call(struct rule_run *run, const struct model_view *view)
{
	const struct model_file *file = view->file;
	const struct item_stat *stat;
	struct law_entry *entry;
	struct opened *opened;
	bool close, fresh = false, same;

	if (view->id == CALL_mmap) {
		if (file && (opened = law_followed(run, view, file->id)))
			opened->offset = -1;
		return;
	}
	if (view->path || !file || view->err || !rule_returned(view))
		return;
	stat = EVENT_ITEM_AS(struct item_stat, event_item(&view->call->head, SYS_ITEM_STAT));
	opened = stat ? law_follow(run, view, file->id, &fresh) : NULL;
	if (!opened)
		return;
	close = rule_burst_next(&opened->burst, view, run->limits[LIMIT_GAP]);
	/* Who reads and asks again wants to know whether it changed meanwhile. */
	same = !fresh && same_answer(&opened->stat, stat) && file->offset >= 0 && file->offset == opened->offset &&
	       model_changed(run->model, view->process, NULL, file) <= opened->asked;
	entry = same && close ? law_entry(run, view, 0) : NULL;
	if (entry) {
		law_file(run, entry, file);
		law_count(run, entry, view);
	}
	if (!same)
		opened->stat = *stat;
	opened->asked = model_now(run->model);
	opened->offset = file->offset;
}

static const struct law_kind fstat_kinds[] = {
	{ .tier = FINDING_LIKELY,
	  .least = LIMIT_CALLS,
	  .what = "asks open files again for what they have told",
	  .object = "open files",
	  .nameless = "files without a name",
	  .remedy = "pass-on",
	  .text = "keep the first answer and pass it on",
	  .note = "unchanged as far as seen: size, times, mode and owner were the same each time" },
	{ 0 },
};

static const struct law fstat_law = { .kinds = fstat_kinds,
				      .entries = 16384,
				      .files = 4096,
				      .followed = 16384,
				      .followed_bytes = sizeof(struct opened) };

static const uint16_t fstat_calls[] = { CALL_fstat, CALL_newfstatat, CALL_statx, CALL_mmap, 0 };

static const struct rule_limit fstat_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 100, "questions of one process that were answered before" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "questions further apart do not count" },
	{ 0 },
};

const struct rule rule_repeated_fstat = {
	.id = "repeated-fstat",
	.title = "open files asked again for the same",
	.items = SYS_ITEM_BIT(STAT),
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.calls = fstat_calls,
	.limits = fstat_limits,
	.breadth = 1,
	.call = fstat_call,
	LAW_RULE(fstat_law),
};
