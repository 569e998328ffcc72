/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of file systems: where one file's "not supported" holds for
 * the others of its type on the same mount, and where a list is complete.
 * A file system is in the table when tests/lib/mounts.py has held it against
 * the kernel; overlay, eCryptfs, FUSE, 9p, virtiofs and ZFS never are: there
 * the files of one mount differ.
 */
#include "xattr-internal.h"

#include <sys/vfs.h>

#ifndef SYSCULL_NO_XATTR

#define ALL (XATTR_LEARN | XATTR_LIST)

static const struct {
	uint32_t magic;
	uint32_t class;
} classes[] = {
	{ 0xef53, ALL }, /* ext2, ext3, ext4 */
	{ 0x58465342, ALL }, /* xfs */
	{ 0x01021994, ALL }, /* tmpfs, devtmpfs */
	{ 0x858458f6, ALL }, /* ramfs */
	{ 0x9fa0, ALL }, /* proc */
	/*
	 * Directories that the kernel made for mounting on (/sys/kernel/tracing)
	 * have no handlers at all, where those beside them take labels.
	 */
	{ 0x62656572, ALL | XATTR_DIRS_DIFFER_HANDLED }, /* sysfs */
	{ 0x63677270, ALL }, /* cgroup2 */
	/* What stands for a subvolume inside a snapshot is a directory without handlers on the same st_dev. */
	{ 0x9123683e, ALL | XATTR_DIRS_DIFFER }, /* btrfs */
	{ 0x74726163, ALL }, /* tracefs */
	{ 0x64626720, ALL }, /* debugfs */
	{ 0x1cd1, ALL }, /* devpts */
	{ 0x73717368, ALL }, /* squashfs */
	{ 0xe0f5e1e2, ALL }, /* erofs */
};

int syscull__xattr_class(const struct xattr_pin *pin, struct xattr_tally *tally, uint32_t *ret_class)
{
	struct statfs fs;
	long result;

	memset(&fs, 0, sizeof fs);
	tally->other++;
	/* The path leads to a descriptor: by its own name statfs would trigger an automount. */
	result = KERNEL(SYS_statfs, pin->path, &fs);
	if (result < 0)
		return (int)result;
	*ret_class = 0;
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
		if (classes[i].magic == ((unsigned long)fs.f_type & 0xffffffffUL))
			*ret_class = classes[i].class;
	return 0;
}

uint32_t syscull__xattr_learnable(uint32_t class, uint32_t mode)
{
	if (!(class & XATTR_LEARN) || (S_ISDIR(mode) && class & XATTR_DIRS_DIFFER))
		return 0;
	if (S_ISDIR(mode) && class & XATTR_DIRS_DIFFER_HANDLED)
		return XATTR_SYSTEM;
	return UINT32_MAX;
}

#endif
