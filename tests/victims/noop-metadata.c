/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets owner and mode of a file to what they are, each 500 times. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 500);
	struct victim_dir dir;
	struct stat st;
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		victim_fail("f0");
	for (unsigned i = 0; i < times; i++)
		if (fchown(fd, st.st_uid, st.st_gid) < 0 || fchmod(fd, st.st_mode & 07777) < 0)
			victim_fail("f0");
	(void)close(fd);
	victim_remove_files(&dir);
	(void)printf("expect rule=noop-metadata calls=%u tier=likely\n", 2 * times);
	(void)printf("count fchown+fchmod=%u\n", 2 * times);
	return 0;
}
