/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of constants that calls are given: open flags, AT_…, access modes,
 * PROT_…, MAP_…, sockets, signals.  One table for both directions: what a
 * report writes and what a script or a log has written.  Values are the
 * kernel's on this architecture; arguments of others are numbers.
 */
#ifndef SYSCULL_SYS_FLAGS_H
#define SYSCULL_SYS_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "sys/sys.h"

/* "PROT_READ|PROT_WRITE", "O_RDONLY|O_CLOEXEC|0x8", "SIGTERM".  False, and
 * nothing appended: the argument has no names, or none for this value. */
bool sys_value_put(struct buf *out, enum sys_call_id id, unsigned arg, uint64_t value);
/* The value of a name; false when it is in no table. */
bool sys_value_of(const char *name, size_t bytes, uint64_t *ret);

#endif
