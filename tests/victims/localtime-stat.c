/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns 1,000 times into local time with TZ unset.  Runs itself again without
 * TZ when it has one, so that the environment that an observer sees is right.
 */
#include <time.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000), looks;
	unsigned long sum = 0;

	if (getenv("TZ")) {
		(void)unsetenv("TZ");
		(void)execv("/proc/self/exe", argv);
		victim_fail("/proc/self/exe");
	}
#ifndef __GLIBC__
	victim_skip("only glibc looks at the file again");
#endif
	/* glibc goes on looking only when it could read the file. */
	if (access("/etc/localtime", R_OK) != 0)
		victim_skip("there is no /etc/localtime");
	for (unsigned i = 0; i < times; i++) {
		time_t when = (time_t)i * 86400;
		const struct tm *tm = localtime(&when);

		sum += tm ? (unsigned long)tm->tm_yday : 0;
	}
	if (sum == 0)
		victim_fail("localtime");
	/* The first time it opens the file and asks with fstat. */
	looks = times - 1;
	(void)printf("expect rule=localtime-stat calls=%u tier=certain\n", looks);
	(void)printf("expect-none rule=xattr-probe\n");
	(void)printf("count stat+newfstatat+statx=%u path=/etc/localtime\n", looks);
	return 0;
}
