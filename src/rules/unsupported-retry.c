/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unsupported-retry: a call that is tried first for file after file, always
 * fails in a way that the next one cannot mend (not on this kernel, not on this
 * device, not between these two), and is followed at once by the call that
 * does the work.  Errors that a file of its own can cause are not counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define KEYS_MAX 8192
#define PENDING 1024
#define FALLBACKS 10
#define ERRORS 4

#define REQUEST_CLONE 0x40049409u
#define REQUEST_CLONE_RANGE 0x4020940du
#define REQUEST_FIEMAP 0xc020660bu

enum { LIMIT_CALLS, LIMIT_NEAR, LIMIT_FOLLOWED };

struct attempt {
	uint16_t call;
	uint32_t request; /* of ioctl, 0 none */
	const char *name; /* NULL: the call's */
	uint16_t errors[ERRORS];
	uint16_t fallbacks[FALLBACKS]; /* any of them says that it went on in another way */
	bool pair; /* two files or paths: what fails belongs to both devices */
};

#define COPIES CALL_read, CALL_pread64, CALL_sendfile, CALL_splice, CALL_write, CALL_pwrite64, CALL_mmap
#define LOOKS CALL_stat, CALL_lstat, CALL_newfstatat, CALL_statx

static const struct attempt attempts[] = {
	{ CALL_copy_file_range, 0, NULL, { EXDEV, EOPNOTSUPP, ENOSYS, EPERM }, { COPIES }, true },
	{ CALL_ioctl, REQUEST_CLONE, "FICLONE", { EXDEV, EOPNOTSUPP, ENOTTY }, { CALL_copy_file_range, COPIES }, true },
	{ CALL_ioctl,
	  REQUEST_CLONE_RANGE,
	  "FICLONERANGE",
	  { EXDEV, EOPNOTSUPP, ENOTTY },
	  { CALL_copy_file_range, COPIES },
	  true },
	{ CALL_ioctl, REQUEST_FIEMAP, "FS_IOC_FIEMAP", { EOPNOTSUPP, ENOTTY }, { CALL_lseek, COPIES }, false },
	{ CALL_rename,
	  0,
	  NULL,
	  { EXDEV },
	  { LOOKS, CALL_open, CALL_openat, CALL_link, CALL_linkat, CALL_mkdir },
	  true },
	{ CALL_renameat,
	  0,
	  NULL,
	  { EXDEV, ENOSYS },
	  { LOOKS, CALL_open, CALL_openat, CALL_rename, CALL_mkdirat },
	  true },
	{ CALL_renameat2,
	  0,
	  NULL,
	  { EXDEV, ENOSYS, EINVAL },
	  { LOOKS, CALL_open, CALL_openat, CALL_rename, CALL_renameat, CALL_linkat, CALL_mkdirat },
	  true },
	{ CALL_link, 0, NULL, { EXDEV, EOPNOTSUPP }, { CALL_open, CALL_openat, CALL_rename, CALL_symlink }, true },
	{ CALL_linkat,
	  0,
	  NULL,
	  { EXDEV, EOPNOTSUPP },
	  { CALL_open, CALL_openat, CALL_rename, CALL_renameat, CALL_symlinkat, CALL_copy_file_range },
	  true },
	{ CALL_sendfile, 0, NULL, { EINVAL, ENOSYS, EOPNOTSUPP }, { CALL_read, CALL_pread64, CALL_splice }, true },
	{ CALL_splice, 0, NULL, { EINVAL, ENOSYS, EOPNOTSUPP }, { CALL_read, CALL_pread64, CALL_sendfile }, true },
	{ CALL_fallocate,
	  0,
	  NULL,
	  { EOPNOTSUPP, ENOSYS },
	  { CALL_write, CALL_pwrite64, CALL_writev, CALL_ftruncate, CALL_lseek, CALL_fstatfs },
	  false },
	{ CALL_epoll_ctl,
	  0,
	  NULL,
	  { EPERM },
	  { CALL_read, CALL_pread64, CALL_readv, CALL_write, CALL_pwrite64, CALL_fcntl, CALL_fstat, CALL_newfstatat },
	  true },
	{ CALL_statx, 0, NULL, { ENOSYS, EPERM }, { CALL_stat, CALL_lstat, CALL_newfstatat, CALL_fstat }, false },
	{ CALL_openat2, 0, NULL, { ENOSYS, EPERM }, { CALL_open, CALL_openat }, false },
	{ CALL_faccessat2, 0, NULL, { ENOSYS, EPERM }, { CALL_access, CALL_faccessat, LOOKS, CALL_fstat }, false },
	{ CALL_fchmodat2, 0, NULL, { ENOSYS, EPERM, EOPNOTSUPP }, { CALL_openat, CALL_fchmodat, CALL_chmod }, false },
	{ CALL_close_range, 0, NULL, { ENOSYS, EPERM }, { CALL_close, CALL_open, CALL_openat, CALL_fcntl }, false },
	{ CALL_clone3, 0, NULL, { ENOSYS, EPERM }, { CALL_clone, CALL_fork, CALL_vfork }, false },
	{ CALL_preadv2, 0, NULL, { EOPNOTSUPP, ENOSYS }, { CALL_preadv, CALL_readv, CALL_read, CALL_pread64 }, false },
	{ CALL_pwritev2,
	  0,
	  NULL,
	  { EOPNOTSUPP, ENOSYS },
	  { CALL_pwritev, CALL_writev, CALL_write, CALL_pwrite64 },
	  false },
	{ CALL_name_to_handle_at,
	  0,
	  NULL,
	  { EOPNOTSUPP, ENOSYS, EPERM },
	  { CALL_open, CALL_openat, LOOKS, CALL_fstat },
	  false },
	{ CALL_pidfd_open,
	  0,
	  NULL,
	  { ENOSYS, EPERM },
	  { CALL_wait4, CALL_waitid, CALL_kill, CALL_open, CALL_openat },
	  false },
};

#define ATTEMPTS (sizeof attempts / sizeof *attempts)

/* One image, one call, one pair of devices, one error; its tally has the failures. */
struct tried {
	struct rule_key key; /* first */
	const struct attempt *attempt;
	int err;
	uint64_t followed; /* by what does the work */
	struct rule_places places;
	const struct model_mount *mount;
};

/* A failure that waits for its fallback. */
struct pending {
	uint64_t hash; /* first: of the process */
	uint64_t tried, calls;
	const struct attempt *attempt;
};

struct retry_state {
	struct rule_keys keys;
	struct rule_recent pending;
	uint8_t first[CALL_COUNT]; /* place of a call's first row in `attempts`, plus 1 */
	bool fallback[CALL_COUNT];
	VEC(const struct tried *) told;
};

static void tried_free(struct rule_run *run, struct rule_key *key)
{
	(void)run;
	rule_places_done(&((struct tried *)key)->places);
}

static const struct attempt *attempt_of(const struct retry_state *state, const struct model_view *view)
{
	size_t i = state->first[view->id];

	for (; i > 0 && i <= ATTEMPTS && attempts[i - 1].call == view->id; i++)
		if (view->id != CALL_ioctl || attempts[i - 1].request == (uint32_t)view->call->args[1])
			return &attempts[i - 1];
	return NULL;
}

static bool has(const uint16_t *list, size_t room, int value)
{
	for (size_t i = 0; i < room && list[i]; i++)
		if (list[i] == value)
			return true;
	return false;
}

/* The device that a path or a descriptor lies on, 0 unknown. */
static uint64_t second_device(struct model *model, const struct model_view *view)
{
	const struct model_mount *mount;

	if (view->path2) {
		mount = view->path2->absolute ? model_mount_of(model, view->process, view->path2->text) : NULL;
		return mount ? mount->dev : 0;
	}
	return view->file2 ? view->file2->dev : 0;
}

/* What is added to an epoll is its second descriptor. */
static void object_behind(struct model *model, const struct model_view *view, const struct model_file *file,
			  struct rule_object *ret)
{
	if (!file || !file->path || file->path[0] != '/')
		return;
	ret->path = file->path;
	ret->path_hash = file->path_hash;
	ret->mount = model_mount_of(model, view->process, file->path);
	ret->dev = ret->mount ? ret->mount->dev : file->dev;
}

static uint64_t where(struct model *model, const struct model_view *view, const struct attempt *attempt,
		      struct rule_object *ret_object)
{
	uint64_t hash = map_mix(view->process->id, (uint64_t)(attempt - attempts));

	*ret_object = (struct rule_object){ 0 };
	if (attempt->call == CALL_epoll_ctl)
		object_behind(model, view, view->file2, ret_object);
	else if (!rule_object_of(model, view, ret_object))
		*ret_object = (struct rule_object){ 0 };
	hash = map_mix(hash, ret_object->dev);
	return attempt->pair ? map_mix(hash, second_device(model, view)) : hash;
}

static void failed(struct rule_run *run, const struct model_view *view, const struct attempt *attempt)
{
	struct retry_state *state = run->state;
	struct rule_object object;
	uint64_t hash = map_mix(where(run->model, view, attempt, &object), (uint64_t)view->err);
	struct pending *pending;
	struct tried *tried;
	bool fresh = false;

	tried = (struct tried *)rule_keys_get(run, &state->keys, view, hash, &fresh);
	if (!tried)
		return;
	if (fresh) {
		tried->attempt = attempt;
		tried->err = view->err;
		tried->mount = object.mount;
		(void)rule_places_init(&tried->places, 65536);
		if (!view->path || view->path->passed[0] != '/')
			rule_places_relative(&tried->places, model_cwd(run->model, view->process));
	}
	(void)rule_tally_add(&tried->key.tally, run->model, view);
	if (object.path)
		(void)rule_places_add(&tried->places, object.path, object.path_hash);
	pending = rule_recent_put(&state->pending, view->process->id, NULL);
	pending->tried = hash;
	pending->calls = view->process->calls;
	pending->attempt = attempt;
}

/* It works after all: what was counted was about the files. */
static void succeeded(struct rule_run *run, const struct model_view *view, const struct attempt *attempt)
{
	struct retry_state *state = run->state;
	struct rule_object object;
	uint64_t hash = where(run->model, view, attempt, &object);

	for (size_t i = 0; i < ERRORS && attempt->errors[i]; i++) {
		struct rule_key *key = rule_keys_find(&state->keys, map_mix(hash, attempt->errors[i]));

		if (key)
			rule_keys_drop(run, &state->keys, key);
	}
}

static void followed(struct rule_run *run, const struct model_view *view)
{
	struct retry_state *state = run->state;
	struct pending *pending = rule_recent_get(&state->pending, view->process->id);
	struct tried *tried;

	if (!pending || !pending->attempt || !has(pending->attempt->fallbacks, FALLBACKS, view->id))
		return;
	if (view->process->calls - pending->calls <= run->limits[LIMIT_NEAR]) {
		tried = (struct tried *)rule_keys_find(&state->keys, pending->tried);
		if (tried) {
			tried->followed++;
			rule_keys_value(&state->keys, &tried->key, tried->followed);
		}
	}
	pending->attempt = NULL;
}

static void retry_call(struct rule_run *run, const struct model_view *view)
{
	struct retry_state *state = run->state;
	const struct attempt *attempt;

	if (!rule_returned(view))
		return;
	if (state->fallback[view->id])
		followed(run, view);
	attempt = attempt_of(state, view);
	if (!attempt)
		return;
	if (!view->err)
		succeeded(run, view, attempt);
	else if (has(attempt->errors, ERRORS, view->err))
		failed(run, view, attempt);
}

static void retry_image_end(struct rule_run *run, struct model_process *process)
{
	struct retry_state *state = run->state;

	rule_keys_image_end(run, &state->keys, process);
}

static const char *name_of(const struct tried *tried)
{
	return tried->attempt->name ? tried->attempt->name : sys_call(tried->attempt->call)->name;
}

static void tell_where(const struct tried *tried, struct finding *finding)
{
	char *places = rule_places_name(&tried->places, "file", "files");
	struct buf fs = BUF_INIT;

	if (tried->mount) {
		(void)buf_puts(&fs, "; ");
		(void)text_escape(&fs, tried->mount->type, strlen(tried->mount->type), 0, true);
	}
	finding_set(&finding->where, "%s%s", places ? places : "?", buf_text(&fs));
	free(places);
	buf_done(&fs);
	finding->place = rule_places_place(&tried->places);
}

/* What belongs together: one process met one error. */
struct story {
	const struct tried *const *tried;
	size_t count;
};

static bool is_copy(const struct tried *tried)
{
	return tried->attempt->request == REQUEST_CLONE || tried->attempt->call == CALL_copy_file_range;
}

static void tell_cp(struct rule_run *run, const struct story *story, struct finding *finding)
{
	struct finding_remedy *remedy = NULL;

	if (strcmp(rule_base_name(story->tried[0]->key.exe->path), "cp") != 0)
		return;
	for (size_t i = 0; i < story->count; i++) {
		const struct rule_line *line = &story->tried[i]->key.tally.lines.at[0];

		if (!is_copy(story->tried[i]))
			continue;
		if (!remedy) {
			remedy = finding_add_remedy(finding, REMEDY_CONFIGURATION);
			if (!remedy)
				return;
			remedy->id = "reflink-never";
			finding_set(&remedy->text, "cp --reflink=never");
			remedy->command =
				rule_command_option(run->model, "--reflink=never", story->tried[0]->key.process_id);
		}
		finding_add_delta(remedy, line->call, line->err, -(int64_t)line->count, line->components);
	}
}

/* copy_file_range alone: programs ask for the devices before it, but not
 * always before FICLONE. */
static void tell_preload(struct rule_run *run, const struct story *story, struct finding *finding)
{
	struct finding_remedy *remedy = NULL;

	for (size_t i = 0; i < story->count; i++) {
		const struct rule_line *line = &story->tried[i]->key.tally.lines.at[0];

		if (story->tried[i]->attempt->call != CALL_copy_file_range || line->count < 2)
			continue;
		remedy = remedy ? remedy : finding_add_remedy(finding, REMEDY_PRELOAD);
		if (!remedy)
			return;
		finding_add_delta(remedy, line->call, line->err, -(int64_t)(line->count - 1), 0);
	}
	if (!remedy)
		return;
	remedy->id = "preload-unsupported";
	finding_set(&remedy->text, "remembered from outside; unsafe if the refusal can end");
	remedy->command = rule_command(run->model, "syscull fix --with unsupported --", NULL);
}

static void tell_remember(const struct story *story, const char *names, struct finding *finding)
{
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	const struct tried *first = story->tried[0];
	bool pair = false;

	if (!remedy)
		return;
	/* The first of each has to be made. */
	for (size_t i = 0; i < story->count; i++) {
		const struct rule_line *line = &story->tried[i]->key.tally.lines.at[0];

		pair = pair || story->tried[i]->attempt->pair;
		finding_add_delta(remedy, line->call, line->err, -(int64_t)(line->count - 1),
				  line->components - line->components / line->count);
	}
	remedy->id = "remember";
	if (first->attempt->call == CALL_epoll_ctl) {
		finding_set(&remedy->text, "read plain files without epoll: they cannot be waited for");
		return;
	}
	finding_set(&remedy->text, "remember %s that %s fail%s",
		    first->err == ENOSYS ? "once for all"
		    : pair		 ? "per pair of devices"
					 : "per device",
		    names, story->count == 1 ? "s" : "");
}

static void tell_story(struct rule_run *run, const struct story *story, struct finding_list *out)
{
	const struct tried *first = story->tried[0];
	struct finding *finding = rule_key_finding(
		run, &first->key, first->err == ENOSYS ? FINDING_CERTAIN : FINDING_LIKELY, first->attempt->name, out);
	struct buf names = BUF_INIT;
	char err[SYS_NAME_MAX];

	if (!finding)
		return;
	for (size_t i = 0; i < story->count; i++) {
		(void)buf_printf(&names, "%s%s",
				 i == 0			 ? ""
				 : i + 1 == story->count ? " and "
							 : ", ",
				 name_of(story->tried[i]));
		if (i > 0)
			rule_tally_tell(&story->tried[i]->key.tally, finding, story->tried[i]->attempt->name);
	}
	finding_set(&finding->what, "tries %s each time, %s (%s)", buf_text(&names),
		    first->err == EXDEV ? "and from one device to the other it never works" : "and here it never works",
		    sys_errno_print(first->err, err));
	tell_where(first, finding);
	finding_set(&finding->object, "%s %s", buf_text(&names), sys_errno_print(first->err, err));
	tell_cp(run, story, finding);
	tell_remember(story, buf_text(&names), finding);
	tell_preload(run, story, finding);
	buf_done(&names);
}

static void gather(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	struct retry_state *state = run->state;
	const struct tried *tried = (const struct tried *)key;

	(void)out;
	if (tried->followed * 100 >= key->tally.calls * run->limits[LIMIT_FOLLOWED] && key->tally.lines.used > 0)
		(void)vec_push(&state->told, tried);
}

static int by_story(const void *a, const void *b)
{
	const struct tried *const *x = a, *const *y = b;

	if ((*x)->key.process_id != (*y)->key.process_id)
		return (*x)->key.process_id < (*y)->key.process_id ? -1 : 1;
	if ((*x)->err != (*y)->err)
		return (*x)->err < (*y)->err ? -1 : 1;
	return (*x)->key.number < (*y)->key.number ? -1 : 1;
}

static void retry_end(struct rule_run *run, struct finding_list *out)
{
	struct retry_state *state = run->state;

	rule_keys_tell(run, &state->keys, out, gather);
	if (state->told.used > 0)
		qsort(state->told.at, state->told.used, sizeof *state->told.at, by_story);
	for (size_t i = 0, next; i < state->told.used; i = next) {
		struct story story = { .tried = &state->told.at[i] };

		for (next = i; next < state->told.used; next++)
			if (state->told.at[next]->key.process_id != state->told.at[i]->key.process_id ||
			    state->told.at[next]->err != state->told.at[i]->err)
				break;
		story.count = next - i;
		tell_story(run, &story, out);
	}
}

static int retry_start(struct rule_run *run)
{
	struct retry_state *state = run->state;

	for (size_t i = ATTEMPTS; i > 0; i--) {
		state->first[attempts[i - 1].call] = (uint8_t)i;
		for (size_t k = 0; k < FALLBACKS && attempts[i - 1].fallbacks[k]; k++)
			state->fallback[attempts[i - 1].fallbacks[k]] = true;
	}
	rule_keys_init(&state->keys, sizeof(struct tried), KEYS_MAX);
	state->keys.candidate = run->limits[LIMIT_CALLS];
	state->keys.free = tried_free;
	return rule_recent_init(&state->pending, sizeof(struct pending), PENDING);
}

static void retry_done(struct rule_run *run)
{
	struct retry_state *state = run->state;

	rule_keys_done(run, &state->keys);
	rule_recent_done(&state->pending);
	vec_done(&state->told);
}

static const uint16_t retry_calls[] = {
	/* tried */
	CALL_copy_file_range,
	CALL_ioctl,
	CALL_rename,
	CALL_renameat,
	CALL_renameat2,
	CALL_link,
	CALL_linkat,
	CALL_sendfile,
	CALL_splice,
	CALL_fallocate,
	CALL_epoll_ctl,
	CALL_statx,
	CALL_openat2,
	CALL_faccessat2,
	CALL_fchmodat2,
	CALL_close_range,
	CALL_clone3,
	CALL_preadv2,
	CALL_pwritev2,
	CALL_name_to_handle_at,
	CALL_pidfd_open,
	/* what follows */
	CALL_read,
	CALL_pread64,
	CALL_readv,
	CALL_preadv,
	CALL_write,
	CALL_pwrite64,
	CALL_writev,
	CALL_pwritev,
	CALL_mmap,
	CALL_lseek,
	CALL_open,
	CALL_openat,
	CALL_mkdir,
	CALL_mkdirat,
	CALL_symlink,
	CALL_symlinkat,
	CALL_stat,
	CALL_lstat,
	CALL_newfstatat,
	CALL_fstat,
	CALL_access,
	CALL_faccessat,
	CALL_ftruncate,
	CALL_fstatfs,
	CALL_fcntl,
	CALL_chmod,
	CALL_fchmodat,
	CALL_close,
	CALL_clone,
	CALL_fork,
	CALL_vfork,
	CALL_wait4,
	CALL_waitid,
	CALL_kill,
	0,
};

static const struct rule_limit retry_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 20, "failures of one call, each followed by another way" },
	[LIMIT_NEAR] = { "near", RULE_COUNT, 5, "calls at most from the failure to the other way" },
	[LIMIT_FOLLOWED] = { "followed", RULE_PERCENT, 90, "of the failures at least" },
	{ 0 },
};

const struct rule rule_unsupported_retry = {
	.id = "unsupported-retry",
	.title = "a call tried again and again where it never works",
	.items = SYS_ITEM_BIT(PATH),
	.needs = RULE_NEEDS_PATHS | RULE_NEEDS_DEVICES | RULE_NEEDS_FDS,
	.calls = retry_calls,
	.limits = retry_limits,
	.state_bytes = sizeof(struct retry_state),
	.start = retry_start,
	.call = retry_call,
	.image_end = retry_image_end,
	.end = retry_end,
	.done = retry_done,
};
