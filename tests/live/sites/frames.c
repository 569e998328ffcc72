/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames that only unwind information tells: no frame pointers, room of a size
 * known at run time, a stack that is aligned anew. */
#include <alloca.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) int inner(volatile char *room, int i)
{
	int sum = getgid(); /*@ inner */

	room[i % 16] = (char)sum;
	return sum + room[0];
}

static __attribute__((noinline)) int sized(int i)
{
	volatile char *room = alloca((size_t)(16 + i % 100));
	int sum;

	memset((char *)room, i, 16);
	sum = inner(room, i); /*@ sized */
	return sum + room[1];
}

static __attribute__((noinline)) int aligned(int i)
{
	_Alignas(64) volatile char room[128];
	int sum;

	memset((char *)room, i, sizeof room);
	sum = sized(i) + room[3]; /*@ aligned */
	return sum + room[5];
}

int main(void)
{
	int sum = getgid(); /* the first answer is no repeat */

	for (int i = 0; i < 260; i++)
		sum += aligned(i); /*@ main */
	return sum == 1;
}
