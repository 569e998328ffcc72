/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What calls do to the calling task itself: directories, namespaces, ids and
 * limits.  Where the outcome cannot be told from the call, it is unknown.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "model/state.h"

static int set_cwd(struct model *model, struct task *task, const char *path, size_t bytes, uint32_t physical)
{
	if (!task->dirs)
		return 0;
	return dirs_set_cwd(task->dirs, path, bytes, physical) < 0 ? model_no_memory(model) : 0;
}

static int effect_chdir(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	if (!view->path || !view->path->absolute)
		return set_cwd(model, task, NULL, 0, 0);
	return set_cwd(model, task, view->path->text, view->path->bytes, model->paths[0].physical);
}

static int effect_fchdir(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	const struct file *file = (const struct file *)(const void *)view->file;

	if (!file || !file->pub.path)
		return set_cwd(model, task, NULL, 0, 0);
	return set_cwd(model, task, file->pub.path, strlen(file->pub.path), file->physical);
}

/* The kernel's own text: it holds no links, and starts at the task's root. */
static int effect_getcwd(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	size_t bytes;
	const char *text = event_text(&call->head, SYS_ITEM_CWD, 0, &bytes);

	if (!text || bytes == 0 || *text != '/' || !task->dirs || !task->dirs->root || *task->dirs->root)
		return 0;
	return set_cwd(model, task, text, bytes, (uint32_t)bytes);
}

static int effect_chroot(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	int r;

	if (!task->dirs)
		return 0;
	if (view->path && view->path->absolute)
		r = dirs_set_root(task->dirs, view->path->text, view->path->bytes);
	else
		r = dirs_set_root(task->dirs, NULL, 0);
	return r < 0 ? model_no_memory(model) : 0;
}

static int effect_pivot_root(struct model *model, struct task *task, const struct event_call *call,
			     struct model_view *view)
{
	return set_cwd(model, task, NULL, 0, 0);
}

static int unshare_dirs(struct model *model, struct task *task)
{
	struct dirs *own;

	if (!task->dirs || task->dirs->refs == 1)
		return 0;
	own = dirs_copy(task->dirs);
	dirs_unref(task->dirs);
	task->dirs = own;
	return own ? 0 : model_no_memory(model);
}

static int new_mounts(struct model *model, struct task *task, bool same)
{
	static const struct mounts none;
	struct proc *proc = task->proc;
	struct mounts *from = proc->mounts ? proc->mounts : model->default_mounts;
	struct mounts *own;

	if (task == &model->stranger)
		return 0;
	own = mounts_copy(same && from ? from : &none);
	mounts_unref(model, proc->mounts);
	proc->mounts = own;
	return own ? 0 : model_no_memory(model);
}

static int effect_unshare(struct model *model, struct task *task, const struct event_call *call,
			  struct model_view *view)
{
	uint64_t flags = call->args[0];
	int r = 0;

	if (flags & CLONE_FILES)
		r = task_unshare_files(model, task);
	/* A new user or mount namespace takes CLONE_FS with it. */
	if ((flags & (CLONE_FS | CLONE_NEWNS | CLONE_NEWUSER)) && unshare_dirs(model, task) < 0)
		r = -1;
	if ((flags & CLONE_NEWNS) && new_mounts(model, task, true) < 0)
		r = -1;
	return r < 0 ? model_no_memory(model) : 0;
}

static int effect_setns(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	const char *path = view->file ? view->file->path : NULL;
	bool other = (call->args[1] != 0 && !(call->args[1] & CLONE_NEWNS)) ||
		     (path && strchr(path, '[') && strncmp(path, "mnt:", 4) != 0 &&
		      strchr(path, ':') < strchr(path, '[') && strncmp(path, "anon_inode", 10) != 0);

	if (other)
		return 0;
	/* Entering a mount namespace moves to its root. */
	if (new_mounts(model, task, false) < 0)
		return model_no_memory(model);
	return set_cwd(model, task, NULL, 0, 0);
}

static int effect_set_ids(struct model *model, struct task *task, const struct event_call *call,
			  struct model_view *view)
{
	view->process->ids_known = false;
	return 0;
}

/* Limits of another process were set: no record of its own will tell. */
static void rlimit_of_other(struct model *model, struct task *task, uint32_t pid)
{
	struct task **other = map_get(&model->tasks, pid);

	/* A number of a pid namespace may be anybody's, even the caller's. */
	(other ? (*other)->proc : task->proc)->image->pub.nofile_known = false;
}

static int effect_rlimit(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	bool prlimit = view->id == CALL_prlimit64;
	bool sets = prlimit ? call->args[2] != 0 : view->id == CALL_setrlimit;
	uint32_t pid = prlimit ? (uint32_t)call->args[0] : 0;
	struct model_process *process = view->process;
	const struct item_rlimit *limit;
	struct task **self;

	if ((uint32_t)call->args[prlimit ? 1 : 0] != RLIMIT_NOFILE)
		return 0;
	/* When the old limit could not be stored, the new one was in force by then. */
	if (call->ret < 0 && !(prlimit && sets && view->err == EFAULT && call->args[3]))
		return 0;
	self = pid ? map_get(&model->tasks, pid) : NULL;
	if (pid && pid != process->pid && (!self || (*self)->proc != task->proc)) {
		if (sets)
			rlimit_of_other(model, task, pid);
		return 0;
	}
	process->nofile_asked = process->nofile_asked || (prlimit ? call->args[3] != 0 : !sets);
	limit = EVENT_ITEM_AS(struct item_rlimit,
			      event_item_arg(&call->head, SYS_ITEM_RLIMIT, prlimit ? (sets ? 2 : 3) : 1));
	if (limit && call->ret == 0) {
		process->nofile_known = true;
		process->nofile_soft = limit->soft;
		process->nofile_hard = limit->hard;
	} else if (sets) {
		process->nofile_known = false;
	}
	return 0;
}

void effects_task(struct call_shape *shapes)
{
	static const uint16_t ids[] = { CALL_setuid,	CALL_setgid,	CALL_setreuid, CALL_setregid,
					CALL_setresuid, CALL_setresgid, CALL_setfsuid, CALL_setfsgid };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		shapes[ids[i]].effect = effect_set_ids;
	shapes[CALL_chdir].effect = effect_chdir;
	shapes[CALL_fchdir].effect = effect_fchdir;
	shapes[CALL_getcwd].effect = effect_getcwd;
	shapes[CALL_chroot].effect = effect_chroot;
	shapes[CALL_pivot_root].effect = effect_pivot_root;
	shapes[CALL_unshare].effect = effect_unshare;
	shapes[CALL_setns].effect = effect_setns;
	shapes[CALL_getrlimit].effect = effect_rlimit;
	shapes[CALL_setrlimit].effect = effect_rlimit;
	shapes[CALL_prlimit64].effect = effect_rlimit;
	shapes[CALL_prlimit64].on_error = true;
}
