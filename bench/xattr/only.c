/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a directory and stats its files, and asks each for some attributes:
 * what one kind of look-up costs by itself, with a memo and without.
 *
 * usage: xattr-only label|acl|capability|all|nothing plain|memo|trust DIRECTORY
 */
#include "syscull/xattr.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t wanted_of(const char *word)
{
	if (strcmp(word, "label") == 0)
		return SYSCULL_XATTR_SELINUX;
	if (strcmp(word, "acl") == 0)
		return SYSCULL_XATTR_ACL_ACCESS;
	if (strcmp(word, "capability") == 0)
		return SYSCULL_XATTR_CAPABILITY;
	if (strcmp(word, "all") == 0)
		return SYSCULL_XATTR_SELINUX | SYSCULL_XATTR_ACL_ACCESS | SYSCULL_XATTR_CAPABILITY;
	return 0;
}

int main(int argc, char **argv)
{
	struct syscull_xattr_memo_options options = { .size = sizeof options };
	struct syscull_xattr_memo *memo = NULL;
	uint32_t wanted;
	struct dirent *one;
	DIR *dir;

	if (argc != 4)
		return 2;
	wanted = wanted_of(argv[1]);
	if (strcmp(argv[2], "trust") == 0)
		options.flags = SYSCULL_XATTR_TRUST_DEVICE;
	if (strcmp(argv[2], "plain") != 0)
		memo = syscull_xattr_memo_new(&options);
	dir = opendir(argv[3]);
	if (dir == NULL)
		return 1;
	while ((one = readdir(dir)) != NULL) {
		struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(dirfd(dir), one->d_name);
		struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT;
		struct statx stx;

		if (one->d_name[0] == '.' || statx(dirfd(dir), one->d_name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
						   STATX_BASIC_STATS | STATX_MNT_ID, &stx) < 0)
			continue;
		syscull_xattr_file_statx(&file, &stx);
		if (wanted != 0 && syscull_xattr_ask(memo, &file, wanted, &answers) < 0)
			return 1;
	}
	(void)closedir(dir);
	syscull_xattr_memo_free(memo);
	return 0;
}
