/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks each file once, and links as often. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 100);
	struct victim_dir dir;
	char path[4200], target[64];

	victim_make_files(&dir, times);
	if (symlinkat("f0", dir.fd, "link") < 0)
		victim_fail("link");
	for (unsigned i = 0; i < times; i++) {
		(void)snprintf(path, sizeof path, "%s/f%u", dir.path, i);
		if (readlink(path, target, sizeof target) >= 0)
			victim_fail(path);
		if (readlinkat(dir.fd, "link", target, sizeof target) != 2)
			victim_fail("link");
	}
	(void)unlinkat(dir.fd, "link", 0);
	victim_remove_files(&dir);
	(void)printf("expect-none rule=readlink-walk\n");
	return 0;
}
