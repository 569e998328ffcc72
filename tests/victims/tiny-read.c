/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a file of 1,000 bytes one by one. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct victim_dir dir;
	struct stat stat;
	char byte;
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)times) != 0 || fstat(fd, &stat) != 0)
		victim_fail("f0");
	for (unsigned i = 0; i < times; i++)
		if (read(fd, &byte, 1) != 1)
			victim_fail("read");
	(void)close(fd);
	victim_remove_files(&dir);
	(void)printf("expect rule=tiny-read calls=%u tier=certain with=4,096\n", times - 1);
	(void)printf("expect-none rule=tiny-write\n");
	(void)printf("expect-none rule=noop-seek\n");
	return 0;
}
