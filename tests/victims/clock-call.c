/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the process's CPU time 1,000 times. */
#include <time.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct timespec now = { 0 };

	for (unsigned i = 0; i < times; i++)
		if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0)
			victim_fail("clock_gettime");
	(void)printf("expect rule=clock-call calls=%u tier=likely\n", times);
	(void)printf("expect-none rule=identity-call\n");
	(void)printf("count clock_gettime=%u\n", times);
	return 0;
}
