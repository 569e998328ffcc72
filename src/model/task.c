/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads and processes: who shares what with whom, from fork to exec to the
 * end.  A record of somebody unknown makes an unknown process; nothing is
 * guessed about it.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "model/state.h"

static struct task *task_by_tid(const struct model *model, uint32_t tid)
{
	struct task **task = map_get(&model->tasks, tid);

	return task ? *task : NULL;
}

static struct proc *proc_by_pid(const struct model *model, uint32_t pid)
{
	struct proc **proc = map_get(&model->procs, pid);

	return proc ? *proc : NULL;
}

static struct task *stranger(struct model *model)
{
	if (!model->stranger_listed) {
		model->stranger_listed = vec_push(&model->images, &model->stranger_image);
		if (!model->stranger_listed)
			(void)model_no_memory(model);
	}
	return &model->stranger;
}

static int no_room(struct model *model, bool limit)
{
	return limit ? model_lose(model, "tasks") : model_no_memory(model);
}

static struct proc *proc_new(struct model *model, uint32_t pid, struct image *image, int *ret_error)
{
	struct proc *proc = calloc(1, sizeof(*proc));
	struct proc **place = proc ? map_put(&model->procs, pid, NULL) : NULL;

	if (!place) {
		*ret_error = no_room(model, proc && model->procs.used >= model->limits.tasks);
		free(proc);
		return NULL;
	}
	*place = proc;
	proc->pid = pid;
	proc->image = image;
	if (!image->pub.folded)
		image->proc = proc;
	model->stats.processes++;
	return proc;
}

static void proc_end(struct model *model, struct proc *proc, uint64_t now_ns, uint32_t how, uint32_t status,
		     struct model_view *view)
{
	image_end(proc->image, now_ns, how, status);
	sleeps_end(model, proc, proc->image->pub.ppid);
	if (view)
		view->ended = &proc->image->pub;
	mm_unref(proc->mm);
	mounts_unref(model, proc->mounts);
	(void)map_remove(&model->procs, proc->pid);
	free(proc);
}

static struct task *task_new(struct model *model, uint32_t tid, struct proc *proc, int *ret_error)
{
	struct task *task = calloc(1, sizeof(*task));
	struct task **place = task ? map_put(&model->tasks, tid, NULL) : NULL;

	if (!place) {
		*ret_error = no_room(model, task && model->tasks.used >= model->limits.tasks);
		free(task);
		return NULL;
	}
	*place = task;
	task->tid = tid;
	task->proc = proc;
	proc->tasks++;
	model->stats.tasks++;
	return task;
}

/* Takes the task away; its process stays, even without tasks. */
static struct proc *task_remove(struct model *model, struct task *task)
{
	struct proc *proc = task->proc;

	table_unref(model, task->table);
	dirs_unref(task->dirs);
	(void)map_remove(&model->tasks, task->tid);
	if (model->last == task)
		model->last = NULL;
	proc->tasks--;
	free(task);
	return proc;
}

static void task_end(struct model *model, struct task *task, uint64_t now_ns, uint32_t how, uint32_t status,
		     struct model_view *view)
{
	struct proc *proc = task_remove(model, task);

	if (proc->tasks == 0)
		proc_end(model, proc, now_ns, how, status, view);
}

/* A pid that is given out again although its end was not seen. */
static void end_lost(struct model *model, uint32_t tid, uint64_t now_ns, struct model_view *view)
{
	struct task *task = task_by_tid(model, tid);

	if (task)
		task_end(model, task, now_ns, EVENT_EXIT_LOST, 0, view);
}

static void end_lost_process(struct model *model, uint32_t pid, uint64_t now_ns, struct model_view *view)
{
	struct task **task;
	size_t iter = 0;

	while (proc_by_pid(model, pid) && (task = map_next(&model->tasks, &iter, NULL))) {
		if ((*task)->proc->pid == pid)
			task_end(model, *task, now_ns, EVENT_EXIT_LOST, 0, view);
	}
}

static int share_or_new(struct model *model, struct task *task, const struct task *sibling)
{
	if (sibling && sibling != task) {
		task->table = sibling->table;
		task->dirs = sibling->dirs;
		if (task->table)
			task->table->refs++;
		if (task->dirs)
			task->dirs->refs++;
		return 0;
	}
	task->table = table_new();
	task->dirs = dirs_new();
	return task->table && task->dirs ? 0 : model_no_memory(model);
}

/* A task that nobody announced, or that was there when we came. */
static struct task *task_make(struct model *model, const struct event_head *head, struct exe *exe, uint32_t ppid,
			      int *ret_error)
{
	struct proc *proc = proc_by_pid(model, head->pid);
	const struct task *sibling = proc ? task_by_tid(model, head->pid) : NULL;
	struct task *task;
	bool new_proc = !proc;

	if (new_proc) {
		struct image *image =
			image_new(model, exe ? exe : exe_get(model, NULL, 0), head->pid, ppid, head->time_ns);

		if (!image)
			*ret_error = -ENOMEM;
		proc = image ? proc_new(model, head->pid, image, ret_error) : NULL;
		if (!proc)
			return stranger(model);
		image->guessed = !exe;
		proc->mm = mm_new();
		if (!proc->mm)
			*ret_error = model_no_memory(model);
	}
	task = task_new(model, head->tid, proc, ret_error);
	if (!task) {
		if (new_proc)
			proc_end(model, proc, head->time_ns, EVENT_EXIT_LOST, 0, NULL);
		return stranger(model);
	}
	if (share_or_new(model, task, sibling && sibling->proc == proc ? sibling : NULL) < 0)
		*ret_error = -ENOMEM;
	return task;
}

struct task *task_of(struct model *model, const struct event_head *head, int *ret_error)
{
	struct task *task = task_by_tid(model, head->tid);

	if (!task)
		task = task_make(model, head, NULL, 0, ret_error);
	model->last = task;
	return task;
}

int task_start(struct model *model, const struct event_task *event, struct model_view *view)
{
	const struct event_head *head = &event->head;
	struct task *task = task_by_tid(model, head->tid);
	size_t bytes = 0;
	const char *path = event_text(head, SYS_ITEM_EXE, 0, &bytes);
	struct exe *exe = path ? exe_get(model, path, bytes) : NULL;
	struct image *image;
	int error = 0;

	if (!task) {
		task = task_make(model, head, exe, event->ppid, &error);
		if (task == &model->stranger)
			return error;
		task->proc->image->fresh = task->proc->tasks == 1 && !event->attached;
	}
	image = task->proc->image;
	view->process = &image->pub;
	if (image->pub.folded)
		return error;
	if (exe)
		image->pub.exe = &exe->pub;
	if (event->ppid && head->tid == head->pid)
		image->pub.ppid = event->ppid;
	image_tell(model, image, head, false);
	return error;
}

static int share_at_fork(struct model *model, const struct task *parent, struct task *child, uint64_t flags)
{
	if (!(flags & CLONE_FILES))
		child->table = parent->table ? table_copy(model, parent->table, !(flags & CLONE_THREAD)) : NULL;
	else if ((child->table = parent->table))
		child->table->refs++;
	if (child->table && (flags & CLONE_FILES) && !(flags & CLONE_THREAD))
		table_outside(child->table, true);
	sigmask_inherit(child, parent);
	if (!(flags & CLONE_FS))
		child->dirs = parent->dirs ? dirs_copy(parent->dirs) : NULL;
	else if ((child->dirs = parent->dirs))
		child->dirs->refs++;
	if (parent->table && !child->table)
		table_outside(parent->table, false);
	if ((parent->table && !child->table) || (parent->dirs && !child->dirs))
		return model_no_memory(model);
	return 0;
}

static int share_memory(struct model *model, const struct proc *parent, struct proc *child, uint64_t flags)
{
	if (!(flags & CLONE_VM))
		child->mm = parent->mm ? mm_fork(parent->mm) : NULL;
	else if ((child->mm = parent->mm))
		child->mm->refs++;
	if (flags & CLONE_NEWNS)
		child->mounts = parent->mounts ? mounts_copy(parent->mounts) : NULL;
	else if ((child->mounts = parent->mounts))
		child->mounts->refs++;
	if ((parent->mm && !child->mm) || (parent->mounts && !child->mounts))
		return model_no_memory(model);
	return 0;
}

/* Calls of the child came before the record of its birth: the same run. */
static struct task *fork_adopt(struct model *model, const struct event_fork *event)
{
	struct task *task = task_by_tid(model, event->child_tid);
	struct proc *proc = task ? task->proc : NULL;

	if (!proc || proc->pid != event->child_pid || !proc->image->guessed)
		return NULL;
	table_unref(model, task->table);
	dirs_unref(task->dirs);
	mm_unref(proc->mm);
	mounts_unref(model, proc->mounts);
	task->table = NULL;
	task->dirs = NULL;
	proc->mm = NULL;
	proc->mounts = NULL;
	return task;
}

static int fork_process(struct model *model, const struct event_fork *event, struct task *parent,
			struct model_view *view)
{
	struct image *from = parent->proc->image;
	struct exe *exe = (struct exe *)(void *)from->pub.exe;
	struct task *task = fork_adopt(model, event);
	int error = 0;
	int r;

	if (!task) {
		struct image *image;
		struct proc *proc;

		end_lost(model, event->child_tid, event->head.time_ns, view);
		end_lost_process(model, event->child_pid, event->head.time_ns, view);
		image = image_new(model, exe, event->child_pid, event->head.pid, event->head.time_ns);
		if (!image)
			return -ENOMEM;
		proc = proc_new(model, event->child_pid, image, &error);
		if (!proc) {
			image_end(image, event->head.time_ns, EVENT_EXIT_LOST, 0);
			return error;
		}
		task = task_new(model, event->child_tid, proc, &error);
		if (!task) {
			proc_end(model, proc, event->head.time_ns, EVENT_EXIT_LOST, 0, NULL);
			return error;
		}
	} else if (!task->proc->image->pub.folded) {
		task->proc->image->pub.exe = &exe->pub;
		task->proc->image->pub.ppid = event->head.pid;
		task->proc->image->guessed = from->guessed;
	}
	image_inherit(task->proc->image, from);
	task->proc->image->pub.forked = !task->proc->image->pub.folded;
	task->proc->image->pub.changed = model->changes.now;
	error = share_memory(model, parent->proc, task->proc, event->clone_flags);
	r = share_at_fork(model, parent, task, event->clone_flags);
	return r < 0 ? r : error;
}

static int fork_thread(struct model *model, const struct event_fork *event, struct task *parent,
		       struct model_view *view)
{
	struct task *task = task_by_tid(model, event->child_tid);
	int error = 0;

	/* One whose first call came before this record is known already. */
	if (task && task->proc == parent->proc) {
		sigmask_inherit(task, parent);
		return 0;
	}
	end_lost(model, event->child_tid, event->head.time_ns, view);
	task = task_new(model, event->child_tid, parent->proc, &error);
	return task ? share_at_fork(model, parent, task, event->clone_flags) : error;
}

int task_fork(struct model *model, const struct event_fork *event, struct model_view *view)
{
	int error = 0;
	struct task *parent = task_of(model, &event->head, &error);

	view->process = &parent->proc->image->pub;
	if (error < 0 || parent == &model->stranger || event->child_tid == event->head.tid)
		return error;
	if (!event->followed)
		;
	else if (!(event->clone_flags & CLONE_THREAD) && event->child_tid == event->child_pid &&
		 event->child_pid != parent->proc->pid)
		error = fork_process(model, event, parent, view);
	else
		error = fork_thread(model, event, parent, view);
	/* It lives all the same. */
	if (parent->table && (!event->followed || !task_by_tid(model, event->child_tid)))
		table_outside(parent->table, event->clone_flags & CLONE_FILES);
	return error;
}

/* Only the caller of execve is left, under the tid of the leader. */
static struct task *exec_survivor(struct model *model, const struct event_exec *event, int *ret_error)
{
	struct task *task = event->former_tid ? task_by_tid(model, event->former_tid) : NULL;
	struct task **other;
	size_t iter = 0;

	if (!task || task->proc->pid != event->head.pid) {
		task = task_of(model, &event->head, ret_error);
		if (event->former_tid != event->head.tid)
			sigmask_forget(task);
	}
	if (task == &model->stranger)
		return task;
	while (task->proc->tasks > 1 && (other = map_next(&model->tasks, &iter, NULL))) {
		if ((*other)->proc == task->proc && *other != task)
			(void)task_remove(model, *other);
	}
	if (task->tid != event->head.tid) {
		struct task **place;

		(void)map_remove(&model->tasks, task->tid);
		end_lost(model, event->head.tid, event->head.time_ns, NULL);
		place = map_put(&model->tasks, event->head.tid, NULL);
		if (!place) {
			*ret_error = model_no_memory(model);
			task_end(model, task, event->head.time_ns, EVENT_EXIT_LOST, 0, NULL);
			return stranger(model);
		}
		*place = task;
		task->tid = event->head.tid;
	}
	model->last = task;
	return task;
}

int task_exec(struct model *model, const struct event_exec *event, struct model_view *view)
{
	const struct event_head *head = &event->head;
	int error = 0;
	struct task *task = exec_survivor(model, event, &error);
	struct proc *proc = task->proc;
	struct image *old = proc->image;
	struct image *image;
	struct exe *exe;
	size_t bytes = 0;
	const char *path = event_text(head, SYS_ITEM_EXE, 0, &bytes);

	view->process = &old->pub;
	if (task == &model->stranger)
		return error;
	exe = exe_get(model, path, bytes);
	exe->pub.execs++;
	if (old->fresh && old->pub.calls == 0 && !old->pub.folded) {
		image = old;
		image->pub.exe = &exe->pub;
		image->pub.start_ns = head->time_ns;
	} else {
		image = image_new(model, exe, head->pid, old->pub.ppid, head->time_ns);
		if (!image)
			return -ENOMEM;
		image_inherit(image, old);
		image->pub.nofile_asked = false;
		if (!image->pub.folded)
			image->proc = proc;
		/* AT_SECURE: a setuid program, or one with more capabilities. */
		if (event->secure)
			image->pub.ids_known = false;
		image_end(old, head->time_ns, EVENT_EXIT_REPLACED, 0);
		view->ended = &old->pub;
		proc->image = image;
	}
	image->fresh = image->guessed = false;
	image->pub.execed = image->pub.nofile_watched = true;
	image->pub.changed = model->changes.now;
	startup_begin(image, event);
	image_tell(model, image, head, true);
	view->process = &image->pub;

	mm_unref(proc->mm);
	proc->mm = mm_new();
	if (task->table && task->table->refs > 1) {
		struct table *own = table_copy(model, task->table, true);

		if (!own)
			table_outside(task->table, false);
		table_unref(model, task->table);
		task->table = own;
	}
	if (task->table)
		table_exec(model, task->table, head->time_ns);
	if (!proc->mm || !task->table)
		return model_no_memory(model);
	return error;
}

int task_exit(struct model *model, const struct event_exit *event, struct model_view *view)
{
	struct task *task = task_by_tid(model, event->head.tid);

	if (!task)
		return 0;
	view->process = &task->proc->image->pub;
	/* The leader's pid lives on in the thread that called execve. */
	if (event->how == EVENT_EXIT_REPLACED && task->proc->tasks == 1)
		return 0;
	if (task->table && (event->how == EVENT_EXIT_LET_GO || event->how == EVENT_EXIT_LOST))
		table_outside(task->table, task->table->refs > 1);
	task_end(model, task, event->head.time_ns, event->how, event->status, view);
	return 0;
}

void tasks_done(struct model *model)
{
	struct task **task;
	struct proc **proc;
	size_t iter = 0;

	model->last = NULL;
	while ((task = map_next(&model->tasks, &iter, NULL))) {
		table_unref(model, (*task)->table);
		dirs_unref((*task)->dirs);
		free(*task);
	}
	map_done(&model->tasks);
	for (iter = 0; (proc = map_next(&model->procs, &iter, NULL));) {
		mm_unref((*proc)->mm);
		mounts_unref(model, (*proc)->mounts);
		free(*proc);
	}
	map_done(&model->procs);
}
