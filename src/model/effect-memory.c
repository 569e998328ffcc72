/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What calls do to file mappings.  mprotect changes nothing here: a mapping
 * is told by its file, whatever it allows.
 */
#include <string.h>
#include <sys/mman.h>

#include "model/state.h"

static int effect_mmap(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	struct mm *mm = task->proc->mm;
	uint64_t start = (uint64_t)call->ret;
	const char *path = view->file ? view->file->path : NULL;
	const char *module = NULL;

	if (!mm)
		return 0;
	if (path && !(call->args[3] & MAP_ANONYMOUS))
		module = text_keep(model, path, strlen(path));
	if (!module)
		return mm_remove(model, mm, start, call->args[1]);
	return mm_add(model, mm,
		      &(struct model_map){ .start = start,
					   .offset = call->args[5],
					   .dev = view->file->dev,
					   .ino = view->file->ino,
					   .module = module },
		      call->args[1]);
}

static int effect_munmap(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	return task->proc->mm ? mm_remove(model, task->proc->mm, call->args[0], call->args[1]) : 0;
}

static int effect_mremap(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	return task->proc->mm ? mm_move(model, task->proc->mm, call) : 0;
}

void effects_memory(struct call_shape *shapes)
{
	shapes[CALL_mmap].effect = effect_mmap;
	shapes[CALL_munmap].effect = effect_munmap;
	shapes[CALL_mremap].effect = effect_mremap;
}
