/* SPDX-License-Identifier: BSD-2-Clause */
/* Every way to ask for attributes, with every errno that there is to get. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "programs.h"

static const char *const names[] = {
	"security.selinux",
	"security.capability",
	"security.ima",
	"system.posix_acl_access",
	"system.posix_acl_default",
	"system.nfs4_acl",
	"trusted.syscull",
	"user.syscull",
	"user.",
	"foreign.name",
	"security.",
	"",
	"nothing",
};
#define NAMES (sizeof names / sizeof names[0])

static char long_name[400];

static void all_names(const char *path, const char *shown, int fd)
{
	char value[300], text[512];

	for (size_t i = 0; i <= NAMES; i++) {
		const char *name = i == NAMES ? long_name : names[i];

		/* No size, one that is too small, one that is large enough. */
		for (size_t size = 0; size <= sizeof value; size += size == 0 ? 1 : sizeof value - 1) {
			(void)snprintf(text, sizeof text, "%s %.20s %zu", shown, name, size);
			memset(value, '#', sizeof value);
			errno = 0;
			if (fd >= 0 || !path) {
				say("fgetxattr", text, fgetxattr(fd, name, size ? value : NULL, size));
			} else {
				say("lgetxattr", text, lgetxattr(path, name, size ? value : NULL, size));
				errno = 0;
				say("getxattr", text, getxattr(path, name, size ? value : NULL, size));
			}
			(void)printf("value %.8s errno %s\n", value, errno ? strerrorname_np(errno) : "0");
		}
	}
}

/* Asked after stats of each kind, by its name, below a directory, by descriptor. */
static void one_file(int dirfd, const char *name)
{
	char path[PATH_MAX];
	struct statx stx;
	struct stat st;
	int fd;

	say("lstat", name, lstat(name, &st));
	all_names(name, name, -1);
	say("stat", name, stat(name, &st));
	all_names(name, name, -1);
	say("statx", name, statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &stx));
	all_names(name, name, -1);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d/%s", dirfd, name);
	say("fstatat", name, fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW));
	all_names(path, name, -1);
	fd = open(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
	all_names(NULL, name, fd);
	if (fd >= 0)
		(void)close(fd);
	fd = open(name, O_PATH | O_NOFOLLOW);
	all_names(NULL, name, fd);
	if (fd >= 0)
		(void)close(fd);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* walk FOLDER USER: everything of everything there, twice. */
static int walk(int argc, char **argv)
{
	static char *files[256];
	size_t count = 0;
	struct dirent *entry;
	DIR *folder;

	memset(long_name, 'x', sizeof long_name - 1);
	memcpy(long_name, "security.", 9);
	if (argc < 3 || chdir(argv[1]) != 0 || !(folder = opendir(".")))
		return 2;
	while (count < 256 && (entry = readdir(folder))) {
		files[count] = strdup(entry->d_name);
		if (!files[count++])
			return 2;
	}
	qsort(files, count, sizeof files[0], by_name);
	train(".");
	for (unsigned round = 0; round < 2; round++) {
		for (size_t i = 0; i < count; i++)
			one_file(dirfd(folder), files[i]);
		all_names("gone", "gone", -1);
		all_names("f1/below", "below a file", -1);
		all_names("loop", "loop", -1);
		all_names("", "empty", -1);
		all_names(long_name, "long", -1);
		all_names("closed/inside", "closed", -1);
		all_names(NULL, "bad", 999);
		all_names(NULL, "negative", -1);
		errno = 0;
		say("getxattr", "no path", getxattr(NULL, names[0], NULL, 0));
		say("lgetxattr", "no name", lgetxattr("f1", NULL, NULL, 0));
		say("fgetxattr", "no name", fgetxattr(0, NULL, NULL, 0));
		/* The second round as somebody else. */
		if (round == 0 && setuid((uid_t)atoi(argv[2])) != 0)
			return 2;
	}
	return 0;
}

/* pattern FOLDER COUNT: what a lister does, three names of each file. */
static int pattern(int argc, char **argv)
{
	char path[PATH_MAX], value[64];
	long sum = 0;
	struct stat st;

	if (argc < 3)
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++) {
		(void)snprintf(path, sizeof path, "%s/f%d", argv[1], i);
		sum += lstat(path, &st);
		sum += lgetxattr(path, "security.selinux", value, sizeof value);
		sum += getxattr(path, "system.posix_acl_access", NULL, 0);
		sum += lgetxattr(path, "security.capability", value, sizeof value);
	}
	(void)printf("%ld\n", sum);
	return 0;
}

/* descriptors FOLDER COUNT: four names of each descriptor. */
static int descriptors(int argc, char **argv)
{
	static const char *const four[] = { "security.selinux", "security.capability", "security.ima",
					    "system.posix_acl_access" };
	char path[PATH_MAX];
	long sum = 0;

	if (argc < 3)
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++) {
		int fd;

		(void)snprintf(path, sizeof path, "%s/f%d", argv[1], i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		for (size_t k = 0; k < 4; k++)
			sum += fgetxattr(fd, four[k], NULL, 0);
		(void)close(fd);
	}
	(void)printf("%ld\n", sum);
	return 0;
}

const struct program attribute_programs[] = {
	{ "walk", walk },
	{ "pattern", pattern },
	{ "descriptors", descriptors },
	{ NULL, NULL },
};
