/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks 1,000 files for an attribute of a kind that does not exist, so that no
 * file of the device can have it: EOPNOTSUPP. */
#include <sys/xattr.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct victim_dir dir;
	const char *error = NULL;
	char path[4200];

	victim_make_files(&dir, times);
	for (unsigned i = 0; i < times; i++) {
		(void)snprintf(path, sizeof path, "%s/f%u", dir.path, i);
		if (lgetxattr(path, "nobody.victim", NULL, 0) >= 0)
			continue;
		error = errno == EOPNOTSUPP ? "EOPNOTSUPP" : NULL;
	}
	victim_remove_files(&dir);
	if (!error)
		victim_skip("unknown attribute names are not refused here");
	(void)printf("expect rule=xattr-probe calls=%u errno=%s\n", times, error);
	(void)printf("expect-none rule=localtime-stat\n");
	(void)printf("count lgetxattr=%u errno=%s\n", times, error);
	(void)printf("count @xattr=%u\n", times);
	return 0;
}
