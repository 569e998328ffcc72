/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks whether a file is there, and removes it all the same. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 100);
	struct victim_dir dir;
	char name[32];

	victim_make_files(&dir, 0);
	for (unsigned i = 0; i < times; i++) {
		struct stat st;

		(void)snprintf(name, sizeof name, "g%u", i);
		if (fstatat(dir.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || unlinkat(dir.fd, name, 0) == 0)
			victim_fail(name);
	}
	victim_remove_files(&dir);
	(void)printf("expect rule=failing-cleanup calls=%u tier=likely errno=ENOENT\n", times);
	(void)printf("count unlinkat=%u errno=ENOENT\n", times);
	return 0;
}
