/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When was an answer last changed by a call of the tree?  Calls are numbered;
 * each bucket of objects keeps the number of the last call that may have
 * changed one of them.  Sharing a bucket, an object that is not known and
 * calls that were lost only make answers look younger, never older.  Names
 * that a file was given under our eyes are one object.  Changes from outside
 * the tree, by stores into mappings and through names of the same file that
 * calls do not tell are not seen.
 */
#include <fcntl.h>
#include <stdlib.h>
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

/* Where it is kept that any file which may have several names has changed. */
#define ANY_LINK UINT64_C(0x6c696e6b)

void changes_init(struct model *model)
{
	map_init(&model->changes.links, sizeof(uint64_t), MODEL_LINKS_MAX);
	for (size_t i = 0; i < sizeof(changing) / sizeof(changing[0]); i++)
		model->shapes[changing[i].call].changes = changing[i].what;
}

static uint64_t *bucket(uint64_t *buckets, uint64_t hash)
{
	return &buckets[map_mix(hash, 1) % MODEL_CHANGES];
}

void changes_done(struct model *model)
{
	map_done(&model->changes.links);
}

/* What all names of its file have in common, 0 when it has but one. */
static uint64_t link_of(const struct changes *changes, uint64_t hash)
{
	const uint64_t *file = changes->links.used > 0 ? map_get(&changes->links, hash) : NULL;

	if (file)
		return *file;
	return changes->links_full ? ANY_LINK : 0;
}

static void set_link(struct changes *changes, uint64_t hash, uint64_t file)
{
	uint64_t *place = map_put(&changes->links, hash, NULL);

	if (place)
		*place = file;
	else
		changes->links_full = true;
}

/* From now on two names of one file, whatever the second one was. */
static void link_names(struct changes *changes, uint64_t first, uint64_t second)
{
	const uint64_t *known = map_get(&changes->links, first);
	uint64_t file = known ? *known : map_mix(first, 4);

	if (!known)
		set_link(changes, first, file);
	set_link(changes, second, file);
}

static void touch(struct model *model, uint64_t hash, uint32_t what)
{
	struct changes *changes = &model->changes;
	uint64_t link = link_of(changes, hash);

	*bucket(changes->object, hash) = changes->now;
	if (link)
		*bucket(changes->object, link) = changes->now;
	if (link && changes->links_full)
		*bucket(changes->object, ANY_LINK) = changes->now;
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

/* That it was given since it was opened, 0 none. */
static uint64_t name_of(const struct model_file *file)
{
	return ((const struct file *)(const void *)file)->name;
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
	if (name_of(file))
		touch(model, name_of(file), what);
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

/* "/proc/self/fd/5", with which what has no name is given one; NULL: no such. */
static const struct model_file *by_number(struct model *model, const struct model_view *view)
{
	static const char *const forms[] = { "/proc/self/fd/", "/dev/fd/" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t bytes = strlen(forms[i]);
		char *end;
		unsigned long fd;

		if (strncmp(view->path->passed, forms[i], bytes) != 0)
			continue;
		fd = strtoul(view->path->passed + bytes, &end, 10);
		return end > view->path->passed + bytes && *end == '\0' && fd <= INT32_MAX
			       ? model_fd(model, view, (int32_t)fd)
			       : NULL;
	}
	return NULL;
}

/* An opened file, perhaps without a name, has this one too. */
static void named(struct model *model, const struct model_file *file, uint64_t hash)
{
	struct file *own = (struct file *)(uintptr_t)file;

	if (own->name && own->name != hash)
		link_names(&model->changes, own->name, hash);
	if (file->path && *file->path == '/' && (file->open_flags & O_TMPFILE) != O_TMPFILE)
		link_names(&model->changes, file->path_hash, hash);
	own->name = hash;
}

static void follow_link(struct model *model, const struct model_view *view)
{
	const struct model_file *file = view->path ? by_number(model, view) : view->file;

	if (!view->path2 || !view->path2->absolute)
		return;
	if (file)
		named(model, file, view->path2->hash);
	else if (view->path && view->path->absolute)
		link_names(&model->changes, view->path->hash, view->path2->hash);
}

static void follow_rename(struct model *model, const struct model_view *view)
{
	const struct changes *changes = &model->changes;
	const struct table *last = NULL;
	struct task **task;
	size_t iter = 0;

	if (!view->path || !view->path->absolute || !view->path2 || !view->path2->absolute)
		return;
	if (changes->links.used > 0 && map_get(&changes->links, view->path->hash))
		link_names(&model->changes, view->path->hash, view->path2->hash);
	while ((task = map_next(&model->tasks, &iter, NULL))) {
		if ((*task)->table && (*task)->table != last)
			table_renamed((*task)->table, view->path, view->path2);
		last = (*task)->table;
	}
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
	if (view->id == CALL_link || view->id == CALL_linkat)
		follow_link(model, view);
	else if (view->id == CALL_rename || view->id == CALL_renameat || view->id == CALL_renameat2)
		follow_rename(model, view);
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
	uint64_t last = *bucket(changes->object, hash), link = link_of(changes, hash);
	const char *slash = path;

	if (link)
		last = later(last, *bucket(changes->object, link));
	if (link && changes->links_full)
		last = later(last, *bucket(changes->object, ANY_LINK));

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
	if (file && name_of(file))
		last = later(last, *bucket(changes->object, name_of(file)));
	if (file && file->ino)
		last = later(last, *bucket(changes->object, map_mix(file->dev, file->ino)));
	return last;
}
