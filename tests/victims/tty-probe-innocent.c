/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks once for each of 1,000 files, knowing nothing of them. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000), files = 0;
	struct victim_dir dir;

	victim_make_files(&dir, 1);
	for (unsigned i = 0; i < times; i++) {
		int fd = openat(dir.fd, "f0", O_WRONLY | O_CLOEXEC);

		if (fd < 0)
			victim_fail("f0");
		files += !isatty(fd);
		(void)close(fd);
	}
	victim_remove_files(&dir);
	if (files != times)
		victim_fail("isatty");
	(void)printf("expect-none rule=tty-probe\n");
	return 0;
}
