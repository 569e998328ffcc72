/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that want to be traced by their parent, as debuggers make their
 * children do.  A task has one tracer: where we can, we let go of it, so that
 * the parent gets it; its calls are not seen from then on, which is told.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>

#include "engine/ptrace/ptrace.h"

static bool is_request(const struct task *task)
{
	switch ((int)task->arch) {
	case SYS_ARCH_I386:
	case SYS_ARCH_ARM:
		return task->nr == 26 && task->args[0] == PTRACE_TRACEME;
	case SYS_ARCH_X32:
		return (task->nr & 0xffff) == 521 && task->args[0] == PTRACE_TRACEME;
	default:
		return task->id == CALL_ptrace && task->args[0] == PTRACE_TRACEME;
	}
}

bool tracer_hand_over(struct engine_pt *e, struct task *task)
{
	/* The first task's parent is us; with a scope nobody is let go of. */
	if (!is_request(task) || task->root || e->stats.scoped)
		return false;
	e->stats.met |= ENGINE_MET_HANDED_OVER;
	pin_free(e, task->tid);
	/* From a stop at its enter the call goes on, and finds no tracer. */
	(void)ptrace(PTRACE_DETACH, task->tid, NULL, NULL);
	engine_task_end(e, task, EVENT_EXIT_LET_GO, 0);
	return true;
}

int64_t tracer_answer(struct engine_pt *e, struct task *task, int64_t ret)
{
	if (ret != -EPERM || !is_request(task))
		return ret;
	if (task->root) {
		/* Whoever started us would have become its tracer, most likely
		 * without knowing. */
		return arch_set_result(task->tid, (enum sys_arch)task->arch, 0) ? 0 : ret;
	}
	task->wants_tracer = true;
	e->stats.met |= ENGINE_MET_TRACER;
	return ret;
}

bool tracer_is_awaited(const struct task *task, int signal)
{
	siginfo_t info;

	return task->wants_tracer && signal == SIGSTOP && ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &info) == 0 &&
	       info.si_pid == task->pid;
}
