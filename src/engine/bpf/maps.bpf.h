/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs in the kernel share: what was settled before they were
 * loaded, their maps, and the list by which they go on in each other.  Part of
 * kernel.bpf.c, not a file by itself; has no code.
 */
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
