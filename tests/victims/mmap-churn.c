/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps 136 KiB of memory, uses a page of them and unmaps them, 1,000 times. */
#include <sys/mman.h>

#include "victim.h"

#define BYTES 139264

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);

	for (unsigned i = 0; i < times; i++) {
		char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			victim_fail("mmap");
		*(volatile char *)memory = 1;
		if (munmap(memory, BYTES) != 0)
			victim_fail("munmap");
	}
	(void)printf("expect rule=mmap-churn calls=%u tier=likely\n", 2 * times);
	(void)printf("expect-none rule=brk-churn\n");
	(void)printf("expect-none rule=xattr-probe\n");
	return 0;
}
