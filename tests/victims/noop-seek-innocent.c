/* SPDX-License-Identifier: BSD-2-Clause */
/* The same work counting, then backwards, by seeks that move. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct victim_dir dir;
	char piece[64];
	off_t at = 0;
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)times * 64) != 0)
		victim_fail("f0");
	for (unsigned i = 0; i < times; i++)
		at += read(fd, piece, sizeof piece);
	if (at != (off_t)times * 64)
		victim_fail("read");
	for (unsigned i = 0; i < times; i++)
		if (lseek(fd, (off_t)(times - 1 - i) * 64, SEEK_SET) < 0 || read(fd, piece, sizeof piece) != 64)
			victim_fail("read");
	(void)close(fd);
	victim_remove_files(&dir);
	(void)printf("expect-none rule=noop-seek\n");
	(void)printf("count lseek=%u\n", times);
	return 0;
}
