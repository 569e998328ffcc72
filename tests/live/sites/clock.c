/* SPDX-License-Identifier: BSD-2-Clause */
/* A clock that the kernel's page knows nothing of: it makes the call itself. */
#include <time.h>

int main(void)
{
	struct timespec time;
	long sum = 0;

	for (int i = 0; i < 2100; i++)
		sum += clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); /*@ main */
	return sum != 0;
}
