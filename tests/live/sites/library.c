/* SPDX-License-Identifier: BSD-2-Clause */
/* A library's call, and one of the program's own that a library calls back. */
#include <unistd.h>

int ask(void);
int each(int (*visit)(int), int times);

static int visit(int i)
{
	return getgid() + i; /*@ visit */
}

int main(void)
{
	int sum = getgid(); /* the first answer is no repeat */

	for (int i = 0; i < 100; i++)
		sum += ask(); /*@ main */
	sum += each(visit, 210); /*@ back */
	return sum == 1;
}
