/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which signals a task blocks.  A mask belongs to one thread.  The old set
 * that a call got is believed before what was followed; what cannot be told
 * is unknown.
 */
#include <errno.h>
#include <signal.h>

#include "model/state.h"

/* The kernel takes these out of every set. */
#define NEVER_BLOCKED (UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1))

static bool known(const struct model *model, const struct task *task)
{
	return task->mask_known && task->mask_lost == model->lost;
}

void sigmask_tell(const struct model *model, struct task *task, uint64_t mask)
{
	if (task == &model->stranger)
		return;
	task->mask = mask;
	task->mask_known = true;
	task->mask_lost = model->lost;
}

void sigmask_forget(struct task *task)
{
	task->mask_known = false;
}

/* A child whose calls came before its birth knows better. */
void sigmask_inherit(struct task *to, const struct task *from)
{
	if (to->mask_call)
		return;
	to->mask = from->mask;
	to->mask_known = from->mask_known;
	to->mask_lost = from->mask_lost;
}

static void changed(struct model *model, struct task *task, bool before_known, uint64_t before, bool after_known,
		    uint64_t after)
{
	task->mask_was = before;
	task->mask_was_known = before_known;
	task->mask_call = model->changes.now;
	task->mask = after;
	task->mask_known = after_known;
	task->mask_lost = model->lost;
}

static int effect_procmask(struct model *model, struct task *task, const struct event_call *call,
			   struct model_view *view)
{
	const uint64_t *set = EVENT_ITEM_AS(uint64_t, event_item_arg(&call->head, SYS_ITEM_SIGSET, 1));
	const uint64_t *old = EVENT_ITEM_AS(uint64_t, event_item_arg(&call->head, SYS_ITEM_SIGSET, 2));
	bool before_known = known(model, task), after_known = false;
	uint64_t before = task->mask, after = 0;

	if (task == &model->stranger)
		return 0;
	if (call->ret < 0) {
		/* The old set could not be stored, but the new one was in force by then. */
		if (view->err == EFAULT && call->args[1] && call->args[2])
			changed(model, task, before_known, before, false, 0);
		return 0;
	}
	if (old) {
		before = *old;
		before_known = true;
	}
	if (call->head.flags & EVENT_F_NO_ENTER) {
		before_known = false;
	} else if (call->args[1] == 0) {
		after = before;
		after_known = before_known;
	} else if (set) {
		uint64_t blockable = *set & ~NEVER_BLOCKED;
		int how = (int)call->args[0];

		after = how == SIG_SETMASK ? blockable : how == SIG_BLOCK ? before | blockable : before & ~blockable;
		after_known = before_known || how == SIG_SETMASK;
	}
	changed(model, task, before_known, before, after_known, after);
	return 0;
}

/* Back to the mask that the handler interrupted, which nobody told. */
static int effect_sigreturn(struct model *model, struct task *task, const struct event_call *call,
			    struct model_view *view)
{
	if (task != &model->stranger)
		changed(model, task, false, 0, false, 0);
	return 0;
}

struct model_sigmask model_sigmask(const struct model *model, const struct model_view *view)
{
	const struct task *task = model->last;
	struct model_sigmask mask = { 0 };

	if (!view->call || !task || task->tid != view->call->head.tid)
		return mask;
	mask.after_known = known(model, task);
	mask.after = mask.after_known ? task->mask : 0;
	mask.before_known = mask.after_known;
	mask.before = mask.after;
	if (task->mask_call == model->changes.now) {
		mask.before_known = task->mask_was_known;
		mask.before = mask.before_known ? task->mask_was : 0;
	}
	return mask;
}

void effects_sigmask(struct call_shape *shapes)
{
	shapes[CALL_rt_sigprocmask].effect = effect_procmask;
	shapes[CALL_rt_sigprocmask].on_error = true;
	shapes[CALL_rt_sigreturn].effect = effect_sigreturn;
	shapes[CALL_rt_sigreturn].on_error = true;
}
