/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps the same file, reads a byte of it and unmaps it, 1,000 times. */
#include <sys/mman.h>

#include "victim.h"

#define BYTES 4096

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000), sum = 0;
	const char *failed = NULL;
	struct victim_dir dir;
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, BYTES) != 0)
		failed = "f0";
	for (unsigned i = 0; i < times && !failed; i++) {
		char *memory = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);

		if (memory == MAP_FAILED) {
			failed = "mmap";
			break;
		}
		sum += (unsigned char)*(volatile char *)memory;
		if (munmap(memory, BYTES) != 0)
			failed = "munmap";
	}
	victim_remove_files(&dir);
	if (failed || sum != 0)
		victim_fail(failed ? failed : "f0");
	(void)printf("expect rule=mmap-churn calls=%u tier=likely\n", 2 * times);
	(void)printf("expect-none rule=brk-churn\n");
	(void)printf("expect-none rule=xattr-probe\n");
	return 0;
}
