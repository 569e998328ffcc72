/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64: which number table a call belongs to. */
#ifdef __x86_64__

#include <linux/audit.h>

#include "engine/ptrace/ptrace.h"

#define X32_BIT 0x40000000u
#define SIGN_BIT 0x80000000u

enum sys_arch arch_of(uint32_t audit_arch, uint64_t nr)
{
	if (audit_arch == AUDIT_ARCH_I386)
		return SYS_ARCH_I386;
	/* The kernel takes it for an int.  A negative one (-1 is a call that a
	 * tracer or seccomp skipped) has that bit too and is no x32 call. */
	if ((nr & (X32_BIT | SIGN_BIT)) == X32_BIT)
		return SYS_ARCH_X32;
	return SYS_ARCH_X86_64;
}

#endif
