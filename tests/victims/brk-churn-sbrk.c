/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A heap of the program's own: 1 MiB taken by sbrk(2), used and given back, 200
 * times.  glibc's malloc has no part in it, though both ways are in libc.
 */
#include "victim.h"

#define CHUNK (1 << 20)

int main(int argc, char **argv)
{
	static char out[BUFSIZ];
	unsigned times = victim_times(argc, argv, 200);

	/* Nothing is left for malloc to do. */
	(void)setvbuf(stdout, out, _IOFBF, sizeof out);
	for (unsigned i = 0; i < times; i++) {
		char *chunk = sbrk(CHUNK);

		if (chunk == (char *)-1)
			victim_fail("sbrk");
		__asm__ volatile("" : "+r"(chunk)::"memory");
		(void)memset(chunk, 1, CHUNK);
		if (sbrk(-CHUNK) == (char *)-1)
			victim_fail("sbrk");
	}
	/* It shrinks once more than it grows again. */
	(void)printf("expect rule=brk-churn calls=%u tier=likely with=sbrk(2) without=MALLOC_\n", 2 * (times - 1));
	(void)printf("expect-none rule=mmap-churn\n");
	return 0;
}
