/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fsync-storm: files made safe on disk again and again with little written in
 * between, or nothing.  Who has to do so for each change is a matter of what
 * was promised, so the claim is never certain; and what it waits for the disk
 * has no price, but is told.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"
#include "rules/law.h"

#define SQLITE_SYNCS 4 /* of a transaction: journal twice, its folder, the database */

enum { LIMIT_CALLS, LIMIT_BYTES, LIMIT_GAP };

struct syncer {
	struct law_entry entry; /* first */
	struct rule_tally clean; /* counts only: nothing was written since the last one */
	struct rule_tally unpacked; /* counts only: what dpkg syncs of a package, not of its database */
	uint64_t bytes; /* written since the last sync */
	uint64_t written; /* in all, between those that count */
	bool is_sqlite, again;
};

struct synced {
	uint64_t hash; /* first: of the opened file */
	uint64_t when; /* model_now */
	bool mapped; /* it is written to without calls */
};

static bool is_sync(enum sys_call_id id)
{
	return (sys_call(id)->classes & SYS_FAMILY_sync) != 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t bytes = strlen(text), end_bytes = strlen(end);

	return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

static void mapped(struct law_state *state, const struct model_view *view)
{
	uint64_t prot = view->call->args[2], flags = view->call->args[3];
	struct synced *synced;

	if (!view->file || !(prot & PROT_WRITE) || !(flags & MAP_SHARED))
		return;
	synced = rule_recent_put(&state->recent, view->file->id, NULL);
	synced->mapped = true;
}

/* Was all of it safe already, as far as calls show? */
static bool is_clean(struct rule_run *run, const struct model_view *view)
{
	struct law_state *state = run->state;
	struct synced *synced;
	bool fresh = false, clean;

	if (!view->file)
		return false;
	synced = rule_recent_put(&state->recent, view->file->id, &fresh);
	clean = !fresh && synced->when > 0 && !synced->mapped &&
		model_changed(run->model, view->process, NULL, view->file) <= synced->when;
	synced->when = model_now(run->model);
	return clean;
}

static void synced(struct rule_run *run, const struct model_view *view)
{
	const char *path = view->file && view->file->path ? view->file->path : "";
	struct syncer *syncer = law_entry(run, view, 0);
	bool clean = is_clean(run, view), close;

	if (!syncer)
		return;
	close = rule_burst_next(&syncer->entry.burst, view, run->limits[LIMIT_GAP]);
	/* What was written before the first one is not known. */
	if (syncer->again && close && (clean || syncer->bytes < run->limits[LIMIT_BYTES])) {
		law_file(run, &syncer->entry, view->file);
		law_count(run, &syncer->entry, view);
		if (*path == '/' && (ends_with(path, "-journal") || ends_with(path, "-wal")))
			syncer->is_sqlite = true;
		if (clean)
			(void)rule_tally_count(&syncer->clean, view);
		if (ends_with(path, ".dpkg-new"))
			(void)rule_tally_count(&syncer->unpacked, view);
		syncer->written += syncer->bytes;
	}
	syncer->again = true;
	syncer->bytes = 0;
}

static void storm_call(struct rule_run *run, const struct model_view *view)
{
	struct law_state *state = run->state;
	struct syncer *syncer;

	if (view->err || !rule_returned(view))
		return;
	if (view->id == CALL_mmap) {
		mapped(state, view);
	} else if (is_sync(view->id)) {
		synced(run, view);
	} else if (view->call->ret > 0) {
		/* Who never syncs needs no account. */
		syncer = law_entry_known(run, view, 0);
		if (syncer)
			syncer->bytes += (uint64_t)view->call->ret;
	}
}

static void saves_counted(struct finding_remedy *remedy, const struct rule_tally *tally)
{
	for (size_t i = 0; i < tally->lines.used; i++)
		finding_add_delta(remedy, tally->lines.at[i].call, 0, -(int64_t)tally->lines.at[i].count, 0);
}

static void add_remedies(const struct syncer *syncer, struct finding *finding)
{
	static const char *const lost = "what was written last can be lost when the machine stops";
	uint64_t files = syncer->entry.places ? syncer->entry.places->distinct : 0;
	uint64_t left = syncer->is_sqlite ? SQLITE_SYNCS : files > 0 ? files : 1;
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_SOURCE);

	if (remedy && left * 2 > finding->calls) {
		remedy->id = "syncfs";
		finding_set(&remedy->text, "one syncfs for all files");
		finding_remedy_saves_all(remedy, finding);
		finding_add_delta(remedy, CALL_syncfs, 0, 1, 0);
	} else if (remedy) {
		remedy->id = "group";
		finding_set(&remedy->text, "%s",
			    syncer->is_sqlite ? "one transaction for many changes (BEGIN ... COMMIT)"
					      : "sync once for many changes");
		finding_remedy_saves_all_but(remedy, finding, left);
	}
	remedy = syncer->clean.calls > 0 ? finding_add_remedy(finding, REMEDY_SOURCE) : NULL;
	if (remedy) {
		remedy->id = "clean";
		finding_set(&remedy->text, "no sync where nothing was written");
		saves_counted(remedy, &syncer->clean);
	}
	/* The database is synced with that option too. */
	if (syncer->unpacked.calls > 0 && strcmp(rule_base_name(syncer->entry.key.exe->path), "dpkg") == 0) {
		remedy = finding_add_remedy(finding, REMEDY_CONFIGURATION);
		if (remedy) {
			remedy->id = "unsafe-io";
			finding_set(&remedy->text, "--force-unsafe-io");
			finding_set(&remedy->changes, "%s", lost);
			saves_counted(remedy, &syncer->unpacked);
		}
	}
	remedy = finding_add_remedy(finding, REMEDY_PRELOAD);
	if (remedy) {
		remedy->id = "eatmydata";
		finding_set(&remedy->text, "eatmydata, where the files are thrown away after");
		finding_set(&remedy->changes, "%s", lost);
		finding_remedy_saves_all(remedy, finding);
	}
}

/* As watched, less what watching may have cost. */
static void tell_waiting(struct finding *finding)
{
	uint64_t ns = 0, stops = finding->calls * RULE_STOP_MOST_NS;
	char number[TEXT_NUMBER_MAX];

	for (size_t i = 0; i < finding->costs.used; i++)
		ns += finding->costs.at[i].duration_ns;
	if (ns > 2 * stops)
		finding_add_note(finding, "they took %s, most of it waiting for the disk, which has no price",
				 text_ns((double)(ns - stops), number));
}

static void storm_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	const struct syncer *syncer = (const struct syncer *)entry;
	char number[TEXT_NUMBER_MAX + 16];

	add_remedies(syncer, finding);
	tell_waiting(finding);
	finding_add_note(
		finding, "%s written between two of them on the average",
		text_plural(syncer->written / entry->key.tally.calls, "byte was", "bytes were", number, sizeof number));
	if (syncer->clean.calls > 0)
		finding_add_note(finding, "unchanged as far as seen, when it was synced: %s",
				 text_plural(syncer->clean.calls, "time", "times", number, sizeof number));
}

static void storm_free(struct law_entry *entry)
{
	rule_tally_done(&((struct syncer *)entry)->clean);
	rule_tally_done(&((struct syncer *)entry)->unpacked);
}

static const struct law_kind storm_kinds[] = {
	{ .tier = FINDING_LIKELY,
	  .least = LIMIT_CALLS,
	  .what = "makes little safe at a time",
	  .object = "syncs",
	  .nameless = "files without a name" },
	{ 0 },
};

static const struct law storm_law = {
	.kinds = storm_kinds,
	.entries = 4096,
	.entry_bytes = sizeof(struct syncer),
	.files = 4096,
	.recent = 4096, /* opened files whose last sync is known */
	.recent_bytes = sizeof(struct synced),
	.tell = storm_tell,
	.free = storm_free,
};

static const uint16_t storm_calls[] = {
	CALL_fsync,  CALL_fdatasync, CALL_sync,	    CALL_syncfs,   CALL_write,		 CALL_pwrite64,
	CALL_writev, CALL_pwritev,   CALL_pwritev2, CALL_sendfile, CALL_copy_file_range, CALL_mmap,
	0,
};

static const struct rule_limit storm_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 20, "syncs of one process that count" },
	[LIMIT_BYTES] = { "bytes", RULE_BYTES, 65536, "written since the one before: so many are worth one" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "syncs further apart do not count" },
	{ 0 },
};

const struct rule rule_fsync_storm = {
	.id = "fsync-storm",
	.title = "files made safe again and again with little in between",
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.calls = storm_calls,
	.limits = storm_limits,
	.breadth = 1,
	.call = storm_call,
	LAW_RULE(storm_law),
};
