/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes 1,000 lines to a file, each by itself. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct victim_dir dir;
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		victim_fail("f0");
	for (unsigned i = 0; i < times; i++)
		if (dprintf(fd, "%u\n", i) < 0)
			victim_fail("dprintf");
	(void)close(fd);
	victim_remove_files(&dir);
	(void)printf("expect rule=tiny-write calls=%u tier=likely with=setvbuf\n", times - 1);
	(void)printf("expect-none rule=tiny-read\n");
	return 0;
}
