/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long: stretches between calls, and those that are so long that the task may
 * have waited for a CPU.  Part of kernel.bpf.c, not a file by itself; what of a
 * time is ours is taken out by whoever reads the records.
 */
/* Told before the call that it belongs to. */
static __always_inline void tell_queued(struct kern_books *book, const struct kern_task *task, uint64_t waited)
{
	struct event_queued queued = { .ns = waited };

	if (waited == 0)
		return;
	queued.head.bytes = sizeof queued;
	queued.head.type = EVENT_QUEUED;
	queued.head.pid = task->call.head.pid;
	queued.head.tid = task->call.head.tid;
	queued.head.time_ns = task->exit_ns;
	/* It only makes an estimate better: no loss when there is no room. */
	(void)put(book, &queued, sizeof queued, 1);
}

/* How long it has waited for a CPU in the last so many ns, as far as we know. */
static __always_inline uint64_t waited_in(struct kern_task *task, uint64_t ns)
{
	uint64_t delay = own_delay(), waited = delay - task->delay_ns;

	task->delay_ns = delay;
	return waited > ns ? ns : waited;
}

/* A stretch between calls that is long, or the first one. */
SEC("raw_tp")
int on_gap(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct kern_books *book = my_books();
	uint64_t now = bpf_ktime_get_ns(), gap, waited;

	if (!task || !book)
		return 0;
	if (task->flags & KERN_TASK_RETURNED) {
		gap = now - task->exit_ns;
		if (gap > LONG_NS) {
			waited = waited_in(task, gap);
			gap -= waited;
			tell_queued(book, task, waited);
		}
		task->user_ns += gap;
		if (task->flags & KERN_TASK_LATE)
			task->late_gaps++;
		else
			task->gaps++;
	} else {
		/* What it waited before we came is in no stretch and in no call. */
		task->delay_ns = own_delay();
		if (task->ran_ns != 0 && at.task_se != KERN_NO_FIELD && at.se_sum_exec_runtime != KERN_NO_FIELD) {
			/* Since we came: its account lags behind by a tick at most. */
			gap = own_u64(at.task_se + at.se_sum_exec_runtime) - task->ran_ns;
			task->user_ns += (int64_t)gap > 0 ? gap : 0;
		}
	}
	if (task->flags & KERN_TASK_ENDING) {
		task->exit_ns = now;
		go_on(ctx, CHAIN_ENDED);
		return 0;
	}
	task->call.head.time_ns = now;
	return 0;
}

static __always_inline void enter_done(struct bpf_raw_tracepoint_args *ctx, struct kern_task *task)
{
	uint64_t now = bpf_ktime_get_ns(), gap = now - task->exit_ns;

	if (gap > LONG_NS || !(task->flags & KERN_TASK_RETURNED)) {
		go_on(ctx, CHAIN_GAP);
		return;
	}
	task->user_ns += gap;
	if (task->flags & KERN_TASK_LATE)
		task->late_gaps++;
	else
		task->gaps++;
	/* For the calibration: an argument that its calls do not have. */
	if (task->flags & KERN_TASK_STARTING)
		task->call.args[KERN_GAP_ARG] = gap;
	task->call.head.time_ns = now;
}

/*
 * A long call: what it waited for a CPU is not its own, and it may have slept.
 * Both as the counters were when we looked last; short stretches hide little.
 * The interval still ends where it ended: calls of several tasks are ordered
 * by that.
 */
SEC("raw_tp")
int on_long(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	uint64_t now = bpf_ktime_get_ns(), sleeps = 0, waited;
	struct kern_books *book = my_books();

	if (!task || !book)
		return 0;
	if (at.task_nvcsw != KERN_NO_FIELD)
		sleeps = own_u64(at.task_nvcsw);
	if (sleeps != task->sleeps)
		task->call.head.flags |= EVENT_F_SLEPT;
	task->sleeps = sleeps;
	waited = waited_in(task, now - task->call.head.time_ns);
	task->call.head.time_ns += waited;
	tell_queued(book, task, waited);
	task->exit_ns = now;
	task->flags |= KERN_TASK_LOOKED_AT;
	go_on(ctx, CHAIN_EXIT);
	return 0;
}
