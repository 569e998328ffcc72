/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws 16 bytes for each of 1,000 names. */
#include <sys/random.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	char bytes[16];

	for (unsigned i = 0; i < times; i++)
		if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
			victim_fail("getrandom");
	/* malloc draws some for itself. */
	(void)printf("expect rule=small-random least=%u tier=likely\n", times);
	return 0;
}
