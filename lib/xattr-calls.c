/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of the part xattr, and nothing else: it remembers nothing and
 * decides nothing about attributes.  A name below a directory is asked with
 * getxattrat (Linux 6.13) or else by /proc/thread-self/fd; thread-self, since
 * a thread may have a descriptor table of its own.
 */
#include "xattr-internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#ifndef SYSCULL_NO_XATTR

#ifndef O_PATH
#define O_PATH 010000000
#endif
#ifndef AT_NO_AUTOMOUNT
#define AT_NO_AUTOMOUNT 0x800
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

/* The same numbers on every architecture since Linux 5.1. */
#define NR_GETXATTRAT 464
#define NR_LISTXATTRAT 465

#define MASK_TYPE 0x1U
#define MASK_MNT_ID 0x1000U
#define MASK_MNT_ID_UNIQUE 0x4000U

/* The kernel's struct statx; libcs have it late or not at all. */
struct kernel_statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, spare;
	uint64_t ino, size, blocks, attributes_mask;
	uint64_t times[8];
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t mnt_id;
	uint64_t rest[13];
};

struct kernel_xattr_args {
	uint64_t value;
	uint32_t size, flags;
};

#define FD_ROOT "/proc/thread-self/fd/"

/* Writes FD_ROOT, fd and a slash if there is more to come; returns the length. */
static size_t fd_path(int fd, bool slash, char *path)
{
	char digits[12];
	size_t n = 0, used = sizeof FD_ROOT - 1;
	unsigned int rest = (unsigned int)fd;

	memcpy(path, FD_ROOT, used);
	do
		digits[n++] = (char)('0' + rest % 10);
	while ((rest /= 10) != 0);
	while (n > 0)
		path[used++] = digits[--n];
	if (slash)
		path[used++] = '/';
	path[used] = '\0';
	return used;
}

/* One call of either family on a whole path. */
static long by_path(bool follow, const char *path, const char *name, void *buffer, size_t size,
		    struct xattr_tally *tally)
{
	tally->asked++;
	if (name == NULL)
		return KERNEL(follow ? SYS_listxattr : SYS_llistxattr, path, buffer, size);
	return KERNEL(follow ? SYS_getxattr : SYS_lgetxattr, path, name, buffer, size);
}

static bool have_fd_paths(struct xattr_tally *tally)
{
	tally->other++;
	return KERNEL(SYS_faccessat, AT_FDCWD, FD_ROOT, F_OK) == 0;
}

static long by_fd(int fd, const char *name, void *buffer, size_t size, struct xattr_tally *tally)
{
	char path[48];
	long result, second;

	tally->asked++;
	result =
		name == NULL ? KERNEL(SYS_flistxattr, fd, buffer, size) : KERNEL(SYS_fgetxattr, fd, name, buffer, size);
	if (result != -EBADF || fd < 0)
		return result;
	/* Descriptors of O_PATH are refused. */
	(void)fd_path(fd, false, path);
	second = by_path(true, path, name, buffer, size, tally);
	return second == -ENOENT ? result : second;
}

static long by_at(const struct syscull_xattr_file *file, const char *name, void *buffer, size_t size,
		  struct xattr_tally *tally)
{
	int flags = file->flags & SYSCULL_XATTR_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW;
	struct kernel_xattr_args args = { .value = (uintptr_t)buffer, .size = (uint32_t)size };

	tally->asked++;
	if (name == NULL)
		return KERNEL(NR_LISTXATTRAT, file->dirfd, file->path, flags, buffer, size);
	return KERNEL(NR_GETXATTRAT, file->dirfd, file->path, flags, name, &args, sizeof args);
}

static long below_fd(const struct syscull_xattr_file *file, const char *name, void *buffer, size_t size,
		     struct xattr_tally *tally)
{
	char path[48 + PATH_MAX];
	size_t used = fd_path(file->dirfd, true, path), length = strlen(file->path);
	long result;

	/* Nothing is below an empty path, and the slash would name the directory. */
	if (length == 0)
		return -ENOENT;
	if (length >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(path + used, file->path, length + 1);
	result = by_path(file->flags & SYSCULL_XATTR_FOLLOW, path, name, buffer, size, tally);
	if ((result == -ENOENT || result == -ENOTDIR) && !have_fd_paths(tally))
		return -ENXIO;
	return result;
}

static long ask(const struct syscull_xattr_file *file, const char *name, void *buffer, size_t size,
		struct xattr_tally *tally)
{
	long result = -ENOSYS, second;

	if (file->path == NULL)
		return by_fd(file->dirfd, name, buffer, size, tally);
	if (file->dirfd == AT_FDCWD || file->path[0] == '/')
		return by_path(file->flags & SYSCULL_XATTR_FOLLOW, file->path, name, buffer, size, tally);
	if (!tally->no_at)
		result = by_at(file, name, buffer, size, tally);
	/* Sandboxes older than the call refuse it with EPERM. */
	if (result != -ENOSYS && result != -EPERM)
		return result;
	if (file->dirfd < 0)
		return -EBADF;
	second = below_fd(file, name, buffer, size, tally);
	if (second != -ENOSYS && second != -ENXIO && second != -EPERM)
		tally->no_at = true;
	return second == -ENXIO && result == -EPERM ? result : second;
}

long syscull__xattr_get(const struct syscull_xattr_file *file, const char *name, void *value, size_t size,
			struct xattr_tally *tally)
{
	return ask(file, name, value, size, tally);
}

long syscull__xattr_list(const struct syscull_xattr_file *file, void *list, size_t size, struct xattr_tally *tally)
{
	return ask(file, NULL, list, size, tally);
}

bool syscull__xattr_missing(struct xattr_tally *tally)
{
	/* An empty path reaches no file: ENOENT where the call exists. */
	return by_path(true, "", "user.", NULL, 0, tally) == -ENOSYS;
}

static int take_statx(int dirfd, const char *path, int flags, uint32_t mount_bits, struct syscull_xattr_file *file,
		      struct xattr_tally *tally)
{
	struct kernel_statx stx;
	long result;

	memset(&stx, 0, sizeof stx);
	tally->other++;
	result = KERNEL(SYS_statx, dirfd, path, flags | AT_NO_AUTOMOUNT, MASK_TYPE | mount_bits, &stx);
	if (result < 0)
		return (int)result;
	file->have = 0;
	syscull_xattr_file_statx(file, (const struct statx *)(const void *)&stx);
	return 0;
}

void syscull__xattr_stat(struct syscull_xattr_file *file, struct xattr_tally *tally)
{
	if (file->path == NULL)
		(void)take_statx(file->dirfd, "", AT_EMPTY_PATH, MASK_MNT_ID | MASK_MNT_ID_UNIQUE, file, tally);
	else
		(void)take_statx(file->dirfd, file->path, file->flags & SYSCULL_XATTR_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW,
				 MASK_MNT_ID | MASK_MNT_ID_UNIQUE, file, tally);
}

int syscull__xattr_pin(const struct syscull_xattr_file *file, struct xattr_pin *ret_pin, struct xattr_tally *tally)
{
	struct xattr_pin pin = { .close_fd = -1 };
	uint32_t mount = file->have & SYSCULL_XATTR_HAVE_MOUNT_UNIQUE ? MASK_MNT_ID_UNIQUE : MASK_MNT_ID;
	uint32_t have = SYSCULL_XATTR_HAVE_STAT | (file->have & XATTR_HAVE_MOUNTS);
	int fd = file->dirfd, r;

	if (file->path != NULL) {
		int nofollow = file->flags & SYSCULL_XATTR_FOLLOW ? 0 : O_NOFOLLOW;

		tally->other++;
		fd = (int)KERNEL(SYS_openat, file->dirfd, file->path, O_PATH | O_CLOEXEC | nofollow, 0);
		if (fd < 0)
			return fd;
		pin.close_fd = fd;
	}
	(void)fd_path(fd, false, pin.path);
	*ret_pin = pin;
	ret_pin->file = (struct syscull_xattr_file)SYSCULL_XATTR_FILE_INIT(AT_FDCWD, ret_pin->path);
	ret_pin->file.flags = SYSCULL_XATTR_FOLLOW;
	/* Through the same path as all that follows, so that the file it leads to is the one that was asked. */
	r = take_statx(AT_FDCWD, ret_pin->path, 0, mount, &ret_pin->file, tally);
	if (r < 0)
		r = have_fd_paths(tally) ? -ESTALE : -ENXIO;
	else if ((ret_pin->file.have & have) != have || ((ret_pin->file.mode ^ file->mode) & S_IFMT) != 0 ||
		 ret_pin->file.dev_major != file->dev_major || ret_pin->file.dev_minor != file->dev_minor ||
		 ret_pin->file.mount_id != file->mount_id)
		r = -ESTALE;
	if (r < 0)
		syscull__xattr_unpin(ret_pin, tally);
	return r;
}

void syscull__xattr_unpin(struct xattr_pin *pin, struct xattr_tally *tally)
{
	if (pin->close_fd < 0)
		return;
	tally->other++;
	(void)KERNEL(SYS_close, pin->close_fd);
	pin->close_fd = -1;
}

void syscull_xattr_file_statx(struct syscull_xattr_file *file, const struct statx *stx)
{
	const struct kernel_statx *kernel = (const struct kernel_statx *)(const void *)stx;

	if (kernel->mask & MASK_TYPE) {
		file->mode = kernel->mode;
		file->dev_major = kernel->dev_major;
		file->dev_minor = kernel->dev_minor;
		file->have |= SYSCULL_XATTR_HAVE_STAT;
	}
	if (kernel->mask & (MASK_MNT_ID | MASK_MNT_ID_UNIQUE)) {
		file->mount_id = kernel->mnt_id;
		file->have &= ~XATTR_HAVE_MOUNTS;
		file->have |=
			kernel->mask & MASK_MNT_ID_UNIQUE ? SYSCULL_XATTR_HAVE_MOUNT_UNIQUE : SYSCULL_XATTR_HAVE_MOUNT;
	}
}

#else

void syscull_xattr_file_statx(struct syscull_xattr_file *file, const struct statx *stx)
{
	(void)file;
	(void)stx;
}

#endif
