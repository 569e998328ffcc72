/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps a lot and wastes nothing: a buffer that is used again, many buffers at
 * a time, one that grows, stacks, blocks of malloc that adapts itself.
 */
#include <sys/mman.h>

#include "victim.h"

#define BYTES 139264
#define AT_A_TIME 200

static char *map(size_t bytes, int prot, int flags)
{
	char *memory = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (memory == MAP_FAILED)
		victim_fail("mmap");
	return memory;
}

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	char *kept = map(BYTES, PROT_READ | PROT_WRITE, 0), *many[AT_A_TIME], *block;

	for (unsigned i = 0; i < times; i++) {
		*(volatile char *)kept = 1;
		block = malloc(200000);
		if (!block)
			victim_fail("malloc");
		__asm__ volatile("" : "+r"(block)::"memory");
		free(block);
	}
	(void)munmap(kept, BYTES);
	for (unsigned i = 0; i < AT_A_TIME; i++)
		many[i] = map(BYTES, PROT_READ | PROT_WRITE, 0);
	for (unsigned i = 0; i < AT_A_TIME; i++)
		(void)munmap(many[i], BYTES);
	for (size_t bytes = 4096; bytes < 200 * 4096; bytes += 4096)
		(void)munmap(map(bytes, PROT_READ | PROT_WRITE, 0), bytes);
	for (unsigned i = 0; i < 100; i++) {
		(void)munmap(map(BYTES, PROT_READ | PROT_WRITE, MAP_STACK), BYTES);
		(void)munmap(map(BYTES, PROT_NONE, 0), BYTES);
	}
	(void)printf("expect-none rule=mmap-churn\n");
	(void)printf("expect-none rule=brk-churn\n");
	return 0;
}
