/* SPDX-License-Identifier: BSD-2-Clause */
/* aarch64: which number table a call belongs to. */
#ifdef __aarch64__

#include <linux/audit.h>

#include "engine/ptrace/ptrace.h"

enum sys_arch arch_of(uint32_t audit_arch, uint64_t nr)
{
	(void)nr;
	return audit_arch == AUDIT_ARCH_ARM ? SYS_ARCH_ARM : SYS_ARCH_AARCH64;
}

#endif
