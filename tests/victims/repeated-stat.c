/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks at one file 1,000 times. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct victim_dir dir;
	char path[4200];

	victim_make_files(&dir, 1);
	(void)snprintf(path, sizeof path, "%s/f0", dir.path);
	for (unsigned i = 0; i < times; i++) {
		struct stat st;

		if (stat(path, &st) < 0)
			victim_fail(path);
	}
	victim_remove_files(&dir);
	(void)printf("expect rule=repeated-stat calls=%u tier=likely\n", times - 1);
	(void)printf("count stat+newfstatat+statx=%u path=%s\n", times, path);
	return 0;
}
