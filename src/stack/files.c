/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that ran, opened by who has the rights for who has none: only those
 * that are the ones that were mapped, and have not changed since.  Reads nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "stack/book.h"

#define VDSO_BYTES_MAX 65536
/* Files are stamped with the time of the last tick, which can lie before a call that came earlier. */
#define STAMP_STEP_NS UINT64_C(10000000)

static uint64_t stamp_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * UINT64_C(1000000000) + (uint64_t)time->tv_nsec;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) == 0 ? stamp_ns(&now) : 0;
}

int book_reopen(int handle, const char *path)
{
	char link[40];
	int fd;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* No /proc here. */
	return fd < 0 && errno == ENOENT ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : fd;
}

/*
 * Whether the kernel's maps mean this file.  They tell the device of the file
 * system below where it is an overlay (before Linux 6.8), and that of the whole
 * where it is a subvolume; stat(2) does not.  The inode is the same there.
 */
static bool is_mapped(const struct book_module *module, int fd, struct stat *ret)
{
	struct statfs about;

	if (fstat(fd, ret) != 0 || !S_ISREG(ret->st_mode) || ret->st_ino != module->ino)
		return false;
	if (ret->st_dev == module->dev)
		return true;
	return fstatfs(fd, &about) == 0 && (about.f_type == OVERLAYFS_SUPER_MAGIC || about.f_type == BTRFS_SUPER_MAGIC);
}

/* A handle of the module's file, -1 it is another one. */
static int handle_of(const struct book_module *module, const char *path, struct stat *ret)
{
	int handle = open(path, O_PATH | O_CLOEXEC);

	if (handle >= 0 && is_mapped(module, handle, ret))
		return handle;
	if (handle >= 0)
		(void)close(handle);
	return -1;
}

/* The file behind a name, when it is the one that was mapped, and has not changed since. */
static int open_same(const struct book_module *module, const char *path, uint64_t since_ns)
{
	struct stat st;
	int handle = handle_of(module, path, &st), fd = -1;

	/* Only then is it opened: that of a device or a pipe would do something. */
	if (handle >= 0 && stamp_ns(&st.st_ctim) + STAMP_STEP_NS <= since_ns)
		fd = book_reopen(handle, path);
	if (handle >= 0)
		(void)close(handle);
	if (fd >= 0 && !is_mapped(module, fd, &st)) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

void book_hold(struct stack_book *book, struct book_module *module, const struct model_map *map)
{
	struct stat st;
	char *path;
	int handle;

	if (!book->options.here || book->options.unchanged_since_ns > 0 || module->path[0] != '/' || module->ino == 0 ||
	    module->pid == 0 || book->held >= BOOK_HELD_MAX)
		return;
	handle = handle_of(module, module->path, &st);
	if (handle >= 0) {
		(void)close(handle);
		return;
	}
	if (asprintf(&path, "/proc/%u/root%s", module->pid, module->path) < 0)
		return;
	handle = handle_of(module, path, &st);
	free(path);
	/* The root of a process can lie below that of its mounts; this asks for more rights. */
	if (handle < 0 &&
	    asprintf(&path, "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, module->pid, map->start, map->end) >= 0) {
		handle = handle_of(module, path, &st);
		free(path);
	}
	if (handle < 0)
		return;
	module->held = handle;
	module->held_ns = stamp_ns(&st.st_ctim);
	book->held++;
}

/* What was held, when it has not changed since. */
static int open_held(const struct book_module *module)
{
	struct stat st;

	if (module->held < 0 || fstat(module->held, &st) != 0 || stamp_ns(&st.st_ctim) != module->held_ns)
		return -1;
	return book_reopen(module->held, "/dev/null");
}

/* The kernel's own page has no file; ours is the same one. */
static int open_vdso(void)
{
	const char *start = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	ElfW(Ehdr) head;
	size_t bytes;
	int fd;

	if (!start)
		return -1;
	memcpy(&head, start, sizeof head);
	/* Its sections are told of at its end. */
	bytes = (size_t)head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;
	if (head.e_shoff == 0 || bytes > VDSO_BYTES_MAX)
		return -1;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, start, bytes) != (ssize_t)bytes) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

void book_open_files(struct stack_book *book)
{
	int64_t ahead_ns = (int64_t)(now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC));
	struct rlimit limit = { 0 };
	size_t room = 200, opened = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		room = limit.rlim_cur > 400 ? (size_t)limit.rlim_cur - 200 : (size_t)limit.rlim_cur / 2;
	for (size_t i = 0; book->options.here && i < book->modules.used && opened < room; i++) {
		struct book_module *module = &book->modules.at[i];
		uint64_t since_ns = book->options.unchanged_since_ns;
		char *path;

		if (strcmp(module->path, "[vdso]") == 0)
			module->fd = open_vdso();
		/* Without device and inode nothing says that it is the same file. */
		if (module->path[0] != '/' || module->ino == 0)
			continue;
		if (since_ns == 0)
			since_ns = module->last_ns + (uint64_t)ahead_ns;
		module->fd = open_held(module);
		if (module->fd < 0)
			module->fd = open_same(module, module->path, since_ns);
		/* In a mount namespace of its own, as of a container, while it lives. */
		if (module->fd < 0 && module->pid > 0 &&
		    asprintf(&path, "/proc/%u/root%s", module->pid, module->path) >= 0) {
			module->fd = open_same(module, path, since_ns);
			free(path);
		}
		opened += module->fd >= 0;
	}
	jits_open(book, ahead_ns);
}
