/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock-storm: a file locked and unlocked again and again although nobody else
 * wants it, as far as seen.  A lock that had to wait, that was refused, or that
 * another process of the tree takes too, is what locks are for.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/text.h"
#include "rules/law.h"

#define SQLITE_LOCKS 9 /* of a transaction */
#define OFD_SETLK 37
#define OFD_SETLKW 38

enum { LIMIT_PAIRS, LIMIT_GAP };

/* One image and one file. */
struct holder {
	struct law_entry entry; /* first */
	char *path; /* NULL not known */
	uint64_t file; /* hash among those that are wanted */
	uint64_t held, pairs;
	bool shared;
};

struct wanted {
	uint64_t hash; /* first: of the file */
	uint64_t process; /* that wanted it last */
	bool shared;
};

/* 1 locks, -1 unlocks, 0 is something else. */
static int locks(const struct model_view *view)
{
	const struct item_flock *lock;
	uint32_t command = (uint32_t)view->call->args[1];

	if (view->id == CALL_flock)
		return command & LOCK_UN ? -1 : 1;
	if (command != F_SETLK && command != F_SETLKW && command != OFD_SETLK && command != OFD_SETLKW)
		return 0;
	lock = EVENT_ITEM_AS(struct item_flock, event_item(&view->call->head, SYS_ITEM_FLOCK));
	return !lock ? 0 : lock->type == F_UNLCK ? -1 : 1;
}

/* Does somebody else want it too? */
static bool wanted_by_others(struct law_state *state, const struct model_view *view, uint64_t file)
{
	bool fresh = false;
	struct wanted *wanted = rule_recent_put(&state->recent, file, &fresh);

	if (!fresh && wanted->process != view->process->id)
		wanted->shared = true;
	wanted->process = view->process->id;
	/* Refused, or kept waiting and then let go. */
	if (view->err == EAGAIN || view->err == EACCES || view->err == EDEADLK || view->err == EINTR)
		wanted->shared = true;
	return wanted->shared;
}

static void storm_call(struct rule_run *run, const struct model_view *view)
{
	struct law_state *state = run->state;
	struct rule_object object;
	struct holder *holder;
	int what = locks(view);
	bool shared, fresh = false;

	if (what == 0 || !rule_returned(view) || !rule_object_of(run->model, view, &object))
		return;
	shared = wanted_by_others(state, view, object.id);
	holder = law_entry_of(run, view, object.id, 0, &fresh);
	if (!holder)
		return;
	if (fresh) {
		holder->file = object.id;
		holder->path = object.path ? strdup(object.path) : NULL;
	}
	holder->shared = holder->shared || shared;
	if (view->err || !rule_burst_next(&holder->entry.burst, view, run->limits[LIMIT_GAP]))
		return;
	law_count(run, &holder->entry, view);
	/* Who unlocks several ranges at once gave back one lock. */
	holder->pairs += what < 0 && holder->held > 0;
	holder->held = what > 0 ? holder->held + 1 : holder->held > 0 ? holder->held - 1 : 0;
	rule_keys_value(&state->entries, &holder->entry.key, holder->pairs);
}

static bool storm_holds(struct rule_run *run, const struct law_entry *entry)
{
	const struct holder *holder = (const struct holder *)entry;
	const struct wanted *wanted = rule_recent_get(&((struct law_state *)run->state)->recent, holder->file);

	return !holder->shared && !(wanted && wanted->shared);
}

static bool is_sqlite(const struct model_exe *exe, const struct finding *finding)
{
	if (strncmp(rule_base_name(exe->path), "sqlite3", 7) == 0)
		return true;
	for (size_t i = 0; i < finding->sites.used; i++)
		if (finding->sites.at[i].module && strstr(finding->sites.at[i].module, "libsqlite3"))
			return true;
	return false;
}

static void storm_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	const struct holder *holder = (const struct holder *)entry;
	bool sqlite = is_sqlite(entry->key.exe, finding);
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	struct buf path = BUF_INIT;

	if (holder->path && text_escape(&path, holder->path, strlen(holder->path), 0, true) >= 0) {
		finding_set(&finding->where, "%s", buf_text(&path));
		finding_set(&finding->object, "%s", buf_text(&path));
		finding_set(&finding->place, "%s", holder->path);
	}
	buf_done(&path);
	if (remedy) {
		remedy->id = "once";
		finding_set(&remedy->text, "%s",
			    sqlite ? "one transaction for many changes (BEGIN ... COMMIT)"
				   : "lock once for many changes");
		finding_remedy_saves_all_but(remedy, finding, sqlite ? SQLITE_LOCKS : 2);
	}
	remedy = sqlite ? finding_add_remedy(finding, REMEDY_CONFIGURATION) : NULL;
	if (remedy) {
		remedy->id = "exclusive";
		finding_set(&remedy->text, "PRAGMA locking_mode = EXCLUSIVE");
		finding_set(&remedy->changes, "other programs cannot open the database meanwhile");
		finding_remedy_saves_all_but(remedy, finding, SQLITE_LOCKS);
	}
}

static void storm_free(struct law_entry *entry)
{
	free(((struct holder *)entry)->path);
}

static const struct law_kind storm_kinds[] = {
	{ .tier = FINDING_LIKELY,
	  .least = LIMIT_PAIRS,
	  .what = "locks and unlocks a file that nobody else wants",
	  .object = "locks",
	  .where = "a file without a name",
	  .note = "nobody else wanted it as far as seen: programs outside are not" },
	{ 0 },
};

static const struct law storm_law = {
	.kinds = storm_kinds,
	.entries = 4096,
	.entry_bytes = sizeof(struct holder),
	.recent = 4096, /* files whose last holder is known */
	.recent_bytes = sizeof(struct wanted),
	.holds = storm_holds,
	.tell = storm_tell,
	.free = storm_free,
};

static const uint16_t storm_calls[] = { CALL_fcntl, CALL_flock, 0 };

static const struct rule_limit storm_limits[] = {
	[LIMIT_PAIRS] = { "pairs", RULE_COUNT, 200, "locks of one file that one process gave back" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "calls further apart do not count" },
	{ 0 },
};

const struct rule rule_lock_storm = {
	.id = "lock-storm",
	.title = "files locked again and again that nobody else wants",
	.items = SYS_ITEM_BIT(FLOCK),
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.calls = storm_calls,
	.limits = storm_limits,
	.breadth = 1,
	.call = storm_call,
	LAW_RULE(storm_law),
};
