/* SPDX-License-Identifier: BSD-2-Clause */
/* The same without the mask; then signals blocked around calls that must not be interrupted. */
#include <setjmp.h>
#include <signal.h>

#include "victim.h"

static sigjmp_buf place;

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	sigset_t all, old;

	for (volatile unsigned i = 0; i < times; i++)
		if (sigsetjmp(place, 0) != 0)
			victim_fail("sigsetjmp");
	(void)sigfillset(&all);
	for (unsigned i = 0; i < times; i++) {
		if (sigprocmask(SIG_BLOCK, &all, &old) != 0)
			victim_fail("sigprocmask");
		(void)umask(022);
		if (sigprocmask(SIG_SETMASK, &old, NULL) != 0)
			victim_fail("sigprocmask");
	}
	(void)printf("expect-none rule=sigprocmask-churn\n");
	(void)printf("count rt_sigprocmask=%u\n", 2 * times);
	return 0;
}
