/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of tasks that we follow, by tid. */
#include <stdlib.h>

#include "engine/ptrace/ptrace.h"

struct task *task_find(struct engine_pt *e, pid_t tid)
{
	struct task **slot = map_get(&e->tasks, (uint64_t)tid);

	return slot ? *slot : NULL;
}

struct task *task_add(struct engine_pt *e, pid_t tid)
{
	struct task *task = calloc(1, sizeof *task);
	struct task **slot;

	if (!task)
		return NULL;
	slot = map_put(&e->tasks, (uint64_t)tid, NULL);
	if (!slot) {
		free(task);
		return NULL;
	}
	task->tid = tid;
	task->clock_fd = -1;
	task->image = ++e->images;
	*slot = task;
	return task;
}

void task_remove(struct engine_pt *e, struct task *task)
{
	if (task->adopted)
		e->gone[e->gone_next++ % GONE_MAX] = task->tid;
	(void)map_remove(&e->tasks, (uint64_t)task->tid);
	clock_close(e, task);
	buf_done(&task->entered);
	code_unref(task->code);
	free(task);
}

void task_rename(struct engine_pt *e, struct task *task, pid_t tid)
{
	struct task **slot;

	(void)map_remove(&e->tasks, (uint64_t)task->tid);
	clock_close(e, task);
	task->tid = tid;
	/* The place just freed can be used again: no memory is needed. */
	slot = map_put(&e->tasks, (uint64_t)tid, NULL);
	if (slot)
		*slot = task;
}

void task_free_all(struct engine_pt *e)
{
	size_t iter = 0;
	struct task **slot;

	while ((slot = map_next(&e->tasks, &iter, NULL))) {
		clock_close(e, *slot);
		buf_done(&(*slot)->entered);
		code_unref((*slot)->code);
		free(*slot);
	}
	map_done(&e->tasks);
}

size_t task_count(const struct engine_pt *e)
{
	return e->tasks.used;
}
