/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks at files that are asked for attributes next: as long as that pays, a
 * stat is made as a statx, which costs the same and tells the mount as well.
 * At all other times these functions only hand on.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "preload.h"
#include "xattr.h"

#define FLAGS (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)

static void fill(struct stat *st, const struct statx *stx)
{
	memset(st, 0, sizeof *st);
	st->st_dev = makedev(stx->stx_dev_major, stx->stx_dev_minor);
	st->st_ino = stx->stx_ino;
	st->st_mode = stx->stx_mode;
	st->st_nlink = stx->stx_nlink;
	st->st_uid = stx->stx_uid;
	st->st_gid = stx->stx_gid;
	st->st_rdev = makedev(stx->stx_rdev_major, stx->stx_rdev_minor);
	st->st_size = (off_t)stx->stx_size;
	st->st_blksize = (blksize_t)stx->stx_blksize;
	st->st_blocks = (blkcnt_t)stx->stx_blocks;
	st->st_atim.tv_sec = stx->stx_atime.tv_sec;
	st->st_atim.tv_nsec = stx->stx_atime.tv_nsec;
	st->st_mtim.tv_sec = stx->stx_mtime.tv_sec;
	st->st_mtim.tv_nsec = stx->stx_mtime.tv_nsec;
	st->st_ctim.tv_sec = stx->stx_ctime.tv_sec;
	st->st_ctim.tv_nsec = stx->stx_ctime.tv_nsec;
}

SLOT(stat);
SLOT(lstat);
SLOT(fstatat);
SLOT(stat64);
SLOT(lstat64);
SLOT(fstatat64);
SLOT(syscall);

/* A statx was answered here: its word about paths is the kernel's, not a sandbox's. */
static bool works;

static bool about_the_path(int code)
{
	return code == ENOENT || code == ENOTDIR || code == ELOOP || code == ENAMETOOLONG;
}

/* True: done, and *ret_result is the answer. */
static bool as_statx(int fd, const char *path, struct stat *st, int flags, int *ret_result)
{
	struct statx stx;
	unsigned changes, moves;
	int saved = errno;

	if (!preload_xattr_looks() || (flags & ~FLAGS) || !path || !*path || !st)
		return false;
	changes = preload_changes_now();
	moves = preload_moves_now();
	*ret_result = -1;
	/* A stat never mounts. */
	if (NEXT(syscall)(SYS_statx, fd, path, flags | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID, &stx) != 0) {
		if (__atomic_load_n(&works, __ATOMIC_RELAXED) && about_the_path(errno))
			return true;
		errno = saved;
		return false;
	}
	/* Of a file system that tells less. */
	if ((stx.stx_mask & STATX_BASIC_STATS) != STATX_BASIC_STATS)
		return false;
	__atomic_store_n(&works, true, __ATOMIC_RELAXED);
	fill(st, &stx);
	preload_xattr_told(fd, path, !(flags & AT_SYMLINK_NOFOLLOW), &stx, changes, moves);
	*ret_result = 0;
	return true;
}

EXPORT int stat(const char *path, struct stat *st)
{
	int result;

	if (ALONE(stat) && as_statx(AT_FDCWD, path, st, 0, &result))
		return result;
	return NEXT(stat)(path, st);
}

EXPORT int lstat(const char *path, struct stat *st)
{
	int result;

	if (ALONE(lstat) && as_statx(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW, &result))
		return result;
	return NEXT(lstat)(path, st);
}

EXPORT int fstatat(int fd, const char *path, struct stat *st, int flags)
{
	int result;

	if (ALONE(fstatat) && as_statx(fd, path, st, flags, &result))
		return result;
	return NEXT(fstatat)(fd, path, st, flags);
}

/* The same structs where files may be large: 64-bit systems have one. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "a 64-bit system");

EXPORT int stat64(const char *path, struct stat64 *st)
{
	int result;

	if (ALONE(stat64) && as_statx(AT_FDCWD, path, (struct stat *)st, 0, &result))
		return result;
	return NEXT(stat64)(path, st);
}

EXPORT int lstat64(const char *path, struct stat64 *st)
{
	int result;

	if (ALONE(lstat64) && as_statx(AT_FDCWD, path, (struct stat *)st, AT_SYMLINK_NOFOLLOW, &result))
		return result;
	return NEXT(lstat64)(path, st);
}

EXPORT int fstatat64(int fd, const char *path, struct stat64 *st, int flags)
{
	int result;

	if (ALONE(fstatat64) && as_statx(fd, path, (struct stat *)st, flags, &result))
		return result;
	return NEXT(fstatat64)(fd, path, st, flags);
}
