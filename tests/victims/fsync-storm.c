/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes each of 100 lines of a log safe by itself. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 100);
	struct victim_dir dir;
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		victim_fail("f0");
	for (unsigned i = 0; i < times; i++)
		if (write(fd, "line\n", 5) != 5 || fsync(fd) < 0)
			victim_fail("fsync");
	(void)close(fd);
	victim_remove_files(&dir);
	/* What was written before the first one is not known. */
	(void)printf("expect rule=fsync-storm calls=%u tier=likely\n", times - 1);
	(void)printf("count fsync=%u\n", times);
	return 0;
}
