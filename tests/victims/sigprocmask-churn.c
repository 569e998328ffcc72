/* SPDX-License-Identifier: BSD-2-Clause */
/* Saves its place 1,000 times, each time with the signal mask. */
#include <setjmp.h>

#include "victim.h"

static sigjmp_buf place;

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);

	for (volatile unsigned i = 0; i < times; i++)
		if (sigsetjmp(place, 1) != 0)
			victim_fail("sigsetjmp");
	(void)printf("expect rule=sigprocmask-churn calls=%u tier=certain with=sigsetjmp\n", times - 1);
	(void)printf("expect-none rule=sigaction-sweep\n");
	(void)printf("count rt_sigprocmask=%u\n", times);
	return 0;
}
