/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads its own smaps with 1,024 bytes at a time.  With the argument "fgets"
 * stdio does so, which prints nothing since its reads cannot be counted here.
 */
#include <sys/mman.h>

#include "victim.h"

#define MAPPINGS 400

int main(int argc, char **argv)
{
	/* What is taken for the average of a 4 KiB read. */
	const unsigned long page_read = 3584;
	unsigned long reads = 0, bytes = 0, needed;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area, buffer[1024];
	ssize_t got;
	int fd;

	area = mmap(NULL, MAPPINGS * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		victim_fail("mmap");
	/* Neighbours that differ stay apart. */
	for (size_t i = 0; i < MAPPINGS; i += 2)
		if (mprotect(area + i * page, page, PROT_NONE) != 0)
			victim_fail("mprotect");
	if (argc > 1 && strcmp(argv[1], "fgets") == 0) {
		FILE *file = fopen("/proc/self/smaps", "re");

		while (file && fgets(buffer, sizeof buffer, file))
			reads++;
		if (!file || reads < MAPPINGS)
			victim_skip("there is no /proc/self/smaps");
		(void)fclose(file);
		return 0;
	}
	fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		victim_skip("there is no /proc/self/smaps");
	while ((got = read(fd, buffer, sizeof buffer)) > 0) {
		reads++;
		bytes += (unsigned long)got;
	}
	(void)close(fd);
	needed = (bytes + page_read - 1) / page_read;
	if (got < 0 || reads < needed * 2)
		victim_fail("/proc/self/smaps");
	(void)printf("expect rule=procfs-small-read calls=%lu tier=likely\n", reads - needed);
	(void)printf("expect-none rule=fd-sweep\n");
	(void)printf("expect-none rule=xattr-probe\n");
	return 0;
}
