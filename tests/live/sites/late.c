/* SPDX-License-Identifier: BSD-2-Clause */
/* A place that is called in very many ways before the one that counts. */
#include <unistd.h>

static __attribute__((noinline)) int ask(void)
{
	return getgid() + 1; /*@ ask */
}

static __attribute__((noinline)) int way(unsigned turns, int depth)
{
	if (depth == 0)
		return ask() + 1;
	if (turns & 1)
		return way(turns >> 1, depth - 1) + 1;
	return way(turns >> 1, depth - 1) + 2;
}

int main(void)
{
	int sum = getgid(); /* the first answer is no repeat */

	for (unsigned turns = 0; turns < 256; turns++)
		sum += way(turns, 8);
	for (int i = 0; i < 1000; i++)
		sum += ask(); /*@ main */
	return sum == 1;
}
