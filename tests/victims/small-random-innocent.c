/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the bytes for 1,000 names 256 at a time. */
#include <sys/random.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000), sum = 0;
	unsigned char bytes[256];

	for (unsigned i = 0; i < times; i++) {
		if (i % 16 == 0 && getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
			victim_fail("getrandom");
		sum += bytes[i % 16 * 16];
	}
	if (sum == 0 && times > 100)
		victim_fail("no random bytes");
	(void)printf("expect-none rule=small-random\n");
	return 0;
}
