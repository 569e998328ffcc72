/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies the evidence that the capture table names from the tracee's memory
 * into items, for the items that somebody asked for.  The table says what,
 * when and how much; event/ knows the layouts.
 */
#include <string.h>

#include "engine/ptrace/ptrace.h"

/* Fetches memory into scratch; NULL when nothing was readable. */
static const void *fetch(struct engine_pt *e, struct task *task, uint64_t address, size_t bytes, size_t *ret_bytes)
{
	void *place;

	buf_clear(&e->scratch);
	place = buf_reserve(&e->scratch, bytes);
	*ret_bytes = place ? memory_read(e, task->tid, address, place, bytes) : 0;
	return *ret_bytes ? place : NULL;
}

static void unread(struct engine_pt *e, struct buf *buf, enum sys_item item, unsigned arg)
{
	e->stats.unread_items++;
	(void)event_item_add(buf, item, arg, EVENT_ITEM_UNREAD, NULL, 0);
}

static void capture_string(struct engine_pt *e, struct task *task, const struct sys_kind *kind, uint8_t kind_id,
			   unsigned arg, struct buf *buf)
{
	bool cut, gone;
	size_t bytes = memory_string(e, task->tid, task->args[arg], kind->max, &cut, &gone);

	if (gone)
		unread(e, buf, kind->item, arg);
	else
		(void)event_item_decode(buf, (enum sys_arch)task->arch, kind_id, arg, cut ? EVENT_ITEM_TRUNCATED : 0,
					bytes ? e->scratch.data : "", bytes);
}

static void capture_raw(struct engine_pt *e, struct task *task, const struct sys_kind *kind, uint8_t kind_id,
			unsigned arg, size_t bytes, bool cut, struct buf *buf)
{
	size_t got;
	const void *raw = fetch(e, task, task->args[arg], bytes, &got);

	if (!raw)
		unread(e, buf, kind->item, arg);
	else
		(void)event_item_decode(buf, (enum sys_arch)task->arch, kind_id, arg,
					cut || got < bytes ? EVENT_ITEM_TRUNCATED : 0, raw, got);
}

static void capture_iovec(struct engine_pt *e, struct task *task, uint8_t kind_id, unsigned arg, int64_t ret,
			  struct buf *buf)
{
	bool cut = false;
	size_t count = event_kind_count(kind_id, arg, task->args, ret, &cut);
	size_t got = 0;
	const void *raw = count ? fetch(e, task, task->args[arg], count * EVENT_IOVEC_BYTES, &got) : NULL;

	(void)event_item_iovec(buf, arg, raw, got - got % EVENT_IOVEC_BYTES, task->args[arg + 1]);
}

/* One message: its vector into msg, its control data and address as items. */
static void capture_message(struct engine_pt *e, struct task *task, unsigned arg, enum sys_when when,
			    const struct event_msghdr *head, struct event_msg *msg, struct buf *buf)
{
	size_t want = head->iov_count > 1024 ? 1024 : (size_t)head->iov_count;
	size_t got = 0;
	const void *raw = want ? fetch(e, task, head->iov, want * EVENT_IOVEC_BYTES, &got) : NULL;

	event_msg_add(msg, head, raw, got - got % EVENT_IOVEC_BYTES);
	if ((e->items & SYS_ITEM_BIT(RIGHTS)) && head->control && head->control_bytes) {
		want = head->control_bytes > EVENT_CONTROL_MAX ? EVENT_CONTROL_MAX : (size_t)head->control_bytes;
		raw = fetch(e, task, head->control, want, &got);
		if (raw)
			(void)event_item_rights(buf, arg, raw, got);
	}
	if (when == SYS_ENTER && (e->items & SYS_ITEM_BIT(SOCKADDR)) && head->name && head->name_bytes) {
		want = head->name_bytes > 128 ? 128 : head->name_bytes;
		raw = fetch(e, task, head->name, want, &got);
		if (raw)
			(void)event_item_add(buf, SYS_ITEM_SOCKADDR, arg,
					     head->name_bytes > 128 ? EVENT_ITEM_TRUNCATED : 0, raw, got);
	}
}

static void capture_messages(struct engine_pt *e, struct task *task, const struct sys_kind *kind, uint8_t kind_id,
			     unsigned arg, enum sys_when when, int64_t ret, struct buf *buf)
{
	struct event_msg msg = EVENT_MSG_INIT;
	bool many = kind->shape == SYS_MMSGHDR;
	bool cut = false;
	size_t count = many ? event_kind_count(kind_id, arg, task->args, ret, &cut) : 1;
	size_t step = many ? EVENT_MMSGHDR_BYTES : EVENT_MSGHDR_BYTES;
	bool any = false;

	msg.truncated = cut;
	for (size_t i = 0; i < count; i++) {
		char raw[EVENT_MMSGHDR_BYTES];
		struct event_msghdr head;

		if (memory_read(e, task->tid, task->args[arg] + i * step, raw, step) != step ||
		    event_msghdr_read(raw, step, &head) != 0)
			break;
		any = true;
		capture_message(e, task, arg, when, &head, &msg, buf);
	}
	if (!any && count > 0)
		e->stats.unread_items++;
	(void)event_item_msg(buf, arg, any || count == 0 ? 0 : EVENT_ITEM_UNREAD, &msg);
}

static void capture_one(struct engine_pt *e, struct task *task, uint8_t kind_id, unsigned arg, enum sys_when when,
			int64_t ret, struct buf *buf)
{
	const struct sys_kind *kind = sys_kind(kind_id);
	bool cut = false;
	size_t bytes;

	switch ((enum sys_shape)kind->shape) {
	case SYS_SCALAR:
		return;
	case SYS_STRING:
		capture_string(e, task, kind, kind_id, arg, buf);
		return;
	case SYS_FIXED:
		capture_raw(e, task, kind, kind_id, arg, event_kind_bytes((enum sys_arch)task->arch, kind_id), false,
			    buf);
		return;
	case SYS_ARRAY:
		bytes = event_kind_count(kind_id, arg, task->args, ret, &cut) *
			event_kind_bytes((enum sys_arch)task->arch, kind_id);
		if (bytes > 0)
			capture_raw(e, task, kind, kind_id, arg, bytes, cut, buf);
		return;
	case SYS_SIZED:
	case SYS_FDSET:
		bytes = event_kind_count(kind_id, arg, task->args, ret, &cut);
		if (bytes > 0)
			capture_raw(e, task, kind, kind_id, arg, bytes, cut, buf);
		return;
	case SYS_IOVEC:
		capture_iovec(e, task, kind_id, arg, ret, buf);
		return;
	case SYS_MSGHDR:
	case SYS_MMSGHDR:
		capture_messages(e, task, kind, kind_id, arg, when, ret, buf);
		return;
	}
}

/* clone3's pidfd is not behind an argument but behind a member of one. */
static void capture_clone3_pidfd(struct engine_pt *e, struct task *task, struct buf *buf)
{
	char raw[64];
	size_t got = memory_read(e, task->tid, task->args[0], raw, sizeof raw);
	uint64_t address = event_clone3_pidfd(raw, got);
	int32_t pidfd;

	if (address && memory_read(e, task->tid, address, &pidfd, sizeof pidfd) == sizeof pidfd)
		(void)event_item_add(buf, SYS_ITEM_PIDFD, 0, 0, &pidfd, sizeof pidfd);
}

void capture_items(struct engine_pt *e, struct task *task, enum sys_when when, int64_t ret, struct buf *buf)
{
	const struct sys_call *call = sys_call(task->id);

	for (unsigned arg = 0; arg < call->nargs; arg++) {
		uint8_t kind_id = call->args[arg].kind;
		const struct sys_kind *kind = sys_kind(kind_id);

		if (kind->when != when || !(e->items & (UINT64_C(1) << kind->item)))
			continue;
		if (task->args[arg] == 0 || !sys_kind_applies(kind_id, task->args))
			continue;
		/* What a failed call left in its results means nothing. */
		if (when == SYS_EXIT && ret < 0 && kind->shape != SYS_STRING)
			continue;
		if (kind->item == SYS_ITEM_CWD && ret < 0)
			continue;
		capture_one(e, task, kind_id, arg, when, ret, buf);
	}
	if (when == SYS_EXIT && task->id == CALL_clone3 && ret > 0 && (e->items & SYS_ITEM_BIT(PIDFD)))
		capture_clone3_pidfd(e, task, buf);
}
