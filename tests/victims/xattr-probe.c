/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks 1,000 files that have no attributes for one of them, by name: ENODATA
 * where user attributes can be. */
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
		if (getxattr(path, "user.syscull-victim", NULL, 0) >= 0)
			continue;
		error = errno == ENODATA ? "ENODATA" : errno == EOPNOTSUPP ? "EOPNOTSUPP" : NULL;
	}
	victim_remove_files(&dir);
	if (!error)
		victim_skip("getxattr gives neither ENODATA nor EOPNOTSUPP here");
	(void)printf("expect rule=xattr-probe calls=%u errno=%s\n", times, error);
	(void)printf("expect-none rule=localtime-stat\n");
	(void)printf("count getxattr=%u errno=%s\n", times, error);
	(void)printf("count @xattr=%u\n", times);
	return 0;
}
