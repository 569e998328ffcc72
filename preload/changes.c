/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything of libc by which a process can make a path or a number mean
 * another file, or change what it may see, counts up, before and after it
 * happens, and does nothing else.  libc's own inner calls do not come by here:
 * those that change a directory, a name or a number (fts, remove, pclose, …)
 * are in the list too.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <grp.h>
#include <mntent.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utmp.h>

#include "preload.h"
#include "xattr.h"

unsigned preload_changes, preload_watched, preload_moves;
__thread struct preload_place preload_place;
__thread bool preload_apart;
bool preload_unsure;

static void names_changed(void)
{
	preload_changed();
}

/* What a mount or a process may answer has changed, not only what a path means. */
static void all_changed(void)
{
	preload_changed();
	preload_xattr_forget();
	preload_unsupported_forget();
}

static unsigned moved(void)
{
	if (!__atomic_load_n(&preload_watched, __ATOMIC_RELAXED))
		return 0;
	return __atomic_add_fetch(&preload_moves, 1, __ATOMIC_ACQ_REL);
}

#define CHANGE(how, type, name, parameters, arguments) \
	SLOT(name); \
	EXPORT type name parameters \
	{ \
		type result; \
\
		(void)how(); \
		result = NEXT(name) arguments; \
		(void)how(); \
		return result; \
	}
#define CHANGES(type, name, parameters, arguments) CHANGE(names_changed, type, name, parameters, arguments)
#define CHANGES_ALL(type, name, parameters, arguments) CHANGE(all_changed, type, name, parameters, arguments)

CHANGE(moved, int, chdir, (const char *path), (path))
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
CHANGES(int, close, (int fd), (fd))
CHANGES(int, dup2, (int from, int to), (from, to))
CHANGES(int, dup3, (int from, int to, int flags), (from, to, flags))
CHANGES(int, login_tty, (int fd), (fd))
CHANGES(int, daemon, (int nochdir, int noclose), (nochdir, noclose))
CHANGES(int, endmntent, (FILE * file), (file))
CHANGES(int, closedir, (DIR * folder), (folder))
CHANGES(FILE *, freopen, (const char *path, const char *mode, FILE *file), (path, mode, file))
CHANGES(FILE *, freopen64, (const char *path, const char *mode, FILE *file), (path, mode, file))
CHANGES(FTSENT *, fts_read, (FTS * fts), (fts))
CHANGES(FTSENT *, fts_children, (FTS * fts, int options), (fts, options))
CHANGES(int, fts_close, (FTS * fts), (fts))
CHANGES(FTSENT64 *, fts64_read, (FTS64 * fts), (fts))
CHANGES(FTSENT64 *, fts64_children, (FTS64 * fts, int options), (fts, options))
CHANGES(int, fts64_close, (FTS64 * fts), (fts))

/* A directory on the way may be closed to us from now on. */
CHANGES(int, chmod, (const char *path, mode_t mode), (path, mode))
CHANGES(int, fchmod, (int fd, mode_t mode), (fd, mode))
CHANGES(int, fchmodat, (int fd, const char *path, mode_t mode, int flags), (fd, path, mode, flags))
CHANGES(int, chown, (const char *path, uid_t user, gid_t group), (path, user, group))
CHANGES(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
CHANGES(int, lchown, (const char *path, uid_t user, gid_t group), (path, user, group))
CHANGES(int, fchownat, (int fd, const char *path, uid_t user, gid_t group, int flags), (fd, path, user, group, flags))
CHANGES(int, setxattr, (const char *path, const char *name, const void *value, size_t size, int flags),
	(path, name, value, size, flags))
CHANGES(int, lsetxattr, (const char *path, const char *name, const void *value, size_t size, int flags),
	(path, name, value, size, flags))
CHANGES(int, fsetxattr, (int fd, const char *name, const void *value, size_t size, int flags),
	(fd, name, value, size, flags))

/* glibc declares these two nowhere. */
int pivot_root(const char *root, const char *old);
int capset(void *header, void *data);

CHANGES_ALL(int, chroot, (const char *path), (path))
CHANGES_ALL(int, pivot_root, (const char *root, const char *old), (root, old))
CHANGES_ALL(int, mount,
	    (const char *source, const char *target, const char *type, unsigned long flags, const void *data),
	    (source, target, type, flags, data))
CHANGES_ALL(int, umount, (const char *target), (target))
CHANGES_ALL(int, umount2, (const char *target, int flags), (target, flags))
#ifdef MOVE_MOUNT_F_EMPTY_PATH
CHANGES_ALL(int, move_mount, (int from_fd, const char *from, int to_fd, const char *to, unsigned int flags),
	    (from_fd, from, to_fd, to, flags))
CHANGES_ALL(int, fsconfig, (int fd, unsigned int command, const char *key, const void *value, int more),
	    (fd, command, key, value, more))
#endif
CHANGES_ALL(int, setns, (int fd, int type), (fd, type))
CHANGES_ALL(int, capset, (void *header, void *data), (header, data))
CHANGES_ALL(int, setuid, (uid_t id), (id))
CHANGES_ALL(int, seteuid, (uid_t id), (id))
CHANGES_ALL(int, setreuid, (uid_t id, uid_t effective), (id, effective))
CHANGES_ALL(int, setresuid, (uid_t id, uid_t effective, uid_t saved), (id, effective, saved))
CHANGES_ALL(int, setgid, (gid_t id), (id))
CHANGES_ALL(int, setegid, (gid_t id), (id))
CHANGES_ALL(int, setregid, (gid_t id, gid_t effective), (id, effective))
CHANGES_ALL(int, setresgid, (gid_t id, gid_t effective, gid_t saved), (id, effective, saved))
CHANGES_ALL(int, setfsuid, (uid_t id), (id))
CHANGES_ALL(int, setfsgid, (gid_t id), (id))
CHANGES_ALL(int, setgroups, (size_t count, const gid_t *groups), (count, groups))
CHANGES_ALL(int, initgroups, (const char *user, gid_t group), (user, group))
/* What another process did until then has happened for us. */
CHANGES_ALL(int, system, (const char *command), (command))

SLOT(fchdir);
EXPORT int fchdir(int fd)
{
	unsigned changes = preload_changes_now(), before = moved(), after;
	int result = NEXT(fchdir)(fd);

	after = moved();
	preload_place.known = false;
	preload_place.fd = fd;
	preload_place.changes = changes;
	preload_place.moves = after;
	/* A handler that comes in between leaves something whole. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	preload_place.known = result == 0 && before > 0 && after == before + 1;
	return result;
}

SLOT(unshare);
EXPORT int unshare(int flags)
{
	int result;

	all_changed();
	/* /proc/self/fd is no more this thread's. */
	if (flags & CLONE_FILES)
		__atomic_store_n(&preload_unsure, true, __ATOMIC_RELAXED);
	result = NEXT(unshare)(flags);
	all_changed();
	return result;
}

/* A child of a vfork has ended or become another program, once somebody waited for it. */
static void waited(bool child)
{
	all_changed();
	if (child)
		preload_apart = false;
}

#define WAITS(name, parameters, arguments) \
	SLOT(name); \
	EXPORT pid_t name parameters \
	{ \
		pid_t result = NEXT(name) arguments; \
\
		waited(result > 0); \
		return result; \
	}

WAITS(wait, (int *status), (status))
WAITS(waitpid, (pid_t pid, int *status, int options), (pid, status, options))
WAITS(wait3, (int *status, int options, struct rusage *usage), (status, options, usage))
WAITS(wait4, (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage))

SLOT(waitid);
EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	int result = NEXT(waitid)(type, id, info, options);

	waited(result == 0 && info && info->si_pid > 0);
	return result;
}

static struct preload_slot slot_vfork = { .name = "vfork" };
static struct preload_slot *const listed_vfork __attribute__((section("preload_slots"), used)) = &slot_vfork;

/* vfork returns twice to who called it, so that nothing may be left on the
 * stack: vfork.S asks here and jumps. */
void *preload_before_vfork(void);
void *preload_before_vfork(void)
{
	preload_apart = true;
	return preload_next(&slot_vfork);
}

SLOT(clone);
EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	void *parent_id, *tls, *child_id;
	va_list list;

	va_start(list, argument);
	parent_id = va_arg(list, void *);
	tls = va_arg(list, void *);
	child_id = va_arg(list, void *);
	va_end(list);
	if ((flags & CLONE_VM) && !(flags & CLONE_SETTLS))
		preload_apart = true;
	return NEXT(clone)(function, stack, flags, argument, parent_id, tls, child_id);
}

SLOT(fclose);
EXPORT int fclose(FILE *file)
{
	char *buffer = preload_stream_buffer(file);
	int result;

	preload_changed();
	result = NEXT(fclose)(file);
	preload_changed();
	if (buffer)
		free(buffer);
	return result;
}

SLOT(pclose);
EXPORT int pclose(FILE *file)
{
	int result;

	preload_changed();
	result = NEXT(pclose)(file);
	all_changed();
	return result;
}

/* The tree is walked by calls that nobody sees, and an exit by exception or
 * longjmp leaves us no place to say that it is over. */
SLOT(nftw);
EXPORT int nftw(const char *path, __nftw_func_t function, int fds, int flags)
{
	if (flags & FTW_CHDIR)
		__atomic_store_n(&preload_unsure, true, __ATOMIC_RELAXED);
	return NEXT(nftw)(path, function, fds, flags);
}

SLOT(nftw64);
EXPORT int nftw64(const char *path, __nftw64_func_t function, int fds, int flags)
{
	if (flags & FTW_CHDIR)
		__atomic_store_n(&preload_unsure, true, __ATOMIC_RELAXED);
	return NEXT(nftw64)(path, function, fds, flags);
}

/* Of calls that are made by number: these change nothing that is counted here. */
static bool harmless(long number)
{
	switch (number) {
	case SYS_futex:
	case SYS_gettid:
	case SYS_getpid:
	case SYS_getrandom:
	case SYS_sched_yield:
	case SYS_statx:
	case SYS_clock_gettime:
	case SYS_getdents64:
	case SYS_membarrier:
	case SYS_pidfd_open:
		return true;
	default:
		return false;
	}
}

/* Anything can be meant; six arguments are what any call has. */
SLOT(syscall);
EXPORT long syscall(long number, ...)
{
	long a[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!__atomic_load_n(&preload_watched, __ATOMIC_RELAXED) || harmless(number))
		return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	all_changed();
	result = NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	all_changed();
	return result;
}

/* What libsyscull asks through syscall is no change: the linker leads it here. */
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

SLOT(prctl);
EXPORT int prctl(int option, ...)
{
	unsigned long a[4];
	va_list list;
	int result;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	all_changed();
	result = NEXT(prctl)(option, a[0], a[1], a[2], a[3]);
	all_changed();
	return result;
}
