/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When was an answer last changed by a call of the tree?  Calls are numbered;
 * each bucket of objects keeps the number of the last call that may have
 * changed one of them.  Sharing a bucket, an object that is not known and
 * calls that were lost only make answers look younger, never older.  Changes
 * from outside the tree, by stores into mappings and through names of the
 * same file that calls do not tell are not seen.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "model/state.h"

/* What a call of this kind may change.  FIRST and SECOND are its paths, or
 * the files behind its descriptors where it has no path. */
#define FIRST 0x01u
#define SECOND 0x02u
#define BELOW 0x04u /* and whatever is below them: names, permissions */
#define PARENT 0x08u /* and the directory that holds the path */
#define PROCESS 0x10u /* what the process is and where it stands */
#define ALL 0x20u

#define CLONE_REQUEST 0x40049409u /* FICLONE, FICLONERANGE, FIDEDUPERANGE, FS_IOC_SETFLAGS */
#define CLONE_RANGE_REQUEST 0x4020940du
#define DEDUPE_REQUEST 0xc0189436u
#define SET_FLAGS_REQUEST 0x40086602u

static const struct {
	uint16_t call;
	uint8_t what;
} changing[] = {
	{ CALL_write, FIRST },
	{ CALL_pwrite64, FIRST },
	{ CALL_writev, FIRST },
	{ CALL_pwritev, FIRST },
	{ CALL_pwritev2, FIRST },
	{ CALL_ftruncate, FIRST },
	{ CALL_fallocate, FIRST },
	{ CALL_sendfile, FIRST },
	{ CALL_copy_file_range, SECOND },
	{ CALL_splice, SECOND },
	{ CALL_ioctl, FIRST },
	{ CALL_truncate, FIRST },
	{ CALL_utime, FIRST },
	{ CALL_utimes, FIRST },
	{ CALL_futimesat, FIRST },
	{ CALL_utimensat, FIRST },
	{ CALL_fchmod, FIRST | BELOW },
	{ CALL_chmod, FIRST | BELOW },
	{ CALL_fchmodat, FIRST | BELOW },
	{ CALL_fchmodat2, FIRST | BELOW },
	{ CALL_fchown, FIRST | BELOW },
	{ CALL_chown, FIRST | BELOW },
	{ CALL_lchown, FIRST | BELOW },
	{ CALL_fchownat, FIRST | BELOW },
	{ CALL_setxattr, FIRST | BELOW },
	{ CALL_lsetxattr, FIRST | BELOW },
	{ CALL_fsetxattr, FIRST | BELOW },
	{ CALL_setxattrat, FIRST | BELOW },
	{ CALL_removexattr, FIRST | BELOW },
	{ CALL_lremovexattr, FIRST | BELOW },
	{ CALL_fremovexattr, FIRST | BELOW },
	{ CALL_removexattrat, FIRST | BELOW },
	{ CALL_file_setattr, FIRST | BELOW },
	{ CALL_open, FIRST | PARENT },
	{ CALL_openat, FIRST | PARENT },
	{ CALL_openat2, FIRST | PARENT },
	{ CALL_creat, FIRST | PARENT },
	{ CALL_mkdir, FIRST | BELOW | PARENT },
	{ CALL_mkdirat, FIRST | BELOW | PARENT },
	{ CALL_mknod, FIRST | PARENT },
	{ CALL_mknodat, FIRST | PARENT },
	{ CALL_rmdir, FIRST | BELOW | PARENT },
	{ CALL_unlink, FIRST | BELOW | PARENT },
	{ CALL_unlinkat, FIRST | BELOW | PARENT },
	{ CALL_symlink, FIRST | BELOW | PARENT },
	{ CALL_symlinkat, FIRST | BELOW | PARENT },
	{ CALL_link, FIRST | SECOND | PARENT },
	{ CALL_linkat, FIRST | SECOND | PARENT },
	{ CALL_rename, FIRST | SECOND | BELOW | PARENT },
	{ CALL_renameat, FIRST | SECOND | BELOW | PARENT },
	{ CALL_renameat2, FIRST | SECOND | BELOW | PARENT },
	{ CALL_chdir, PROCESS },
	{ CALL_fchdir, PROCESS },
	{ CALL_setuid, PROCESS },
	{ CALL_setgid, PROCESS },
	{ CALL_setreuid, PROCESS },
	{ CALL_setregid, PROCESS },
	{ CALL_setresuid, PROCESS },
	{ CALL_setresgid, PROCESS },
	{ CALL_setfsuid, PROCESS },
	{ CALL_setfsgid, PROCESS },
	{ CALL_setgroups, PROCESS },
	{ CALL_capset, PROCESS },
	/* Rare, and with too many consequences to follow. */
	{ CALL_chroot, ALL },
	{ CALL_pivot_root, ALL },
	{ CALL_unshare, ALL },
	{ CALL_setns, ALL },
	{ CALL_mount, ALL },
	{ CALL_umount2, ALL },
	{ CALL_move_mount, ALL },
	{ CALL_mount_setattr, ALL },
	{ CALL_swapon, ALL },
	/* Which file: in memory that is not captured. */
	{ CALL_bind, ALL },
	{ CALL_io_submit, ALL },
	{ CALL_io_uring_enter, ALL },
};

void changes_init(struct model *model)
{
	for (size_t i = 0; i < sizeof(changing) / sizeof(changing[0]); i++)
		model->shapes[changing[i].call].changes = changing[i].what;
}

static uint64_t *bucket(uint64_t *buckets, uint64_t hash)
{
	return &buckets[map_mix(hash, 1) % MODEL_CHANGES];
}

static void touch(struct model *model, uint64_t hash, uint32_t what)
{
	struct changes *changes = &model->changes;

	*bucket(changes->object, hash) = changes->now;
	if (what & BELOW) {
		*bucket(changes->below, hash) = changes->now;
		changes->below_any = changes->now;
	}
}

static size_t parent_bytes(const char *path, size_t bytes)
{
	while (bytes > 1 && path[bytes - 1] != '/')
		bytes--;
	return bytes > 1 ? bytes - 1 : bytes;
}

static void touch_path(struct model *model, const struct model_path *path, uint32_t what)
{
	if (!path->absolute) {
		model->changes.all = model->changes.now;
		return;
	}
	touch(model, path->hash, what);
	if (what & PARENT)
		touch(model, map_hash(path->text, parent_bytes(path->text, path->bytes)), 0);
}

/* Pipes, sockets and terminals are written to all the time and hold no answers. */
static bool holds_answers(const struct model_file *file)
{
	if (file->mode)
		return S_ISREG(file->mode) || S_ISDIR(file->mode) || S_ISBLK(file->mode);
	return !file->path || *file->path == '/';
}

static void touch_file(struct model *model, const struct model_file *file, uint32_t what)
{
	if (!file) {
		model->changes.all = model->changes.now;
		return;
	}
	if (!holds_answers(file))
		return;
	touch(model, map_mix(file->id, 2), 0);
	if (file->path)
		touch(model, file->path_hash, what);
	if (file->ino)
		touch(model, map_mix(file->dev, file->ino), 0);
}

static bool changes_at_all(const struct event_call *call, enum sys_call_id id)
{
	const struct item_open_how *how;
	uint64_t flags;

	if (id == CALL_ioctl) {
		uint32_t request = (uint32_t)call->args[1];

		return request == CLONE_REQUEST || request == CLONE_RANGE_REQUEST || request == DEDUPE_REQUEST ||
		       request == SET_FLAGS_REQUEST;
	}
	if (id != CALL_open && id != CALL_openat && id != CALL_openat2)
		return true;
	how = id == CALL_openat2 ? EVENT_ITEM_AS(struct item_open_how, event_item(&call->head, SYS_ITEM_OPEN_HOW))
				 : NULL;
	flags = id == CALL_open ? call->args[1] : id == CALL_openat ? call->args[2] : how ? how->flags : O_CREAT;
	return (flags & (O_CREAT | O_TRUNC)) && (flags & O_TMPFILE) != O_TMPFILE;
}

void changes_feed(struct model *model, const struct event_call *call, struct model_view *view, uint32_t what)
{
	struct changes *changes = &model->changes;

	if (!changes_at_all(call, view->id))
		return;
	if (what & ALL)
		changes->all = changes->now;
	if (what & PROCESS)
		view->process->changed = changes->now;
	if (what & FIRST) {
		if (view->path)
			touch_path(model, view->path, what);
		else
			touch_file(model, view->file, what);
	}
	if (what & SECOND) {
		if (view->path2)
			touch_path(model, view->path2, what);
		else
			touch_file(model, view->file2, what);
	}
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t model_now(const struct model *model)
{
	return model->changes.now;
}

/* Of the path itself, and of all that it lies below. */
static uint64_t path_changed(struct changes *changes, const char *path, uint64_t hash)
{
	struct map_prefix prefix = { 0 };
	size_t bytes;
	uint64_t last = *bucket(changes->object, hash);
	const char *slash = path;

	/* Mostly nothing was renamed or mounted since: none of them can be later. */
	if (changes->below_any <= last)
		return last;
	bytes = strlen(path);
	last = later(last, *bucket(changes->below, hash));
	if (bytes > 1)
		last = later(last, *bucket(changes->below, map_hash_prefix(&prefix, path, 1)));
	while ((slash = memchr(slash + 1, '/', bytes - (size_t)(slash + 1 - path))))
		last = later(last, *bucket(changes->below, map_hash_prefix(&prefix, path, (size_t)(slash - path))));
	return last;
}

/* Mostly it is one that is at hand. */
static uint64_t hash_of(const struct model *model, const char *path, const struct model_file *file)
{
	for (size_t i = 0; i < sizeof(model->paths) / sizeof(model->paths[0]); i++)
		if (path == model->paths[i].pub.text)
			return model->paths[i].pub.hash;
	return file && path == file->path ? file->path_hash : map_hash(path, strlen(path));
}

uint64_t model_changed(struct model *model, const struct model_process *process, const char *path,
		       const struct model_file *file)
{
	struct changes *changes = &model->changes;
	uint64_t last = later(changes->all, process ? process->changed : 0);

	if (!path && file && file->path && *file->path == '/')
		path = file->path;
	if (path && *path != '/')
		return changes->now;
	if (path)
		last = later(last, path_changed(changes, path, hash_of(model, path, file)));
	if (file)
		last = later(last, *bucket(changes->object, map_mix(file->id, 2)));
	if (file && file->ino)
		last = later(last, *bucket(changes->object, map_mix(file->dev, file->ino)));
	return last;
}
