/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that makes one system call, to end: without a libc, for counts of what starts it. */
void _start(void);

void _start(void)
{
#if defined(__x86_64__)
	__asm__ volatile("xorl %%edi, %%edi\n\tmovl $231, %%eax\n\tsyscall" : : : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("mov x0, xzr\n\tmov x8, #94\n\tsvc #0" : : : "memory");
#endif
	for (;;)
		;
}
