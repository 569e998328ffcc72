/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model's beginning and end, and which file takes which record.  What a
 * record changes is in the other files of this folder.
 */
#include "model/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct model_limits default_limits = {
	.images = 100000,
	.exes = 16384,
	.tasks = 262144,
	.files = 1u << 20,
	.fds = 1u << 18,
	.maps = 8192,
	.mounts = 4096,
	.text_bytes = 32u << 20,
};

int model_lose(struct model *model, const char *limit)
{
	model->stats.losses++;
	if (!model->stats.limit)
		model->stats.limit = limit;
	return 0;
}

int model_no_memory(struct model *model)
{
	(void)model_lose(model, "memory");
	return -ENOMEM;
}

struct model *model_new(void)
{
	return model_new_limited(&default_limits);
}

struct model *model_new_limited(const struct model_limits *limits)
{
	struct model *model = calloc(1, sizeof(*model));

	if (!model)
		return NULL;
	model->limits = *limits;
	map_init(&model->tasks, sizeof(struct task *), limits->tasks);
	map_init(&model->procs, sizeof(struct proc *), limits->tasks);
	map_init(&model->exe_by_hash, sizeof(struct exe *), 0);
	map_init(&model->texts, sizeof(void *), 0);
	map_init(&model->site_by_hash, sizeof(uint32_t), 0);
	map_init(&model->mount_by_hash, sizeof(struct mount *), (size_t)limits->mounts * 8);
	if (images_init(model) < 0) {
		model_free(model);
		errno = ENOMEM;
		return NULL;
	}
	shapes_init(model);
	model->no_view.process = &model->stranger_image.pub;
	return model;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	tasks_done(model);
	rights_done(model);
	files_bury(model);
	mounts_done(model);
	images_done(model);
	texts_done(model);
	sites_done(model);
	changes_done(model);
	free(model);
}

static int limits_feed(const struct model *model, struct task *task, const struct event_limits *event)
{
	struct model_process *process = &task->proc->image->pub;

	process->nofile_known = true;
	process->nofile_soft = event->nofile_soft;
	process->nofile_hard = event->nofile_hard;
	sigmask_tell(model, task, event->sigmask);
	return 0;
}

static int ids_feed(struct task *task, const struct event_ids *event)
{
	struct model_process *process = &task->proc->image->pub;

	process->ids_known = true;
	process->ruid = event->ruid;
	process->euid = event->euid;
	process->suid = event->suid;
	process->fsuid = event->fsuid;
	process->rgid = event->rgid;
	process->egid = event->egid;
	process->sgid = event->sgid;
	process->fsgid = event->fsgid;
	return 0;
}

static int map_feed(struct model *model, struct task *task, const struct event_map *event)
{
	size_t bytes;
	const char *path = event_text(&event->head, SYS_ITEM_PATH, 0, &bytes);
	const char *module;

	if (!path || bytes == 0 || event->end <= event->start || task == &model->stranger)
		return 0;
	module = text_keep(model, path, bytes);
	if (!module)
		return 0;
	if (!task->proc->mm)
		task->proc->mm = mm_new();
	if (!task->proc->mm)
		return model_no_memory(model);
	return mm_add(model, task->proc->mm,
		      &(struct model_map){ .start = event->start,
					   .offset = event->file_offset,
					   .dev = event->dev,
					   .ino = event->ino,
					   .module = module },
		      event->end - event->start);
}

int model_feed(struct model *model, const struct event_head *head, struct model_view *ret_view)
{
	struct task *task;
	int error = 0;
	int r = 0;

	if (model->graves)
		files_bury(model);
	/* Of its own: gcc's rep stos takes longer than all these. */
	*ret_view = model->no_view;

	/* Records may come from files: a size that does not hold its type's fixed part is no record. */
	if (head->bytes < event_fixed_bytes(head->type))
		return 0;
	if (head->type == EVENT_CALL) {
		task = model->last;
		if (!task || task->tid != head->tid)
			task = task_of(model, head, &error);
		r = call_feed(model, task, (const struct event_call *)(const void *)head, ret_view);
		return r < 0 ? r : error;
	}
	switch (head->type) {
	case EVENT_TASK:
		return task_start(model, (const struct event_task *)(const void *)head, ret_view);
	case EVENT_FORK:
		return task_fork(model, (const struct event_fork *)(const void *)head, ret_view);
	case EVENT_EXEC:
		return task_exec(model, (const struct event_exec *)(const void *)head, ret_view);
	case EVENT_EXIT:
		return task_exit(model, (const struct event_exit *)(const void *)head, ret_view);
	case EVENT_MOUNTS:
		/* pid 0: the script's "everybody's". */
		task = head->pid ? task_of(model, head, &error) : NULL;
		r = mounts_feed(model, task, (const struct event_mounts *)(const void *)head);
		if (task)
			ret_view->process = &task->proc->image->pub;
		return r < 0 ? r : error;
	case EVENT_FD:
	case EVENT_MAP:
	case EVENT_DIRS:
	case EVENT_IDS:
	case EVENT_LIMITS:
		task = task_of(model, head, &error);
		ret_view->process = &task->proc->image->pub;
		if (head->type == EVENT_FD)
			r = fd_feed(model, task, (const struct event_fd *)(const void *)head);
		else if (head->type == EVENT_MAP)
			r = map_feed(model, task, (const struct event_map *)(const void *)head);
		else if (head->type == EVENT_DIRS)
			r = dirs_feed(model, task, (const struct event_dirs *)(const void *)head);
		else if (head->type == EVENT_IDS)
			r = ids_feed(task, (const struct event_ids *)(const void *)head);
		else
			r = limits_feed(model, task, (const struct event_limits *)(const void *)head);
		return r < 0 ? r : error;
	case EVENT_LOST:
		model->lost++;
		model->changes.all = ++model->changes.now;
		break;
	case EVENT_CALL:
	case EVENT_CLOCK:
	case EVENT_FLOOR:
	case EVENT_QUEUED:
		break;
	}
	return 0;
}

static struct proc *proc_by_pid(const struct model *model, uint32_t pid)
{
	struct proc **proc = map_get(&model->procs, pid);

	return proc ? *proc : NULL;
}

/* The live state behind an image; of a folded one that of the last record. */
static struct proc *proc_of(struct model *model, const struct model_process *process)
{
	const struct image *image = (const struct image *)(const void *)process;

	if (image->pub.folded)
		return model->last && model->last->proc->image == image ? model->last->proc : NULL;
	return image->proc;
}

struct model_process *model_process(struct model *model, uint32_t pid)
{
	struct proc *proc = proc_by_pid(model, pid);

	return proc ? &proc->image->pub : NULL;
}

struct model_process *model_process_at(struct model *model, size_t n)
{
	return n < model->images.used ? &model->images.at[n]->pub : NULL;
}

struct model_exe *model_exe_at(struct model *model, size_t n)
{
	return n < model->exes.used ? &model->exes.at[n]->pub : NULL;
}

const char *model_cwd(struct model *model, const struct model_process *process)
{
	struct proc *proc = proc_of(model, process);
	struct task **task;

	if (!proc)
		return NULL;
	task = map_get(&model->tasks, proc->pid);
	return task && (*task)->proc == proc && (*task)->dirs ? (*task)->dirs->cwd : NULL;
}

const struct model_mount *model_mount_of(struct model *model, const struct model_process *process, const char *path)
{
	struct proc *proc = proc_of(model, process);
	struct mounts *mounts = proc && proc->mounts ? proc->mounts : model->default_mounts;
	const struct mount *mount = mounts ? mounts_find(mounts, path) : NULL;

	return mount ? &mount->pub : NULL;
}

struct mm *model_mm(struct model *model, const struct model_process *process)
{
	struct proc *proc = proc_of(model, process);

	return proc ? proc->mm : NULL;
}

bool model_locate(struct model *model, const struct model_process *process, uint64_t ip, const char **ret_module,
		  uint64_t *ret_offset)
{
	struct mm *mm = model_mm(model, process);
	const struct model_maps *list = mm ? mm->list : NULL;
	const struct model_map *hit;
	uint32_t low = 0;
	uint32_t high;

	if (!list || list->used == 0)
		return false;
	if (mm->last < list->used && ip >= list->at[mm->last].start && ip < list->at[mm->last].end) {
		hit = &list->at[mm->last];
	} else {
		for (high = list->used; low < high;) {
			uint32_t middle = low + (high - low) / 2;

			if (list->at[middle].end <= ip)
				low = middle + 1;
			else
				high = middle;
		}
		if (low == list->used || ip < list->at[low].start)
			return false;
		mm->last = low;
		hit = &list->at[low];
	}
	*ret_module = hit->module;
	*ret_offset = ip - hit->start + hit->offset;
	return true;
}

void model_stats(const struct model *model, struct model_stats *ret)
{
	*ret = model->stats;
	ret->images = model->images.used;
}
