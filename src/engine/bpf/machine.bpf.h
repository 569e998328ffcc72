/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two kinds of machine differ in: the registers of a task at a call,
 * how its arguments lie in them, and by which table it is made.  Part of
 * kernel.bpf.c and count.bpf.c, not a file by itself; knows nothing of records
 * but where a call's arguments go.
 */
/* What the two kinds of machine differ in: struct pt_regs, which is as fixed
 * as the interface of signals and tracers is. */
#if defined SYSCULL_BPF_X86_64
struct registers {
	uint64_t r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp;
};
#define ARCH_NATIVE 0 /* SYS_ARCH_X86_64 */
#define ARCH_COMPAT 1
#define ARCH_X32 2
#define X32_BIT 0x40000000
#define TS_COMPAT 2
#define NR_OF(regs) ((int32_t)(regs)->orig_ax)
#define IP_OF(regs) ((regs)->ip)
#define SP_OF(regs) ((regs)->sp)
#define REGISTERS_IP __builtin_offsetof(struct registers, ip)
#define LINK_OF(regs) 0
#define FRAME_OF(regs) ((regs)->bp)
#define BASE_OF(regs) ((regs)->bx)
#define CALLER_ON_STACK 1
#define NR_SIGRETURN 15
#define REGISTERS 17
#elif defined SYSCULL_BPF_AARCH64
struct registers {
	uint64_t regs[31], sp, pc, pstate, orig_x0;
	int32_t syscallno;
	uint32_t pad;
};
#define ARCH_NATIVE 3
#define ARCH_COMPAT 4
#define TIF_32BIT 22
#define NR_OF(regs) ((regs)->syscallno)
#define IP_OF(regs) ((regs)->pc)
#define SP_OF(regs) ((regs)->sp)
#define REGISTERS_IP __builtin_offsetof(struct registers, pc)
#define LINK_OF(from) ((from)->regs[30])
#define FRAME_OF(from) ((from)->regs[29])
#define BASE_OF(from) ((from)->regs[19])
#define CALLER_ON_STACK 0
#define NR_SIGRETURN 139
#define REGISTERS 33
#else
#error "for which machine?"
#endif

static __always_inline uint32_t arch_of(const struct task_struct *current, int32_t nr)
{
#ifdef ARCH_X32
	if (field_u32(current, at.task_thread_info + at.info_status) & TS_COMPAT)
		return ARCH_COMPAT;
	if (nr >= 0 && (nr & X32_BIT))
		return ARCH_X32;
#else
	if (field_u64(current, at.task_thread_info + at.info_flags) >> TIF_32BIT & 1)
		return ARCH_COMPAT;
#endif
	return ARCH_NATIVE;
}

__noinline uint32_t place_of(uint32_t arch, int32_t nr)
{
	uint32_t number = (uint32_t)nr, table = KERN_TABLE_NATIVE;

	if (arch == ARCH_COMPAT)
		table = KERN_TABLE_COMPAT;
#ifdef ARCH_X32
	if (arch == ARCH_X32) {
		table = KERN_TABLE_X32;
		number &= ~X32_BIT;
	}
#endif
	if (number >= KERN_NRS)
		return KERN_PLACES - 1;
	return table * KERN_NRS + number;
}

static __always_inline void take_registers(struct event_call *call, const struct registers *regs, uint32_t arch,
					   int at_exit)
{
	call->ip = IP_OF(regs);
#ifdef SYSCULL_BPF_X86_64
	if (arch == ARCH_COMPAT) {
		call->args[0] = (uint32_t)regs->bx;
		call->args[1] = (uint32_t)regs->cx;
		call->args[2] = (uint32_t)regs->dx;
		call->args[3] = (uint32_t)regs->si;
		call->args[4] = (uint32_t)regs->di;
		call->args[5] = (uint32_t)regs->bp;
		return;
	}
	call->args[0] = regs->di;
	call->args[1] = regs->si;
	call->args[2] = regs->dx;
	call->args[3] = regs->r10;
	call->args[4] = regs->r8;
	call->args[5] = regs->r9;
#else
	call->args[0] = at_exit ? regs->orig_x0 : regs->regs[0];
	call->args[1] = regs->regs[1];
	call->args[2] = regs->regs[2];
	call->args[3] = regs->regs[3];
	call->args[4] = regs->regs[4];
	call->args[5] = regs->regs[5];
#endif
}

/* As DWARF numbers them, the program counter last. */
static __always_inline void put_registers(uint64_t *to, const struct registers *regs)
{
#ifdef SYSCULL_BPF_X86_64
	to[0] = regs->ax;
	to[1] = regs->dx;
	to[2] = regs->cx;
	to[3] = regs->bx;
	to[4] = regs->si;
	to[5] = regs->di;
	to[6] = regs->bp;
	to[7] = regs->sp;
	to[8] = regs->r8;
	to[9] = regs->r9;
	to[10] = regs->r10;
	to[11] = regs->r11;
	to[12] = regs->r12;
	to[13] = regs->r13;
	to[14] = regs->r14;
	to[15] = regs->r15;
#else
	for (int i = 0; i < 31; i++)
		to[i] = regs->regs[i];
	to[31] = regs->sp;
#endif
	to[REGISTERS - 1] = IP_OF(regs);
}
