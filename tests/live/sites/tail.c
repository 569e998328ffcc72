/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that end by a jump leave no frame: in the program and in a library. */
#include <unistd.h>

int jump(void);

static __attribute__((noinline)) int last(void)
{
	return getgid();
}

static __attribute__((noinline)) int before_last(int i)
{
	__asm__ volatile("" : "+r"(i));
	return last();
}

int main(void)
{
	int sum = getgid(); /* the first answer is no repeat */

	for (int i = 0; i < 120; i++) {
		sum += before_last(i); /*@ main */
		sum += jump(); /*@ library */
		sum += last(); /*@ last */
	}
	return sum == 1;
}
