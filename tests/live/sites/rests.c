/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks, and is there for a while after it. */
#include <unistd.h>

static __attribute__((noinline)) int ask(void)
{
	return getgid() + 1; /*@ ask */
}

int main(void)
{
	int sum = getgid(); /* the first answer is no repeat */

	for (int i = 0; i < 300; i++)
		sum += ask(); /*@ main */
	(void)usleep(500000);
	return sum == 1;
}
