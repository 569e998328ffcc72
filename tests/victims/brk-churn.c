/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two blocks of 130,000 bytes allocated, used and freed 2,000 times.  Both
 * are below the size from which glibc maps them, and together above what it
 * keeps at the top of its heap, so that the heap shrinks and grows each time.
 */
#include "victim.h"

#define BLOCK 130000

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 2000);

#ifndef __GLIBC__
	victim_skip("only glibc's malloc gives back the top of its heap so soon");
#endif
	for (unsigned i = 0; i < times; i++) {
		char *one = malloc(BLOCK), *two = malloc(BLOCK);

		if (!one || !two)
			victim_fail("malloc");
		/* Through memory, or the compiler leaves all of it out. */
		__asm__ volatile("" : "+r"(one), "+r"(two)::"memory");
		(void)memset(one, 1, BLOCK);
		(void)memset(two, 2, BLOCK);
		__asm__ volatile("" ::"r"(one), "r"(two) : "memory");
		free(one);
		free(two);
	}
	/* It shrinks once more than it grows again. */
	(void)printf("expect rule=brk-churn calls=%u tier=likely with=MALLOC_TOP_PAD_=1000000\n", 2 * (times - 1));
	(void)printf("expect-none rule=mmap-churn\n");
	(void)printf("expect-none rule=xattr-probe\n");
	return 0;
}
