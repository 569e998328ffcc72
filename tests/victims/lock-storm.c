/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks a file for each of 300 changes. */
#include "victim.h"

static void lock(int fd, short type)
{
	struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_len = 1 };

	if (fcntl(fd, F_SETLK, &range) < 0)
		victim_fail("F_SETLK");
}

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 300);
	struct victim_dir dir;
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		victim_fail("f0");
	for (unsigned i = 0; i < times; i++) {
		lock(fd, F_WRLCK);
		lock(fd, F_UNLCK);
	}
	(void)close(fd);
	victim_remove_files(&dir);
	(void)printf("expect rule=lock-storm calls=%u tier=likely\n", times * 2);
	(void)printf("count fcntl=%u\n", times * 2);
	return 0;
}
