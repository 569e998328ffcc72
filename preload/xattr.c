/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attribute look-ups.  Programs ask a file for several names in a row, often
 * right after a stat.  Where the memo of libsyscull knows that a name cannot
 * be there, on this mount and for this type of inode, it is not asked: mount
 * and type are those that a statx of the same path told a moment ago, and
 * nothing of this process that could have changed what the path means has
 * happened since.  Lists are always asked: nothing proves one to be empty.
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
#include <time.h>
#include <unistd.h>

#include "preload.h"
#include "syscull/xattr.h"
#include "xattr-internal.h"
#include "xattr.h"

#define PATH_KEPT 1024
/* How long what a statx told is believed: others may change it, and tell us
 * that they have.  And what was learnt of a mount: it may be mounted anew. */
#define TOLD_MS 20
#define LEARNT_MS 1000
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
	unsigned changes, moves; /* preload_changes and preload_moves when it was told */
	uint64_t told_ms;
	char kept[PATH_KEPT];
} group;
/* Set while this thread works with it: a signal handler does not.  One that
 * never returns leaves it set, and this thread only hands on. */
static __thread volatile bool busy;

static uint64_t memo_memory[1024];
static struct syscull_xattr_memo *memo;
static unsigned memo_taken;
static int looking; /* files that we look at before we give up */
static int credit = LOOK_CREDIT; /* for calls of our own */
static unsigned refused; /* look-ups refused while we do not look */
static bool proc_works; /* a path of /proc/self/fd led to a file */

SLOT(getxattr);
SLOT(lgetxattr);
SLOT(fgetxattr);
SLOT(syscall);

static bool on(void)
{
#ifdef SYSCULL_NO_XATTR
	return false;
#else
	return preload_has(PART_XATTR) && ALONE(getxattr) && ALONE(lgetxattr) && ALONE(fgetxattr);
#endif
}

bool preload_xattr_looks(void)
{
	return __atomic_load_n(&looking, __ATOMIC_RELAXED) > 0;
}

void preload_xattr_forget(void)
{
	struct syscull_xattr_memo *there = __atomic_load_n(&memo, __ATOMIC_ACQUIRE);

	__atomic_store_n(&proc_works, false, __ATOMIC_RELAXED);
	if (there)
		syscull_xattr_memo_drop(there);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	/* No system call: the vdso answers it. */
	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
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

/* A refusal: from now on it is worth to know mounts. */
static void was_refused(const char *path)
{
	unsigned count = __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED), none = 0;
	int dirfd;

	if (path && below(path, &dirfd) != path)
		__atomic_store_n(&proc_works, true, __ATOMIC_RELAXED);
	if (preload_xattr_looks() || count % REST != 1)
		return;
	if (__atomic_compare_exchange_n(&memo_taken, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		__atomic_store_n(
			&memo, syscull__xattr_memo_at(memo_memory, sizeof memo_memory, SYSCULL_XATTR_SHARED, LEARNT_MS),
			__ATOMIC_RELEASE);
	if (!__atomic_load_n(&memo, __ATOMIC_ACQUIRE))
		return;
	preload_watch();
	__atomic_store_n(&looking, PATIENCE, __ATOMIC_RELAXED);
}

static bool is_relative(int dirfd, const char *path)
{
	return dirfd == AT_FDCWD && path && *path != '/';
}

/* The working directory is that one. */
static bool is_here(int dirfd)
{
	return preload_place.known && preload_place.fd == dirfd && preload_believes(preload_place.changes) &&
	       preload_place.moves == preload_moves_now();
}

static bool same(int dirfd, const char *path, bool follow)
{
	if (!group.begun || !preload_believes(group.changes) || now_ms() - group.told_ms > TOLD_MS)
		return false;
	if (group.file.dirfd != dirfd &&
	    !(is_relative(dirfd, path) && group.file.dirfd >= 0 && group.file.path && is_here(group.file.dirfd)))
		return false;
	if (is_relative(group.file.dirfd, group.file.path) && group.moves != preload_moves_now())
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
static bool begin(int dirfd, const char *path, bool follow, unsigned changes, unsigned moves)
{
	size_t bytes = path ? strnlen(path, PATH_KEPT) : 0;

	group.known = group.begun = group.looked = false;
	group.file = (struct syscull_xattr_file)SYSCULL_XATTR_FILE_INIT(dirfd, NULL);
	if (bytes == PATH_KEPT || (path && bytes == 0))
		return false;
	if (path) {
		memcpy(group.kept, path, bytes + 1);
		group.file.path = group.kept;
	}
	group.file.flags = follow ? SYSCULL_XATTR_FOLLOW : 0;
	group.changes = changes;
	group.moves = moves;
	group.told_ms = now_ms();
	group.begun = true;
	return true;
}

void preload_xattr_told(int dirfd, const char *path, bool follow, const struct statx *stx, unsigned changes,
			unsigned moves)
{
	const char *name = path;

	if (busy)
		return;
	busy = true;
	if (dirfd == AT_FDCWD || *path == '/')
		name = below(path, &dirfd);
	if (begin(dirfd, name, follow, changes, moves)) {
		syscull_xattr_file_statx(&group.file, stx);
		group.known = (group.file.have & SYSCULL_XATTR_HAVE_STAT) != 0;
	}
	busy = false;
}

static uint64_t skipped(void)
{
	struct syscull_xattr_counters counters = { .size = sizeof counters };

	return syscull_xattr_memo_count(memo, &counters) == 0 ? counters.skipped : 0;
}

/* The mount and type of the group's file, by a call of our own. */
static void look(void)
{
	const struct syscull_xattr_file *file = &group.file;
	int flags = AT_NO_AUTOMOUNT | (!file->path			    ? AT_EMPTY_PATH
				       : file->flags & SYSCULL_XATTR_FOLLOW ? 0
									    : AT_SYMLINK_NOFOLLOW);
	int saved = errno;
	struct statx stx;

	/* Not through the statx of this library, which would tell us again. */
	if (NEXT(syscall)(SYS_statx, file->dirfd, file->path ? file->path : "", flags, STATX_TYPE | STATX_MNT_ID,
			  &stx) == 0) {
		syscull_xattr_file_statx(&group.file, &stx);
		group.known = group.looked = true;
	}
	errno = saved;
	(void)__atomic_sub_fetch(&credit, LOOK_COST, __ATOMIC_RELAXED);
	(void)__atomic_sub_fetch(&looking, 1, __ATOMIC_RELAXED);
}

static bool ask(const char *name, void *value, size_t size, ssize_t *ret_result)
{
	uint64_t before = skipped();

	*ret_result = syscull_xattr_get(memo, &group.file, name, value, size);
	/* That the way to it is gone is the library's word, not the kernel's. */
	if (*ret_result == -ENXIO)
		return false;
	if (skipped() > before) {
		__atomic_store_n(&looking, PATIENCE, __ATOMIC_RELAXED);
		if (group.looked && __atomic_load_n(&credit, __ATOMIC_RELAXED) < LOOK_CREDIT)
			(void)__atomic_add_fetch(&credit, SPARED_WORTH, __ATOMIC_RELAXED);
	}
	return true;
}

/* True: *ret_result is the answer, negative errno or size.  path NULL: of dirfd. */
static bool answer(int dirfd, const char *path, const char *name, void *value, size_t size, bool follow,
		   ssize_t *ret_result)
{
	const char *whole = path;
	bool done = false;

	if (busy || !preload_xattr_looks() || !name)
		return false;
	busy = true;
	if (path)
		path = below(path, &dirfd);
	if (path != whole && !__atomic_load_n(&proc_works, __ATOMIC_RELAXED))
		goto out;
	/* A descriptor has to have been asked by the kernel before: those of
	 * O_PATH are refused. */
	if (!same(dirfd, path, follow) &&
	    (!path || !begin(dirfd, path, follow, preload_changes_now(), preload_moves_now())))
		goto out;
	if (!group.known && __atomic_load_n(&credit, __ATOMIC_RELAXED) > 0)
		look();
	if (group.known)
		done = ask(name, value, size, ret_result);
out:
	busy = false;
	return done;
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
	ssize_t result;

	if (preload_xattr_looks() && on() && path && answer(AT_FDCWD, path, name, value, size, true, &result))
		return finish(result);
	result = NEXT(getxattr)(path, name, value, size);
	if (result < 0 && errno == EOPNOTSUPP && on())
		was_refused(path);
	return result;
}

EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	ssize_t result;

	if (preload_xattr_looks() && on() && path && answer(AT_FDCWD, path, name, value, size, false, &result))
		return finish(result);
	result = NEXT(lgetxattr)(path, name, value, size);
	if (result < 0 && errno == EOPNOTSUPP && on())
		was_refused(path);
	return result;
}

EXPORT ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
	unsigned changes = preload_changes_now();
	ssize_t result;

	if (preload_xattr_looks() && on() && fd >= 0 && answer(fd, NULL, name, value, size, true, &result))
		return finish(result);
	result = NEXT(fgetxattr)(fd, name, value, size);
	if (!on() || (result < 0 && errno != EOPNOTSUPP && errno != ENODATA))
		return result;
	if (preload_xattr_looks() && !busy) {
		busy = true;
		if (!same(fd, NULL, true))
			(void)begin(fd, NULL, true, changes, 0);
		busy = false;
	}
	if (result < 0 && errno == EOPNOTSUPP)
		was_refused(NULL);
	return result;
}
