/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything of libc by which a process can make a path or a number mean
 * another file counts up, before and after it happens, and does nothing else.
 * libc's own inner calls do not come by here: those that change a directory
 * or a name (nftw with FTW_CHDIR, fts, remove, tmpfile) are in the list too.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"

unsigned preload_changes, preload_watched;

#define CHANGES(type, name, parameters, arguments) \
	EXPORT type name parameters \
	{ \
		static void *next; \
		type result; \
\
		preload_changed(); \
		result = NEXT(next, name) arguments; \
		preload_changed(); \
		return result; \
	}

CHANGES(int, chdir, (const char *path), (path))
CHANGES(int, fchdir, (int fd), (fd))
CHANGES(int, chroot, (const char *path), (path))
CHANGES(int, rename, (const char *from, const char *to), (from, to))
CHANGES(int, renameat, (int from_fd, const char *from, int to_fd, const char *to), (from_fd, from, to_fd, to))
CHANGES(int, renameat2, (int from_fd, const char *from, int to_fd, const char *to, unsigned int flags),
	(from_fd, from, to_fd, to, flags))
CHANGES(int, link, (const char *from, const char *to), (from, to))
CHANGES(int, linkat, (int from_fd, const char *from, int to_fd, const char *to, int flags),
	(from_fd, from, to_fd, to, flags))
CHANGES(int, symlink, (const char *from, const char *to), (from, to))
CHANGES(int, symlinkat, (const char *from, int fd, const char *to), (from, fd, to))
CHANGES(int, unlink, (const char *path), (path))
CHANGES(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))
CHANGES(int, remove, (const char *path), (path))
CHANGES(int, rmdir, (const char *path), (path))
CHANGES(int, mkdir, (const char *path, mode_t mode), (path, mode))
CHANGES(int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode))
CHANGES(int, mknod, (const char *path, mode_t mode, dev_t dev), (path, mode, dev))
CHANGES(int, mknodat, (int fd, const char *path, mode_t mode, dev_t dev), (fd, path, mode, dev))
CHANGES(int, mkfifo, (const char *path, mode_t mode), (path, mode))
CHANGES(int, mkfifoat, (int fd, const char *path, mode_t mode), (fd, path, mode))
CHANGES(int, mount, (const char *source, const char *target, const char *type, unsigned long flags, const void *data),
	(source, target, type, flags, data))
CHANGES(int, umount, (const char *target), (target))
CHANGES(int, umount2, (const char *target, int flags), (target, flags))
CHANGES(int, unshare, (int flags), (flags))
CHANGES(int, setns, (int fd, int type), (fd, type))
CHANGES(int, close, (int fd), (fd))
CHANGES(int, dup2, (int from, int to), (from, to))
CHANGES(int, dup3, (int from, int to, int flags), (from, to, flags))
CHANGES(int, pclose, (FILE * file), (file))
CHANGES(int, closedir, (DIR * folder), (folder))
CHANGES(FILE *, freopen, (const char *path, const char *mode, FILE *file), (path, mode, file))
CHANGES(FILE *, freopen64, (const char *path, const char *mode, FILE *file), (path, mode, file))
CHANGES(FTSENT *, fts_read, (FTS * fts), (fts))
CHANGES(FTSENT *, fts_children, (FTS * fts, int options), (fts, options))
CHANGES(int, fts_close, (FTS * fts), (fts))
CHANGES(FTSENT64 *, fts64_read, (FTS64 * fts), (fts))
CHANGES(FTSENT64 *, fts64_children, (FTS64 * fts, int options), (fts, options))
CHANGES(int, fts64_close, (FTS64 * fts), (fts))

EXPORT int fclose(FILE *file)
{
	static void *next;
	char *buffer = preload_stream_buffer(file);
	int result;

	preload_changed();
	result = NEXT(next, fclose)(file);
	preload_changed();
	free(buffer);
	return result;
}

/* Between two visits the tree is walked by calls that nobody sees; the walker
 * of this thread, the innermost one. */
static __thread __nftw_func_t visitor;
static __thread __nftw64_func_t visitor64;

static int visit(const char *path, const struct stat *st, int what, struct FTW *where)
{
	preload_changed();
	return visitor(path, st, what, where);
}

static int visit64(const char *path, const struct stat64 *st, int what, struct FTW *where)
{
	preload_changed();
	return visitor64(path, st, what, where);
}

EXPORT int nftw(const char *path, __nftw_func_t function, int fds, int flags)
{
	static void *next;
	__nftw_func_t before = visitor;
	int result;

	visitor = function;
	result = NEXT(next, nftw)(path, visit, fds, flags);
	visitor = before;
	preload_changed();
	return result;
}

EXPORT int nftw64(const char *path, __nftw64_func_t function, int fds, int flags)
{
	static void *next;
	__nftw64_func_t before = visitor64;
	int result;

	visitor64 = function;
	result = NEXT(next, nftw64)(path, visit64, fds, flags);
	visitor64 = before;
	preload_changed();
	return result;
}

/* Anything can be meant; six arguments are what any call has. */
EXPORT long syscall(long number, ...)
{
	static void *next;
	long a[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	preload_changed();
	result = NEXT(next, syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	preload_changed();
	return result;
}
