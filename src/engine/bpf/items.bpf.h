/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies what the plan of a call says, item by item, at its enter and its exit,
 * and writes the records that have a tail.  Part of kernel.bpf.c, not a file by
 * itself; what is copied raw is understood outside the kernel.
 */
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

static __always_inline uint32_t ops_of(const volatile struct kern_plan *plan, const struct kern_scratch *scratch)
{
	return scratch->at_exit ? plan->enter_ops + plan->exit_ops : plan->enter_ops;
}

/* Another turn of a program costs more than to look. */
static __always_inline int has_op(const struct kern_task *task, const struct kern_scratch *scratch)
{
	return scratch->part_count != 0 || scratch->next < ops_of(plan_of((uint32_t)task->call.nr), scratch);
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
	last = ops_of(plan, scratch);
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

/*
 * The shortcut, for nearly all calls that have items: names and a struct go where
 * items of an unfinished call wait, and the record is put from there: no other
 * programs, and no copies of copies.  False is for what is too long for it or
 * cannot be read.
 */
__noinline int copy_short(struct kern_task *task, uint32_t number)
{
	const volatile struct kern_plan *plan;
	const volatile struct kern_op *op;
	struct event_item *item;
	uint64_t address, bytes, used;
	uint32_t flags = 0;
	long got;

	if (!task)
		return 0;
	plan = plan_of((uint32_t)task->call.nr);
	op = &plan->op[(plan->enter_ops + number) & (KERN_OPS - 1)];
	address = arg_of(&task->call, op->arg);
	if (address == 0 || (task->call.ret < 0 && !(op->flags & KERN_OP_GIVEN)))
		return 1;
	used = task->entered_bytes;
	KEEP(used);
	if (!(op->flags & KERN_OP_SHORT) || used > KERN_ENTERED_BYTES - KERN_SHORT - sizeof *item)
		return 0;
	item = (struct event_item *)((char *)task->entered + used);
	if (op->shape == KERN_TEXT) {
		got = bpf_probe_read_user_str(item + 1, KERN_SHORT, (void *)address);
		if (got <= 0 || got == KERN_SHORT || got > op->max)
			return 0;
		bytes = (uint64_t)got - 1;
	} else {
		bytes = op->bytes;
		KEEP(bytes);
		if (bytes > KERN_SHORT || bpf_probe_read_user(item + 1, bytes, (void *)address) != 0)
			return 0;
		flags = KERN_ITEM_RAW;
		task->call.head.flags |= KERN_F_RAW;
	}
	item->type = op->item;
	item->arg = op->arg;
	item->flags = (uint8_t)flags;
	item->bytes = (uint32_t)bytes;
	task->entered_bytes += (uint32_t)(sizeof *item + ((bytes + 7) & ~7ull));
	task->entered_items++;
	return 1;
}

static __always_inline int copy_shorts(struct kern_task *task, uint32_t exit_ops)
{
	uint32_t bytes = task->entered_bytes, items = task->entered_items;

	if (task->unread || exit_ops > KERN_SHORTS)
		return 0;
	for (uint32_t i = 0; i < KERN_SHORTS; i++) {
		if (i >= exit_ops)
			break;
		if (!copy_short(task, i)) {
			task->entered_bytes = bytes;
			task->entered_items = items;
			return 0;
		}
	}
	return 1;
}

/* The record and its items, as they lie behind each other: false when there was no room. */
static __always_inline int put_entered(struct kern_books *book, struct kern_task *task)
{
	uint64_t bytes = task->entered_bytes;

	KEEP(bytes);
	if (bytes > KERN_ENTERED_BYTES)
		return 0;
	bytes += sizeof task->call;
	task->call.head.bytes = (uint32_t)bytes;
	task->call.items = (uint16_t)task->entered_items;
	return put(book, &task->call, bytes, 1) == 0;
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
	/* What was copied at the enter is not again. */
	scratch->next = task->unread ? 0 : plan_of((uint32_t)task->call.nr)->enter_ops;
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
	if (!ends && has_op(task, scratch) && run_op(task, scratch) && has_op(task, scratch))
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
