/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64: which number table a call belongs to, and a stopped task's call registers. */
#ifdef __x86_64__

#include <errno.h>
#include <linux/audit.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include <string.h>

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

uint32_t arch_audit(void)
{
	return AUDIT_ARCH_X86_64;
}

bool arch_set_first(pid_t tid, enum sys_arch arch, uint64_t value)
{
	struct user_regs_struct regs;

	/* The view of a 64-bit tracer, of 32-bit tasks too. */
	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) != 0)
		return false;
	if (arch == SYS_ARCH_I386)
		regs.rbx = value;
	else
		regs.rdi = value;
	return ptrace(PTRACE_SETREGS, tid, NULL, &regs) == 0;
}

bool arch_keeps_first(void)
{
	return true;
}

unsigned arch_registers(pid_t tid, uint64_t ret[static ITEM_STACK_REGISTERS_MAX])
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) != 0)
		return 0;
	{
		const uint64_t dwarf[] = { regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi,
					   regs.rbp, regs.rsp, regs.r8,	 regs.r9,  regs.r10, regs.r11,
					   regs.r12, regs.r13, regs.r14, regs.r15, regs.rip };

		memcpy(ret, dwarf, sizeof dwarf);
		return sizeof dwarf / sizeof dwarf[0];
	}
}

bool arch_caller_on_stack(pid_t tid, uint64_t *ret_link)
{
	(void)tid;
	(void)ret_link;
	return true;
}

bool arch_set_result(pid_t tid, enum sys_arch arch, int64_t ret)
{
	struct user_regs_struct regs;

	(void)arch;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) != 0)
		return false;
	regs.rax = (uint64_t)ret;
	return ptrace(PTRACE_SETREGS, tid, NULL, &regs) == 0;
}

bool arch_skip(pid_t tid, enum sys_arch arch, int64_t ret)
{
	struct user_regs_struct regs;

	(void)arch;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) != 0)
		return false;
	regs.orig_rax = UINT64_MAX;
	regs.rax = (uint64_t)ret;
	return ptrace(PTRACE_SETREGS, tid, NULL, &regs) == 0;
}

#endif
