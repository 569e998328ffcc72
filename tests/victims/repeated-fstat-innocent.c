/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks each of 1,000 open files once, and one file after each write. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	static const char piece[512];
	struct victim_dir dir;
	struct stat stat;
	int fd;

	victim_make_files(&dir, 2);
	for (unsigned i = 0; i < times; i++) {
		fd = openat(dir.fd, "f0", O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &stat) != 0)
			victim_fail("f0");
		(void)close(fd);
	}
	fd = openat(dir.fd, "f1", O_WRONLY | O_CLOEXEC);
	for (unsigned i = 0; i < times; i++)
		if (fd < 0 || write(fd, piece, sizeof piece) != sizeof piece || fstat(fd, &stat) != 0 ||
		    stat.st_size != (off_t)((i + 1) * sizeof piece))
			victim_fail("f1");
	(void)close(fd);
	victim_remove_files(&dir);
	(void)printf("expect-none rule=repeated-fstat\n");
	return 0;
}
