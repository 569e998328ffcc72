/* SPDX-License-Identifier: BSD-2-Clause */
/* aarch64: which number table a call belongs to, and a stopped task's call registers. */
#ifdef __aarch64__

#include <elf.h>
#include <linux/audit.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "engine/ptrace/ptrace.h"

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif

enum sys_arch arch_of(uint32_t audit_arch, uint64_t nr)
{
	(void)nr;
	return audit_arch == AUDIT_ARCH_ARM ? SYS_ARCH_ARM : SYS_ARCH_AARCH64;
}

uint32_t arch_audit(void)
{
	return AUDIT_ARCH_AARCH64;
}

/* x0 is the first argument and the result; a 32-bit task has a set of its own. */
static bool set_x0(pid_t tid, uint64_t value)
{
	union {
		struct user_regs_struct wide;
		uint32_t narrow[18];
	} regs;
	struct iovec iov = { &regs, sizeof regs };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov) != 0)
		return false;
	if (iov.iov_len == sizeof regs.wide)
		regs.wide.regs[0] = value;
	else
		regs.narrow[0] = (uint32_t)value;
	return ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &iov) == 0;
}

bool arch_set_first(pid_t tid, enum sys_arch arch, uint64_t value)
{
	(void)arch;
	return set_x0(tid, value);
}

bool arch_keeps_first(void)
{
	return false;
}

unsigned arch_registers(pid_t tid, uint64_t ret[static ITEM_STACK_REGISTERS_MAX])
{
	struct user_regs_struct regs;
	struct iovec iov = { &regs, sizeof regs };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov) != 0 || iov.iov_len != sizeof regs)
		return 0;
	for (unsigned i = 0; i < 31; i++)
		ret[i] = regs.regs[i];
	ret[31] = regs.sp;
	ret[32] = regs.pc;
	return 33;
}

bool arch_caller_on_stack(pid_t tid, uint64_t *ret_link)
{
	uint64_t registers[ITEM_STACK_REGISTERS_MAX];

	*ret_link = arch_registers(tid, registers) > 30 ? registers[30] : 0;
	return false;
}

bool arch_set_result(pid_t tid, enum sys_arch arch, int64_t ret)
{
	(void)arch;
	return set_x0(tid, (uint64_t)ret);
}

bool arch_skip(pid_t tid, enum sys_arch arch, int64_t ret)
{
	int none = -1;
	struct iovec iov = { &none, sizeof none };

	(void)arch;
	return ptrace(PTRACE_SETREGSET, tid, (void *)NT_ARM_SYSTEM_CALL, &iov) == 0 && set_x0(tid, (uint64_t)ret);
}

#endif
