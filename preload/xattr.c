/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attribute look-ups by path.  Programs ask a file for several names in a row,
 * often right after a stat.  Where the memo of libsyscull knows that a name
 * cannot be there, on this mount and for this type of inode, it is not asked:
 * the mount and the type are those that a statx of the same path told, and
 * nothing of this process that could have changed what the path means has
 * happened since.
 *
 * As long as no look-up is refused with EOPNOTSUPP nothing is done at all: the
 * first refusal makes us look, and what brings nothing is left off again.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "preload.h"
#include "syscull/xattr.h"
#include "xattr.h"

#define PATH_KEPT 1024
/* A call of our own pays when it spares two; where it spares one each time
 * they are left off after a while. */
#define LOOK_COST 5
#define SPARED_WORTH 4
#define LOOK_CREDIT 64
/* So many files in a row without a name spared, and we look no more... */
#define PATIENCE 32
/* ...for so many refusals. */
#define REST 4096

/* What this thread asked of last. */
static __thread struct group {
	struct syscull_xattr_file file; /* path points to kept, NULL: the descriptor itself */
	bool begun; /* file says of which */
	bool known; /* and holds mount and type */
	bool looked; /* by a call of our own */
	unsigned changes; /* preload_changes when it was told */
	char kept[PATH_KEPT];
} group;

static void *next_syscall;
static struct syscull_xattr_memo *memo;
static unsigned looking; /* files that we look at before we give up */
static int credit = LOOK_CREDIT; /* for calls of our own */
static unsigned refused; /* look-ups refused while we do not look */
static bool foreign, asked_foreign; /* another interposer stands behind us */

static bool on(void)
{
	if (!preload_has(PART_XATTR))
		return false;
	if (!__atomic_load_n(&asked_foreign, __ATOMIC_ACQUIRE)) {
		foreign = !preload_next_is_libc("getxattr") || !preload_next_is_libc("lgetxattr");
		__atomic_store_n(&asked_foreign, true, __ATOMIC_RELEASE);
	}
	return !foreign;
}

bool preload_xattr_looks(void)
{
	return __atomic_load_n(&looking, __ATOMIC_RELAXED) > 0;
}

/* A refusal: from now on it is worth to know mounts. */
static void was_refused(void)
{
	unsigned count = __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);

	if (preload_xattr_looks() || count % REST != 1)
		return;
	if (!__atomic_load_n(&memo, __ATOMIC_ACQUIRE)) {
		struct syscull_xattr_memo_options options = { .size = sizeof options, .flags = SYSCULL_XATTR_SHARED };
		struct syscull_xattr_memo *made = syscull_xattr_memo_new(&options), *none = NULL;

		if (!made)
			return;
		if (!__atomic_compare_exchange_n(&memo, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			syscull_xattr_memo_free(made);
	}
	preload_watch();
	__atomic_store_n(&looking, PATIENCE, __ATOMIC_RELAXED);
}

/* "/proc/self/fd/4/name" is name below 4: so programs ask below a directory. */
static const char *below(const char *path, int *ret_dirfd)
{
	static const char root[] = "/proc/self/fd/";
	const char *at = path + sizeof root - 1;
	int fd = 0;

	*ret_dirfd = AT_FDCWD;
	if (strncmp(path, root, sizeof root - 1) != 0 || *at < '0' || *at > '9')
		return path;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (fd > (INT_MAX - 9) / 10)
			return path;
		fd = fd * 10 + (*at - '0');
	}
	if (*at != '/' || at[1] == '\0' || at[1] == '/')
		return path;
	*ret_dirfd = fd;
	return at + 1;
}

static bool same(int dirfd, const char *path, bool follow)
{
	if (!group.begun || group.file.dirfd != dirfd || group.changes != preload_changes_now())
		return false;
	if (!path || !group.file.path)
		return path == group.file.path;
	if (strcmp(group.kept, path) != 0)
		return false;
	/* What is no link is the same file whether links are followed or not. */
	if (group.known && (group.file.mode & S_IFMT) != S_IFLNK)
		group.file.flags = follow ? SYSCULL_XATTR_FOLLOW : 0;
	return !!(group.file.flags & SYSCULL_XATTR_FOLLOW) == follow;
}

/* Makes it the file that is asked of; path NULL: dirfd itself.  False: its
 * path is too long to keep. */
static bool begin(int dirfd, const char *path, bool follow)
{
	size_t bytes = path ? strnlen(path, PATH_KEPT) : 0;

	group.file = (struct syscull_xattr_file)SYSCULL_XATTR_FILE_INIT(dirfd, NULL);
	group.known = group.begun = group.looked = false;
	if (bytes == PATH_KEPT || (path && bytes == 0))
		return false;
	if (path) {
		memcpy(group.kept, path, bytes + 1);
		group.file.path = group.kept;
	}
	group.file.flags = follow ? SYSCULL_XATTR_FOLLOW : 0;
	group.changes = preload_changes_now();
	group.begun = true;
	return true;
}

/* A statx of this path has just told; `changes` is from before it. */
void preload_xattr_told(int dirfd, const char *path, bool follow, const struct statx *stx, unsigned changes)
{
	const char *name = path;

	if (dirfd == AT_FDCWD || *path == '/')
		name = below(path, &dirfd);
	if (!begin(dirfd, name, follow))
		return;
	group.changes = changes;
	syscull_xattr_file_statx(&group.file, stx);
	group.known = (group.file.have & SYSCULL_XATTR_HAVE_STAT) != 0;
}

static uint64_t skipped(void)
{
	struct syscull_xattr_counters counters = { .size = sizeof counters };

	return syscull_xattr_memo_count(memo, &counters) == 0 ? counters.skipped : 0;
}

static int ask_statx(int dirfd, const char *path, int flags, struct statx *stx)
{
	return (int)NEXT(next_syscall, syscall)(SYS_statx, dirfd, path, flags, STATX_TYPE | STATX_MNT_ID, stx);
}

/* The mount and type of the group's file, by a call of our own. */
static void look(void)
{
	const struct syscull_xattr_file *file = &group.file;
	int flags = AT_NO_AUTOMOUNT | (!file->path			    ? AT_EMPTY_PATH
				       : file->flags & SYSCULL_XATTR_FOLLOW ? 0
									    : AT_SYMLINK_NOFOLLOW);
	unsigned changes = preload_changes_now();
	int saved = errno;
	struct statx stx;

	/* Not through the statx of this library, which would tell us again. */
	if (ask_statx(file->dirfd, file->path ? file->path : "", flags, &stx) == 0) {
		syscull_xattr_file_statx(&group.file, &stx);
		group.known = group.looked = true;
		group.changes = changes;
	}
	errno = saved;
	(void)__atomic_sub_fetch(&credit, LOOK_COST, __ATOMIC_RELAXED);
	(void)__atomic_sub_fetch(&looking, 1, __ATOMIC_RELAXED);
}

/* 1: *ret_result is the answer, negative errno or size.  path NULL: of dirfd. */
static int answer(int dirfd, const char *path, const char *name, void *value, size_t size, bool follow,
		  ssize_t *ret_result)
{
	uint64_t before;

	if (!preload_xattr_looks() || !name)
		return 0;
	if (path)
		path = below(path, &dirfd);
	if (!same(dirfd, path, follow)) {
		if (!begin(dirfd, path, follow))
			return 0;
		if (__atomic_load_n(&credit, __ATOMIC_RELAXED) > 0)
			look();
	}
	if (!group.known)
		return 0;
	before = skipped();
	*ret_result = syscull_xattr_get(memo, &group.file, name, value, size);
	if (skipped() > before) {
		__atomic_store_n(&looking, PATIENCE, __ATOMIC_RELAXED);
		if (group.looked && __atomic_load_n(&credit, __ATOMIC_RELAXED) < LOOK_CREDIT)
			(void)__atomic_add_fetch(&credit, SPARED_WORTH, __ATOMIC_RELAXED);
	}
	return 1;
}

static ssize_t finish(ssize_t result)
{
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

EXPORT ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
	static void *next;
	ssize_t result;

	if (on() && path && answer(AT_FDCWD, path, name, value, size, true, &result))
		return finish(result);
	result = NEXT(next, getxattr)(path, name, value, size);
	if (result < 0 && errno == EOPNOTSUPP && on())
		was_refused();
	return result;
}

EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	static void *next;
	ssize_t result;

	if (on() && path && answer(AT_FDCWD, path, name, value, size, false, &result))
		return finish(result);
	result = NEXT(next, lgetxattr)(path, name, value, size);
	if (result < 0 && errno == EOPNOTSUPP && on())
		was_refused();
	return result;
}

EXPORT ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
	static void *next;
	ssize_t result;

	if (on() && fd >= 0 && answer(fd, NULL, name, value, size, true, &result))
		return finish(result);
	result = NEXT(next, fgetxattr)(fd, name, value, size);
	if (result < 0 && errno == EOPNOTSUPP && on())
		was_refused();
	return result;
}
