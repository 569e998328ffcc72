/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets a mode to and fro, modes of new files, and times to now. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 500);
	struct victim_dir dir;
	char name[32];

	victim_make_files(&dir, times);
	for (unsigned i = 0; i < times; i++) {
		(void)snprintf(name, sizeof name, "f%u", i);
		if (fchmodat(dir.fd, "f0", i % 2 ? 0600 : 0640, 0) < 0 || fchmodat(dir.fd, name, 0600, 0) < 0 ||
		    utimensat(dir.fd, name, NULL, 0) < 0)
			victim_fail(name);
	}
	victim_remove_files(&dir);
	(void)printf("expect-none rule=noop-metadata\n");
	return 0;
}
