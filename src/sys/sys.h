/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system-call table: numbers and names per architecture, the kinds of
 * the arguments, classes and families, and what to capture.  Everything is
 * generated from data/syscalls/ by tools/gen-syscalls; to add or change a
 * call read docs/howto/add-a-system-call.md.  Knows nothing of events.
 */
#ifndef SYSCULL_SYS_SYS_H
#define SYSCULL_SYS_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/item.h"
#include "sys/calls.gen.h" /* enum sys_call_id: CALL_read, …; enum sys_kind_id; SYS_CLASS_… bits */

/* The number table that a call number is to be read in. */
enum sys_arch {
	SYS_ARCH_X86_64,
	SYS_ARCH_I386, /* counted by number, no names */
	SYS_ARCH_X32,  /* counted by number, no names */
	SYS_ARCH_AARCH64,
	SYS_ARCH_ARM, /* counted by number, no names */
	SYS_ARCH_COUNT
};

#if defined __x86_64__
#define SYS_ARCH_NATIVE SYS_ARCH_X86_64
#elif defined __aarch64__
#define SYS_ARCH_NATIVE SYS_ARCH_AARCH64
#else
#error "syscull knows the system calls of x86-64 and aarch64 only"
#endif

/* When the memory behind an argument holds what we want. */
enum sys_when { SYS_NEVER, SYS_ENTER, SYS_EXIT };

/* How to find out how many bytes there are. */
enum sys_shape {
	SYS_SCALAR,  /* nothing behind it */
	SYS_STRING,  /* up to a NUL, at most max bytes */
	SYS_FIXED,   /* bytes by architecture: the kernel struct of the item */
	SYS_ARRAY,   /* elements; their number is in argument count_arg or is the result */
	SYS_SIZED,   /* bytes; their number is in argument count_arg, at most max */
	SYS_FDSET,   /* bits; their number is in argument 0 */
	SYS_IOVEC,   /* struct iovec array, count in argument count_arg */
	SYS_MSGHDR,  /* struct msghdr */
	SYS_MMSGHDR, /* struct mmsghdr array, count in argument count_arg */
};

#define SYS_COUNT_IS_RESULT (-1)

/* One kind of argument: its name is what data/syscalls/calls.tbl uses. */
struct sys_kind {
	const char *name;
	uint8_t item; /* enum sys_item, or SYS_ITEM_NONE */
	uint8_t when; /* enum sys_when */
	uint8_t shape; /* enum sys_shape */
	int8_t count_off; /* SYS_ARRAY, SYS_SIZED, …: count argument relative to this one; 127 = the result */
	uint16_t element_bytes; /* SYS_ARRAY: bytes of one element in the kernel's layout */
	uint32_t max; /* at most so many bytes (SYS_ARRAY: elements) */
};

struct sys_arg {
	const char *name;
	uint8_t kind; /* enum sys_kind_id */
};

struct sys_call {
	const char *name;
	uint64_t classes; /* SYS_CLASS_… and SYS_FAMILY_… bits */
	uint8_t nargs;
	struct sys_arg args[6];
};

/* The call behind a number: 0 (CALL_unknown) when we have no name for it. */
enum sys_call_id sys_call_id(enum sys_arch arch, int32_t nr);
/* The number of a call on an architecture, or -1 when it has none there. */
int32_t sys_call_nr(enum sys_arch arch, enum sys_call_id id);
/* The row of a call; never NULL (CALL_unknown has an empty row). */
const struct sys_call *sys_call(enum sys_call_id id);
const struct sys_kind *sys_kind(uint8_t kind);

/* By name; CALL_unknown when there is none. */
enum sys_call_id sys_call_by_name(const char *name);
/* The name that is most like this one (for "did you mean"), or NULL. */
const char *sys_call_nearest(const char *name);

/* "openat", or "call_471", or "call_5 (i386)"; into buf, which is returned. */
#define SYS_NAME_MAX 40
const char *sys_call_print(enum sys_arch arch, int32_t nr, char buf[static SYS_NAME_MAX]);

/* A class ("%file", "file") or family ("@xattr"); 0 when unknown. */
uint64_t sys_class(const char *name);
/* The n-th class or family with its bit, NULL behind the last. */
const char *sys_class_name(size_t n, uint64_t *ret_bit);

const char *sys_arch_name(enum sys_arch arch);
const char *sys_item_name(enum sys_item item);

/* "ENODATA"; knows 512-516 and prints others as "errno 600" into buf. */
const char *sys_errno_print(int err, char buf[static SYS_NAME_MAX]);
/* 0 when unknown. */
int sys_errno_by_name(const char *name);
/* "SIGTERM", "SIGRTMIN+3". */
const char *sys_signal_print(int sig, char buf[static SYS_NAME_MAX]);

/* Interruptions (ERESTARTSYS and kin, 512-516) are no failures of the call. */
static inline bool sys_is_restart(int64_t ret)
{
	return ret <= -512 && ret >= -516;
}

#endif
