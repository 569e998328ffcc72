/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading and building records in memory.  Readers never trust a record:
 * everything is checked against its size, because records also come from
 * files.
 */
#ifndef SYSCULL_EVENT_EVENT_H
#define SYSCULL_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/record.h"
#include "sys/sys.h"

/* No record is larger: a mountinfo of a machine with many mounts is cut. */
#define EVENT_BYTES_MAX (1u << 20)

/* Is this a whole record of a known type with a well-formed tail?
 * Unknown types are well formed when the head is (readers skip them). */
bool event_valid(const struct event_head *head, size_t bytes_left);

/* The fixed part's size for a type; 0 for an unknown one. */
size_t event_fixed_bytes(uint16_t type);

/* Where the items begin; of a record that has no tail it is the end. */
size_t event_items_at(const struct event_head *head);
#define EVENT_ANY_ARG UINT32_MAX
/* The first item of a type, NULL when there is none or it was not read.
 * event_item_arg wants it from one argument.  Rules ask for every call: inline. */
static inline const struct event_item *event_item_arg(const struct event_head *head, enum sys_item type, unsigned arg)
{
	const char *at = (const char *)head, *end = at + head->bytes;

	at += head->type == EVENT_CALL ? sizeof(struct event_call) : event_items_at(head);
	while (at < end) {
		const struct event_item *item = (const void *)at;

		if (item->type == type && (arg == EVENT_ANY_ARG || item->arg == arg) &&
		    !(item->flags & EVENT_ITEM_UNREAD))
			return item;
		at += sizeof(*item) + ((item->bytes + (size_t)7) & ~(size_t)7);
	}
	return NULL;
}
static inline const struct event_item *event_item(const struct event_head *head, enum sys_item type)
{
	return event_item_arg(head, type, EVENT_ANY_ARG);
}
/* Walks all items, unread ones too: start with NULL. */
const struct event_item *event_item_next(const struct event_head *head, const struct event_item *prev);

static inline const void *event_item_data(const struct event_item *item)
{
	return item + 1;
}

/* The data, NULL when the item is missing or too short. */
static inline const void *event_item_least(const struct event_item *item, size_t least)
{
	return item && item->bytes >= least ? event_item_data(item) : NULL;
}

/* The same as a struct. */
#define EVENT_ITEM_AS(type_, item_) ((const type_ *)event_item_least(item_, sizeof(type_)))

static inline enum sys_call_id event_call_id(const struct event_call *call)
{
	return sys_call_id((enum sys_arch)call->arch, call->nr);
}

/* The errno of a failed call, 0 when it succeeded, never returned, was
 * interrupted for a restart, or is rt_sigreturn (which returns whatever the
 * register held). */
int event_call_errno(const struct event_call *call);

/* A path or name item as text for comparing; *ret_len without NUL. */
const char *event_text(const struct event_head *head, enum sys_item type, unsigned arg, size_t *ret_len);

/* Building: begin clears buf and reserves the fixed part, which is returned
 * zeroed (valid until the next append); end writes size and item count.
 * item reserves room for data and returns it. */
void *event_begin(struct buf *buf, enum event_type type);
int event_item_add(struct buf *buf, enum sys_item type, unsigned arg, unsigned flags, const void *data, size_t bytes);
struct event_head *event_end(struct buf *buf);

/*
 * Raw kernel memory of one argument → item in the tail.  `raw` holds
 * `bytes` bytes as the kernel lays them out on `arch`; `flags` are
 * EVENT_ITEM_….  Strings end at their NUL.  0, or -EINVAL when the raw bytes
 * are too few for the struct (the item is then added as unread).
 *
 *
 * How much to fetch is event_fetch_bytes.  A string that has no NUL within
 * max + 1 bytes becomes TRUNCATED here; the raw bytes of a shorter one may
 * hold its NUL or not.  An array that event_fetch_bytes has cut needs
 * EVENT_ITEM_TRUNCATED from the engine.  SYS_IOVEC, SYS_MSGHDR and
 * SYS_MMSGHDR have functions of their own below.
 */
int event_item_decode(struct buf *buf, enum sys_arch arch, uint8_t kind, unsigned arg, unsigned flags, const void *raw,
		      size_t bytes);
/*
 * The bytes to fetch from address args[arg] now, at `when`: 0 when there is
 * nothing to do (another time, address 0, sys_kind_applies says no, no
 * elements, or a result of a call that failed: what is behind those was not
 * written.  Strings that were given are fetched all the same: a path that was
 * not found is evidence).  Of strings it is the most that is worth fetching.
 * For SYS_MSGHDR the struct, for SYS_IOVEC and SYS_MMSGHDR the array of them.
 */
size_t event_fetch_bytes(enum sys_arch arch, uint8_t kind, unsigned arg, const uint64_t args[6], enum sys_when when,
			 int64_t ret, bool *ret_cut);
/* How many elements (SYS_ARRAY, SYS_IOVEC, SYS_MMSGHDR) or bytes (SYS_SIZED,
 * SYS_FDSET) argument `arg` of this kind has, at most the kind's max; sets
 * *ret_cut when there are more.  ret is the call's result, 0 at enter. */
size_t event_kind_count(uint8_t kind, unsigned arg, const uint64_t args[6], int64_t ret, bool *ret_cut);

/*
 * Vectors and messages: the engine fetches the struct, then the array that
 * it points at, and hands over both raw.  Their layouts are the same on
 * x86-64 and aarch64: struct iovec has 16 bytes, msghdr 56, mmsghdr 64.
 *
 * SYS_IOVEC: raw holds so many whole struct iovec as could be fetched (at
 * most kind->max), count is what the call was given.  When nothing could be
 * fetched (bytes 0, count not 0) the item is added as unread.
 */
int event_item_iovec(struct buf *buf, unsigned arg, const void *raw, size_t bytes, uint64_t count);

#define EVENT_IOVEC_BYTES 16
#define EVENT_MSGHDR_BYTES 56
#define EVENT_MMSGHDR_BYTES 64
#define EVENT_CONTROL_MAX 4096 /* control data worth fetching: SCM_MAX_FD needs 1,040 */

/* The addresses and lengths of one struct msghdr, to fetch what they name. */
struct event_msghdr {
	uint64_t name, iov, iov_count, control, control_bytes;
	uint32_t name_bytes, flags;
};

/* Also takes the msghdr at the start of a struct mmsghdr.  -EINVAL when bytes are too few. */
int event_msghdr_read(const void *raw, size_t bytes, struct event_msghdr *ret_head);

/*
 * SYS_MSGHDR and SYS_MMSGHDR: start with EVENT_MSG_INIT, add every message
 * with the struct iovec array that could be fetched of it (NULL, 0 for
 * none), then make one item.  flags are those of the last message.
 */
struct event_msg {
	struct item_msg item;
	bool truncated;
};

#define EVENT_MSG_INIT ((struct event_msg){ 0 })

void event_msg_add(struct event_msg *msg, const struct event_msghdr *head, const void *iov, size_t iov_bytes);
/* flags are EVENT_ITEM_…: UNREAD when the msghdr itself could not be fetched. */
int event_item_msg(struct buf *buf, unsigned arg, unsigned flags, const struct event_msg *msg);
/* Control data of a message: adds one RIGHTS item with all descriptors of
 * its SCM_RIGHTS parts, and none when it has none.  At sendmsg's enter the
 * length is head.control_bytes, at recvmsg's exit too (the kernel has set it
 * to what it wrote); `bytes` is what could be fetched of it. */
int event_item_rights(struct buf *buf, unsigned arg, const void *control, size_t bytes);
/* A SOCKADDR of sendmsg (head.name, at most 128 of head.name_bytes) is added
 * with event_item_add under the index of the message's argument. */

/* Of a fetched struct clone_args: the address where clone3 writes the pidfd,
 * 0 when it will not.  At exit fetch 4 bytes from there and add them as item
 * PIDFD of argument 0. */
uint64_t event_clone3_pidfd(const void *raw, size_t bytes);

/* Bytes of a SYS_FIXED kind in the kernel's layout on an architecture. */
static inline size_t event_kind_bytes(enum sys_arch arch, uint8_t kind)
{
	return sys_kind_bytes(arch, sys_kind(kind));
}

#endif
