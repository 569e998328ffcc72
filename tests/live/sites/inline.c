/* SPDX-License-Identifier: BSD-2-Clause */
/* Without any wrapper: the program's own instruction. */
#include <sys/syscall.h>

static __attribute__((noinline)) long own(void)
{
	long ret;

#ifdef __x86_64__
	__asm__ volatile("syscall" : "=a"(ret) : "0"(SYS_getgid) : "rcx", "r11", "memory"); /*@ own */
#else
	register long number __asm__("x8") = SYS_getgid;
	register long first __asm__("x0");

	__asm__ volatile("svc 0" : "=r"(first) : "r"(number) : "memory");
	ret = first;
#endif
	return ret;
}

int main(void)
{
	long sum = own(); /* the first answer is no repeat */

	for (int i = 0; i < 222; i++)
		sum += own(); /*@ main */
	return sum == 1;
}
