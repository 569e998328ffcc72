/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks a folder and a file in it whether they are links, again for each of 100 files. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 100);
	struct victim_dir dir;
	char path[4200], target[64];

	victim_make_files(&dir, times);
	for (unsigned i = 0; i < times; i++) {
		(void)snprintf(path, sizeof path, "%s/f%u", dir.path, i);
		if (readlink(dir.path, target, sizeof target) >= 0 || readlink(path, target, sizeof target) >= 0)
			victim_fail(path);
	}
	victim_remove_files(&dir);
	(void)printf("expect rule=readlink-walk calls=%u tier=likely errno=EINVAL\n", 2 * times);
	(void)printf("count readlink+readlinkat=%u errno=EINVAL\n", 2 * times);
	return 0;
}
