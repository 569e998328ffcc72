/* SPDX-License-Identifier: BSD-2-Clause */
/* One function asks, called by three. */
#include <unistd.h>

static __attribute__((noinline)) int leaf(void)
{
	return getgid() + 1; /*@ leaf */
}

static __attribute__((noinline)) int one(void)
{
	return leaf() + 1; /*@ one */
}

static __attribute__((noinline)) int two(void)
{
	return leaf() + 2; /*@ two */
}

static __attribute__((noinline)) int three(void)
{
	return leaf() + 3; /*@ three */
}

int main(void)
{
	int sum = getgid(); /* the first answer is no repeat */

	for (int i = 0; i < 600; i++)
		sum += i % 6 == 0 ? one() : i % 6 < 3 ? two() : three(); /*@ main */
	return sum == 1;
}
