/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stops of a run that watches some calls alone.  A call of the scope stops
 * by the filter, is let run to its exit, and then its task runs on without
 * stops.  The kernel asks all filters and does what the strictest says, so
 * that a call that a program's own filter refuses would not stop for ours: from
 * such a filter on its task is stopped at every call, before filters are asked.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <linux/seccomp.h>

#include "engine/ptrace/scope.h"

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif
#ifndef CLONE_UNTRACED
#define CLONE_UNTRACED 0x00800000
#endif

enum kind { KIND_NONE, KIND_WATCHED, KIND_FOLLOWED };

bool scope_follows(enum sys_arch arch, int32_t nr)
{
	switch ((int)sys_call_id(arch, nr)) {
	case CALL_fork:
	case CALL_vfork:
	case CALL_clone:
	case CALL_clone3:
	case CALL_ptrace:
	case CALL_seccomp:
	case CALL_unshare:
	case CALL_setns:
	case CALL_io_uring_setup:
		return true;
	default:
		return false;
	}
}

/* prctl and seccomp, also under the numbers of tables without names. */
static bool is_prctl(const struct task *task)
{
	switch ((int)task->arch) {
	case SYS_ARCH_I386:
	case SYS_ARCH_ARM:
		return task->nr == 172;
	case SYS_ARCH_X32:
		return (task->nr & 0xffff) == 157;
	default:
		return task->id == CALL_prctl;
	}
}

static bool is_seccomp(const struct task *task)
{
	switch ((int)task->arch) {
	case SYS_ARCH_I386:
		return task->nr == 354;
	case SYS_ARCH_ARM:
		return task->nr == 383;
	case SYS_ARCH_X32:
		return (task->nr & 0xffff) == 317;
	default:
		return task->id == CALL_seccomp;
	}
}

static enum kind kind_of(const struct engine_pt *e, const struct __ptrace_syscall_info *info)
{
	enum sys_arch arch = arch_of(info->arch, info->entry.nr);
	int32_t nr = (int32_t)info->entry.nr;
	int option = (int)info->entry.args[0];

	if (arch != SYS_ARCH_NATIVE || engine_scope_has(&e->stats.scope, sys_call_id(arch, nr)))
		return KIND_WATCHED;
	if (sys_call_id(arch, nr) == CALL_prctl)
		return option == PR_SET_SECCOMP || option == PR_GET_SECCOMP ? KIND_FOLLOWED : KIND_NONE;
	return scope_follows(arch, nr) ? KIND_FOLLOWED : KIND_NONE;
}

/* Stopped at every call? */
static bool in_full(const struct engine_pt *e, const struct task *task)
{
	return e->no_filter || task->own_filter;
}

int scope_request(const struct engine_pt *e, const struct task *task)
{
	return task->in_call || task->followed_call || in_full(e, task) ? PTRACE_SYSCALL : PTRACE_CONT;
}

static void enter(struct engine_pt *e, struct task *task, const struct __ptrace_syscall_info *info, uint64_t seen_ns,
		  enum kind kind)
{
	/* What the child does between fork and its execve is ours. */
	if (task->starting && sys_call_id(arch_of(info->arch, info->entry.nr), (int32_t)info->entry.nr) != CALL_execve)
		return;
	if (kind != KIND_NONE)
		call_enter(e, task, info, seen_ns, kind == KIND_WATCHED);
}

void scope_call_stop(struct engine_pt *e, struct task *task, const struct __ptrace_syscall_info *info, uint64_t seen_ns)
{
	if (info->op == PTRACE_SYSCALL_INFO_ENTRY) {
		/* A call that never came to an exit stop: those of the old
		 * vsyscall page are asked of the filter and have none. */
		if (task->in_call || task->followed_call)
			call_unfinished(e, task, false);
		if (in_full(e, task))
			enter(e, task, info, seen_ns, kind_of(e, info));
	} else if (info->op == PTRACE_SYSCALL_INFO_EXIT && (task->in_call || task->followed_call)) {
		call_leave(e, task, info, seen_ns);
	}
}

static bool is_ours(const struct __ptrace_syscall_info *info)
{
	return info->seccomp.ret_data == SCOPE_WATCH || info->seccomp.ret_data == SCOPE_FOLLOW;
}

/* A program whose own filter asks for a tracer has none: without us the
 * kernel would have said so. */
static void refuse(pid_t tid, const struct __ptrace_syscall_info *info)
{
	(void)arch_skip(tid, arch_of(info->arch, info->seccomp.nr), -ENOSYS);
}

void scope_seccomp_stop(struct engine_pt *e, struct task *task, uint64_t seen_ns)
{
	struct __ptrace_syscall_info info = { 0 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof info, &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_SECCOMP)
		return; /* killed meanwhile: its exit stop or its death will be told */
	if (!is_ours(&info))
		refuse(task->tid, &info);
	else if (!task->in_call && !task->followed_call)
		enter(e, task, &info, seen_ns, info.seccomp.ret_data == SCOPE_WATCH ? KIND_WATCHED : KIND_FOLLOWED);
	engine_release(e, task, 0);
}

static void has_own_filter(struct engine_pt *e, struct task *task, bool all_threads)
{
	size_t iter = 0;
	struct task **slot;

	task->own_filter = true;
	while (all_threads && (slot = map_next(&e->tasks, &iter, NULL))) {
		if ((*slot)->pid != task->pid || (*slot)->own_filter)
			continue;
		/* It runs, and stopping it would show (EINTR): from its next
		 * stop on. */
		(*slot)->own_filter = true;
		e->stats.met |= ENGINE_MET_FILTER;
	}
}

void scope_return(struct engine_pt *e, struct task *task, int64_t ret)
{
	bool sets = false, strict = false, all_threads = false;

	/* Registers are a program's own after a call as before it. */
	if (task->untraced_child && arch_keeps_first() && !call_is_clone3(task))
		(void)arch_set_first(task->tid, (enum sys_arch)task->arch, task->args[0]);
	task->untraced_child = false;
	if (is_prctl(task)) {
		/* Our filter is none of the program's business. */
		if ((int)task->args[0] == PR_GET_SECCOMP && ret == SECCOMP_MODE_FILTER && !task->own_filter)
			(void)arch_set_result(task->tid, (enum sys_arch)task->arch, 0);
		sets = (int)task->args[0] == PR_SET_SECCOMP;
		strict = sets && (int)task->args[1] == SECCOMP_MODE_STRICT;
	} else if (is_seccomp(task)) {
		sets = task->args[0] == SECCOMP_SET_MODE_FILTER || task->args[0] == SECCOMP_SET_MODE_STRICT;
		strict = task->args[0] == SECCOMP_SET_MODE_STRICT;
		all_threads = task->args[1] & SECCOMP_FILTER_FLAG_TSYNC;
	}
	if (strict && ret == -EINVAL && !task->own_filter)
		e->stats.met |= ENGINE_MET_STRICT;
	else if (sets && ret >= 0)
		has_own_filter(e, task, all_threads);
}

void scope_keep_child(struct engine_pt *e, struct task *task)
{
	uint64_t flags = task->clone_flags & ~(uint64_t)CLONE_UNTRACED;

	if (flags == task->clone_flags)
		return;
	if (call_is_clone3(task))
		(void)memory_write(e, task->tid, task->args[0], &flags, sizeof flags);
	else
		(void)arch_set_first(task->tid, (enum sys_arch)task->arch, flags);
	task->clone_flags = flags;
	task->untraced_child = true;
}

/* As scope_seccomp_stop, for a task of which nothing is kept. */
static void carry_on_call(pid_t tid)
{
	struct __ptrace_syscall_info info = { 0 };
	struct engine_pt none = { 0 };
	struct task task = { .tid = tid };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_SECCOMP)
		return;
	if (!is_ours(&info)) {
		refuse(tid, &info);
		return;
	}
	call_note_clone(&none, &task, &info);
	scope_keep_child(&none, &task);
}

void scope_carry_on(pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;

	if (signal == (SIGTRAP | 0x80))
		signal = 0;
	if (event == PTRACE_EVENT_SECCOMP)
		carry_on_call(tid);
	/* A group stop: it stays stopped, but hears SIGCONT. */
	if (event == PTRACE_EVENT_STOP &&
	    (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) &&
	    ptrace(PTRACE_LISTEN, tid, NULL, NULL) == 0)
		return;
	(void)ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)(event != 0 ? 0 : signal));
}

void scope_carry_on_all(void)
{
	for (;;) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0 && errno != EINTR)
			return;
		if (tid > 0 && WIFSTOPPED(status))
			scope_carry_on(tid, status);
	}
}
