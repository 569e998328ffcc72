/* SPDX-License-Identifier: BSD-2-Clause */
/* vfork, which may leave nothing on the stack: says that it comes, and jumps. */
	.text
	.globl vfork
	.type vfork, %function
	.hidden preload_before_vfork
vfork:
#if defined __x86_64__
	.cfi_startproc
	endbr64
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	call preload_before_vfork
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	jmp *%rax
	.cfi_endproc
#elif defined __aarch64__
	.cfi_startproc
	hint #34
	stp x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	bl preload_before_vfork
	ldp x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	mov x16, x0
	br x16
	.cfi_endproc
#else
#error "vfork is not written for this machine"
#endif
	.size vfork, . - vfork
	.section .note.GNU-stack, "", %progbits
