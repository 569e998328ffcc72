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

#include "sys/calls.gen.h" /* enum sys_call_id: CALL_read, …; enum sys_kind_id; SYS_CLASS_… bits */
#include "sys/item.h"

/* The number table that a call number is to be read in. */
enum sys_arch {
	SYS_ARCH_X86_64,
	SYS_ARCH_I386, /* counted by number, no names */
	SYS_ARCH_X32, /* counted by number, no names */
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
	SYS_SCALAR, /* nothing behind it */
	SYS_STRING, /* up to a NUL, at most max bytes */
	SYS_FIXED, /* bytes by architecture: the kernel struct of the item */
	SYS_ARRAY, /* elements; their number is in argument count_arg or is the result */
	SYS_SIZED, /* bytes; their number is in argument count_arg, at most max */
	SYS_FDSET, /* bits; their number is in argument 0 */
	SYS_IOVEC, /* struct iovec array, count in argument count_arg */
	SYS_MSGHDR, /* struct msghdr */
	SYS_MMSGHDR, /* struct mmsghdr array, count in argument count_arg */
};

#define SYS_COUNT_IS_RESULT 127

/* One kind of argument: its name is what data/syscalls/calls.tbl uses. */
struct sys_kind {
	const char *name;
	uint8_t item; /* enum sys_item, or SYS_ITEM_NONE */
	uint8_t when; /* enum sys_when */
	uint8_t shape; /* enum sys_shape */
	int8_t count_off; /* where the count is: argument relative to this one, or SYS_COUNT_IS_RESULT; 0 no count */
	uint16_t bytes[2]; /* of the struct or one element as the kernel has it: x86-64, aarch64; see sys_kind_bytes */
	uint32_t max; /* at most so many bytes (arrays: elements) */
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

/* Bytes of a kind's struct or element in the kernel's layout; 0 for a kind
 * without one and for architectures that are counted by number. */
static inline size_t sys_kind_bytes(enum sys_arch arch, const struct sys_kind *kind)
{
	return arch == SYS_ARCH_X86_64 ? kind->bytes[0] : arch == SYS_ARCH_AARCH64 ? kind->bytes[1] : 0;
}

/*
 * Is there to be copied what the kind says?  A few arguments are an address
 * only for some values of others; where this says no, nothing is read and no
 * item is made.
 */
static inline bool sys_kind_applies(uint8_t kind, const uint64_t args[6])
{
	switch (kind) {
	case KIND_pidfd_out: /* clone: CLONE_PIDFD; else the child's tid goes there or nothing */
		return args[0] & 0x1000;
	case KIND_event_in: /* not EPOLL_CTL_DEL, which ignores it */
		return (int32_t)args[1] != 2;
	case KIND_flock_in: /* F_GETLK, F_SETLK, F_SETLKW and the F_OFD_ three */
		return ((int32_t)args[1] >= 5 && (int32_t)args[1] <= 7) ||
		       ((int32_t)args[1] >= 36 && (int32_t)args[1] <= 38);
	default:
		return true;
	}
}

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
