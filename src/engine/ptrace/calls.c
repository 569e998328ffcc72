/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System-call stops: enter fills the task, exit makes the record.  Which of
 * the two a stop is comes from the kernel (PTRACE_GET_SYSCALL_INFO), never
 * from counting.  `seen` grows at the enter, before anything is decoded.
 */
#include <errno.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "engine/ptrace/scope.h"

#define MARK_PREFIX "/.syscull/mark/"

#ifndef CLONE_UNTRACED
#define CLONE_UNTRACED 0x00800000
#endif

static bool is_exit(enum sys_call_id id)
{
	return id == CALL_exit || id == CALL_exit_group;
}

static bool makes_child(enum sys_call_id id)
{
	return id == CALL_fork || id == CALL_vfork || id == CALL_clone || id == CALL_clone3;
}

static void note_blind_spots(struct engine_pt *e, const struct task *task, int64_t ret)
{
	switch ((int)task->id) {
	case CALL_io_uring_setup:
		if (ret >= 0)
			e->stats.met |= ENGINE_MET_IO_URING;
		break;
	case CALL_ptrace:
		/* PTRACE_TRACEME, ATTACH, SEIZE of somebody whom we hold. */
		if (ret == -EPERM)
			e->stats.met |= ENGINE_MET_TRACER;
		break;
	case CALL_unshare:
	case CALL_setns:
		if (ret == 0)
			e->pidns_seen = true;
		break;
	default:
		break;
	}
}

/* clone and clone3, also under the numbers of tables without names. */
static bool is_clone(const struct task *task)
{
	switch ((int)task->arch) {
	case SYS_ARCH_I386:
	case SYS_ARCH_ARM:
		return task->nr == 120;
	case SYS_ARCH_X32:
		return (task->nr & 0xffff) == 56;
	default:
		return task->id == CALL_clone;
	}
}

bool call_is_clone3(const struct task *task)
{
	return task->arch == SYS_ARCH_NATIVE ? task->id == CALL_clone3 : (task->nr & 0xffff) == 435;
}

void call_note_clone(struct engine_pt *e, struct task *task, const struct __ptrace_syscall_info *info)
{
	task->nr = (int32_t)info->entry.nr;
	for (int i = 0; i < 6; i++)
		task->args[i] = info->entry.args[i];
	task->arch = (uint16_t)arch_of(info->arch, info->entry.nr);
	task->id = sys_call_id((enum sys_arch)task->arch, task->nr);
	task->clone_flags = 0;
	if (is_clone(task)) {
		task->clone_flags = task->args[0];
	} else if (task->id == CALL_vfork) {
		task->clone_flags = CLONE_VFORK | CLONE_VM;
	} else if (call_is_clone3(task)) {
		uint64_t flags = 0;

		(void)memory_read(e, task->tid, task->args[0], &flags, sizeof flags);
		task->clone_flags = flags;
	}
}

void call_enter(struct engine_pt *e, struct task *task, const struct __ptrace_syscall_info *info, uint64_t seen_ns,
		bool counted)
{
	e->stats.seen += counted;
	task->in_call = counted;
	task->followed_call = !counted;
	task->entered_before = false;
	task->exec_event = false;
	task->fork_event = false;
	task->call_ns = 0;
	task->ip = info->instruction_pointer;
	task->enter_ns = seen_ns;
	call_note_clone(e, task, info);
	buf_clear(&task->entered);
	if (e->stats.scoped)
		scope_keep_child(e, task);
	pin_enter(e, task);
	if (task->arch != SYS_ARCH_NATIVE) {
		e->stats.met |= ENGINE_MET_COMPAT;
		return;
	}
	if (counted) {
		capture_items(e, task, SYS_ENTER, 0, &task->entered);
		if (e->stacks_seen)
			stack_take(e, task, info->stack_pointer);
	}
}

/* Children are counted by what the calls return, apart from fork events. */
static void count_children(struct engine_pt *e, const struct task *task, int64_t ret, bool returned)
{
	bool native = task->arch == SYS_ARCH_NATIVE;

	if (native && !makes_child(task->id))
		return;
	if (!native && !task->fork_event)
		return;
	if (returned ? ret > 0 : task->fork_event)
		e->stats.children++;
	if (returned && ret > 0 && !task->fork_event) {
		e->stats.not_followed++;
		if (task->clone_flags & CLONE_UNTRACED)
			e->stats.met |= ENGINE_MET_UNTRACED;
	}
}

static struct event_call *begin_record(struct engine_pt *e, struct task *task)
{
	struct event_call *call = event_begin(&e->record, EVENT_CALL);

	if (!call)
		return NULL;
	engine_head(e, &call->head, task, task->enter_ns);
	if (task->arch != SYS_ARCH_NATIVE)
		call->head.flags |= EVENT_F_COMPAT;
	call->duration_ns = task->call_ns;
	for (int i = 0; i < 6; i++)
		call->args[i] = task->args[i];
	call->ip = task->ip;
	call->nr = task->nr;
	call->arch = task->arch;
	return call;
}

static bool is_mark(const struct task *task, const struct event_head *head)
{
	const struct event_item *path;

	if (!engine_can_mark(task->id))
		return false;
	path = event_item(head, SYS_ITEM_PATH);
	return path && path->bytes > sizeof MARK_PREFIX - 1 &&
	       memcmp(event_item_data(path), MARK_PREFIX, sizeof MARK_PREFIX - 1) == 0;
}

/* Has the call given its task another table of mounts? */
static bool moves_mounts(const struct task *task, int64_t ret)
{
	if (ret < 0 || task->arch != SYS_ARCH_NATIVE)
		return false;
	switch ((int)task->id) {
	case CALL_mount:
	case CALL_umount2:
	case CALL_move_mount:
	case CALL_pivot_root:
	case CALL_setns:
		return true;
	case CALL_unshare:
		return task->args[0] & CLONE_NEWNS;
	default:
		return false;
	}
}

void call_leave(struct engine_pt *e, struct task *task, const struct __ptrace_syscall_info *info, uint64_t seen_ns)
{
	bool no_enter = !task->in_call;
	int64_t ret = no_enter && !task->followed_call ? (int64_t)info->exit.rval
						       : tracer_answer(e, task, (int64_t)info->exit.rval);
	struct event_call *call;
	struct event_head *head;

	if (task->followed_call) {
		task->followed_call = false;
		count_children(e, task, ret, true);
		note_blind_spots(e, task, ret);
		scope_return(e, task, ret);
		return;
	}
	if (no_enter) {
		/* We came while it was inside a call. */
		e->stats.seen++;
		task->nr = -1;
		task->id = CALL_unknown;
		task->arch = (uint16_t)arch_of(info->arch, 0);
		memset(task->args, 0, sizeof task->args);
		task->ip = info->instruction_pointer;
		task->enter_ns = seen_ns;
		task->call_ns = 0;
		buf_clear(&task->entered);
	}
	task->in_call = false;
	count_children(e, task, ret, true);
	note_blind_spots(e, task, ret);
	code_call(task, ret);
	if (e->stats.scoped)
		scope_return(e, task, ret);
	else
		clock_return(e, task, seen_ns);

	call = begin_record(e, task);
	if (call) {
		call->ret = ret;
		if (no_enter)
			call->head.flags |= EVENT_F_NO_ENTER | (task->entered_before ? EVENT_F_BEFORE_ATTACH : 0);
		if (task->entered.bytes > 0)
			(void)buf_add(&e->record, task->entered.data, task->entered.bytes);
		if (task->arch == SYS_ARCH_NATIVE && !no_enter)
			capture_items(e, task, SYS_EXIT, ret, &e->record);
	}
	task->entered_before = false;
	head = engine_emit(e);
	if (head && is_mark(task, head)) {
		head->flags |= EVENT_F_MARK;
		e->stats.marks++;
	}
	if (e->pin.active)
		pin_exit(e, task, head, ret);
	if (!e->stats.scoped && moves_mounts(task, ret))
		state_mounts(e, task);
}

void call_unfinished(struct engine_pt *e, struct task *task, bool killed)
{
	struct event_call *call;
	bool counted = task->in_call;

	if (!counted && !task->followed_call)
		return;
	task->in_call = false;
	task->followed_call = false;
	count_children(e, task, 0, false);
	if (!counted)
		return;
	call = begin_record(e, task);
	if (call) {
		call->head.flags |= EVENT_F_UNFINISHED;
		if (killed && !is_exit(task->id))
			call->head.flags |= EVENT_F_KILLED;
		if (task->entered.bytes > 0)
			(void)buf_add(&e->record, task->entered.data, task->entered.bytes);
	}
	(void)engine_emit(e);
}

void call_stop(struct engine_pt *e, struct task *task, uint64_t seen_ns)
{
	struct __ptrace_syscall_info info = { 0 }; /* valgrind does not know that the kernel fills it */
	long got = ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof info, &info);

	if (got <= 0 ? errno == ESRCH : info.op == PTRACE_SYSCALL_INFO_NONE)
		return; /* killed meanwhile: its exit stop or its death will be told */
	if (got <= 0) {
		engine_release(e, task, 0);
		return;
	}
	if (e->stats.scoped) {
		scope_call_stop(e, task, &info, seen_ns);
	} else if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		/* What the child does between fork and its execve is ours. */
		if (!task->starting ||
		    sys_call_id(arch_of(info.arch, info.entry.nr), (int32_t)info.entry.nr) == CALL_execve) {
			call_enter(e, task, &info, seen_ns, true);
			if (tracer_hand_over(e, task))
				return;
			clock_enter(e, task, seen_ns);
		}
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
		if (!task->starting || task->in_call)
			call_leave(e, task, &info, seen_ns);
	}
	engine_release(e, task, 0);
}
