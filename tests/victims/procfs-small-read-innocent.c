/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads its own smaps with 4,096 bytes at a time, 200 times a file of /proc
 * that fits into one small read, and a plain file in small pieces.
 */
#include <sys/mman.h>

#include "victim.h"

#define MAPPINGS 400

static void read_all(const char *path, size_t size)
{
	char buffer[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		victim_fail(path);
	while ((got = read(fd, buffer, size)) > 0)
		;
	if (got < 0)
		victim_fail(path);
	(void)close(fd);
}

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 200);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area;

	if (access("/proc/self/smaps", R_OK) != 0)
		victim_skip("there is no /proc/self/smaps");
	area = mmap(NULL, MAPPINGS * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		victim_fail("mmap");
	for (size_t i = 0; i < MAPPINGS; i += 2)
		if (mprotect(area + i * page, page, PROT_NONE) != 0)
			victim_fail("mprotect");
	read_all("/proc/self/smaps", 4096);
	for (unsigned i = 0; i < times; i++)
		read_all("/proc/self/stat", 1024);
	read_all("/proc/self/exe", 512);
	(void)printf("expect-none rule=procfs-small-read\n");
	(void)printf("expect-none rule=fd-sweep\n");
	return 0;
}
