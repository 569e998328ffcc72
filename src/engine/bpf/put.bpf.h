/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records into the ring: how full it is, who is woken, what is counted of a call
 * that found no room.  Part of kernel.bpf.c, not a file by itself; waits for
 * nobody.
 */
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
