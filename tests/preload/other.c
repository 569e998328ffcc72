/* SPDX-License-Identifier: BSD-2-Clause */
/* Another library that stands in front of libc: it invents a label of some
 * files, and owners, and a limit. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	ssize_t (*next)(const char *, const char *, void *, size_t);
	size_t bytes = strlen(path);

	if (bytes > 0 && path[bytes - 1] == '7') {
		if (size >= 4)
			memcpy(value, "fake", 4);
		return 4;
	}
	*(void **)&next = dlsym(RTLD_NEXT, "lgetxattr");
	return next(path, name, value, size);
}

int lstat(const char *path, struct stat *st)
{
	int (*next)(const char *, struct stat *);
	int result;

	*(void **)&next = dlsym(RTLD_NEXT, "lstat");
	result = next(path, st);
	if (result == 0)
		st->st_uid = 4711;
	return result;
}

long sysconf(int name)
{
	long (*next)(int);

	*(void **)&next = dlsym(RTLD_NEXT, "sysconf");
	return name == _SC_OPEN_MAX ? 77 : next(name);
}
