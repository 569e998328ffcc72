/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists the attributes of 1,000 files, which is one call each and fails on
 * none, gets what one file in ten has, and asks a few by name in vain.
 */
#include <sys/xattr.h>

#include "victim.h"

#define NAME "user.syscull-victim"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000), failed = 0, got = 0, asked = 0;
	struct victim_dir dir;
	char path[4200], list[256], value[8];

	victim_make_files(&dir, times);
	for (unsigned i = 0; i < times; i += 10) {
		(void)snprintf(path, sizeof path, "%s/f%u", dir.path, i);
		if (setxattr(path, NAME, "x", 1, 0) != 0) {
			victim_remove_files(&dir);
			victim_skip("user attributes cannot be set in TMPDIR");
		}
	}
	for (unsigned i = 0; i < times; i++) {
		(void)snprintf(path, sizeof path, "%s/f%u", dir.path, i);
		if (llistxattr(path, list, sizeof list) < 0)
			failed++;
		/* What was listed, and 40 that were not. */
		if (i % 10 == 0 || (i % 10 == 1 && i < 400)) {
			asked++;
			if (lgetxattr(path, NAME, value, sizeof value) == 1)
				got++;
		}
	}
	victim_remove_files(&dir);
	if (failed > 0 || got != (times + 9) / 10)
		victim_fail("attributes do not stay");
	(void)printf("expect-none rule=xattr-probe\n");
	(void)printf("expect-none rule=localtime-stat\n");
	(void)printf("count llistxattr=%u\n", times);
	(void)printf("count lgetxattr=%u\n", asked);
	return 0;
}
