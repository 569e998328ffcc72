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

char licence[] SEC("license") = "Dual BSD/GPL";

const volatile struct kern_settings settings;
const volatile struct kern_offsets at;
const volatile struct kern_plan plans[KERN_NRS];
struct kern_live live;

/* A small one at first; the one that takes its place may be larger. */
struct ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__array(values, struct ring_map);
} rings SEC(".maps") = {
	.values = { &ring },
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct kern_task);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct kern_books);
} books SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct kern_scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KERN_AWAITED_MAX);
	__type(key, uint32_t);
	__type(value, struct kern_awaited);
} awaited SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KERN_LOST_KEYS);
	__type(key, struct kern_lost_key);
	__type(value, struct kern_lost);
} lost SEC(".maps");

/* Programs are called by others where a function would be verified anew in
 * each of them; what begins with a task that is not known yet is begun again. */
enum {
	CHAIN_ITEMS,
	CHAIN_STACK,
	CHAIN_CODE,
	CHAIN_ENVIRONMENT,
	CHAIN_IMAGE,
	CHAIN_NAMES,
	CHAIN_ADOPT,
	CHAIN_LOST,
	CHAIN_ENDED,
	CHAIN_ENTER,
	CHAIN_EXIT,
	CHAIN_FORK,
	CHAIN_EXEC,
	CHAIN_END,
	CHAIN_NO_ENTER,
	CHAIN_LONG,
	CHAIN_GAP,
	CHAIN_COUNT
};
int on_items(struct bpf_raw_tracepoint_args *ctx);
int on_stack(struct bpf_raw_tracepoint_args *ctx);
int on_code(struct bpf_raw_tracepoint_args *ctx);
int on_environment(struct bpf_raw_tracepoint_args *ctx);
int on_image(struct bpf_raw_tracepoint_args *ctx);
int on_names(struct bpf_raw_tracepoint_args *ctx);
int on_adopt(struct bpf_raw_tracepoint_args *ctx);
int on_lost(struct bpf_raw_tracepoint_args *ctx);
int on_ended(struct bpf_raw_tracepoint_args *ctx);
int on_enter(struct bpf_raw_tracepoint_args *ctx);
int on_exit(struct bpf_raw_tracepoint_args *ctx);
int on_fork(struct bpf_raw_tracepoint_args *ctx);
int on_exec(struct bpf_raw_tracepoint_args *ctx);
int on_end(struct bpf_raw_tracepoint_args *ctx);
int on_no_enter(struct bpf_raw_tracepoint_args *ctx);
int on_long(struct bpf_raw_tracepoint_args *ctx);
int on_gap(struct bpf_raw_tracepoint_args *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, CHAIN_COUNT);
	__uint(key_size, sizeof(uint32_t));
	__array(values, int(void *));
} chain SEC(".maps") = {
	.values = {
		[CHAIN_ITEMS] = (void *)&on_items,
		[CHAIN_STACK] = (void *)&on_stack,
		[CHAIN_CODE] = (void *)&on_code,
		[CHAIN_ENVIRONMENT] = (void *)&on_environment,
		[CHAIN_IMAGE] = (void *)&on_image,
		[CHAIN_NAMES] = (void *)&on_names,
		[CHAIN_ADOPT] = (void *)&on_adopt,
		[CHAIN_LOST] = (void *)&on_lost,
		[CHAIN_ENDED] = (void *)&on_ended,
		[CHAIN_ENTER] = (void *)&on_enter,
		[CHAIN_EXIT] = (void *)&on_exit,
		[CHAIN_FORK] = (void *)&on_fork,
		[CHAIN_EXEC] = (void *)&on_exec,
		[CHAIN_END] = (void *)&on_end,
		[CHAIN_NO_ENTER] = (void *)&on_no_enter,
		[CHAIN_LONG] = (void *)&on_long,
		[CHAIN_GAP] = (void *)&on_gap,
	},
};

/* What the two kinds of machine differ in: struct pt_regs, which is as fixed
 * as the interface of signals and tracers is. */
#if defined SYSCULL_BPF_X86_64
struct registers {
	uint64_t r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp;
};
#define ARCH_NATIVE 0 /* SYS_ARCH_X86_64 */
#define ARCH_COMPAT 1
#define ARCH_X32 2
#define X32_BIT 0x40000000
#define TS_COMPAT 2
#define NR_OF(regs) ((int32_t)(regs)->orig_ax)
#define IP_OF(regs) ((regs)->ip)
#define SP_OF(regs) ((regs)->sp)
#define REGISTERS_IP __builtin_offsetof(struct registers, ip)
#define LINK_OF(regs) 0
#define FRAME_OF(regs) ((regs)->bp)
#define BASE_OF(regs) ((regs)->bx)
#define CALLER_ON_STACK 1
#define REGISTERS 17
#elif defined SYSCULL_BPF_AARCH64
struct registers {
	uint64_t regs[31], sp, pc, pstate, orig_x0;
	int32_t syscallno;
	uint32_t pad;
};
#define ARCH_NATIVE 3
#define ARCH_COMPAT 4
#define TIF_32BIT 22
#define NR_OF(regs) ((regs)->syscallno)
#define IP_OF(regs) ((regs)->pc)
#define SP_OF(regs) ((regs)->sp)
#define REGISTERS_IP __builtin_offsetof(struct registers, pc)
#define LINK_OF(from) ((from)->regs[30])
#define FRAME_OF(from) ((from)->regs[29])
#define BASE_OF(from) ((from)->regs[19])
#define CALLER_ON_STACK 0
#define REGISTERS 33
#else
#error "for which machine?"
#endif

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

/* Fields of the running task are ordinary loads: the offset is a constant to
 * the verifier, and the pointer one that it knows.  Not so for pointers: for
 * each of them it looks through all the kernel's types, since 6.2. */
static __always_inline uint64_t own_u64(uint32_t offset)
{
	return *(volatile uint64_t *)((char *)bpf_get_current_task_btf() + offset);
}

static __always_inline uint32_t own_u32(uint32_t offset)
{
	return *(volatile uint32_t *)((char *)bpf_get_current_task_btf() + offset);
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

__noinline uint32_t place_of(uint32_t arch, int32_t nr)
{
	uint32_t number = (uint32_t)nr, table = KERN_TABLE_NATIVE;

	if (arch == ARCH_COMPAT)
		table = KERN_TABLE_COMPAT;
#ifdef ARCH_X32
	if (arch == ARCH_X32) {
		table = KERN_TABLE_X32;
		number &= ~X32_BIT;
	}
#endif
	if (number >= KERN_NRS)
		return KERN_PLACES - 1;
	return table * KERN_NRS + number;
}

/* Interruptions are no failures, and rt_sigreturn's result says nothing; who
 * splits by errno knows better: this is only which of two sums it is in. */
static __always_inline uint32_t outcome_of(int64_t ret)
{
	return ret < 0 && ret >= -4095 ? KERN_FAILED : KERN_OK;
}

/* How full the ring is is asked for now and then only, unless it was full.  A
 * part of it is kept for what is no call. */
#define ASK_EVERY 16
#define KEPT_SHARE 16
#define KEPT_SHARE_TINY 4
#define TINY_RING 65536
#define WAKE_SHARE 8
__noinline int ask_ring(struct kern_books *book)
{
	uint64_t waiting, room;
	uint32_t first = 0;
	void *to = bpf_map_lookup_elem(&rings, &first);

	if (!to || !book)
		return BPF_RB_NO_WAKEUP;
	waiting = bpf_ringbuf_query(to, BPF_RB_AVAIL_DATA);
	room = bpf_ringbuf_query(to, BPF_RB_RING_SIZE);
	book->crowded = waiting > room - (room < TINY_RING ? room / KEPT_SHARE_TINY : room / KEPT_SHARE);
	if (waiting <= room / WAKE_SHARE || !live.asleep)
		return BPF_RB_NO_WAKEUP;
	live.asleep = 0;
	return BPF_RB_FORCE_WAKEUP;
}

static __always_inline int put(struct kern_books *book, void *data, uint64_t bytes, int is_call)
{
	uint64_t flags = BPF_RB_NO_WAKEUP;
	uint32_t first = 0;
	void *to;

	if (book->puts++ % ASK_EVERY == 0 || book->crowded || settings.small_ring) {
		flags = (uint32_t)ask_ring(book);
		if (is_call && book->crowded)
			return -1;
	}
	to = bpf_map_lookup_elem(&rings, &first);
	return to ? bpf_ringbuf_output(to, data, bytes, flags) : -1;
}

static __always_inline void put_state(struct kern_books *book, void *data, uint64_t bytes)
{
	if (put(book, data, bytes, 0) != 0)
		book->lost_state++;
}

/* A call for which there was no room: the sums have it however many there are,
 * and it is split by errno while there is room for that. */
SEC("raw_tp")
int on_lost(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct kern_lost first = { 0 }, *known;
	struct kern_books *book = my_books();
	struct kern_lost_key key = { 0 };
	uint32_t outcome, place;
	uint64_t now;

	if (!task || !book || (task->call.head.flags & KERN_F_PROBED))
		return 0;
	outcome = task->call.head.flags & EVENT_F_UNFINISHED ? KERN_UNRETURNED : outcome_of(task->call.ret);
	place = place_of(task->call.arch, task->call.nr);
	now = bpf_ktime_get_ns();
	book->lost_calls++;
	KEEP(place);
	if (place < KERN_PLACES)
		book->lost[place][outcome]++;
	if (book->lost_first_ns == 0)
		book->lost_first_ns = now;
	book->lost_last_ns = now;
	key.nr = task->call.nr;
	key.arch = task->call.arch;
	if (task->call.head.flags & EVENT_F_UNFINISHED)
		key.err = UINT16_MAX;
	else if (outcome_of(task->call.ret) == KERN_FAILED)
		key.err = (uint16_t)-task->call.ret;
	known = bpf_map_lookup_elem(&lost, &key);
	if (!known) {
		(void)bpf_map_update_elem(&lost, &key, &first, BPF_NOEXIST);
		known = bpf_map_lookup_elem(&lost, &key);
	}
	if (known) {
		__sync_fetch_and_add(&known->count, 1);
		__sync_fetch_and_add(&known->ns, task->call.duration_ns);
	}
	return 0;
}

/*
 * Records with a tail are made in the CPU's scratch, by programs that call
 * each other and themselves: a loop is dear to verify, a tail call is not.
 */
#define USED_MOST 0x7fffu

static __always_inline struct event_call *call_in(struct kern_scratch *scratch)
{
	return (struct event_call *)scratch->data;
}

/* Where to go on; NULL when it is full. */
static __always_inline char *place_in(struct kern_scratch *scratch)
{
	uint64_t used = scratch->used;

	KEEP(used);
	if (used > USED_MOST)
		return NULL;
	return scratch->data + used;
}

/* The data are behind the item's place already. */
__noinline int item_end(struct kern_scratch *scratch, uint32_t type, uint32_t arg, uint32_t flags, uint32_t bytes)
{
	struct event_item *item;

	if (!scratch)
		return 0;
	item = (struct event_item *)place_in(scratch);
	if (!item)
		return 0;
	item->type = (uint16_t)type;
	item->arg = (uint8_t)arg;
	item->flags = (uint8_t)flags;
	item->bytes = bytes;
	call_in(scratch)->items++;
	if (flags & (KERN_ITEM_RAW | EVENT_ITEM_UNREAD))
		call_in(scratch)->head.flags |= KERN_F_RAW;
	scratch->used += sizeof *item + ((bytes + 7) & ~7u);
	return 0;
}

/* Reads what can be read of it: how many bytes. */
static __always_inline uint64_t read_some(void *to, uint64_t address, uint64_t bytes)
{
	uint64_t to_page = 4096 - (address & 4095);

	KEEP(bytes);
	if (bytes > KERN_ITEM_BYTES)
		bytes = KERN_ITEM_BYTES;
	if (bpf_probe_read_user(to, bytes, (void *)address) == 0)
		return bytes;
	if (to_page >= bytes)
		return 0;
	KEEP(to_page);
	if (to_page > 4096)
		return 0;
	return bpf_probe_read_user(to, to_page, (void *)address) == 0 ? to_page : 0;
}

/* Adds an item of text or of raw memory: false when nothing could be read. */
static __always_inline int add_text(struct kern_scratch *scratch, const volatile struct kern_op *op, uint64_t address)
{
	char *data = place_in(scratch);
	uint64_t most = op->max + 2;
	uint32_t flags = 0;
	long got;

	if (!data)
		return 0;
	/* One more than its NUL needs: so a cut one can be told. */
	KEEP(most);
	if (most > 4097)
		most = 4097;
	got = bpf_probe_read_user_str(data + sizeof(struct event_item), most, (void *)address);
	if (got <= 0)
		return 0;
	got--;
	if (got > op->max) {
		got = op->max;
		flags = EVENT_ITEM_TRUNCATED;
	}
	(void)item_end(scratch, op->item, op->arg, flags, (uint32_t)got);
	return 1;
}

struct message {
	uint64_t name;
	uint32_t name_bytes, pad;
	uint64_t iov, iov_count, control, control_bytes;
	uint32_t flags, pad2;
};
#define MESSAGE_BYTES 64 /* of struct mmsghdr */
#define IOVECS 1024
#define CONTROL_BYTES 4096
#define NAME_BYTES 128

__noinline int queue_part(struct kern_scratch *scratch, uint32_t type, uint32_t flags, uint64_t address, uint64_t bytes)
{
	struct kern_part *part;

	if (!scratch)
		return 0;
	part = &scratch->parts[scratch->part_count & (KERN_PARTS - 1)];
	part->type = type;
	part->flags = flags;
	part->address = address;
	part->bytes = bytes;
	scratch->part_count++;
	return 0;
}

/* What a message points at follows it: the reader adds it up. */
__noinline int queue_message(struct kern_scratch *scratch, uint32_t op_flags, uint64_t address)
{
	struct message one;
	uint64_t bytes;

	if (!scratch || bpf_probe_read_user(&one, sizeof one, (void *)address) != 0)
		return 0;
	if (op_flags & KERN_OP_SOCKADDR && one.name && one.name_bytes)
		(void)queue_part(scratch, SYS_ITEM_SOCKADDR, one.name_bytes > NAME_BYTES ? EVENT_ITEM_TRUNCATED : 0,
				 one.name, one.name_bytes > NAME_BYTES ? NAME_BYTES : one.name_bytes);
	if (op_flags & KERN_OP_RIGHTS && one.control && one.control_bytes)
		(void)queue_part(scratch, SYS_ITEM_RIGHTS, 0, one.control,
				 one.control_bytes > CONTROL_BYTES ? CONTROL_BYTES : one.control_bytes);
	bytes = one.iov_count > IOVECS ? IOVECS * 16 : one.iov_count * 16;
	if (bytes)
		(void)queue_part(scratch, SYS_ITEM_IOVEC, 0, one.iov, bytes);
	return 0;
}

static __always_inline uint64_t arg_of(const struct event_call *call, uint32_t arg)
{
	return arg < 6 ? call->args[arg] : 0;
}

__noinline int applies(uint32_t when, uint64_t first, uint64_t second)
{
	int32_t command = (int32_t)second;

	switch (when) {
	case KERN_WITH_PIDFD:
		return (first & 0x1000) != 0;
	case KERN_NOT_DEL:
		return command != 2;
	case KERN_LOCKS:
		return (command >= 5 && command <= 7) || (command >= 36 && command <= 38);
	default:
		return 1;
	}
}

__noinline uint64_t count_of(uint32_t kind, uint64_t given, int64_t ret)
{
	switch (kind) {
	case KERN_COUNT_INT:
		return (int32_t)given < 0 ? 0 : (uint32_t)given;
	case KERN_COUNT_UINT:
		return (uint32_t)given;
	case KERN_COUNT_LONG:
		return given;
	case KERN_COUNT_RESULT:
		return ret > 0 ? (uint64_t)ret : 0;
	case KERN_COUNT_BITS:
		return (int32_t)given < 0 ? 0 : ((uint64_t)(uint32_t)given + 7) / 8;
	default:
		return 1;
	}
}

static __always_inline const volatile struct kern_plan *plan_of(uint32_t number)
{
	KEEP(number);
	return &plans[number & (KERN_NRS - 1)];
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
static __always_inline int is_foreign(void)
{
	uint32_t pid;

	/* Elsewhere the one side does not know the other's numbers. */
	if (!settings.first_level)
		return 0;
	pid = bpf_get_current_pid_tgid() >> 32;
	return !(live.pids[KERN_PID_WORD(pid)] & KERN_PID_BIT(pid));
}

/* The running task when it is followed; else NULL, or on from the begin. */
static __always_inline struct kern_task *find(struct bpf_raw_tracepoint_args *ctx, uint32_t self)
{
	struct kern_scratch *scratch;
	struct kern_task *task;

	if (is_foreign())
		return NULL;
	task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	if (!task && live.awaited > 0) {
		scratch = my_scratch();
		if (scratch) {
			scratch->next = self;
			go_on(ctx, CHAIN_ADOPT);
		}
	}
	return live.closing ? NULL : task;
}

static __always_inline uint32_t arch_of(int32_t nr)
{
#ifdef ARCH_X32
	if (own_u32(at.task_thread_info + at.info_status) & TS_COMPAT)
		return ARCH_COMPAT;
	if (nr >= 0 && (nr & X32_BIT))
		return ARCH_X32;
#else
	if (own_u64(at.task_thread_info + at.info_flags) >> TIF_32BIT & 1)
		return ARCH_COMPAT;
#endif
	return ARCH_NATIVE;
}

static __always_inline void take_registers(struct event_call *call, const struct registers *regs, uint32_t arch,
					   int at_exit)
{
	call->ip = IP_OF(regs);
#ifdef SYSCULL_BPF_X86_64
	if (arch == ARCH_COMPAT) {
		call->args[0] = (uint32_t)regs->bx;
		call->args[1] = (uint32_t)regs->cx;
		call->args[2] = (uint32_t)regs->dx;
		call->args[3] = (uint32_t)regs->si;
		call->args[4] = (uint32_t)regs->di;
		call->args[5] = (uint32_t)regs->bp;
		return;
	}
	call->args[0] = regs->di;
	call->args[1] = regs->si;
	call->args[2] = regs->dx;
	call->args[3] = regs->r10;
	call->args[4] = regs->r8;
	call->args[5] = regs->r9;
#else
	call->args[0] = at_exit ? regs->orig_x0 : regs->regs[0];
	call->args[1] = regs->regs[1];
	call->args[2] = regs->regs[2];
	call->args[3] = regs->regs[3];
	call->args[4] = regs->regs[4];
	call->args[5] = regs->regs[5];
#endif
}

/* As DWARF numbers them, the program counter last. */
static __always_inline void put_registers(uint64_t *to, const struct registers *regs)
{
#ifdef SYSCULL_BPF_X86_64
	to[0] = regs->ax;
	to[1] = regs->dx;
	to[2] = regs->cx;
	to[3] = regs->bx;
	to[4] = regs->si;
	to[5] = regs->di;
	to[6] = regs->bp;
	to[7] = regs->sp;
	to[8] = regs->r8;
	to[9] = regs->r9;
	to[10] = regs->r10;
	to[11] = regs->r11;
	to[12] = regs->r12;
	to[13] = regs->r13;
	to[14] = regs->r14;
	to[15] = regs->r15;
#else
	for (int i = 0; i < 31; i++)
		to[i] = regs->regs[i];
	to[31] = regs->sp;
#endif
	to[REGISTERS - 1] = IP_OF(regs);
}

#include "engine/bpf/caller.bpf.h"

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

/* A native number that the plans know; KERN_NRS for all others. */
static __always_inline uint32_t plan_number(uint32_t arch, int32_t nr)
{
	return arch == ARCH_NATIVE && nr >= 0 && nr < KERN_NRS ? (uint32_t)nr : KERN_NRS;
}

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
	} else if (task->ran_ns != 0 && at.task_se != KERN_NO_FIELD && at.se_sum_exec_runtime != KERN_NO_FIELD) {
		/* Since we came: its account lags behind by a tick at most. */
		gap = own_u64(at.task_se + at.se_sum_exec_runtime) - task->ran_ns;
		task->user_ns += (int64_t)gap > 0 ? gap : 0;
	}
	if (task->flags & KERN_TASK_ENDING) {
		task->exit_ns = now;
		go_on(ctx, CHAIN_ENDED);
		return 0;
	}
	task->call.head.time_ns = now;
	return 0;
}

/* Queues what the next op wants to be read; 0 when there are no more ops. */
__noinline int take_op(struct kern_task *task, struct kern_scratch *scratch)
{
	const volatile struct kern_plan *plan;
	const volatile struct kern_op *op;
	uint32_t number, last, flags = 0;
	uint64_t address, amount;
	int given;

	if (!task || !scratch)
		return 0;
	plan = plan_of((uint32_t)task->call.nr);
	number = scratch->next & (KERN_OPS - 1);
	last = scratch->at_exit ? plan->enter_ops + plan->exit_ops : plan->enter_ops;
	if (scratch->next >= last || scratch->next >= KERN_OPS)
		return 0;
	given = number < plan->enter_ops;
	op = &plan->op[number];
	scratch->part_op = number;
	scratch->next++;
	if (scratch->at_exit && given && !(task->unread & 1u << number))
		return 1;
	address = arg_of(&task->call, op->arg);
	if (address == 0 || !applies(op->applies, task->call.args[0], task->call.args[1]))
		return 1;
	if (!given && task->call.ret < 0 && !(op->flags & KERN_OP_GIVEN))
		return 1;
	amount = count_of(op->count, arg_of(&task->call, op->count_arg), task->call.ret);
	if (amount == 0)
		return 1;
	if (op->shape == KERN_PIDFD) {
		uint64_t head[2];

		/* struct clone_args { flags, pidfd, … } */
		if (task->call.ret <= 0 || bpf_probe_read_user(head, sizeof head, (void *)address) != 0 ||
		    !(head[0] & 0x1000))
			return 1;
		address = head[1];
	}
	if (op->shape == KERN_MSG) {
		address += scratch->message * MESSAGE_BYTES;
		(void)queue_message(scratch, op->flags, address);
		scratch->message++;
		if (scratch->message < amount && scratch->message < KERN_MESSAGES)
			scratch->next--;
		else
			scratch->message = 0;
		amount = 1;
	}
	if (op->count != KERN_ONE && amount > op->max) {
		amount = op->max;
		flags = EVENT_ITEM_TRUNCATED;
	}
	(void)queue_part(scratch, op->item, flags, address, amount * op->bytes);
	return 1;
}

/* One op, or one part of a message: whether there may be another. */
static __always_inline int run_op(struct kern_task *task, struct kern_scratch *scratch)
{
	const volatile struct kern_op *op;
	const struct kern_part *part;
	uint32_t flags;
	uint64_t got;
	char *data;

	if (scratch->part_count == 0 && !take_op(task, scratch))
		return 0;
	if (scratch->part_count == 0)
		return 1;
	part = &scratch->parts[--scratch->part_count & (KERN_PARTS - 1)];
	op = &plan_of((uint32_t)task->call.nr)->op[scratch->part_op & (KERN_OPS - 1)];
	data = place_in(scratch);
	if (!data)
		return 0;
	flags = part->flags;
	if (op->shape == KERN_TEXT) {
		if (add_text(scratch, op, part->address))
			return 1;
	} else {
		got = read_some(data + sizeof(struct event_item), part->address, part->bytes);
		if (got) {
			if (got < part->bytes)
				flags |= EVENT_ITEM_TRUNCATED;
			(void)item_end(scratch, part->type, op->arg, flags | KERN_ITEM_RAW, (uint32_t)got);
			return 1;
		}
	}
	if (scratch->at_exit)
		(void)item_end(scratch, part->type, op->arg, EVENT_ITEM_UNREAD, 0);
	else
		task->unread |= 1u << (scratch->part_op & (KERN_OPS - 1));
	return 1;
}

/* Of who calls, in front of all other items. */
#define CALLER_BYTES (settings.stacks ? sizeof(struct kern_caller) : 0)

/* Items of the enter wait in the task's storage. */
static __always_inline void keep_entered(struct kern_task *task, struct kern_scratch *scratch)
{
	uint64_t bytes = scratch->used - sizeof(struct event_call), first = CALLER_BYTES;

	KEEP(bytes);
	if (bytes > KERN_ENTERED_BYTES - CALLER_BYTES) {
		/* At the exit it is still there, but for an execve that succeeds. */
		task->unread = ~0u;
		return;
	}
	if (bytes == 0 ||
	    bpf_probe_read_kernel((char *)task->entered + first, bytes, scratch->data + sizeof(struct event_call)) != 0)
		return;
	task->entered_bytes += (uint32_t)bytes;
	task->entered_items += call_in(scratch)->items;
	task->call.head.flags |= call_in(scratch)->head.flags;
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

/* Makes the scratch ready for the items of a call that has ended. */
static __always_inline int begin_tail(struct kern_task *task, struct kern_scratch *scratch)
{
	uint64_t entered = task->entered_bytes;

	*call_in(scratch) = task->call;
	call_in(scratch)->items = (uint16_t)task->entered_items;
	KEEP(entered);
	if (entered > KERN_ENTERED_BYTES ||
	    bpf_probe_read_kernel(scratch->data + sizeof(struct event_call), entered, task->entered) != 0)
		return 0;
	scratch->used = sizeof(struct event_call) + entered;
	scratch->next = 0;
	scratch->message = 0;
	scratch->part_count = 0;
	return 1;
}

/* False when there was no room. */
static __always_inline int put_tail(struct kern_books *book, struct kern_scratch *scratch)
{
	uint64_t used = scratch->used;

	call_in(scratch)->head.bytes = (uint32_t)used;
	KEEP(used);
	if (used > KERN_SCRATCH_BYTES)
		used = sizeof(struct event_call);
	return put(book, scratch->data, used, 1) == 0;
}

/* Called for calls with items, once for each and once to end. */
SEC("raw_tp")
int on_items(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct kern_scratch *scratch = my_scratch();
	struct kern_books *book = my_books();
	int done, ends;

	if (!task || !scratch || !book)
		return 0;
	/* Nothing is read of a task that ends. */
	ends = scratch->at_exit == KERN_EXIT_ENDS;
	if (ends || scratch->at_exit == KERN_EXIT_BEGINS) {
		scratch->at_exit = KERN_EXIT_GOES_ON;
		if (!begin_tail(task, scratch))
			scratch->used = sizeof(struct event_call);
	}
	if (!ends && run_op(task, scratch))
		bpf_tail_call(ctx, &chain, CHAIN_ITEMS);
	if (!scratch->at_exit) {
		keep_entered(task, scratch);
		enter_done(ctx, task);
		return 0;
	}
	done = put_tail(book, scratch);
	if (ends) {
		scratch->message = !done;
		go_on(ctx, CHAIN_ENDED);
		return 0;
	}
	task->flags |= KERN_TASK_LATE;
	task->exit_ns = bpf_ktime_get_ns();
	if (!done)
		go_on(ctx, CHAIN_LOST);
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

SEC("raw_tp/sys_enter")
int on_enter(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = find(ctx, CHAIN_ENTER);
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
	arch = arch_of(nr);
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
	if (settings.direct) {
		/* Loaded as they are asked for; a copy of all costs four times as much. */
		const struct registers *direct = (const struct registers *)bpf_task_pt_regs(bpf_get_current_task_btf());

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

static __always_inline void bump_ended(struct kern_books *book, uint32_t arch, int32_t nr, uint32_t outcome)
{
	uint32_t place = arch == ARCH_NATIVE && (uint32_t)nr < KERN_NRS ? (uint32_t)nr : place_of(arch, nr);

	KEEP(place);
	if (place < KERN_PLACES && outcome < KERN_OUTCOMES)
		book->ended[place][outcome]++;
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
	arch = arch_of(nr);
	task->regs = from;
	task->call.nr = nr;
	task->call.arch = (uint16_t)arch;
	take_registers(&task->call, &regs, arch, 1);
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
	struct kern_task *task = find(ctx, CHAIN_EXIT);
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
		struct kern_scratch *scratch = my_scratch();

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

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *parent = find(ctx, CHAIN_FORK);
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

static __always_inline struct kern_exec *exec_in(struct kern_scratch *scratch)
{
	return (struct kern_exec *)scratch->data;
}

/*
 * A new image: first its environment in parts, for whoever knows the names
 * that are wanted, then one record with all the rest.  All is in the kernel's
 * hands or in pages that it has just written; a moment later it may be gone.
 */
SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = find(ctx, CHAIN_EXEC);
	struct kern_scratch *scratch = my_scratch();
	uint64_t mm;

	if (!task || !scratch)
		return 0;
	mm = kernel_u64(bpf_get_current_task(), at.task_mm);
	task->flags &= ~KERN_TASK_STARTING;
	scratch->from = kernel_u64(mm, at.mm_env_start);
	scratch->to = kernel_u64(mm, at.mm_env_end);
	scratch->next = 0;
	if (settings.stacks)
		go_on(ctx, CHAIN_CODE);
	go_on(ctx, CHAIN_ENVIRONMENT);
	return 0;
}

/* Where the new image has code: the program's own, and its loader. */
SEC("raw_tp")
int on_code(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct kern_books *book = my_books();
	uint64_t mm, inode, start;
	struct kern_code *code;

	if (!settings.stacks || !task || !book)
		return 0;
	for (uint32_t i = 0; i < KERN_MEMOS; i++)
		task->memo[i].ip = 0;
	(void)code_drop(task->code);
	task->code = code_new();
	code = code_at(task->code);
	mm = kernel_u64(bpf_get_current_task(), at.task_mm);
	inode = kernel_u64(kernel_u64(mm, at.mm_exe_file), at.file_inode);
	task->image = mix(kernel_u64(inode, at.inode_ino), kernel_u32(kernel_u64(inode, at.inode_sb), at.sb_dev));
	if (!code) {
		book->codes_full++;
	} else {
		start = kernel_u64(mm, at.mm_start_code) & ~(PAGE_BYTES - 1);
		(void)code_add(code, start, kernel_u64(mm, at.mm_end_code) - start);
		(void)add_loader(code, kernel_u64(task->regs, REGISTERS_IP));
	}
	go_on(ctx, CHAIN_ENVIRONMENT);
	return 0;
}

SEC("raw_tp")
int on_environment(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct kern_scratch *scratch = my_scratch();
	struct kern_books *book = my_books();
	struct kern_env *env;
	uint64_t bytes;

	if (!task || !scratch || !book)
		return 0;
	if (scratch->from >= scratch->to) {
		go_on(ctx, CHAIN_IMAGE);
		return 0;
	}
	env = (struct kern_env *)scratch->data;
	bytes = scratch->to - scratch->from;
	KEEP(bytes);
	if (bytes > KERN_ENV_CHUNK)
		bytes = KERN_ENV_CHUNK;
	env->unread = bpf_probe_read_user(env + 1, bytes, (void *)scratch->from) != 0;
	env->bytes = (uint32_t)bytes;
	env->head.type = KERN_RECORD_ENV;
	env->head.flags = 0;
	env->head.pid = env->head.tid = task->call.head.pid;
	env->head.time_ns = 0;
	scratch->from += bytes;
	bytes = (bytes + 7) & ~7ull;
	env->head.bytes = (uint32_t)(sizeof *env + bytes);
	put_state(book, env, sizeof *env + bytes);
	if (scratch->next++ < KERN_ENV_CHUNKS)
		go_on(ctx, CHAIN_ENVIRONMENT);
	go_on(ctx, CHAIN_IMAGE);
	return 0;
}

SEC("raw_tp")
int on_image(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct kern_scratch *scratch = my_scratch();
	uint64_t mm, file, inode, start, bytes;
	struct kern_exec *exec;
	long got;

	if (!task || !scratch)
		return 0;
	exec = exec_in(scratch);
	exec->head.type = KERN_RECORD_EXEC;
	exec->head.flags = 0;
	exec->head.pid = exec->head.tid = task->call.head.pid;
	exec->head.time_ns = bpf_ktime_get_ns();
	/* A thread that calls execve takes the leader's place and number. */
	exec->former_tid = task->call.head.tid;
	task->call.head.tid = task->call.head.pid;

	mm = kernel_u64(bpf_get_current_task(), at.task_mm);
	exec->env_whole = kernel_u64(mm, at.mm_env_end) - kernel_u64(mm, at.mm_env_start);
	if (bpf_probe_read_kernel(exec->auxv, sizeof exec->auxv, (void *)(mm + at.mm_saved_auxv)) != 0)
		exec->auxv[0] = 0;
	start = kernel_u64(mm, at.mm_arg_start);
	bytes = kernel_u64(mm, at.mm_arg_end) - start;
	exec->argv_whole = bytes;
	if (bytes > KERN_ARGV_BYTES)
		bytes = KERN_ARGV_BYTES;
	bytes = read_some(exec + 1, start, bytes);
	exec->argv_bytes = (uint32_t)bytes;
	scratch->used = sizeof *exec + ((bytes + 7) & ~7ull);

	exec->filename_bytes = 0;
	got = 0;
	bytes = scratch->used;
	KEEP(bytes);
	if (bytes <= USED_MOST)
		got = bpf_probe_read_kernel_str(scratch->data + bytes, 4096,
						(void *)kernel_u64(ctx->args[2], at.bprm_filename));
	if (got > 0) {
		exec->filename_bytes = (uint32_t)got;
		scratch->used += ((uint64_t)got + 7) & ~7ull;
	}
	file = kernel_u64(mm, at.mm_exe_file);
	inode = kernel_u64(file, at.file_inode);
	exec->ino = kernel_u64(inode, at.inode_ino);
	exec->dev = kernel_u32(kernel_u64(inode, at.inode_sb), at.sb_dev);
	scratch->dentry = kernel_u64(file, at.file_path + at.path_dentry);
	scratch->mnt = kernel_u64(file, at.file_path + at.path_mnt);
	exec->deleted = kernel_u64(scratch->dentry, at.dentry_hash + 8) == 0;
	exec->names_cut = 1;
	scratch->names_begin = scratch->used;
	scratch->next = 0;
	go_on(ctx, CHAIN_NAMES);
	return 0;
}

/* Adds a component, or steps from a mount to what it is mounted on: false at
 * the root. */
__noinline int add_name(struct kern_scratch *scratch)
{
	uint64_t dentry, mnt, above, parent;
	char *place;
	long got;

	if (!scratch)
		return 0;
	dentry = scratch->dentry;
	mnt = scratch->mnt;
	parent = kernel_u64(dentry, at.dentry_parent);
	place = place_in(scratch);
	if (!place)
		return 0;
	if (dentry == kernel_u64(mnt, at.vfsmount_root)) {
		above = kernel_u64(mnt - at.mount_mnt, at.mount_parent);
		if (above == mnt - at.mount_mnt || above == 0) {
			exec_in(scratch)->names_cut = 0;
			return 0;
		}
		scratch->dentry = kernel_u64(mnt - at.mount_mnt, at.mount_point);
		scratch->mnt = above + at.mount_mnt;
		return 1;
	}
	got = bpf_probe_read_kernel_str(place, 256, (void *)kernel_u64(dentry, at.dentry_name + at.qstr_name));
	if (got <= 0)
		return 0;
	scratch->used += got;
	scratch->dentry = parent;
	if (dentry != parent)
		return 1;
	/* Something without a place, as a memfd. */
	exec_in(scratch)->names_cut = 0;
	return 0;
}

/* Components of a path from the last to the first, each with its NUL. */
SEC("raw_tp")
int on_names(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_scratch *scratch = my_scratch();
	struct kern_books *book = my_books();
	uint64_t used;

	if (!scratch || !book)
		return 0;
	if (add_name(scratch) && add_name(scratch) && add_name(scratch) && add_name(scratch) &&
	    scratch->next++ < KERN_NAMES_CALLS)
		go_on(ctx, CHAIN_NAMES);
	exec_in(scratch)->names_bytes = (uint32_t)(scratch->used - scratch->names_begin);
	used = (scratch->used + 7) & ~7ull;
	exec_in(scratch)->head.bytes = (uint32_t)used;
	KEEP(used);
	if (used <= KERN_SCRATCH_BYTES)
		put_state(book, scratch->data, used);
	else
		book->lost_state++;
	return 0;
}

SEC("raw_tp/sched_process_exit")
int on_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = find(ctx, CHAIN_END);
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
