/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small things that all programs need: fields of the running task, its storage,
 * the books and the working place of its CPU, which call is which.  Whether a
 * task is followed, and how it shows itself.  Part of kernel.bpf.c, not a file by
 * itself; writes no records.
 */
#define CLONE_VM 0x00000100
#define CLONE_VFORK 0x00004000
#define CLONE_THREAD 0x00010000
#define CHILD_SIGNAL 17
#define SIGNAL_SYS 31
#define LONG_NS 50000 /* a stretch in which it may have waited for a CPU */

/* On in another program.  Where the verifier knows which one the kernel writes
 * a jump to it into the code, by stopping all CPUs for each: that is for what
 * comes with many calls. */
static __always_inline void go_on(struct bpf_raw_tracepoint_args *ctx, uint32_t chain_index)
{
	bpf_tail_call(ctx, &chain, chain_index + live.nothing);
}

static __always_inline uint64_t own_u64(uint32_t offset)
{
	return field_u64(bpf_get_current_task_btf(), offset);
}

static __always_inline uint32_t own_u32(uint32_t offset)
{
	return field_u32(bpf_get_current_task_btf(), offset);
}

static __always_inline struct kern_books *my_books(void)
{
	uint32_t cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&books, &cpu);
}

static __always_inline struct kern_scratch *my_scratch(void)
{
	uint32_t cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&scratches, &cpu);
}

/* The number of a task in our pid namespace; 0 when it is outside. */
static __always_inline uint32_t tid_of(uint64_t task)
{
	uint64_t pid;

	if (settings.first_level || live.pid_level == 0)
		return kernel_u32(task, at.task_pid);
	pid = kernel_u64(task, at.task_thread_pid);
	if (kernel_u32(pid, at.pid_level) < live.pid_level)
		return 0;
	return kernel_u32(pid, at.pid_numbers + live.pid_level * KERN_UPID_BYTES);
}

static __always_inline uint32_t pid_of(uint64_t task)
{
	if (settings.first_level || live.pid_level == 0)
		return kernel_u32(task, at.task_tgid);
	return tid_of(kernel_u64(task, at.task_group_leader));
}

/* Functions that are not static are verified once and by themselves: what
 * branches in them multiplies nothing in their callers. */

/* The number as the task itself sees it; 0 when that is the same. */
__noinline uint32_t inner_of(uint64_t task)
{
	uint64_t pid = kernel_u64(task, at.task_thread_pid);
	uint32_t level = kernel_u32(pid, at.pid_level);

	if (level <= live.pid_level || level > 32)
		return 0;
	return kernel_u32(pid, at.pid_numbers + level * KERN_UPID_BYTES);
}

static __always_inline uint64_t own_delay(void)
{
	if (at.task_sched_info == KERN_NO_FIELD || at.sched_run_delay == KERN_NO_FIELD)
		return 0;
	return own_u64(at.task_sched_info + at.sched_run_delay);
}

/* Interruptions are no failures, and rt_sigreturn's result says nothing; who
 * splits by errno knows better: this is only which of two sums it is in. */
static __always_inline uint32_t outcome_of(int64_t ret)
{
	return ret < 0 && ret >= -4095 ? KERN_FAILED : KERN_OK;
}

static __always_inline const volatile struct kern_plan *plan_of(uint32_t number)
{
	KEEP(number);
	return &plans[number & (KERN_NRS - 1)];
}

/* A native number that the plans know; KERN_NRS for all others. */
static __always_inline uint32_t plan_number(uint32_t arch, int32_t nr)
{
	return arch == ARCH_NATIVE && nr >= 0 && nr < KERN_NRS ? (uint32_t)nr : KERN_NRS;
}

static __always_inline void bump_ended(struct kern_books *book, uint32_t arch, int32_t nr, uint32_t outcome)
{
	uint32_t place = arch == ARCH_NATIVE && (uint32_t)nr < KERN_NRS ? (uint32_t)nr : place_of(arch, nr);

	KEEP(place);
	if (place < KERN_PLACES && outcome < KERN_OUTCOMES)
		book->ended[place][outcome]++;
}

/*
 * A child at its first return, a thread of an attached process at its next
 * call: it makes its own storage, since only the running task can be handed
 * to the helper here.  Everybody else pays for one comparison.  Then what
 * has called goes on from its begin.
 */
SEC("raw_tp")
int on_adopt(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct kern_scratch *scratch = my_scratch();
	struct kern_books *book = my_books();
	struct kern_awaited *entry, value;
	struct kern_task *task = NULL;
	uint32_t tid = tid_of((uint64_t)current);
	uint64_t made;

	entry = bpf_map_lookup_elem(&awaited, &tid);
	if (!entry || !book || !scratch)
		return 0;
	value = *entry;
	(void)bpf_map_delete_elem(&awaited, &tid);
	__sync_fetch_and_add(&live.awaited, -1);
	made = __sync_fetch_and_add(&live.storages, 1) + 1;
	if (!settings.fail_storage || made % settings.fail_storage != 0)
		task = bpf_task_storage_get(&tasks, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!task) {
		book->storage_failed++;
		__sync_fetch_and_add(&live.tasks, -1);
		return 0;
	}
	task->call.head.type = EVENT_CALL;
	task->call.head.tid = tid;
	task->call.head.pid = value.pid;
	task->flags = value.flags;
	task->code = value.code;
	task->image = value.image;
	go_on(ctx, (uint32_t)scratch->next);
	return 0;
}

/* Every task of the machine pays for this, at each of its calls: no number of
 * ours, no more of it. */
static __always_inline int is_foreign(const struct task_struct *current)
{
	uint32_t pid;

	/* Elsewhere the one side does not know the other's numbers. */
	if (!settings.first_level)
		return 0;
	pid = field_u32(current, at.task_tgid);
	return !(live.pids[KERN_PID_WORD(pid)] & KERN_PID_BIT(pid));
}

/* The running task when it is followed; else NULL, or on from the begin. */
static __always_inline struct kern_task *find(struct bpf_raw_tracepoint_args *ctx, struct task_struct *current,
					      uint32_t self)
{
	struct kern_scratch *scratch;
	struct kern_task *task;

	if (is_foreign(current))
		return NULL;
	task = bpf_task_storage_get(&tasks, current, NULL, 0);
	if (!task && live.awaited > 0) {
		scratch = my_scratch();
		if (scratch) {
			scratch->next = self;
			go_on(ctx, CHAIN_ADOPT);
		}
	}
	return live.closing ? NULL : task;
}
