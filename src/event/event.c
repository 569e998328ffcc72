/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records in memory: checking, reading and building them.  Nothing here
 * believes a record before event_valid has seen it; nothing knows how memory
 * of a traced program looks (decode.c and message.c do).
 */
#include "event/event.h"

#include <errno.h>
#include <string.h>

struct layout {
	uint16_t fixed;
	uint16_t items; /* where the number of items is; 0: no tail */
};

#define LAYOUT_WITH_ITEMS(type) \
	{ \
		sizeof(struct type), offsetof(struct type, items) \
	}

static const struct layout layouts[] = {
	[EVENT_CALL] = LAYOUT_WITH_ITEMS(event_call),
	[EVENT_TASK] = LAYOUT_WITH_ITEMS(event_task),
	[EVENT_FD] = LAYOUT_WITH_ITEMS(event_fd),
	[EVENT_MAP] = LAYOUT_WITH_ITEMS(event_map),
	[EVENT_DIRS] = LAYOUT_WITH_ITEMS(event_dirs),
	[EVENT_MOUNTS] = LAYOUT_WITH_ITEMS(event_mounts),
	[EVENT_IDS] = { sizeof(struct event_ids), 0 },
	[EVENT_LIMITS] = { sizeof(struct event_limits), 0 },
	[EVENT_FORK] = { sizeof(struct event_fork), 0 },
	[EVENT_EXEC] = LAYOUT_WITH_ITEMS(event_exec),
	[EVENT_EXIT] = { sizeof(struct event_exit), 0 },
	[EVENT_LOST] = { sizeof(struct event_lost), 0 },
	[EVENT_CLOCK] = { sizeof(struct event_clock), 0 },
	[EVENT_FLOOR] = { sizeof(struct event_floor), 0 },
	[EVENT_QUEUED] = { sizeof(struct event_queued), 0 },
};

_Static_assert(sizeof(struct event_head) % 8 == 0, "records are 8-byte aligned");
_Static_assert(sizeof(struct event_call) == 104, "written into trace files");
_Static_assert(sizeof(struct event_task) % 8 == 0 && sizeof(struct event_fd) % 8 == 0, "8-byte aligned");
_Static_assert(sizeof(struct event_map) % 8 == 0 && sizeof(struct event_dirs) % 8 == 0, "8-byte aligned");
_Static_assert(sizeof(struct event_mounts) % 8 == 0 && sizeof(struct event_ids) % 8 == 0, "8-byte aligned");
_Static_assert(sizeof(struct event_limits) % 8 == 0 && sizeof(struct event_fork) % 8 == 0, "8-byte aligned");
_Static_assert(sizeof(struct event_exec) % 8 == 0 && sizeof(struct event_exit) % 8 == 0, "8-byte aligned");
_Static_assert(sizeof(struct event_item) == 8, "written into trace files");

static const struct layout *layout_of(uint16_t type)
{
	static const struct layout none;

	return type < sizeof(layouts) / sizeof(layouts[0]) ? &layouts[type] : &none;
}

static size_t padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

size_t event_fixed_bytes(uint16_t type)
{
	return layout_of(type)->fixed;
}

static unsigned item_count(const struct event_head *head)
{
	const struct layout *layout = layout_of(head->type);
	uint16_t count = 0;

	if (layout->items)
		memcpy(&count, (const char *)head + layout->items, sizeof(count));
	return count;
}

bool event_valid(const struct event_head *head, size_t bytes_left)
{
	const struct layout *layout;
	const char *at, *end;

	if ((uintptr_t)head % 8 || bytes_left < sizeof(*head))
		return false;
	if (head->bytes % 8 || head->bytes < sizeof(*head) || head->bytes > bytes_left || head->bytes > EVENT_BYTES_MAX)
		return false;
	layout = layout_of(head->type);
	if (!layout->fixed)
		return true;
	if (head->bytes < layout->fixed)
		return false;
	at = (const char *)head + layout->fixed;
	end = (const char *)head + head->bytes;
	for (unsigned left = item_count(head); left; left--) {
		struct event_item item;

		if ((size_t)(end - at) < sizeof(item))
			return false;
		memcpy(&item, at, sizeof(item));
		at += sizeof(item);
		/* Not padded(item.bytes) yet: near UINT32_MAX it is not what it seems on 32 bits. */
		if (item.bytes > (size_t)(end - at) || padded(item.bytes) > (size_t)(end - at))
			return false;
		if ((item.flags & EVENT_ITEM_UNREAD) && item.bytes)
			return false;
		at += padded(item.bytes);
	}
	return at == end;
}

static const struct event_item *item_behind(const struct event_item *item)
{
	return (const void *)((const char *)item + sizeof(*item) + padded(item->bytes));
}

static const struct event_item *items_end(const struct event_head *head)
{
	return (const void *)((const char *)head + head->bytes);
}

size_t event_items_at(const struct event_head *head)
{
	return layout_of(head->type)->items ? layout_of(head->type)->fixed : head->bytes;
}

static const struct event_item *items_begin(const struct event_head *head)
{
	return (const void *)((const char *)head +
			      (head->type == EVENT_CALL ? sizeof(struct event_call) : event_items_at(head)));
}

const struct event_item *event_item_next(const struct event_head *head, const struct event_item *prev)
{
	const struct event_item *item = prev ? item_behind(prev) : items_begin(head);

	return item < items_end(head) ? item : NULL;
}

const char *event_text(const struct event_head *head, enum sys_item type, unsigned arg, size_t *ret_len)
{
	const struct event_item *item = event_item_arg(head, type, arg);

	*ret_len = item ? item->bytes : 0;
	return item ? event_item_data(item) : NULL;
}

/* rt_sigreturn gives back the register that it restored. */
static bool returns_no_errno(const struct event_call *call)
{
	switch (call->arch) {
	case SYS_ARCH_I386: /* sigreturn, rt_sigreturn; arm has the same numbers */
	case SYS_ARCH_ARM:
		return call->nr == 119 || call->nr == 173;
	case SYS_ARCH_X32:
		return (call->nr & ~0x40000000) == 513;
	default:
		return event_call_id(call) == CALL_rt_sigreturn;
	}
}

int event_call_errno(const struct event_call *call)
{
	/* A call that was killed inside has no result either. */
	if (call->head.flags & (EVENT_F_UNFINISHED | EVENT_F_KILLED))
		return 0;
	if (call->ret >= 0 || call->ret < -4095 || sys_is_restart(call->ret) || returns_no_errno(call))
		return 0;
	return (int)-call->ret;
}

void *event_begin(struct buf *buf, enum event_type type)
{
	size_t fixed = event_fixed_bytes((uint16_t)type);
	struct event_head *head;

	buf_clear(buf);
	if (!fixed)
		return NULL;
	head = buf_extend(buf, fixed);
	if (head)
		head->type = (uint16_t)type;
	return head;
}

int event_item_add(struct buf *buf, enum sys_item type, unsigned arg, unsigned flags, const void *data, size_t bytes)
{
	struct event_item item = { .type = (uint16_t)type, .arg = (uint8_t)arg, .flags = (uint8_t)flags };
	char *at;

	if (buf->failed)
		return -ENOMEM;
	if (flags & EVENT_ITEM_UNREAD)
		bytes = 0;
	if (bytes > EVENT_BYTES_MAX || buf->bytes + sizeof(item) + padded(bytes) > EVENT_BYTES_MAX)
		return -E2BIG;
	at = buf_extend(buf, sizeof(item) + padded(bytes));
	if (!at)
		return -ENOMEM;
	item.bytes = (uint32_t)bytes;
	memcpy(at, &item, sizeof(item));
	if (bytes)
		memcpy(at + sizeof(item), data, bytes);
	return 0;
}

struct event_head *event_end(struct buf *buf)
{
	struct event_head *head = (void *)buf->data;
	const struct event_item *item = NULL;
	const struct layout *layout;
	size_t count = 0;
	uint16_t items;

	if (buf->failed || !head || buf->bytes < sizeof(*head))
		return NULL;
	layout = layout_of(head->type);
	head->bytes = (uint32_t)buf->bytes;
	while ((item = event_item_next(head, item)))
		count++;
	if (count > UINT16_MAX || (!layout->items && buf->bytes != layout->fixed))
		return NULL;
	items = (uint16_t)count;
	if (layout->items)
		memcpy((char *)head + layout->items, &items, sizeof(items));
	return head;
}
