/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks before each of 1,000 lines whether it goes to a terminal. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000), lines = 0;
	struct victim_dir dir;
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		victim_fail("f0");
	for (unsigned i = 0; i < times; i++)
		lines += !isatty(fd);
	(void)close(fd);
	victim_remove_files(&dir);
	if (lines != times)
		victim_fail("isatty");
	(void)printf("expect rule=tty-probe calls=%u tier=certain errno=ENOTTY\n", times - 1);
	(void)printf("expect-none rule=repeated-fstat\n");
	return 0;
}
