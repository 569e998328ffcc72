/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files opened, read and closed again.  Three bounded tables: what is open,
 * the paths that were opened, and in the end the images that have something
 * to tell.  A path opened once costs a key and nothing else.
 */
#include "rules/reopen.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "rules/stream.h"

#define ROUNDS_MAX 4096 /* files that are open */
#define FILES_MAX 16384 /* paths opened of late */
#define GROUPS_MAX 4096
#define IDLE_NS UINT64_C(1000000000)

const char *reopen_pseudo_type(struct rule_run *run, const struct model_view *view)
{
	struct rule_object object;

	return rule_object_of(run->model, view, &object) ? rule_pseudo_type(object.mount) : NULL;
}

static void opened(struct rule_run *run, struct reopen_state *state, const struct model_view *view)
{
	const struct model_path *path = view->path;
	struct reopen_round *round;
	struct reopen_file *file;
	bool fresh = false;
	unsigned kind;

	if (!path || !path->absolute || !view->made || (view->made->open_flags & (O_ACCMODE | O_CREAT | O_PATH)))
		return;
	kind = state->calls->kind(run, view);
	if (kind == 0)
		return;
	file = (struct reopen_file *)rule_keys_get(run, &state->files, view, map_mix(view->process->id, path->hash),
						   &fresh);
	if (!file)
		return;
	if (fresh) {
		file->path = strdup(path->text);
		file->path_hash = path->hash;
		file->kind = kind;
	}
	file->close = rule_burst_next(&file->burst, view, run->limits[REOPEN_GAP]) &&
		      !(state->calls->polled && view->slept > file->read);
	round = (struct reopen_round *)rule_keys_get(run, &state->rounds, view,
						     map_mix(view->process->id, view->made->id), NULL);
	if (!round)
		return;
	round->path_hash = path->hash;
	round->opened = model_now(run->model);
	round->kind = kind;
	if (!fresh)
		(void)rule_tally_add(&round->key.tally, run->model, view);
}

static void closed(struct rule_run *run, struct reopen_state *state, struct reopen_round *round,
		   const struct model_process *process)
{
	struct reopen_file *file =
		(struct reopen_file *)rule_keys_find(&state->files, map_mix(round->key.process_id, round->path_hash));

	if (file && round->own && state->calls->own_kind)
		file->kind = state->calls->own_kind;
	if (file && file->close && !round->other && round->key.tally.calls > 0 && file->read > 0 &&
	    state->calls->repeats(run, file, round, process)) {
		rule_tally_merge(&file->key.tally, &round->key.tally);
		file->times++;
		file->brought += round->brought;
		rule_keys_value(&state->files, &file->key, file->times);
	}
	if (file && !round->other && round->bytes > 0) {
		file->read = round->opened;
		file->stat = round->stat;
		file->part = round->part;
	}
	rule_keys_drop(run, &state->rounds, &round->key);
}

static void was_read(struct reopen_round *round, const struct model_view *view)
{
	uint64_t asked = view->id == CALL_readv || view->id == CALL_preadv ? UINT64_MAX : view->call->args[2];
	bool positioned = view->id == CALL_pread64 || view->id == CALL_preadv;
	int64_t at = positioned ? (int64_t)view->call->args[3] : view->file->offset;

	if (view->err || view->call->ret < 0)
		return;
	/* Where it goes on is no new place. */
	if (at >= 0 && (round->brought == 0 || at != round->next))
		round->part = map_mix(round->part, (uint64_t)at);
	round->next = at < 0 ? -1 : at + view->call->ret;
	round->own = round->own || positioned || view->id == CALL_readv;
	round->bytes += (uint64_t)view->call->ret;
	round->brought += view->call->ret > 0;
	if (view->call->ret == 0 ? asked > 0 : asked != UINT64_MAX && (uint64_t)view->call->ret < asked)
		round->ended = true;
	if (round->stat.ino && round->stat.size > 0 && round->bytes >= round->stat.size)
		round->ended = true;
}

void reopen_call(struct rule_run *run, const struct model_view *view)
{
	const struct item_stat *stat;
	struct reopen_state *state = run->state;
	struct reopen_round *round;

	if (!rule_returned(view))
		return;
	if (view->id == CALL_open || view->id == CALL_openat || view->id == CALL_openat2) {
		if (!view->err)
			opened(run, state, view);
		return;
	}
	if (!view->file || view->path || state->rounds.by_hash.used == 0)
		return;
	round = (struct reopen_round *)rule_keys_find(&state->rounds, map_mix(view->process->id, view->file->id));
	if (!round)
		return;
	if (round->key.tally.calls > 0)
		(void)rule_tally_count(&round->key.tally, view);
	switch ((int)view->id) {
	case CALL_read:
	case CALL_pread64:
	case CALL_readv:
	case CALL_preadv:
		was_read(round, view);
		return;
	case CALL_fstat:
	case CALL_newfstatat:
	case CALL_statx:
		stat = EVENT_ITEM_AS(struct item_stat, event_item(&view->call->head, SYS_ITEM_STAT));
		if (stat && !view->err && !round->stat.ino)
			round->stat = *stat;
		return;
	case CALL_close:
		closed(run, state, round, view->process);
		return;
	case CALL_lseek:
	case CALL_fadvise64:
		return;
	case CALL_ioctl:
		/* isatty */
		round->other = round->other || !view->err;
		round->own = true;
		return;
	case CALL_fcntl:
		/* Locks, copies of the descriptor. */
		round->other = round->other || view->call->args[1] < F_GETFD || view->call->args[1] > F_SETFL;
		return;
	default:
		/* Mappings, directories: another matter than reading. */
		round->other = true;
	}
}

static void free_file(struct rule_run *run, struct rule_key *key)
{
	free(((struct reopen_file *)key)->path);
}

static void free_group(struct rule_run *run, struct rule_key *key)
{
	rule_places_done(&((struct reopen_group *)key)->places);
	free(((struct reopen_group *)key)->first);
}

int reopen_start(struct rule_run *run, const struct reopen_calls *calls)
{
	uint64_t times = run->limits[REOPEN_TIMES];
	struct reopen_state *state = run->state;

	state->calls = calls;
	rule_keys_init(&state->rounds, sizeof(struct reopen_round), ROUNDS_MAX);
	state->rounds.idle_ns = IDLE_NS;
	state->rounds.candidate = UINT64_MAX;
	rule_keys_init(&state->files, sizeof(struct reopen_file), FILES_MAX);
	state->files.idle_ns = IDLE_NS;
	/* The first does not count. */
	state->files.candidate = times > 1 ? times - 1 : 1;
	state->files.free = free_file;
	rule_keys_init(&state->groups, sizeof(struct reopen_group), GROUPS_MAX);
	state->groups.candidate = 1;
	state->groups.free = free_group;
	return 0;
}

void reopen_image_end(struct rule_run *run, struct model_process *process)
{
	struct reopen_state *state = run->state;

	rule_keys_image_end(run, &state->rounds, process);
	rule_keys_image_end(run, &state->files, process);
}

static void gather(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct model_process of = { .id = key->process_id, .pid = key->pid, .exe = (struct model_exe *)key->exe };
	struct reopen_file *file = (struct reopen_file *)key;
	struct reopen_state *state = run->state;
	struct reopen_group *group;
	bool fresh = false;

	group = (struct reopen_group *)rule_keys_get_at(run, &state->groups, &of, key->last_ns,
							map_mix(key->process_id, file->kind), &fresh);
	if (!group)
		return;
	if (fresh) {
		(void)rule_places_init(&group->places, 0);
		group->first = file->path;
		file->path = NULL;
		group->kind = file->kind;
	}
	if (fresh ? group->first != NULL : file->path != NULL)
		(void)rule_places_add(&group->places, fresh ? group->first : file->path, file->path_hash);
	group->files++;
	group->times += file->times;
	group->brought += file->brought;
	rule_tally_merge(&group->key.tally, &key->tally);
	rule_keys_value(&state->groups, &group->key, group->key.tally.calls);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct reopen_group *group = (const struct reopen_group *)key;
	const struct reopen_state *state = run->state;
	const struct reopen_words *words = &state->calls->words[group->kind];
	struct finding *finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	char *places = rule_places_text(&group->places, "file", "files"), number[TEXT_NUMBER_MAX];
	struct buf path = BUF_INIT;

	if (finding) {
		if (group->first && group->files == 1)
			(void)text_escape(&path, group->first, strlen(group->first), 0, true);
		finding_set(&finding->what, "%s %s %s, %s times", words->before,
			    group->files == 1 ? words->one : words->many, words->after,
			    text_count(group->times, number));
		finding_set(&finding->where, "%s", path.bytes > 0 ? buf_text(&path) : places ? places : "");
		finding_set(&finding->object, "%s", path.bytes > 0 ? buf_text(&path) : words->object);
		finding->place = rule_places_place(&group->places);
		state->calls->tell(run, group, finding);
	}
	buf_done(&path);
	free(places);
}

void reopen_end(struct rule_run *run, struct finding_list *out)
{
	struct reopen_state *state = run->state;

	rule_keys_tell(run, &state->files, out, gather);
	rule_keys_tell(run, &state->groups, out, tell);
}

void reopen_done(struct rule_run *run)
{
	struct reopen_state *state = run->state;

	rule_keys_done(run, &state->rounds);
	rule_keys_done(run, &state->files);
	rule_keys_done(run, &state->groups);
}

const uint16_t reopen_subscribed[] = { CALL_open,	CALL_openat,	 CALL_openat2,	       CALL_read,
				       CALL_pread64,	CALL_readv,	 CALL_preadv,	       CALL_fstat,
				       CALL_newfstatat, CALL_statx,	 CALL_lseek,	       CALL_fadvise64,
				       CALL_ioctl,	CALL_fcntl,	 CALL_flock,	       CALL_mmap,
				       CALL_getdents,	CALL_getdents64, CALL_copy_file_range, CALL_sendfile,
				       CALL_splice,	CALL_preadv2,	 CALL_close,	       0 };
