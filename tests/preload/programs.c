/* SPDX-License-Identifier: BSD-2-Clause */
#include "programs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define LABEL "security.selinux"

void say(const char *what, const char *detail, long result)
{
	if (result < 0)
		(void)printf("%s %s: %s\n", what, detail, strerrorname_np(errno));
	else
		(void)printf("%s %s: %ld\n", what, detail, result);
}

void train(const char *folder)
{
	char path[4096], value[64];
	struct stat st;

	for (unsigned i = 0; i < 40; i++) {
		(void)snprintf(path, sizeof path, "%s/f%u", folder, i);
		(void)lstat(path, &st);
		(void)lgetxattr(path, LABEL, value, sizeof value);
		(void)lgetxattr(path, "security.capability", value, sizeof value);
	}
}

void told(const char *path)
{
	struct stat st;

	say("lstat", path, lstat(path, &st));
}

void asked(const char *path)
{
	char value[64];

	errno = 0;
	say(LABEL, path, lgetxattr(path, LABEL, value, sizeof value));
}

int main(int argc, char **argv)
{
	const struct program *const lists[] = { attribute_programs, change_programs, busy_programs, remedy_programs };

	for (size_t i = 0; argc >= 2 && i < sizeof lists / sizeof lists[0]; i++) {
		for (const struct program *one = lists[i]; one->name; one++) {
			if (strcmp(one->name, argv[1]) == 0)
				return one->main(argc - 1, argv + 1);
		}
	}
	(void)fputs("no such program\n", stderr);
	return 2;
}
