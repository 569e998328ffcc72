/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel of the test's own behind -Wl,--wrap=syscall: files with inode
 * types, mounts and attributes, and errors on demand.  It counts what it is
 * asked.  Only the calls that the part xattr makes exist in it.
 */
#ifndef SYSCULL_TESTS_LIB_FAKE_KERNEL_H
#define SYSCULL_TESTS_LIB_FAKE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAGIC_EXT4 0xef53UL
#define MAGIC_RAMFS 0x858458f6UL
#define MAGIC_TMPFS 0x01021994UL
#define MAGIC_SYSFS 0x62656572UL
#define MAGIC_BTRFS 0x9123683eUL
#define MAGIC_OVERLAY 0x794c7630UL
#define MAGIC_FUSE 0x65735546UL

struct fake_file {
	uint32_t mode;
	uint32_t dev_major, dev_minor;
	uint64_t mount;
	unsigned long magic;
	const char *has; /* "name name": present and listed */
	const char *hides; /* present, and not listed */
	const char *unsupported; /* prefixes of names: EOPNOTSUPP; "" is all; NULL none */
	size_t list_padding; /* bytes of other names before has */
	bool grows; /* ERANGE whatever the size */
};

enum fake_family { FAKE_GET, FAKE_LIST, FAKE_OPEN, FAKE_STATX, FAKE_STATFS, FAKE_CLOSE, FAKE_ACCESS, FAKE_FAMILIES };

struct fake {
	/* Which file a path leads to, -1 none; the test's. */
	int (*find)(const char *path);
	const struct fake_file *files;
	/* What opening finds, where that is another file than before. */
	int (*find_open)(const char *path);
	bool no_proc;
	bool no_mount_ids;
	bool no_unique;
	bool no_calls; /* no getxattr family at all */
	int at_error; /* what getxattrat and listxattrat answer, 0: they work */
	/* The call'th call of a family on the file answers error; 0 all of them. */
	int error_file;
	enum fake_family error_family;
	int error;
	unsigned long counts[FAKE_FAMILIES];
	unsigned long at_counts;
	int open_fds;
};

extern struct fake fake;

/* Forgets everything and begins anew. */
void fake_reset(const struct fake_file *files, int (*find)(const char *path));

#endif
