/* SPDX-License-Identifier: BSD-2-Clause */
/* Two places of one program, taking turns: each has its own count. */
#include <unistd.h>

static __attribute__((noinline)) int twice(void)
{
	int sum = getgid(); /*@ first */

	return sum + getgid(); /*@ second */
}

int main(void)
{
	int sum = getgid(); /* the first answer is no repeat */

	for (int i = 0; i < 150; i++) {
		sum += twice(); /*@ main */
		if (i % 3 == 0)
			sum += getgid(); /*@ third */
	}
	return sum == 1;
}
