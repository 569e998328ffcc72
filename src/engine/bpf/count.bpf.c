/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting in the kernel: one program at the exit of each call, and one at the
 * enter while calls are timed, which the other side takes out when there are
 * so many that it costs too much.  Each CPU has rows of its own, so nothing is
 * locked; a task remembers which ones it used last.  What finds no row is
 * counted by number alone: totals are always whole.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "engine/bpf/count-shared.h"
#include "engine/bpf/read.bpf.h"

char licence[] SEC("license") = "Dual BSD/GPL";

const volatile struct count_settings settings;
const volatile struct kern_offsets at;
const volatile uint8_t kinds[KERN_NRS]; /* COUNT_KIND_… */
struct count_live live;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct count_task);
} tasks SEC(".maps");

#define SHARED_ARRAY(name, value_type) \
	struct { \
		__uint(type, BPF_MAP_TYPE_ARRAY); \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1); \
		__type(key, uint32_t); \
		__type(value, value_type); \
	} name SEC(".maps")
#define TABLE(name, key_type, value_type, entries) \
	struct { \
		__uint(type, BPF_MAP_TYPE_HASH); \
		__uint(max_entries, entries); \
		__type(key, key_type); \
		__type(value, value_type); \
	} name SEC(".maps")

SHARED_ARRAY(books, struct count_books);
SHARED_ARRAY(rows, struct count_row);
SHARED_ARRAY(groups, struct count_group);
SHARED_ARRAY(exes, struct count_exe);
TABLE(row_ids, struct count_row_key, uint32_t, 1);
TABLE(group_ids, struct count_group_key, uint32_t, 1);
TABLE(exe_ids, struct count_exe_key, uint32_t, 1);
TABLE(more_errors, struct count_error_key, uint64_t, COUNT_MORE_ERRORS);
TABLE(awaited, uint32_t, struct kern_awaited, KERN_AWAITED_MAX);

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(uint32_t));
} cgroup SEC(".maps");

#define ENOSYS 38

/* Needs what is declared above. */
#include "engine/bpf/machine.bpf.h"

static __always_inline struct count_books *my_books(void)
{
	uint32_t cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&books, &cpu);
}

/* The number of a task in our pid namespace; 0 when it is outside. */
static __always_inline uint32_t tid_of(uint64_t task)
{
	uint64_t pid;

	if (live.pid_level == 0)
		return kernel_u32(task, at.task_pid);
	pid = kernel_u64(task, at.task_thread_pid);
	if (kernel_u32(pid, at.pid_level) < live.pid_level)
		return 0;
	return kernel_u32(pid, at.pid_numbers + live.pid_level * KERN_UPID_BYTES);
}

/*
 * Makes the running task's storage: a child at its first return, a thread of
 * a process that was attached to at its next call, anybody when the whole
 * machine is watched.  1 when it has one.
 */
__noinline int begin(void)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct count_books *book = my_books();
	struct kern_awaited *entry;
	struct count_task *task = NULL;
	uint64_t made;
	uint32_t tid;

	if (!book)
		return 0;
	if (settings.wide) {
		if (*(volatile uint32_t *)((char *)current + at.task_tgid) == live.own)
			return 0;
		if (settings.cgroup && bpf_current_task_under_cgroup(&cgroup, 0) != 1)
			return 0;
	} else {
		tid = tid_of((uint64_t)current);
		entry = bpf_map_lookup_elem(&awaited, &tid);
		if (!entry)
			return 0;
		(void)bpf_map_delete_elem(&awaited, &tid);
		__sync_fetch_and_add(&live.awaited, -1);
	}
	made = __sync_fetch_and_add(&live.storages, 1) + 1;
	if (!settings.fail_storage || made % settings.fail_storage != 0)
		task = bpf_task_storage_get(&tasks, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!task) {
		book->storage_failed++;
		if (!settings.wide)
			__sync_fetch_and_add(&live.tasks, -1);
		return 0;
	}
	return 1;
}

/* Every task of the machine pays for this: no number of ours, no more of it. */
static __always_inline int is_foreign(void)
{
	uint32_t pid;

	if (settings.wide || !settings.first_level)
		return 0;
	pid = bpf_get_current_pid_tgid() >> 32;
	return !(live.pids[KERN_PID_WORD(pid)] & KERN_PID_BIT(pid));
}

static __always_inline struct count_task *find(struct task_struct *current)
{
	struct count_task *task;

	if (is_foreign())
		return NULL;
	task = bpf_task_storage_get(&tasks, current, NULL, 0);
	if (!task && (settings.wide || live.awaited > 0) && begin())
		task = bpf_task_storage_get(&tasks, current, NULL, 0);
	return live.closing ? NULL : task;
}

struct place {
	uint64_t mnt, dentry;
};

/* A component of the path is put behind the others: 0 at the root.  Functions
 * that are not static are verified once, however often they are called. */
__noinline int add_name(struct count_exe *exe, struct place *place)
{
	uint64_t dentry, mnt, parent, above, used;
	long got;

	if (!exe || !place)
		return 0;
	dentry = place->dentry;
	mnt = place->mnt;
	used = exe->names_bytes;
	parent = kernel_u64(dentry, at.dentry_parent);
	if (dentry == kernel_u64(mnt, at.vfsmount_root)) {
		above = kernel_u64(mnt - at.mount_mnt, at.mount_parent);
		if (above == mnt - at.mount_mnt || above == 0) {
			exe->names_cut = 0;
			return 0;
		}
		place->dentry = kernel_u64(mnt - at.mount_mnt, at.mount_point);
		place->mnt = above + at.mount_mnt;
		return 1;
	}
	KEEP(used);
	if (used > COUNT_NAMES_BYTES - COUNT_NAME_BYTES)
		return 0;
	got = bpf_probe_read_kernel_str(exe->names + used, COUNT_NAME_BYTES,
					(void *)kernel_u64(dentry, at.dentry_name + at.qstr_name));
	if (got <= 0)
		return 0;
	exe->names_bytes = (uint32_t)(used + got);
	place->dentry = parent;
	if (dentry != parent)
		return 1;
	/* Something without a place, as a memfd. */
	exe->names_cut = 0;
	return 0;
}

#define NAMES_MOST 32

/* The place of the running task's program; 0 when there is none. */
__noinline uint32_t exe_of_current(void)
{
	uint64_t file = kernel_u64(kernel_u64((uint64_t)bpf_get_current_task(), at.task_mm), at.mm_exe_file);
	uint64_t inode = kernel_u64(file, at.file_inode);
	struct place place;
	struct count_exe_key key = { 0 };
	struct count_exe *exe;
	uint32_t id, *known;

	if (!file)
		return 0;
	key.ino = kernel_u64(inode, at.inode_ino);
	key.dev = kernel_u32(kernel_u64(inode, at.inode_sb), at.sb_dev);
	known = bpf_map_lookup_elem(&exe_ids, &key);
	if (known)
		return *known;
	if (live.exes_used >= settings.exes)
		return 0;
	id = (uint32_t)__sync_fetch_and_add(&live.exes_used, 1);
	exe = bpf_map_lookup_elem(&exes, &id);
	if (!exe)
		return 0;
	exe->dev = key.dev;
	exe->ino = key.ino;
	exe->names_cut = 1;
	place.dentry = kernel_u64(file, at.file_path + at.path_dentry);
	place.mnt = kernel_u64(file, at.file_path + at.path_mnt);
	exe->deleted = kernel_u64(place.dentry, at.dentry_hash + 8) == 0;
	for (int i = 0; i < NAMES_MOST; i++)
		if (!add_name(exe, &place))
			break;
	exe->used = 1;
	/* Somebody on another CPU may have been quicker. */
	if (bpf_map_update_elem(&exe_ids, &key, &id, BPF_NOEXIST) == 0)
		return id;
	known = bpf_map_lookup_elem(&exe_ids, &key);
	return known ? *known : 0;
}

/* Which group it is in now; rows that it remembers are of the former one. */
__noinline int regroup(struct count_task *task)
{
	struct count_group_key key = { 0 };
	struct count_group *group;
	uint32_t id = 0, *known;

	if (!task)
		return 0;
	if (settings.by_cgroup)
		key.cgroup = bpf_get_current_cgroup_id();
	if ((task->flags & COUNT_TASK_GROUPED) && key.cgroup == task->cgroup)
		return 0;
	key.exe = exe_of_current();
	for (int i = 0; i < COUNT_SLOTS; i++)
		task->slots[i].key = 0;
	task->cgroup = key.cgroup;
	task->flags |= COUNT_TASK_GROUPED;
	task->group = 0;
	known = bpf_map_lookup_elem(&group_ids, &key);
	if (known) {
		task->group = *known;
		return 0;
	}
	if (live.groups_used >= settings.groups)
		return 0;
	id = (uint32_t)__sync_fetch_and_add(&live.groups_used, 1);
	group = bpf_map_lookup_elem(&groups, &id);
	if (!group)
		return 0;
	group->cgroup = key.cgroup;
	group->exe = (uint32_t)key.exe;
	group->used = 1;
	if (bpf_map_update_elem(&group_ids, &key, &id, BPF_NOEXIST) != 0) {
		known = bpf_map_lookup_elem(&group_ids, &key);
		id = known ? *known : 0;
	}
	task->group = id;
	return 0;
}

/* The row of a call that the task does not remember: 0 when there is no room. */
__noinline int find_row(struct count_task *task, struct count_slot *slot, uint64_t slot_key)
{
	struct count_row_key key = { .nr = (int32_t)slot_key, .arch = (uint16_t)(slot_key >> 32 & 0xff) };
	struct count_row *row;
	uint32_t id, *known;

	if (!task || !slot)
		return 0;
	key.cpu = (uint16_t)bpf_get_smp_processor_id();
	key.group = task->group;
	known = bpf_map_lookup_elem(&row_ids, &key);
	if (known) {
		slot->row = *known;
		slot->key = slot_key;
		return 1;
	}
	if (live.rows_used >= settings.rows)
		return 0;
	id = (uint32_t)__sync_fetch_and_add(&live.rows_used, 1);
	row = bpf_map_lookup_elem(&rows, &id);
	if (!row || bpf_map_update_elem(&row_ids, &key, &id, BPF_NOEXIST) != 0)
		return 0;
	row->nr = key.nr;
	row->arch = key.arch;
	row->cpu = key.cpu;
	row->group = key.group;
	row->used = 1;
	slot->row = id;
	slot->key = slot_key;
	return 1;
}

__noinline int bump_error(struct count_row *row, uint64_t id, uint32_t err)
{
	struct count_error_key key = { .row = (uint32_t)id, .err = err };
	struct count_books *book;
	uint64_t first = 1, *known;

	if (!row)
		return 0;
	row->failed++;
	for (int i = 0; i < COUNT_ERRORS; i++) {
		struct count_error *error = &row->errors[i];

		if (error->count == 0)
			error->err = err;
		if (error->err == err) {
			error->count++;
			return 0;
		}
	}
	known = bpf_map_lookup_elem(&more_errors, &key);
	if (known) {
		(*known)++;
		return 0;
	}
	book = my_books();
	if (bpf_map_update_elem(&more_errors, &key, &first, BPF_NOEXIST) != 0 && book)
		book->errors_lost++;
	return 0;
}

__noinline uint32_t bucket_of(uint64_t ns)
{
	uint32_t bits = 0, low;
	uint64_t rest = ns;

	if (ns < 1u << COUNT_LEAST_BITS)
		return 0;
	if (rest >> 32) {
		bits += 32;
		rest >>= 32;
	}
	if (rest >> 16) {
		bits += 16;
		rest >>= 16;
	}
	if (rest >> 8) {
		bits += 8;
		rest >>= 8;
	}
	if (rest >> 4) {
		bits += 4;
		rest >>= 4;
	}
	if (rest >> 2) {
		bits += 2;
		rest >>= 2;
	}
	bits += rest >> 1 & 1;
	low = (uint32_t)(ns >> (bits - COUNT_STEP_BITS)) & ((1u << COUNT_STEP_BITS) - 1);
	bits = 1 + ((bits - COUNT_LEAST_BITS) << COUNT_STEP_BITS) + low;
	return bits < COUNT_BUCKETS ? bits : COUNT_BUCKETS - 1;
}

static __always_inline void bump_time(struct count_row *row, uint64_t ns)
{
	uint64_t bucket, *max = &row->max_ns[live.epoch & 1];

	ns = ns > live.floor_ns ? ns - live.floor_ns : 0;
	bucket = bucket_of(ns);
	row->timed++;
	row->ns += ns;
	if (ns > *max)
		*max = ns;
	KEEP(bucket);
	if (bucket < COUNT_BUCKETS)
		row->buckets[bucket]++;
}

__noinline int bump_plain(uint32_t arch, int32_t nr, uint32_t err, uint32_t unreturned)
{
	uint64_t place = place_of(arch, nr), which = unreturned ? KERN_UNRETURNED : err ? KERN_FAILED : KERN_OK;
	struct count_books *book = my_books();

	KEEP(place);
	KEEP(which);
	if (!book || place >= KERN_PLACES || which >= KERN_OUTCOMES)
		return 0;
	book->plain[place][which]++;
	book->plain_calls++;
	return 0;
}

/* Interruptions are no failures. */
__noinline uint32_t errno_of(int64_t ret)
{
	if (ret < -4095 || (ret <= -512 && ret >= -516))
		return 0;
	return (uint32_t)-ret;
}

/* Of numbers in other tables than ours; i386 and arm have the same ones. */
__noinline uint32_t kind_of_foreign(uint32_t arch, int32_t nr)
{
	if (arch == ARCH_COMPAT) {
		switch (nr) {
		case 1: /* exit */
		case 248: /* exit_group: arm */
		case 252: /* i386 */
			return ARCH_COMPAT == 1 && nr == 248 ? 0 : COUNT_KIND_ENDS;
		case 2: /* fork */
		case 120: /* clone */
		case 190: /* vfork */
		case 435: /* clone3 */
			return COUNT_KIND_CHILD;
		case 119: /* sigreturn */
		case 173: /* rt_sigreturn */
			return COUNT_KIND_REGISTER;
		default:
			return 0;
		}
	}
#ifdef ARCH_X32
	if (arch == ARCH_X32) {
		uint64_t number = (uint32_t)nr & ~X32_BIT;

		KEEP(number);
		return number == 513 ? COUNT_KIND_REGISTER : number < KERN_NRS ? kinds[number] : 0;
	}
#endif
	return 0;
}

static __always_inline uint32_t kind_of(uint32_t arch, int32_t nr)
{
	uint64_t number = (uint32_t)nr;

	KEEP(number);
	if (arch == ARCH_NATIVE && number < KERN_NRS)
		return kinds[number];
	return kind_of_foreign(arch, nr);
}

static __always_inline int count(struct count_task *task, uint32_t arch, int32_t nr, uint32_t err, uint32_t unreturned,
				 uint64_t ns, int timed)
{
	uint64_t key =
		(uint64_t)(uint32_t)nr | (uint64_t)arch << 32 | (uint64_t)bpf_get_smp_processor_id() << 40 | 1ull << 63;
	struct count_slot *slot = &task->slots[(uint32_t)nr & (COUNT_SLOTS - 1)];
	struct count_row *row;
	uint32_t place;

	if (settings.by_cgroup || !(task->flags & COUNT_TASK_GROUPED))
		(void)regroup(task);
	if (slot->key != key && !find_row(task, slot, key)) {
		(void)bump_plain(arch, nr, err, unreturned);
		return 0;
	}
	place = (uint32_t)slot->row;
	row = bpf_map_lookup_elem(&rows, &place);
	if (!row)
		return 0;
	row->count++;
	row->unreturned += unreturned;
	if (err)
		(void)bump_error(row, place, err);
	if (timed)
		bump_time(row, ns);
	return 0;
}

/* What is not counted: a child's return from the call that made it, which is
 * its parent's, and what a child of ours does before its execve. */
__noinline int is_ours(struct count_task *task, uint32_t kind, int64_t ret, uint64_t ns)
{
	uint64_t place = live.probe_count;

	if (!task || (ret == 0 && (kind & COUNT_KIND_CHILD)))
		return 1;
	if (!(task->flags & COUNT_TASK_STARTING))
		return 0;
	KEEP(place);
	if ((kind & COUNT_KIND_PROBED) && ns && place < COUNT_PROBES) {
		live.probes[place] = ns;
		live.probe_count++;
	}
	return !(kind & COUNT_KIND_EXECS);
}

SEC("raw_tp/sys_enter")
int on_enter(struct bpf_raw_tracepoint_args *ctx)
{
	struct count_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);

	/* Who is not known yet is not timed: its exit will make it known. */
	if (!task)
		return 0;
	task->nr = (int32_t)ctx->args[1];
	task->enter_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * Each call of a helper costs as much as ten lines of ours where returns are
 * guarded against speculation.  So this one has the registers handed to it as
 * what they are, which the other side makes possible without parsing the
 * kernel's types, and loads from them and from the task by itself.
 */
SEC("count_exit")
int on_exit(uint64_t *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	const struct registers *regs = (const struct registers *)ctx[0];
	struct count_task *task = find(current);
	int64_t ret = (int64_t)ctx[1];
	uint32_t arch, kind, err = 0;
	uint64_t ns = 0;
	int32_t nr;
	int timed;

	if (!task) {
		if (settings.others) {
			struct count_books *book = my_books();

			if (book)
				book->others++;
		}
		return 0;
	}
	if (settings.cgroup && bpf_current_task_under_cgroup(&cgroup, 0) != 1) {
		task->enter_ns = 0;
		return 0;
	}
	if (!settings.direct)
		task->regs = ctx[0];
	timed = task->enter_ns != 0;
	if (timed) {
		ns = bpf_ktime_get_ns() - task->enter_ns;
		nr = task->nr;
		task->enter_ns = 0;
	} else {
		nr = NR_OF(regs);
		/* Behind rt_sigreturn the registers are those of the interrupted code. */
		if (nr == -1 && ret != -ENOSYS)
			nr = NR_SIGRETURN;
	}
	arch = arch_of(current, nr);
	kind = kind_of(arch, nr);
	if ((kind | (task->flags & COUNT_TASK_STARTING)) && is_ours(task, kind, ret, ns))
		return 0;
	if (ret < 0 && !(kind & COUNT_KIND_REGISTER))
		err = errno_of(ret);
	return count(task, arch, nr, err, 0, ns, timed);
}

/* Run by the other side itself: who is it? */
SEC("raw_tp")
int on_ask(struct bpf_raw_tracepoint_args *ctx)
{
	uint64_t current = bpf_get_current_task();

	live.pid_level = kernel_u32(kernel_u64(current, at.task_thread_pid), at.pid_level);
	live.own = kernel_u32(current, at.task_tgid);
	return 0;
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct count_task *parent = find(bpf_get_current_task_btf());
	struct count_books *book = my_books();
	struct kern_awaited value = { 0 };
	uint64_t child = ctx->args[1];
	uint32_t tid, pid;

	if (!parent || !book || (parent->flags & COUNT_TASK_STARTING))
		return 0;
	if (settings.cgroup && bpf_current_task_under_cgroup(&cgroup, 0) != 1)
		return 0;
	if (settings.wide) {
		book->made++;
		book->processes += kernel_u32(child, at.task_tgid) == kernel_u32(child, at.task_pid);
		return 0;
	}
	if (settings.task_limit && live.tasks >= settings.task_limit) {
		book->not_followed++;
		return 0;
	}
	tid = tid_of(child);
	pid = kernel_u32(child, at.task_tgid);
	__sync_fetch_and_or(&live.pids[KERN_PID_WORD(pid)], KERN_PID_BIT(pid));
	__sync_fetch_and_add(&live.awaited, 1);
	if (bpf_map_update_elem(&awaited, &tid, &value, BPF_ANY) != 0) {
		__sync_fetch_and_add(&live.awaited, -1);
		book->awaited_failed++;
		return 0;
	}
	__sync_fetch_and_add(&live.tasks, 1);
	book->made++;
	book->processes += kernel_u32(child, at.task_tgid) == kernel_u32(child, at.task_pid);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct count_task *task = find(bpf_get_current_task_btf());

	/* The execve counts to the program that it has begun. */
	if (task)
		task->flags &= ~(COUNT_TASK_STARTING | COUNT_TASK_GROUPED);
	return 0;
}

/* Calls that never return were told of by nobody: the registers hold them. */
SEC("raw_tp/sched_process_exit")
int on_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct count_task *task = find(current);
	uint32_t arch;
	int32_t nr = -1;

	if (!task)
		return 0;
	if (!settings.wide)
		__sync_fetch_and_add(&live.tasks, -1);
	if (task->flags & COUNT_TASK_STARTING)
		return 0;
	if (settings.cgroup && bpf_current_task_under_cgroup(&cgroup, 0) != 1)
		return 0;
	if (settings.direct) {
		nr = NR_OF((const struct registers *)bpf_task_pt_regs(current));
	} else if (task->regs) {
		struct registers regs;

		if (bpf_probe_read_kernel(&regs, sizeof regs, (void *)task->regs) == 0)
			nr = NR_OF(&regs);
	}
	arch = arch_of(current, nr);
	if (!(kind_of(arch, nr) & COUNT_KIND_ENDS))
		return 0;
	task->enter_ns = 0;
	return count(task, arch, nr, 0, 1, 0, 0);
}
