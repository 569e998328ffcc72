/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a file in 1,000 pieces and asks after each where it is. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct victim_dir dir;
	char piece[64];
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)times * 64) != 0)
		victim_fail("f0");
	for (unsigned i = 0; i < times; i++)
		if (read(fd, piece, sizeof piece) != 64 || lseek(fd, 0, SEEK_CUR) != (off_t)(i + 1) * 64)
			victim_fail("read");
	(void)close(fd);
	victim_remove_files(&dir);
	(void)printf("expect rule=noop-seek calls=%u tier=certain\n", times - 1);
	(void)printf("expect-none rule=repeated-fstat\n");
	(void)printf("count lseek=%u\n", times);
	return 0;
}
