/* SPDX-License-Identifier: BSD-2-Clause */
/* The same work with a top of the heap that holds both blocks, and one trim
 * at the end of it. */
#include <malloc.h>

#include "victim.h"

#define BLOCK 130000

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 2000);

#ifdef __GLIBC__
	if (mallopt(M_TOP_PAD, 1000000) != 1)
		victim_fail("mallopt");
#endif
	for (unsigned i = 0; i < times; i++) {
		char *one = malloc(BLOCK), *two = malloc(BLOCK);

		if (!one || !two)
			victim_fail("malloc");
		__asm__ volatile("" : "+r"(one), "+r"(two)::"memory");
		(void)memset(one, 1, BLOCK);
		(void)memset(two, 2, BLOCK);
		__asm__ volatile("" ::"r"(one), "r"(two) : "memory");
		free(one);
		free(two);
	}
#ifdef __GLIBC__
	(void)malloc_trim(0);
#endif
	(void)printf("expect-none rule=brk-churn\n");
	(void)printf("expect-none rule=mmap-churn\n");
	return 0;
}
