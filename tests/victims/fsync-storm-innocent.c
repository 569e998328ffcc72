/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes 100 lines of a log safe at once, and 30 large pieces one by one. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 100);
	static char piece[65536];
	struct victim_dir dir;
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		victim_fail("f0");
	for (unsigned i = 0; i < times; i++)
		if (pwrite(fd, "line\n", 5, (off_t)i * 5) != 5)
			victim_fail("write");
	if (fsync(fd) < 0)
		victim_fail("fsync");
	for (unsigned i = 0; i < 30; i++)
		if (pwrite(fd, piece, sizeof piece, 0) != (ssize_t)sizeof piece || fdatasync(fd) < 0)
			victim_fail("fdatasync");
	(void)close(fd);
	victim_remove_files(&dir);
	(void)printf("expect-none rule=fsync-storm\n");
	return 0;
}
