/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's side: five raw tracepoints that fill a record at the enter of
 * a call and emit it once at its exit.  Raw tracepoints without relocations
 * load in a millisecond because nobody has to parse the kernel's type
 * information; the few fields that are read have their offsets in `at`.
 * Everything that may fail is counted, nothing here waits.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "engine/bpf/read.bpf.h"
#include "engine/bpf/shared.h"

/* Each needs those before it. */
/* clang-format off */
#include "engine/bpf/maps.bpf.h"
#include "engine/bpf/machine.bpf.h"
#include "engine/bpf/task.bpf.h"
#include "engine/bpf/put.bpf.h"
#include "engine/bpf/time.bpf.h"
#include "engine/bpf/caller.bpf.h"
#include "engine/bpf/items.bpf.h"
/* clang-format on */

__noinline int note_clone(struct kern_task *task, uint32_t arch, uint32_t plan_flags)
{
	if (!task)
		return 0;
	task->clone_flags = 0;
	if (arch != ARCH_NATIVE) {
		/* clone is 120 on i386 and arm. */
		if (task->call.nr == 120)
			task->clone_flags = task->call.args[0];
		return 0;
	}
	if (plan_flags & KERN_CLONE)
		task->clone_flags = task->call.args[0];
	else if (plan_flags & KERN_CLONE3)
		(void)bpf_probe_read_user(&task->clone_flags, sizeof task->clone_flags, (void *)task->call.args[0]);
	else if (plan_flags & KERN_VFORK)
		task->clone_flags = CLONE_VFORK | CLONE_VM;
	else if (plan_flags & KERN_FORK)
		task->clone_flags = CHILD_SIGNAL;
	return 0;
}

/* The last thing of an enter: what is to be copied of its arguments. */
static __always_inline void end_enter(struct bpf_raw_tracepoint_args *ctx, struct kern_task *task, uint32_t number)
{
	struct kern_scratch *scratch;

	if (number < KERN_NRS && plan_of(number)->enter_ops) {
		scratch = my_scratch();
		if (scratch) {
			call_in(scratch)->items = 0;
			call_in(scratch)->head.flags = 0;
			scratch->used = sizeof(struct event_call);
			scratch->next = scratch->message = scratch->at_exit = scratch->part_count = 0;
			bpf_tail_call(ctx, &chain, CHAIN_ITEMS);
		}
	}
	enter_done(ctx, task);
}

/* A copy of the stack of a call that begins.  The time for it is not the program's. */
SEC("raw_tp")
int on_stack(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct kern_scratch *scratch = my_scratch();
	struct kern_books *book = my_books();
	uint64_t begin = bpf_ktime_get_ns();

	if (!settings.stacks || !task || !scratch || !book)
		return 0;
	copy_stack(task, scratch, book, ctx->args[0]);
	task->exit_ns += bpf_ktime_get_ns() - begin;
	end_enter(ctx, task, plan_number(task->call.arch, task->call.nr));
	return 0;
}

static __always_inline const struct registers *registers_of(struct bpf_raw_tracepoint_args *ctx,
							    struct task_struct *current)
{
	const void *(*cast)(uint64_t, uint32_t) = (void *)KERN_CAST_CALL;

	if (settings.registers == KERN_REGISTERS_CAST)
		return cast(ctx->args[0], settings.registers_type);
	return (const struct registers *)bpf_task_pt_regs(current);
}

SEC("raw_tp/sys_enter")
int on_enter(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct kern_task *task = find(ctx, current, CHAIN_ENTER);
	struct kern_books *book;
	struct registers regs;
	uint32_t arch, number, plan_flags = 0;
	int32_t nr = (int32_t)ctx->args[1];
	uint64_t sp, link, frame, base;

	if (!task)
		return 0;
	book = my_books();
	if (!book)
		return 0;
	arch = arch_of(current, nr);
	number = plan_number(arch, nr);
	if (number < KERN_NRS)
		plan_flags = plan_of(number)->flags;
	if (task->flags & KERN_TASK_STARTING) {
		/* What the child does before its execve is ours, but for the calibration. */
		if (!(plan_flags & (KERN_EXECS | KERN_PROBED)))
			return 0;
	}
	if (!(task->flags & KERN_TASK_STARTING) || (plan_flags & KERN_EXECS))
		book->entered++;
	if (task->flags & KERN_TASK_IN_CALL)
		book->strays++;
	task->regs = ctx->args[0];
	if (settings.registers != KERN_REGISTERS_COPIED) {
		/* Loaded as they are asked for. */
		const struct registers *direct = registers_of(ctx, current);

		take_registers(&task->call, direct, arch, 0);
		sp = SP_OF(direct);
		link = LINK_OF(direct);
		frame = FRAME_OF(direct);
		base = BASE_OF(direct);
	} else {
		if (bpf_probe_read_kernel(&regs, sizeof regs, (void *)ctx->args[0]) != 0)
			return 0;
		take_registers(&task->call, &regs, arch, 0);
		sp = SP_OF(&regs);
		link = LINK_OF(&regs);
		frame = FRAME_OF(&regs);
		base = BASE_OF(&regs);
	}
	task->call.nr = nr;
	task->call.arch = (uint16_t)arch;
	task->call.head.flags = arch == ARCH_NATIVE ? 0 : EVENT_F_COMPAT;
	task->entered_bytes = 0;
	task->entered_items = 0;
	task->unread = 0;
	task->flags = (task->flags | KERN_TASK_IN_CALL) & ~(KERN_TASK_ATTACHED | KERN_TASK_MADE_CHILD | KERN_TASK_BORN);
	if (arch != ARCH_NATIVE || (plan_flags & KERN_MAKES_CHILD))
		(void)note_clone(task, arch, plan_flags);
	if (settings.stacks && arch == ARCH_NATIVE && take_caller(task, sp, link, frame, base) &&
	    !(task->flags & KERN_TASK_STARTING))
		go_on(ctx, CHAIN_STACK);
	end_enter(ctx, task, number);
	return 0;
}

/* The call is known from the registers alone: we came while it was inside, or
 * seccomp had refused it before we were asked.  A call that seccomp has killed
 * its task for was never told: the registers of a task that ends still hold it,
 * and it is not the last one we saw. */
SEC("raw_tp")
int on_no_enter(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	uint32_t arch, flags = EVENT_F_NO_ENTER, back = CHAIN_EXIT;
	struct kern_books *book = my_books();
	struct registers regs;
	uint64_t from;
	int32_t nr;

	if (!task || !book)
		return 0;
	from = ctx->args[0];
	if (task->flags & KERN_TASK_ENDING) {
		from = task->regs;
		back = CHAIN_END;
	} else if (task->flags & KERN_TASK_ATTACHED) {
		flags |= EVENT_F_BEFORE_ATTACH;
	}
	if (bpf_probe_read_kernel(&regs, sizeof regs, (void *)from) != 0)
		nr = -1;
	else
		nr = NR_OF(&regs);
	if (back == CHAIN_END && (nr < 0 || (nr == task->call.nr && IP_OF(&regs) == task->call.ip))) {
		go_on(ctx, CHAIN_END);
		return 0;
	}
	book->no_enter++;
	arch = arch_of(bpf_get_current_task_btf(), nr);
	task->regs = from;
	task->call.nr = nr;
	task->call.arch = (uint16_t)arch;
	take_registers(&task->call, &regs, arch, 1);
	/* It may be the first that we see of the task: what it waited before is of no call. */
	task->delay_ns = own_delay();
	task->call.head.time_ns = bpf_ktime_get_ns();
	task->call.head.flags = (uint16_t)(flags | (arch == ARCH_NATIVE ? 0 : EVENT_F_COMPAT));
	task->entered_bytes = 0;
	task->entered_items = 0;
	task->unread = ~0u;
	task->flags |= KERN_TASK_IN_CALL;
	go_on(ctx, back);
	return 0;
}

SEC("raw_tp/sys_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = find(ctx, bpf_get_current_task_btf(), CHAIN_EXIT);
	int64_t ret = (int64_t)ctx->args[1];
	struct kern_books *book;
	uint32_t number, flags;
	uint64_t now, spent;

	/* Every task of the machine comes here: first of all whether it is ours. */
	if (!task)
		return 0;
	now = bpf_ktime_get_ns();
	flags = task->flags;
	if (!(flags & KERN_TASK_IN_CALL)) {
		/* A child's return from the call that made it is its parent's. */
		if (flags & KERN_TASK_BORN) {
			task->exit_ns = now;
			task->delay_ns = own_delay();
			task->flags = KERN_TASK_RETURNED;
			return 0;
		}
		if (!(flags & KERN_TASK_STARTING))
			go_on(ctx, CHAIN_NO_ENTER);
		return 0;
	}
	book = my_books();
	if (!book)
		return 0;
	number = plan_number(task->call.arch, task->call.nr);
	task->call.ret = ret;
	if (flags & KERN_TASK_LOOKED_AT)
		now = task->exit_ns;
	spent = now - task->call.head.time_ns;
	if (spent > LONG_NS && !(flags & KERN_TASK_LOOKED_AT)) {
		go_on(ctx, CHAIN_LONG);
		return 0;
	}
	if (task->call.head.flags & EVENT_F_NO_ENTER)
		spent = 0;
	task->call.duration_ns = spent > live.floor_ns ? spent - live.floor_ns : 0;
	if ((flags & KERN_TASK_STARTING) && number < KERN_NRS && (plan_of(number)->flags & KERN_PROBED))
		task->call.head.flags |= KERN_F_PROBED;
	else
		bump_ended(book, task->call.arch, task->call.nr, outcome_of(ret));
	if (number < KERN_NRS ? plan_of(number)->flags & KERN_MAKES_CHILD : flags & KERN_TASK_MADE_CHILD) {
		if (ret > 0)
			book->children++;
		if (flags & KERN_TASK_MADE_CHILD)
			book->returned++;
	}
	task->flags = (flags | KERN_TASK_RETURNED) & ~(KERN_TASK_IN_CALL | KERN_TASK_LATE | KERN_TASK_MADE_CHILD |
						       KERN_TASK_ATTACHED | KERN_TASK_LOOKED_AT);
	task->exit_ns = now;
	if (settings.stacks && number < KERN_NRS && (plan_of(number)->flags & KERN_MAPS_CODE))
		(void)note_code(task, plan_of(number)->flags & KERN_MAPS_AT_FIRST);
	if (task->entered_bytes > CALLER_BYTES || (number < KERN_NRS && (plan_of(number)->exit_ops || task->unread))) {
		struct kern_scratch *scratch;

		if (number < KERN_NRS && copy_shorts(task, plan_of(number)->exit_ops)) {
			int done = put_entered(book, task);

			task->flags |= KERN_TASK_LATE;
			task->exit_ns = bpf_ktime_get_ns();
			if (!done)
				go_on(ctx, CHAIN_LOST);
			return 0;
		}
		scratch = my_scratch();
		if (scratch) {
			scratch->at_exit = KERN_EXIT_BEGINS;
			bpf_tail_call(ctx, &chain, CHAIN_ITEMS);
		}
	}
	/* Most calls have nothing behind the fixed part. */
	if (settings.stacks && task->entered_bytes == CALLER_BYTES) {
		task->call.head.bytes = sizeof task->call + sizeof(struct kern_caller);
		task->call.items = 1;
		if (put(book, &task->call, sizeof task->call + sizeof(struct kern_caller), 1) != 0)
			go_on(ctx, CHAIN_LOST);
		return 0;
	}
	task->call.head.bytes = sizeof task->call;
	task->call.items = 0;
	if (put(book, &task->call, sizeof task->call, 1) != 0)
		go_on(ctx, CHAIN_LOST);
	return 0;
}

/* Run by the reader itself: how deep is it? */
SEC("raw_tp")
int on_ask(struct bpf_raw_tracepoint_args *ctx)
{
	live.pid_level = kernel_u32(kernel_u64(bpf_get_current_task(), at.task_thread_pid), at.pid_level);
	return 0;
}

#include "engine/bpf/image.bpf.h"
#include "engine/bpf/life.bpf.h"
