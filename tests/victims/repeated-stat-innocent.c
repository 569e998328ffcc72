/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks at a file that it writes to in between, and at 1,000 files once. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	static const char piece[512];
	struct victim_dir dir;
	char path[4200];
	struct stat st;
	int fd;

	victim_make_files(&dir, times);
	(void)snprintf(path, sizeof path, "%s/f0", dir.path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		victim_fail(path);
	for (unsigned i = 0; i < times; i++) {
		char name[32];

		if (write(fd, piece, sizeof piece) != sizeof piece || stat(path, &st) < 0)
			victim_fail(path);
		(void)snprintf(name, sizeof name, "f%u", i);
		if (fstatat(dir.fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			victim_fail(name);
	}
	(void)close(fd);
	victim_remove_files(&dir);
	(void)printf("expect-none rule=repeated-stat\n");
	return 0;
}
