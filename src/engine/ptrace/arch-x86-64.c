/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64: which number table a call belongs to. */
#ifdef __x86_64__

#include <linux/audit.h>

#include "engine/ptrace/ptrace.h"

#define X32_BIT 0x40000000u

enum sys_arch arch_of(uint32_t audit_arch, uint64_t nr)
{
	if (audit_arch == AUDIT_ARCH_I386)
		return SYS_ARCH_I386;
	/* -1 (skipped by a tracer or seccomp) has all bits set and is no x32 call. */
	if ((uint32_t)nr != UINT32_MAX && (nr & X32_BIT))
		return SYS_ARCH_X32;
	return SYS_ARCH_X86_64;
}

#endif
