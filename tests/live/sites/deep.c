/* SPDX-License-Identifier: BSD-2-Clause */
/* More frames than are copied by default. */
#include <unistd.h>

static __attribute__((noinline)) int down(int depth)
{
	volatile char room[600];

	room[depth % 600] = 1;
	if (depth == 0)
		return getgid() + room[0]; /*@ bottom */
	return down(depth - 1) + room[1]; /*@ down */
}

int main(void)
{
	int sum = getgid(); /* the first answer is no repeat */

	for (int i = 0; i < 205; i++)
		sum += down(10); /*@ main */
	return sum == 1;
}
