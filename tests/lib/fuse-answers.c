/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A FUSE file system whose attribute answers are in its files' names: a file
 * of group "nodata" answers ENODATA, and so on (see groups).  It has COUNT
 * files of each group that is named, with the group's name and a number.
 *
 * usage: fuse-answers [-o …] -f MOUNTPOINT, with in the environment
 *   FUSE_GROUPS  "nodata acl …", FUSE_COUNT, FUSE_DELAY_US (of every attribute call)
 */
#define FUSE_USE_VERSION 31
#include <fuse.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct group {
	const char *name;
	int error; /* of every getxattr that finds nothing */
	int list_error; /* 0: an empty list */
	const char *present; /* names that are there and in no list */
};

static const struct group groups[] = {
	{ "nodata", ENODATA, 0, "" },
	{ "notsup", EOPNOTSUPP, EOPNOTSUPP, "" },
	{ "notsup-nolist", EOPNOTSUPP, 0, "" },
	{ "nosys", ENOSYS, ENOSYS, "" },
	{ "eio", EIO, EIO, "" },
	{ "busy", EBUSY, 0, "" },
	{ "acl", ENODATA, 0, "system.posix_acl_access" },
	{ "acls", ENODATA, 0, "system.posix_acl_access system.nfs4_acl" },
	{ "nfs4", EOPNOTSUPP, 0, "system.nfs4_acl" },
	{ "label", ENODATA, 0, "security.selinux" },
	{ "cap", ENODATA, 0, "security.capability" },
	{ "grow", ENODATA, ERANGE, "" },
	{ "denied-list", ENODATA, EACCES, "system.posix_acl_access" },
};

/* user::rw-, user:5:r--, group::r--, mask::r--, other::--- */
static const unsigned char acl[] = { 2, 0, 0,	 0,    1,    0,	   6,	 0, 0xff, 0xff, 0xff, 0xff, 2,	  0,	4,
				     0, 5, 0,	 0,    0,    4,	   0,	 4, 0,	  0xff, 0xff, 0xff, 0xff, 0x10, 0,
				     4, 0, 0xff, 0xff, 0xff, 0xff, 0x20, 0, 0,	  0,	0xff, 0xff, 0xff, 0xff };
/* Revision 2, cap_net_raw+ep */
static const unsigned char capability[] = { 1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

static int count = 10;
static useconds_t delay;

static const struct group *group_of(const char *path)
{
	const char *number = strrchr(path, '.');

	for (size_t i = 0; number != NULL && i < sizeof groups / sizeof groups[0]; i++)
		if ((size_t)(number - path - 1) == strlen(groups[i].name) &&
		    strncmp(path + 1, groups[i].name, strlen(groups[i].name)) == 0)
			return &groups[i];
	return NULL;
}

static int fs_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
	(void)info;
	memset(st, 0, sizeof *st);
	st->st_nlink = 1;
	if (strcmp(path, "/") == 0)
		st->st_mode = S_IFDIR | 0755;
	else if (group_of(path) != NULL)
		st->st_mode = S_IFREG | (strstr(group_of(path)->present, "capability") != NULL ? 0755 : 0644);
	else
		return -ENOENT;
	return 0;
}

static int fs_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *info,
		      enum fuse_readdir_flags flags)
{
	char *wanted = strdup(getenv("FUSE_GROUPS") != NULL ? getenv("FUSE_GROUPS") : "nodata"), *rest = NULL;
	char name[64];

	(void)path;
	(void)offset;
	(void)info;
	(void)flags;
	(void)fill(buffer, ".", NULL, 0, 0);
	(void)fill(buffer, "..", NULL, 0, 0);
	for (char *group = strtok_r(wanted, " ", &rest); group != NULL; group = strtok_r(NULL, " ", &rest)) {
		for (int i = 0; i < count; i++) {
			(void)snprintf(name, sizeof name, "%s.%d", group, i);
			(void)fill(buffer, name, NULL, 0, 0);
		}
	}
	free(wanted);
	return 0;
}

static int fs_getxattr(const char *path, const char *name, char *value, size_t size)
{
	const struct group *group = group_of(path);
	const void *bytes = "label";
	size_t length = 5;

	if (delay > 0)
		(void)usleep(delay);
	if (group == NULL)
		return getenv("FUSE_NOSYS") != NULL ? -ENOSYS : -ENODATA;
	if (strstr(group->present, name) == NULL)
		return -group->error;
	if (strcmp(name, "system.posix_acl_access") == 0) {
		bytes = acl;
		length = sizeof acl;
	} else if (strcmp(name, "security.capability") == 0) {
		bytes = capability;
		length = sizeof capability;
	}
	if (size == 0)
		return (int)length;
	if (size < length)
		return -ERANGE;
	memcpy(value, bytes, length);
	return (int)length;
}

static int fs_listxattr(const char *path, char *list, size_t size)
{
	const struct group *group = group_of(path);

	(void)list;
	(void)size;
	if (delay > 0)
		(void)usleep(delay);
	return group == NULL ? 0 : -group->list_error;
}

int main(int argc, char **argv)
{
	static const struct fuse_operations operations = {
		.getattr = fs_getattr, .readdir = fs_readdir, .getxattr = fs_getxattr, .listxattr = fs_listxattr
	};

	if (getenv("FUSE_COUNT") != NULL)
		count = atoi(getenv("FUSE_COUNT"));
	if (getenv("FUSE_DELAY_US") != NULL)
		delay = (useconds_t)atoi(getenv("FUSE_DELAY_US"));
	return fuse_main(argc, argv, &operations, NULL);
}
