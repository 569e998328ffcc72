/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors and messages as a traced program passed them → items.  All input
 * is foreign: lengths overflow, counts lie, control data are cut anywhere.
 * The layouts are those of x86-64 and aarch64, which agree here.
 */
#include <errno.h>
#include <string.h>

#include "event/event.h"

#define CONTROL_HEAD_BYTES 16
#define CONTROL_SOCKET 1 /* SOL_SOCKET */
#define CONTROL_RIGHTS 1 /* SCM_RIGHTS */

static uint64_t get_u64(const char *raw, size_t offset)
{
	uint64_t value;

	memcpy(&value, raw + offset, sizeof(value));
	return value;
}

static uint32_t get_u32(const char *raw, size_t offset)
{
	uint32_t value;

	memcpy(&value, raw + offset, sizeof(value));
	return value;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Sum of the lengths of an array of struct iovec { address, length }. */
static uint64_t iovec_total(const char *raw, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total = add_capped(total, get_u64(raw, i * EVENT_IOVEC_BYTES + 8));
	return total;
}

int event_item_iovec(struct buf *buf, unsigned arg, const void *raw, size_t bytes, uint64_t count)
{
	struct item_iovec item = { .count = count };
	uint64_t have = bytes / EVENT_IOVEC_BYTES;

	if (!have && count)
		return event_item_add(buf, SYS_ITEM_IOVEC, arg, EVENT_ITEM_UNREAD, NULL, 0);
	if (have > count)
		have = count;
	item.total = iovec_total(raw, (size_t)have);
	return event_item_add(buf, SYS_ITEM_IOVEC, arg, have < count ? EVENT_ITEM_TRUNCATED : 0, &item, sizeof(item));
}

int event_msghdr_read(const void *raw, size_t bytes, struct event_msghdr *ret_head)
{
	if (bytes < EVENT_MSGHDR_BYTES)
		return -EINVAL;
	*ret_head = (struct event_msghdr){
		.name = get_u64(raw, 0),
		.name_bytes = get_u32(raw, 8),
		.iov = get_u64(raw, 16),
		.iov_count = get_u64(raw, 24),
		.control = get_u64(raw, 32),
		.control_bytes = get_u64(raw, 40),
		.flags = get_u32(raw, 48),
	};
	return 0;
}

void event_msg_add(struct event_msg *msg, const struct event_msghdr *head, const void *iov, size_t iov_bytes)
{
	uint64_t have = iov_bytes / EVENT_IOVEC_BYTES;

	if (have < head->iov_count)
		msg->truncated = true;
	else
		have = head->iov_count;
	msg->item.count = add_capped(msg->item.count, head->iov_count);
	msg->item.total = add_capped(msg->item.total, iovec_total(iov, (size_t)have));
	msg->item.control = add_capped(msg->item.control, head->control_bytes);
	msg->item.flags = head->flags;
	msg->item.messages++;
}

int event_item_msg(struct buf *buf, unsigned arg, unsigned flags, const struct event_msg *msg)
{
	if (msg->truncated)
		flags |= EVENT_ITEM_TRUNCATED;
	return event_item_add(buf, SYS_ITEM_MSG, arg, flags, &msg->item, sizeof(msg->item));
}

int event_item_rights(struct buf *buf, unsigned arg, const void *control, size_t bytes)
{
	/* SCM_MAX_FD is 253 in one message; what is over this says so. */
	int32_t fds[256];
	size_t count = 0, at = 0;
	unsigned flags = 0;

	while (bytes - at >= CONTROL_HEAD_BYTES) {
		const char *part = (const char *)control + at;
		uint64_t part_bytes = get_u64(part, 0);
		size_t have;

		if (part_bytes < CONTROL_HEAD_BYTES)
			break;
		have = part_bytes < bytes - at ? (size_t)part_bytes : bytes - at;
		if (get_u32(part, 8) == CONTROL_SOCKET && get_u32(part, 12) == CONTROL_RIGHTS) {
			size_t more = (have - CONTROL_HEAD_BYTES) / sizeof(fds[0]);

			if (have < part_bytes)
				flags = EVENT_ITEM_TRUNCATED;
			if (more > sizeof(fds) / sizeof(fds[0]) - count) {
				more = sizeof(fds) / sizeof(fds[0]) - count;
				flags = EVENT_ITEM_TRUNCATED;
			}
			memcpy(fds + count, part + CONTROL_HEAD_BYTES, more * sizeof(fds[0]));
			count += more;
		}
		/* Parts start at multiples of 8. */
		if (have < part_bytes || bytes - at - have < 8)
			break;
		at += (have + 7) & ~(size_t)7;
	}
	if (!count && !flags)
		return 0;
	return event_item_add(buf, SYS_ITEM_RIGHTS, arg, flags, fds, count * sizeof(fds[0]));
}

uint64_t event_clone3_pidfd(const void *raw, size_t bytes)
{
	/* struct clone_args { flags, pidfd, … }; 0x1000 is CLONE_PIDFD */
	return bytes >= 16 && (get_u64(raw, 0) & 0x1000) ? get_u64(raw, 8) : 0;
}
