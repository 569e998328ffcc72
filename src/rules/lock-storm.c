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
#include "rules/keyed.h"

#define HOLDERS_MAX 4096
#define FILES_ROOM 4096 /* whose last holder is known */
#define SQLITE_LOCKS 9 /* of a transaction */
#define OFD_SETLK 37
#define OFD_SETLKW 38

enum { LIMIT_PAIRS, LIMIT_GAP };

/* One image and one file; its tally has locks and unlocks. */
struct holder {
	struct rule_key key; /* first */
	struct rule_burst burst;
	char *path; /* printable, NULL not known */
	char *place;
	uint64_t file; /* hash in `files` */
	uint64_t held, pairs;
	bool shared;
};

struct wanted {
	uint64_t hash; /* first: of the file */
	uint64_t process; /* that wanted it last */
	bool shared;
};

struct storm_state {
	struct rule_keys holders;
	struct rule_recent files;
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
static bool wanted_by_others(struct storm_state *state, const struct model_view *view, uint64_t file)
{
	bool fresh = false;
	struct wanted *wanted = rule_recent_put(&state->files, file, &fresh);

	if (!fresh && wanted->process != view->process->id)
		wanted->shared = true;
	wanted->process = view->process->id;
	/* Refused, or kept waiting and then let go. */
	if (view->err == EAGAIN || view->err == EACCES || view->err == EDEADLK || view->err == EINTR)
		wanted->shared = true;
	return wanted->shared;
}

static char *printable(const char *path)
{
	struct buf buf = BUF_INIT;
	char *text;

	(void)text_escape(&buf, path, strlen(path), 0, true);
	text = buf.failed ? NULL : buf_steal(&buf);
	buf_done(&buf);
	return text;
}

static struct holder *holder_of(struct rule_run *run, const struct model_view *view, const struct rule_object *object)
{
	struct storm_state *state = run->state;
	struct holder *holder;
	bool fresh = false;

	holder = (struct holder *)rule_keys_get(run, &state->holders, view, map_mix(view->process->id, object->id),
						&fresh);
	if (holder && fresh) {
		holder->file = object->id;
		holder->path = object->path ? printable(object->path) : NULL;
		holder->place = object->path ? strdup(object->path) : NULL;
	}
	return holder;
}

static void storm_call(struct rule_run *run, const struct model_view *view)
{
	struct storm_state *state = run->state;
	struct rule_object object;
	struct holder *holder;
	int what = locks(view);
	bool shared;

	if (what == 0 || !rule_returned(view) || !rule_object_of(run->model, view, &object))
		return;
	shared = wanted_by_others(state, view, object.id);
	holder = holder_of(run, view, &object);
	if (!holder)
		return;
	holder->shared = holder->shared || shared;
	if (view->err || !rule_burst_next(&holder->burst, view, run->limits[LIMIT_GAP]))
		return;
	(void)rule_tally_add(&holder->key.tally, run->model, view);
	/* Who unlocks several ranges at once gave back one lock. */
	holder->pairs += what < 0 && holder->held > 0;
	holder->held = what > 0 ? holder->held + 1 : holder->held > 0 ? holder->held - 1 : 0;
	rule_keys_value(&state->holders, &holder->key, holder->pairs);
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

static void all_but(struct finding_remedy *remedy, const struct finding *finding, uint64_t left)
{
	for (size_t i = 0; remedy && i < finding->costs.used; i++) {
		uint64_t count = finding->costs.at[i].count, gone = count > left ? count - left : 0;

		finding_add_delta(remedy, finding->costs.at[i].call, 0, -(int64_t)gone, 0);
		left -= count < left ? count : left;
	}
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	struct storm_state *state = run->state;
	struct holder *holder = (struct holder *)key;
	const struct wanted *wanted = rule_recent_get(&state->files, holder->file);
	struct finding_remedy *remedy;
	struct finding *finding;
	bool sqlite;

	if (holder->shared || (wanted && wanted->shared))
		return;
	finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	if (!finding)
		return;
	finding->least = run->limits[LIMIT_PAIRS];
	sqlite = is_sqlite(key->exe, finding);
	finding_set(&finding->what, "locks and unlocks a file that nobody else wants");
	finding_set(&finding->where, "%s", holder->path ? holder->path : "a file without a name");
	finding_set(&finding->object, "%s", holder->path ? holder->path : "locks");
	finding->place = holder->place;
	holder->place = NULL;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = "once";
		finding_set(&remedy->text, "%s",
			    sqlite ? "one transaction for many changes (BEGIN ... COMMIT)"
				   : "lock once for many changes");
		all_but(remedy, finding, sqlite ? SQLITE_LOCKS : 2);
	}
	remedy = sqlite ? finding_add_remedy(finding, REMEDY_CONFIGURATION) : NULL;
	if (remedy) {
		remedy->id = "exclusive";
		finding_set(&remedy->text, "PRAGMA locking_mode = EXCLUSIVE");
		finding_set(&remedy->changes, "other programs cannot open the database meanwhile");
		all_but(remedy, finding, SQLITE_LOCKS);
	}
	finding_add_note(finding, "nobody else wanted it as far as seen: programs outside are not");
	rule_burst_note(&holder->burst, finding);
}

static void free_holder(struct rule_run *run, struct rule_key *key)
{
	free(((struct holder *)key)->path);
	free(((struct holder *)key)->place);
}

static void storm_image_end(struct rule_run *run, struct model_process *process)
{
	struct storm_state *state = run->state;

	rule_keys_image_end(run, &state->holders, process);
}

static void storm_end(struct rule_run *run, struct finding_list *out)
{
	struct storm_state *state = run->state;

	rule_keys_tell(run, &state->holders, out, tell);
}

static int storm_start(struct rule_run *run)
{
	struct storm_state *state = run->state;

	rule_keys_init(&state->holders, sizeof(struct holder), HOLDERS_MAX);
	state->holders.candidate = run->limits[LIMIT_PAIRS];
	state->holders.free = free_holder;
	return rule_recent_init(&state->files, sizeof(struct wanted), FILES_ROOM);
}

static void storm_done(struct rule_run *run)
{
	struct storm_state *state = run->state;

	rule_keys_done(run, &state->holders);
	rule_recent_done(&state->files);
}

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
	.state_bytes = sizeof(struct storm_state),
	.breadth = 1,
	.start = storm_start,
	.call = storm_call,
	.image_end = storm_image_end,
	.end = storm_end,
	.done = storm_done,
};
