/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Births and ends of tasks.  Part of kernel.bpf.c, not a file by itself; a child
 * makes its own storage, in task.bpf.h.
 */
SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *parent = find(ctx, bpf_get_current_task_btf(), CHAIN_FORK);
	uint64_t child = ctx->args[1];
	struct kern_awaited value = { 0 };
	struct event_fork fork = { 0 };
	struct kern_books *book;
	uint32_t tid, pid;

	if (!parent)
		return 0;
	book = my_books();
	if (!book)
		return 0;
	if (parent->flags & KERN_TASK_STARTING)
		return 0;
	tid = tid_of(child);
	value.pid = pid_of(child);
	value.flags = KERN_TASK_BORN;
	fork.head.bytes = sizeof fork;
	fork.head.type = EVENT_FORK;
	fork.head.pid = parent->call.head.pid;
	fork.head.tid = parent->call.head.tid;
	fork.head.time_ns = bpf_ktime_get_ns();
	fork.clone_flags = parent->flags & KERN_TASK_IN_CALL ? parent->clone_flags : 0;
	if (value.pid != tid)
		fork.clone_flags |= CLONE_THREAD;
	fork.child_tid = tid;
	fork.child_pid = value.pid;
	fork.child_ns_tid = inner_of(child);
	if (fork.child_ns_tid)
		fork.child_ns_pid =
			value.pid == tid ? fork.child_ns_tid : inner_of(kernel_u64(child, at.task_group_leader));
	fork.followed = !settings.task_limit || live.tasks < settings.task_limit;
	if (fork.followed) {
		pid = kernel_u32(child, at.task_tgid);
		__sync_fetch_and_or(&live.pids[KERN_PID_WORD(pid)], KERN_PID_BIT(pid));
		if (settings.stacks) {
			value.image = parent->image;
			value.code = code_fork(parent->code, (fork.clone_flags & CLONE_VM) != 0);
			if (parent->code && !value.code)
				book->codes_full++;
		}
		__sync_fetch_and_add(&live.awaited, 1);
		if (bpf_map_update_elem(&awaited, &tid, &value, BPF_ANY) != 0) {
			__sync_fetch_and_add(&live.awaited, -1);
			book->awaited_failed++;
			fork.followed = 0;
			(void)code_drop(value.code);
		}
	}
	if (fork.followed) {
		__sync_fetch_and_add(&live.tasks, 1);
		book->followed++;
	} else {
		book->not_followed++;
	}
	parent->flags |= KERN_TASK_MADE_CHILD;
	book->made++;
	put_state(book, &fork, sizeof fork);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int on_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = find(ctx, bpf_get_current_task_btf(), CHAIN_END);
	struct kern_scratch *scratch = my_scratch();
	struct kern_books *book = my_books();
	uint64_t now = bpf_ktime_get_ns();
	uint32_t code, number, flags;

	if (!task || !scratch || !book)
		return 0;
	scratch->message = 0;
	code = own_u32(at.task_exit_code);
	flags = task->flags;
	task->flags = flags | KERN_TASK_ENDING;
	if (!(flags & (KERN_TASK_IN_CALL | KERN_TASK_ENDING)) && (code & 0x7f) == SIGNAL_SYS && task->regs) {
		go_on(ctx, CHAIN_NO_ENTER);
		return 0;
	}
	/* Nothing of it is seen from now on; its storage goes with it. */
	if (!(flags & KERN_TASK_IN_CALL)) {
		go_on(ctx, CHAIN_GAP);
		return 0;
	}
	task->flags = flags & ~KERN_TASK_IN_CALL;
	task->exit_ns = now;
	if (flags & KERN_TASK_STARTING) {
		go_on(ctx, CHAIN_ENDED);
		return 0;
	}
	number = plan_number(task->call.arch, task->call.nr);
	if (flags & KERN_TASK_MADE_CHILD) {
		book->children++;
		book->returned++;
	}
	task->call.ret = 0;
	task->call.duration_ns = now - task->call.head.time_ns;
	task->call.head.flags |= EVENT_F_UNFINISHED;
	if ((code & 0x7f) && !(number < KERN_NRS && (plan_of(number)->flags & KERN_ENDS)))
		task->call.head.flags |= EVENT_F_KILLED;
	bump_ended(book, task->call.arch, task->call.nr, KERN_UNRETURNED);
	scratch->at_exit = KERN_EXIT_ENDS;
	bpf_tail_call(ctx, &chain, CHAIN_ITEMS);
	return 0;
}

SEC("raw_tp")
int on_ended(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct kern_scratch *scratch = my_scratch();
	struct kern_books *book = my_books();
	struct kern_exit end = { 0 };

	if (!task || !book || !scratch)
		return 0;
	end.head.bytes = sizeof end;
	end.head.type = KERN_RECORD_EXIT;
	end.head.pid = task->call.head.pid;
	end.head.tid = task->call.head.tid;
	end.head.time_ns = task->exit_ns;
	end.code = own_u32(at.task_exit_code);
	end.flags = task->flags;
	if (at.task_se != KERN_NO_FIELD && at.se_sum_exec_runtime != KERN_NO_FIELD)
		end.run_ns = own_u64(at.task_se + at.se_sum_exec_runtime);
	end.user_ns = task->user_ns;
	end.gaps = task->gaps;
	end.late_gaps = task->late_gaps;
	put_state(book, &end, sizeof end);
	__sync_fetch_and_add(&live.tasks, -1);
	if (settings.stacks) {
		(void)code_drop(task->code);
		task->code = 0;
	}
	/* The call that it was in found no room. */
	if (scratch->message)
		go_on(ctx, CHAIN_LOST);
	return 0;
}
