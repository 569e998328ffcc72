/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * noop-seek: lseek to where the descriptor stands, or to learn where that is.
 * The kernel's answer is what the program could have counted itself.  Seeks
 * that ask the file (its end, its holes) are none of these, nor is the first
 * question of a descriptor, which tells whether it can seek at all, nor are
 * those of a file that several processes, or other threads, move.
 */
#include <unistd.h>

#include "rules/law.h"

enum { LIMIT_CALLS, LIMIT_GAP };
enum { OFFSET_OWN, OFFSET_SHARED };

static void seek_call(struct rule_run *run, const struct model_view *view)
{
	const struct model_file *file = view->file;
	struct law_entry *entry;
	bool first = false;

	if (!file || view->err || !rule_returned(view) || !law_follow(run, view, file->id, &first))
		return;
	if (view->call->args[2] != SEEK_SET && (view->call->args[2] != SEEK_CUR || first))
		return;
	/* Where others moved it to this thread cannot have counted. */
	if (file->offset < 0 || view->call->ret != file->offset || (file->offset_shared && file->offset_used) ||
	    (file->offset_tid && file->offset_tid != view->call->head.tid))
		return;
	entry = law_entry(run, view, file->offset_shared ? OFFSET_SHARED : OFFSET_OWN);
	if (!entry || !rule_burst_next(&entry->burst, view, run->limits[LIMIT_GAP]))
		return;
	law_file(run, entry, file);
	law_count(run, entry, view);
}

static void seek_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	const char *shell = rule_shell_remedy(entry->key.exe);

	if (shell) {
		finding->tier = FINDING_BY_DESIGN;
		(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "mapfile", shell);
		finding_add_note(finding, "a shell gives back what it has read ahead: others may go on from there");
		return;
	}
	(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "count",
				     "count what was read and written; pread and pwrite where the place is known");
	if (entry->kind == OFFSET_SHARED)
		finding_add_note(finding,
				 "others have the same descriptor and may move it, but did not as far as seen");
}

static const struct law_kind seek_kinds[] = {
	[OFFSET_OWN] = { .tier = FINDING_CERTAIN,
			 .least = LIMIT_CALLS,
			 .what = "seeks to where the file stands already",
			 .object = "offsets",
			 .nameless = "files without a name" },
	[OFFSET_SHARED] = { .tier = FINDING_LIKELY,
			    .least = LIMIT_CALLS,
			    .what = "seeks to where the file stands already",
			    .object = "offsets that are shared",
			    .nameless = "files without a name" },
	{ 0 },
};

static const struct law seek_law = {
	.kinds = seek_kinds,
	.entries = 16384,
	.files = 4096,
	.followed = 16384, /* descriptors that were asked */
	.followed_bytes = sizeof(struct rule_key),
	.tell = seek_tell,
};

static const uint16_t seek_calls[] = { CALL_lseek, 0 };

static const struct rule_limit seek_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 100, "seeks of one process that moved nothing" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "seeks further apart do not count" },
	{ 0 },
};

const struct rule rule_noop_seek = {
	.id = "noop-seek",
	.title = "seeks that move nothing",
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.calls = seek_calls,
	.limits = seek_limits,
	.breadth = 1,
	.call = seek_call,
	LAW_RULE(seek_law),
};
