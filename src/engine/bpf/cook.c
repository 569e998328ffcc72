/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes records of what the kernel's side has written.  Most are handed on
 * where they lie; structs that were copied raw become items, by the same
 * functions that read a stopped tracee's memory.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "engine/bpf/bpf.h"

#define MARK_PREFIX "/.syscull/mark/"

void cook_init(struct engine_bpf *e)
{
	for (int32_t nr = 0; nr < KERN_NRS; nr++) {
		enum sys_call_id id = sys_call_id(SYS_ARCH_NATIVE, nr);

		if (engine_can_mark(id))
			e->marks[nr] |= NR_CAN_MARK;
		switch ((int)id) {
		case CALL_mount:
		case CALL_umount2:
		case CALL_move_mount:
		case CALL_pivot_root:
		case CALL_setns:
		case CALL_unshare:
			e->marks[nr] |= NR_MOUNTS;
			break;
		case CALL_execve:
		case CALL_execveat:
			e->marks[nr] |= NR_EXECS;
			break;
		case CALL_io_uring_setup:
			e->marks[nr] |= NR_NOTED;
			break;
		default:
			break;
		}
	}
}

/* A message and what follows it; *item becomes the last one of it. */
static void cook_message(struct engine_bpf *e, const struct event_head *raw, const struct event_item **item,
			 struct event_msg *msg)
{
	const struct event_item *next = event_item_next(raw, *item), *iov = NULL;
	unsigned arg = (*item)->arg;
	struct event_msghdr head;

	if (event_msghdr_read(event_item_data(*item), (*item)->bytes, &head) != 0)
		return;
	for (; next && next->arg == arg && next->type != SYS_ITEM_MSG; next = event_item_next(raw, next)) {
		if (next->type == SYS_ITEM_IOVEC)
			iov = next;
		else if (next->type == SYS_ITEM_RIGHTS)
			(void)event_item_rights(&e->record, arg, event_item_data(next), next->bytes);
		else if (next->type == SYS_ITEM_SOCKADDR)
			(void)event_item_add(&e->record, SYS_ITEM_SOCKADDR, arg, next->flags & EVENT_ITEM_TRUNCATED,
					     event_item_data(next), next->bytes);
		else
			break;
		*item = next;
	}
	event_msg_add(msg, &head, iov ? event_item_data(iov) : NULL, iov ? iov->bytes - iov->bytes % 16 : 0);
}

static void cook_messages(struct engine_bpf *e, const struct event_call *call, uint8_t kind,
			  const struct event_item **item)
{
	struct event_msg msg = EVENT_MSG_INIT;
	const struct event_item *next;
	unsigned arg = (*item)->arg;
	size_t count = 1;

	if (sys_kind(kind)->shape == SYS_MMSGHDR)
		count = event_kind_count(kind, arg, call->args, call->ret, &msg.truncated);
	for (;;) {
		if (!((*item)->flags & EVENT_ITEM_UNREAD))
			cook_message(e, &call->head, item, &msg);
		next = event_item_next(&call->head, *item);
		if (!next || next->type != SYS_ITEM_MSG || next->arg != arg)
			break;
		*item = next;
	}
	if (msg.item.messages < count)
		msg.truncated = true;
	if (msg.item.messages == 0)
		e->stats.unread_items++;
	(void)event_item_msg(&e->record, arg, msg.item.messages ? 0 : EVENT_ITEM_UNREAD, &msg);
}

static void cook_items(struct engine_bpf *e, const struct event_call *call)
{
	const struct sys_call *row = sys_call(event_call_id(call));
	const struct event_item *item = NULL;

	while ((item = event_item_next(&call->head, item))) {
		uint8_t kind = item->arg < row->nargs ? row->args[item->arg].kind : 0;
		unsigned flags = item->flags & ~(unsigned)KERN_ITEM_RAW;
		const void *data = event_item_data(item);

		if (item->type == SYS_ITEM_MSG) {
			cook_messages(e, call, kind, &item);
		} else if (item->flags & EVENT_ITEM_UNREAD) {
			e->stats.unread_items++;
			(void)event_item_add(&e->record, (enum sys_item)item->type, item->arg, flags, NULL, 0);
		} else if (!(item->flags & KERN_ITEM_RAW) || item->type == SYS_ITEM_PIDFD) {
			(void)event_item_add(&e->record, (enum sys_item)item->type, item->arg, flags, data,
					     item->bytes);
		} else if (item->type == SYS_ITEM_IOVEC) {
			(void)event_item_iovec(&e->record, item->arg, data, item->bytes - item->bytes % 16,
					       item->arg + 1u < 6 ? call->args[item->arg + 1] : 0);
		} else {
			(void)event_item_decode(&e->record, (enum sys_arch)call->arch, kind, item->arg, flags, data,
						item->bytes);
		}
	}
}

/* The path of an execve that has succeeded lies in no memory any more when it
 * returns; the kernel told of it with the new image. */
static void add_filename(struct engine_bpf *e, const struct event_call *call)
{
	struct follow *task = follow_find(e, call->head.tid);
	bool at = event_call_id(call) == CALL_execveat;

	if (!task || !task->filename)
		return;
	if (call->ret == 0 && (e->items & SYS_ITEM_BIT(PATH)) &&
	    !event_item_arg(&call->head, SYS_ITEM_PATH, at ? 1 : 0)) {
		const char *text = task->filename;
		unsigned slashes = 0;

		/* execveat with a descriptor: "/dev/fd/N/PATH", as the kernel puts it. */
		if (at && (int32_t)call->args[0] != AT_FDCWD && strncmp(text, "/dev/fd/", 8) == 0) {
			for (; *text && slashes < 4; text++)
				slashes += *text == '/';
		}
		(void)event_item_add(&e->record, SYS_ITEM_PATH, at ? 1 : 0, 0, text, strlen(text));
	}
	free(task->filename);
	task->filename = NULL;
}

/* What lies in the ring is gone when the call ends. */
static void keep_stack(struct engine_bpf *e, const struct kern_stack *raw)
{
	struct follow *task = follow_find(e, raw->head.tid);
	size_t bytes = sizeof raw->item + raw->item.bytes;
	struct event_item *copy = task ? malloc(bytes) : NULL;

	if (!copy)
		return;
	memcpy(copy, &raw->item, bytes);
	free(task->stack);
	task->stack = copy;
}

static void add_stack(struct engine_bpf *e, const struct event_call *call)
{
	struct follow *task = follow_find(e, call->head.tid);

	if (!task || !task->stack ||
	    event_item_add(&e->record, SYS_ITEM_STACK, 0, 0, task->stack + 1, task->stack->bytes) < 0) {
		e->stats.stacks_left_out++;
	}
	if (!task)
		return;
	free(task->stack);
	task->stack = NULL;
}

static bool is_mark(const struct event_head *head)
{
	const struct event_item *path = event_item(head, SYS_ITEM_PATH);

	return path && path->bytes > sizeof MARK_PREFIX - 1 &&
	       memcmp(event_item_data(path), MARK_PREFIX, sizeof MARK_PREFIX - 1) == 0;
}

/* The inode of a task's mount namespace; 0 when it is gone. */
static uint64_t mounts_ino(pid_t tid)
{
	char path[PROC_PATH_MAX];
	struct stat st;

	proc_path(path, tid, "ns/mnt");
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* A short program that mounts is gone before we look; its parents are mostly
 * in the same namespace. */
void cook_mounts(struct engine_bpf *e, struct follow *task)
{
	struct teller teller = bpf_teller(e);
	const struct follow *from = task;
	uint64_t ino = mounts_ino((pid_t)task->tid);
	size_t before = e->out.bytes;

	if (ino != 0)
		task->mounts_ino = ino;
	for (int depth = 0; ino == 0 && depth < 64; depth++) {
		from = from->parent ? follow_find(e, from->parent) : NULL;
		if (!from)
			break;
		ino = mounts_ino((pid_t)from->tid);
		if (ino != task->mounts_ino)
			ino = 0;
	}
	if (!from || ino == 0) {
		/* All of its kin have ended: nobody is left to whom it matters. */
		return;
	}
	tell_mounts(&teller, (pid_t)from->tid, (pid_t)from->pid);
	if (e->out.bytes > before) {
		struct event_head *head = (struct event_head *)(void *)(e->out.data + before);

		head->tid = task->tid;
		head->pid = task->pid;
	}
}

static void note(struct engine_bpf *e, const struct event_call *call)
{
	if (event_call_id(call) == CALL_io_uring_setup && call->ret >= 0)
		e->stats.met |= ENGINE_MET_IO_URING;
}

static void look_for_mounts(struct engine_bpf *e, const struct event_call *call)
{
	struct follow *task = follow_find(e, call->head.tid);

	if (!task || call->ret < 0 || (call->head.flags & EVENT_F_UNFINISHED))
		return;
	if (event_call_id(call) == CALL_unshare && !(call->args[0] & CLONE_NEWNS))
		return;
	cook_mounts(e, task);
}

static const struct event_head *cook_call(struct engine_bpf *e, const struct event_call *call)
{
	uint8_t marks = 0;
	struct event_head *head;
	struct event_call *copy;

	if (call->head.flags & EVENT_F_COMPAT)
		e->stats.met |= ENGINE_MET_COMPAT;
	else if (call->nr >= 0 && call->nr < KERN_NRS)
		marks = e->marks[call->nr];
	if (marks & NR_CAN_MARK && !is_mark(&call->head))
		marks &= (uint8_t)~NR_CAN_MARK;
	if (marks == 0 && !(call->head.flags & (KERN_F_RAW | KERN_F_PROBED | KERN_F_STACK))) {
		return &call->head;
	}
	if (call->head.flags & KERN_F_PROBED)
		return NULL;
	copy = event_begin(&e->record, EVENT_CALL);
	if (!copy) {
		e->stats.state_errors++;
		return NULL;
	}
	*copy = *call;
	copy->head.flags &= (uint16_t) ~(KERN_F_RAW | KERN_F_STACK);
	if (marks & NR_CAN_MARK)
		copy->head.flags |= EVENT_F_MARK;
	copy->items = 0;
	cook_items(e, call);
	if (marks & NR_EXECS)
		add_filename(e, call);
	if (call->head.flags & KERN_F_STACK)
		add_stack(e, call);
	head = bpf_emit(e);
	if (head && (marks & NR_NOTED))
		note(e, call);
	if (head && (marks & NR_MOUNTS))
		look_for_mounts(e, call);
	return NULL;
}

static const struct event_head *cook_fork(struct engine_bpf *e, const struct event_fork *fork)
{
	struct follow *parent = follow_find(e, fork->head.tid), *child;
	uint64_t ino = parent ? parent->mounts_ino : 0;
	struct event_fork *copy;

	if (!fork->followed)
		return &fork->head;
	child = follow_add(e, fork->child_tid, fork->child_pid, fork->head.tid);
	if (child)
		child->mounts_ino = ino;
	if (!child || !(fork->clone_flags & CLONE_NEWNS))
		return &fork->head;
	/* The model has to know the child before its mounts. */
	copy = event_begin(&e->record, EVENT_FORK);
	if (copy)
		*copy = *fork;
	(void)bpf_emit(e);
	cook_mounts(e, child);
	return NULL;
}

uint64_t cook_user_ns(const struct engine_bpf *e, const struct follow *task, const struct kern_exit *raw)
{
	double ours_ns = (double)raw->gaps * e->gap_ns + (double)raw->late_gaps * e->late_gap_ns;
	uint64_t user_ns = (double)raw->user_ns > ours_ns ? raw->user_ns - (uint64_t)ours_ns : 0;
	uint64_t before_ns = task ? task->ran_before_ns : 0;
	uint64_t ran_ns = raw->run_ns > before_ns ? raw->run_ns - before_ns : 0;
	struct timespec tick = { 0 };

	(void)clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	/* It cannot have computed for longer than it had a CPU, an account
	 * that lags behind by a tick: it was stopped, or waited for a page. */
	if (raw->run_ns != 0 && user_ns > ran_ns + (uint64_t)tick.tv_nsec)
		user_ns = ran_ns;
	return user_ns;
}

static void cook_exit(struct engine_bpf *e, const struct kern_exit *raw)
{
	struct event_exit *end = event_begin(&e->record, EVENT_EXIT);
	const struct follow *task = follow_find(e, raw->head.tid);

	if (end) {
		end->head.pid = raw->head.pid;
		end->head.tid = raw->head.tid;
		end->head.time_ns = raw->head.time_ns;
		end->how = raw->code & 0x7f ? EVENT_EXIT_SIGNAL : EVENT_EXIT_STATUS;
		end->status = raw->code & 0x7f ? raw->code & 0x7f : raw->code >> 8 & 0xff;
		end->run_ns = raw->run_ns;
		if (task)
			end->run_ns -= task->ran_before_ns < raw->run_ns ? task->ran_before_ns : raw->run_ns;
		end->user_ns = cook_user_ns(e, task, raw);
		end->user_gaps = raw->gaps + raw->late_gaps;
	}
	(void)bpf_emit(e);
	follow_remove(e, raw->head.tid);
}

const struct event_head *cook(struct engine_bpf *e, const struct event_head *raw)
{
	switch (raw->type) {
	case EVENT_CALL:
		return cook_call(e, (const struct event_call *)(const void *)raw);
	case EVENT_FORK:
		return cook_fork(e, (const struct event_fork *)(const void *)raw);
	case KERN_RECORD_ENV:
		exec_environment(e, (const struct kern_env *)(const void *)raw);
		break;
	case KERN_RECORD_EXEC:
		exec_tell(e, (const struct kern_exec *)(const void *)raw);
		break;
	case KERN_RECORD_STACK:
		keep_stack(e, (const struct kern_stack *)(const void *)raw);
		break;
	case KERN_RECORD_EXIT:
		cook_exit(e, (const struct kern_exit *)(const void *)raw);
		break;
	default:
		break;
	}
	return NULL;
}
