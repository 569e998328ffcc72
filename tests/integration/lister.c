/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program that the small projects test: lists a folder, one status for
 * each file.  With LISTER_ASKS in its environment it also asks each file for
 * an attribute, which is the mistake that their budgets forbid.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>

int main(int argc, char **argv)
{
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	int asks = getenv("LISTER_ASKS") != NULL;
	struct dirent *entry;

	if (!folder)
		return 1;
	while ((entry = readdir(folder))) {
		char path[4096], value[64];
		struct stat st;

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
		if (lstat(path, &st) != 0)
			return 1;
		if (asks)
			(void)getxattr(path, "user.comment", value, sizeof value);
		(void)printf("%s %lld\n", entry->d_name, (long long)st.st_size);
	}
	(void)closedir(folder);
	return 0;
}
