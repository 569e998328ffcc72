/* SPDX-License-Identifier: BSD-2-Clause */
/* The same work with TZ set, and some by localtime_r: no look-ups at all. */
#include <time.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	const char *zone = getenv("TZ");
	unsigned long sum = 0;

	if (!zone || strcmp(zone, ":/etc/localtime") != 0) {
		(void)setenv("TZ", ":/etc/localtime", 1);
		(void)execv("/proc/self/exe", argv);
		victim_fail("/proc/self/exe");
	}
	for (unsigned i = 0; i < times; i++) {
		time_t when = (time_t)i * 86400;
		struct tm storage;
		const struct tm *tm = i % 2 ? localtime(&when) : localtime_r(&when, &storage);

		sum += tm ? (unsigned long)tm->tm_yday : 0;
	}
	if (sum == 0)
		victim_fail("localtime");
	(void)printf("expect-none rule=localtime-stat\n");
	(void)printf("expect-none rule=xattr-probe\n");
	(void)printf("count stat+newfstatat+statx=0 path=/etc/localtime\n");
	return 0;
}
