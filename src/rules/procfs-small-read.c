/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * procfs-small-read: a text that the kernel makes, fetched in pieces smaller
 * than a page.  stdio does so of itself, since procfs asks for blocks of
 * 1,024 bytes.  Counts per file from opening to closing, tells per image; a
 * file that one read had in whole is right.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define READERS_MAX 4096 /* files being read */
#define GROUPS_MAX 4096 /* images that read some */
#define FILES_MAX 4096 /* told apart in an image */
#define BASE_MAX 64

/* What a read of 4 KiB returns of a long text on the average: whole records
 * only, so that about an eighth of the room stays empty. */
#define STDIO_READ 1024
#define PAGE_READ 3584

enum { LIMIT_CALLS, LIMIT_SHARE, LIMIT_SIZE };

/* One image and one opened file. */
struct reader {
	struct rule_key key; /* first; its tally has the reads that brought something */
	char *path;
	uint64_t path_hash, bytes;
	const char *fs_type; /* the model's */
	bool other_size; /* not all reads are stdio's */
};

struct group {
	struct rule_key key; /* first */
	struct rule_places places;
	uint64_t needed; /* reads of 4 KiB for the same */
	char base[BASE_MAX]; /* name of the file; "" when there are several names */
	const char *fs_type;
	bool mixed_fs;
	bool other_size;
};

struct small_state {
	struct rule_keys readers, groups;
	uint64_t last_instance; /* the last that was looked at, and what came out */
	const char *last_type;
};

/* Not text: memory, and messages that come one a read. */
static bool is_no_text(const char *path)
{
	static const char *const names[] = { "mem",	   "pagemap",	 "kcore", "kmsg",
					     "kpageflags", "kpagecount", "mtrr",  "kpagecgroup" };
	const char *base = rule_base_name(path);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(base, names[i]) == 0)
			return true;
	return false;
}

/* "proc" or "sysfs"; NULL for other files. */
static const char *pseudo_type(struct rule_run *run, const struct model_view *view)
{
	static const char *const points[] = { "/proc", "/sys" };
	const struct model_mount *mount = NULL;
	struct rule_object object;

	if (!rule_object_instance(run->model, view, &object) || (object.path && is_no_text(object.path)))
		return NULL;
	mount = object.mount;
	for (size_t i = 0; i < 2 && !mount && object.dev; i++) {
		mount = model_mount_of(run->model, view->process, points[i]);
		mount = mount && mount->dev == object.dev ? mount : NULL;
	}
	if (!mount || (strcmp(mount->type, "proc") != 0 && strcmp(mount->type, "sysfs") != 0))
		return NULL;
	return mount->type;
}

static uint64_t needed_of(const struct reader *reader)
{
	uint64_t needed = reader->bytes / PAGE_READ + (reader->bytes % PAGE_READ > 0);

	return needed < reader->key.tally.calls ? needed : reader->key.tally.calls;
}

/* The file is closed, or is read anew. */
static void fold_reader(struct rule_run *run, struct rule_key *key)
{
	const struct model_process of = { .id = key->process_id, .pid = key->pid, .exe = (struct model_exe *)key->exe };
	struct reader *reader = (struct reader *)key;
	struct small_state *state = run->state;
	const char *base = rule_base_name(reader->path);
	struct group *group;
	bool fresh = false;

	if (key->tally.calls < 2)
		return;
	group = (struct group *)rule_keys_get_at(run, &state->groups, &of, key->last_ns, key->process_id, &fresh);
	if (!group)
		return;
	if (fresh) {
		(void)rule_places_init(&group->places, FILES_MAX);
		group->fs_type = reader->fs_type;
		if (strlen(base) < sizeof group->base)
			(void)strcpy(group->base, base);
	}
	if (strcmp(group->base, base) != 0)
		group->base[0] = '\0';
	group->mixed_fs = group->mixed_fs || strcmp(group->fs_type, reader->fs_type) != 0;
	(void)rule_places_add(&group->places, reader->path ? reader->path : "?", reader->path_hash);
	group->needed += needed_of(reader);
	group->other_size = group->other_size || reader->other_size;
	rule_tally_merge(&group->key.tally, &key->tally);
	rule_keys_value(&state->groups, &group->key, group->key.tally.calls - group->needed);
}

static void free_reader(struct rule_run *run, struct rule_key *key)
{
	free(((struct reader *)key)->path);
}

static void free_group(struct rule_run *run, struct rule_key *key)
{
	rule_places_done(&((struct group *)key)->places);
}

static void end_reader(struct rule_run *run, uint64_t hash)
{
	struct small_state *state = run->state;
	struct rule_key *key = rule_keys_find(&state->readers, hash);

	if (!key)
		return;
	fold_reader(run, key);
	rule_keys_drop(run, &state->readers, key);
}

static void small_call(struct rule_run *run, const struct model_view *view)
{
	struct small_state *state = run->state;
	const struct model_file *file = view->file;
	struct reader *reader;
	bool fresh = false;
	uint64_t hash;

	if (!file || !rule_returned(view))
		return;
	hash = map_mix(view->process->id, file->id);
	/* A large read, a seek, the end: what follows begins anew. */
	if (view->id != CALL_read || view->call->args[2] > run->limits[LIMIT_SIZE]) {
		end_reader(run, hash);
		return;
	}
	/* By single bytes a shell reads, since others go on where it stops. */
	if (view->call->ret <= 0 || view->call->args[2] == 1)
		return;
	if (file->id != state->last_instance) {
		state->last_instance = file->id;
		state->last_type = pseudo_type(run, view);
	}
	if (!state->last_type)
		return;
	reader = (struct reader *)rule_keys_get(run, &state->readers, view, hash, &fresh);
	if (!reader)
		return;
	if (fresh) {
		reader->path = file->path ? strdup(file->path) : NULL;
		reader->path_hash = file->path ? file->path_hash : file->id;
		reader->fs_type = state->last_type;
	}
	reader->bytes += (uint64_t)view->call->ret;
	reader->other_size = reader->other_size || view->call->args[2] != STDIO_READ;
	(void)rule_tally_add(&reader->key.tally, run->model, view);
	rule_keys_value(&state->readers, &reader->key, reader->key.tally.calls);
}

static void small_image_end(struct rule_run *run, struct model_process *process)
{
	struct small_state *state = run->state;

	rule_keys_image_end(run, &state->readers, process);
	rule_keys_image_end(run, &state->groups, process);
}

/* As many bytes as stdio takes for these files: their st_blksize. */
static void tell_preload(struct rule_run *run, struct finding *finding)
{
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_PRELOAD);

	if (!remedy)
		return;
	remedy->id = "preload-procfs-stdio";
	finding_set(&remedy->text, "larger buffers, if it is stdio; unsafe if fileno is read");
	remedy->command = rule_command(run->model, "syscull fix --with procfs-stdio --", NULL);
	finding_remedy_saves_all(remedy, finding);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct group *group = (const struct group *)key;
	uint64_t reads = key->tally.calls, more = reads - group->needed;
	char number[TEXT_NUMBER_MAX], *places;
	struct buf base = BUF_INIT;
	struct finding_remedy *remedy;
	struct finding *finding;

	if (more * 100 < reads * run->limits[LIMIT_SHARE])
		return;
	finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	if (!finding)
		return;
	/* The text is made for larger reads, too. */
	finding->work_stays = true;
	/* One line, since all are reads that succeeded; told is what a page would have saved. */
	for (size_t i = 0; i < finding->costs.used; i++) {
		struct finding_cost *cost = &finding->costs.at[i];

		cost->duration_ns = (uint64_t)((double)cost->duration_ns * (double)more / (double)cost->count);
		cost->count = more;
		finding->calls = more;
		finding_set(&cost->detail, "more than with 4 KiB each");
	}
	(void)text_escape(&base, group->base, strlen(group->base), 0, true);
	places = rule_places_text(&group->places, "file", "files");
	finding_set(&finding->what, "reads texts of the kernel in pieces of 1,024 bytes or less: %s reads",
		    text_count(reads, number));
	finding_set(&finding->where, "%s; %s", places ? places : "",
		    group->mixed_fs ? "proc and sysfs" : group->fs_type);
	finding_set(&finding->object, "%s on %s", base.bytes > 0 ? buf_text(&base) : "files",
		    group->mixed_fs ? "proc and sysfs" : group->fs_type);
	free(places);
	finding->place = rule_places_place(&group->places);
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = "page-buffer";
		finding_set(&remedy->text, "a buffer of 4 KiB or more, which setvbuf gives to stdio: about %s reads",
			    text_count(group->needed, number));
		finding_remedy_saves_all(remedy, finding);
	}
	if (!group->other_size)
		tell_preload(run, finding);
	finding_add_note(finding, "how much a larger read returns is estimated: the kernel gives whole records");
	if (strcmp(group->base, "smaps") == 0)
		finding_add_note(finding, "sums over all mappings are in smaps_rollup, if they are all that is wanted");
	buf_done(&base);
}

static void small_end(struct rule_run *run, struct finding_list *out)
{
	struct small_state *state = run->state;

	rule_keys_tell(run, &state->groups, out, tell);
}

static int small_start(struct rule_run *run)
{
	struct small_state *state = run->state;

	rule_keys_init(&state->readers, sizeof(struct reader), READERS_MAX);
	state->readers.idle_ns = UINT64_C(1000000000);
	state->readers.candidate = UINT64_MAX;
	state->readers.fold = fold_reader;
	state->readers.free = free_reader;
	rule_keys_init(&state->groups, sizeof(struct group), GROUPS_MAX);
	state->groups.candidate = run->limits[LIMIT_CALLS];
	state->groups.free = free_group;
	return 0;
}

static void small_done(struct rule_run *run)
{
	struct small_state *state = run->state;

	rule_keys_done(run, &state->readers);
	rule_keys_done(run, &state->groups);
}

static const uint16_t small_calls[] = { CALL_read, CALL_lseek, CALL_close, 0 };

static const struct rule_limit small_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 16, "reads more than with 4 KiB each, in one process" },
	[LIMIT_SHARE] = { "share", RULE_PERCENT, 50, "of the reads that bring something, at least" },
	[LIMIT_SIZE] = { "size", RULE_BYTES, 1024, "asked for at most" },
	{ 0 },
};

const struct rule rule_procfs_small_read = {
	.id = "procfs-small-read",
	.title = "texts of the kernel read in small pieces",
	.needs = RULE_NEEDS_DEVICES | RULE_NEEDS_FDS,
	.calls = small_calls,
	.limits = small_limits,
	.state_bytes = sizeof(struct small_state),
	.start = small_start,
	.call = small_call,
	.image_end = small_image_end,
	.end = small_end,
	.done = small_done,
};
