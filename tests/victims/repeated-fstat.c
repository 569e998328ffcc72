/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks each of 1,000 open files twice how large it is. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct victim_dir dir;
	struct stat stat;

	victim_make_files(&dir, 1);
	for (unsigned i = 0; i < times; i++) {
		int fd = openat(dir.fd, "f0", O_RDONLY | O_CLOEXEC);

		if (fd < 0 || fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode) || fstat(fd, &stat) != 0)
			victim_fail("f0");
		(void)close(fd);
	}
	victim_remove_files(&dir);
	(void)printf("expect rule=repeated-fstat calls=%u tier=likely\n", times);
	(void)printf("expect-none rule=file-reread\n");
	(void)printf("expect-none rule=tty-probe\n");
	return 0;
}
