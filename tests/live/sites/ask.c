/* SPDX-License-Identifier: BSD-2-Clause */
/* A library: asks by itself, calls back, and jumps. */
#include <unistd.h>

int ask(void);
int each(int (*visit)(int), int times);
int jump(void);

__attribute__((noinline)) int ask(void)
{
	int parent = getgid(); /*@ ask */

	return parent + 1;
}

int each(int (*visit)(int), int times)
{
	int sum = 0;

	for (int i = 0; i < times; i++)
		sum += visit(i); /*@ each */
	return sum;
}

int jump(void)
{
	return getgid();
}
