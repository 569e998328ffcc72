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

/* The first item of a type, NULL when there is none or it was not read.
 * event_item_arg wants it from one argument. */
const struct event_item *event_item(const struct event_head *head, enum sys_item type);
const struct event_item *event_item_arg(const struct event_head *head, enum sys_item type, unsigned arg);
/* Walks all items, unread ones too: start with NULL. */
const struct event_item *event_item_next(const struct event_head *head, const struct event_item *prev);

static inline const void *event_item_data(const struct event_item *item)
{
	return item + 1;
}

/* The data as a struct, NULL when the item is missing or too short. */
#define EVENT_ITEM_AS(type_, item_) \
	((item_) && (item_)->bytes >= sizeof(type_) ? (const type_ *)event_item_data(item_) : NULL)

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
 */
int event_item_decode(struct buf *buf, enum sys_arch arch, uint8_t kind, unsigned arg, unsigned flags,
		      const void *raw, size_t bytes);
/* Bytes of a SYS_FIXED kind in the kernel's layout on an architecture. */
size_t event_kind_bytes(enum sys_arch arch, uint8_t kind);

#endif
