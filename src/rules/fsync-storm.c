/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fsync-storm: files made safe on disk again and again with little written in
 * between, or nothing.  Who has to do so for each change is a matter of what
 * was promised, so the claim is never certain; and what it waits for the disk
 * has no price, but is told.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"
#include "rules/keyed.h"

#define PROCESSES_MAX 4096
#define FILES_MAX 4096 /* told apart in an image */
#define SYNCED_ROOM 4096 /* opened files whose last sync is known */
#define SQLITE_SYNCS 4 /* of a transaction: journal twice, its folder, the database */

enum { LIMIT_CALLS, LIMIT_BYTES, LIMIT_GAP };

/* One image; its tally has the syncs. */
struct syncer {
	struct rule_key key; /* first */
	struct rule_burst burst;
	struct rule_places places;
	struct rule_tally clean; /* counts only: nothing was written since the last one */
	struct rule_tally unpacked; /* counts only: what dpkg syncs of a package, not of its database */
	uint64_t bytes; /* written since the last sync */
	uint64_t written; /* in all, between those that count */
	bool nameless, is_sqlite;
};

struct synced {
	uint64_t hash; /* first: of the opened file */
	uint64_t when; /* model_now */
	bool mapped; /* it is written to without calls */
};

struct storm_state {
	struct rule_keys syncers;
	struct rule_recent synced;
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

static void mapped(struct storm_state *state, const struct model_view *view)
{
	uint64_t prot = view->call->args[2], flags = view->call->args[3];
	struct synced *synced;

	if (!view->file || !(prot & PROT_WRITE) || !(flags & MAP_SHARED))
		return;
	synced = rule_recent_put(&state->synced, view->file->id, NULL);
	synced->mapped = true;
}

/* Was all of it safe already, as far as calls show? */
static bool is_clean(struct rule_run *run, const struct model_view *view)
{
	struct storm_state *state = run->state;
	struct synced *synced;
	bool fresh = false, clean;

	if (!view->file)
		return false;
	synced = rule_recent_put(&state->synced, view->file->id, &fresh);
	clean = !fresh && synced->when > 0 && !synced->mapped &&
		model_changed(run->model, view->process, NULL, view->file) <= synced->when;
	synced->when = model_now(run->model);
	return clean;
}

static void synced(struct rule_run *run, const struct model_view *view)
{
	struct storm_state *state = run->state;
	bool clean = is_clean(run, view), fresh = false, close;
	struct syncer *syncer;

	syncer = (struct syncer *)rule_keys_get(run, &state->syncers, view, view->process->id, &fresh);
	if (!syncer)
		return;
	if (fresh)
		(void)rule_places_init(&syncer->places, FILES_MAX);
	close = rule_burst_next(&syncer->burst, view, run->limits[LIMIT_GAP]);
	/* What was written before the first one is not known. */
	if (!fresh && close && (clean || syncer->bytes < run->limits[LIMIT_BYTES])) {
		if (view->file && view->file->path && *view->file->path == '/') {
			(void)rule_places_add(&syncer->places, view->file->path, view->file->path_hash);
			syncer->is_sqlite = syncer->is_sqlite || ends_with(view->file->path, "-journal") ||
					    ends_with(view->file->path, "-wal");
		} else {
			syncer->nameless = true;
		}
		(void)rule_tally_add(&syncer->key.tally, run->model, view);
		if (clean)
			(void)rule_tally_count(&syncer->clean, view);
		if (view->file && view->file->path && ends_with(view->file->path, ".dpkg-new"))
			(void)rule_tally_count(&syncer->unpacked, view);
		syncer->written += syncer->bytes;
		rule_keys_value(&state->syncers, &syncer->key, syncer->key.tally.calls);
	}
	syncer->bytes = 0;
}

static void storm_call(struct rule_run *run, const struct model_view *view)
{
	struct storm_state *state = run->state;
	struct rule_key *key;

	if (view->err || !rule_returned(view))
		return;
	if (view->id == CALL_mmap) {
		mapped(state, view);
	} else if (is_sync(view->id)) {
		synced(run, view);
	} else if (view->call->ret > 0) {
		/* Who never syncs needs no account. */
		key = rule_keys_find(&state->syncers, view->process->id);
		if (key)
			((struct syncer *)key)->bytes += (uint64_t)view->call->ret;
	}
}

static void all_but(struct finding_remedy *remedy, const struct finding *finding, uint64_t left)
{
	for (size_t i = 0; remedy && i < finding->costs.used; i++) {
		uint64_t count = finding->costs.at[i].count, gone = count > left ? count - left : 0;

		finding_add_delta(remedy, finding->costs.at[i].call, 0, -(int64_t)gone, 0);
		left -= count < left ? count : left;
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
	uint64_t left = syncer->is_sqlite ? SQLITE_SYNCS : syncer->places.distinct > 0 ? syncer->places.distinct : 1;
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
		all_but(remedy, finding, left);
	}
	remedy = syncer->clean.calls > 0 ? finding_add_remedy(finding, REMEDY_SOURCE) : NULL;
	if (remedy) {
		remedy->id = "clean";
		finding_set(&remedy->text, "no sync where nothing was written");
		saves_counted(remedy, &syncer->clean);
	}
	/* The database is synced with that option too. */
	if (syncer->unpacked.calls > 0 && strcmp(rule_base_name(syncer->key.exe->path), "dpkg") == 0) {
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

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	struct syncer *syncer = (struct syncer *)key;
	struct finding *finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	char number[TEXT_NUMBER_MAX], *places;

	if (!finding)
		return;
	finding->least = run->limits[LIMIT_CALLS];
	finding_set(&finding->what, "makes little safe at a time");
	places = syncer->places.distinct ? rule_places_text(&syncer->places, "file", "files") : NULL;
	finding_set(&finding->where, "%s%s", places ? places : "files without a name",
		    places && syncer->nameless ? " and files without a name" : "");
	free(places);
	finding_set(&finding->object, "syncs");
	finding->place = !syncer->nameless ? rule_places_place(&syncer->places) : NULL;
	add_remedies(syncer, finding);
	tell_waiting(finding);
	finding_add_note(finding, "%s bytes were written between two of them on the average",
			 text_count(syncer->written / key->tally.calls, number));
	if (syncer->clean.calls > 0)
		finding_add_note(finding, "unchanged as far as seen, when it was synced: %s times",
				 text_count(syncer->clean.calls, number));
	rule_burst_note(&syncer->burst, finding);
}

static void free_syncer(struct rule_run *run, struct rule_key *key)
{
	rule_places_done(&((struct syncer *)key)->places);
	rule_tally_done(&((struct syncer *)key)->clean);
	rule_tally_done(&((struct syncer *)key)->unpacked);
}

static void storm_image_end(struct rule_run *run, struct model_process *process)
{
	struct storm_state *state = run->state;

	rule_keys_image_end(run, &state->syncers, process);
}

static void storm_end(struct rule_run *run, struct finding_list *out)
{
	struct storm_state *state = run->state;

	rule_keys_tell(run, &state->syncers, out, tell);
}

static int storm_start(struct rule_run *run)
{
	struct storm_state *state = run->state;

	rule_keys_init(&state->syncers, sizeof(struct syncer), PROCESSES_MAX);
	state->syncers.candidate = run->limits[LIMIT_CALLS];
	state->syncers.free = free_syncer;
	return rule_recent_init(&state->synced, sizeof(struct synced), SYNCED_ROOM);
}

static void storm_done(struct rule_run *run)
{
	struct storm_state *state = run->state;

	rule_keys_done(run, &state->syncers);
	rule_recent_done(&state->synced);
}

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
	.state_bytes = sizeof(struct storm_state),
	.breadth = 1,
	.start = storm_start,
	.call = storm_call,
	.image_end = storm_image_end,
	.end = storm_end,
	.done = storm_done,
};
