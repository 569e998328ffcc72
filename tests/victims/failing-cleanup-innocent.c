/* SPDX-License-Identifier: BSD-2-Clause */
/* Removes without looking first, and makes and removes folders. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 100);
	struct victim_dir dir;
	char name[32];

	victim_make_files(&dir, 0);
	for (unsigned i = 0; i < times; i++) {
		(void)snprintf(name, sizeof name, "g%u", i);
		if (unlinkat(dir.fd, name, 0) == 0)
			victim_fail(name);
		(void)snprintf(name, sizeof name, "d%u", i);
		if (mkdirat(dir.fd, name, 0700) < 0 || unlinkat(dir.fd, name, AT_REMOVEDIR) < 0)
			victim_fail(name);
	}
	victim_remove_files(&dir);
	(void)printf("expect-none rule=failing-cleanup\n");
	return 0;
}
