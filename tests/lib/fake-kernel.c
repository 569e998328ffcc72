/* SPDX-License-Identifier: BSD-2-Clause */
/* See fake-kernel.h. */
#include "fake-kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FIRST_FD 1000
#define FDS 64

struct fake fake;
static int fd_files[FDS];

long __wrap_syscall(long number, ...);

void fake_reset(const struct fake_file *files, int (*find)(const char *path))
{
	memset(&fake, 0, sizeof fake);
	fake.files = files;
	fake.find = find;
	fake.error_file = -1;
	for (int i = 0; i < FDS; i++)
		fd_files[i] = -1;
}

/* Sets errno as the libc's would. */
static long give(long result)
{
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

static bool injected(enum fake_family family, int file)
{
	fake.counts[family]++;
	return fake.error != 0 && family == fake.error_family && file >= 0 && file == fake.error_file;
}

static bool holds(const char *words, const char *name)
{
	size_t length = strlen(name);

	for (const char *word = words; word != NULL && *word != '\0';) {
		size_t n = strcspn(word, " ");

		if (n == length && memcmp(word, name, n) == 0)
			return true;
		word += n + (word[n] == ' ');
	}
	return false;
}

static bool unsupported(const struct fake_file *file, const char *name)
{
	if (file->unsupported == NULL)
		return false;
	if (*file->unsupported == '\0')
		return true;
	for (const char *word = file->unsupported; *word != '\0';) {
		size_t n = strcspn(word, " ");

		if (strncmp(word, name, n) == 0)
			return true;
		word += n + (word[n] == ' ');
	}
	return false;
}

/* /proc/thread-self/fd/N[/rest]: the descriptor's file, or what rest names; -2: no such path. */
static int by_proc(const char *path)
{
	char *end;
	long fd;

	if (strncmp(path, "/proc/thread-self/fd/", 21) != 0)
		return -2;
	if (fake.no_proc)
		return -1;
	fd = strtol(path + 21, &end, 10);
	if (*end == '/')
		return fake.find(end + 1);
	return fd >= FIRST_FD && fd < FIRST_FD + FDS ? fd_files[fd - FIRST_FD] : -1;
}

static int find(const char *path)
{
	int file = by_proc(path);

	return file == -2 ? fake.find(path) : file;
}

static long get(int file, const char *name, char *value, size_t size)
{
	if (injected(FAKE_GET, file))
		return -fake.error;
	if (fake.no_calls)
		return -ENOSYS;
	if (file < 0)
		return -ENOENT;
	if (holds(fake.files[file].has, name) || holds(fake.files[file].hides, name)) {
		if (size == 0)
			return 5;
		if (size < 5)
			return -ERANGE;
		memcpy(value, "value", 5);
		return 5;
	}
	return unsupported(&fake.files[file], name) ? -EOPNOTSUPP : -ENODATA;
}

static long list(int file, char *value, size_t size)
{
	const struct fake_file *f = &fake.files[file];
	size_t length, used = 0;

	if (injected(FAKE_LIST, file))
		return -fake.error;
	if (fake.no_calls)
		return -ENOSYS;
	if (file < 0)
		return -ENOENT;
	if (f->grows)
		return -ERANGE;
	length = f->list_padding + (f->has != NULL && *f->has != '\0' ? strlen(f->has) + 1 : 0);
	if (size == 0)
		return (long)length;
	if (size < length)
		return -ERANGE;
	while (used < f->list_padding) {
		value[used] = used % 16 == 15 || used + 1 == f->list_padding ? '\0' : 'x';
		used++;
	}
	if (length > used) {
		memcpy(value + used, f->has, length - used);
		for (size_t i = used; i < length; i++)
			if (value[i] == ' ')
				value[i] = '\0';
	}
	return (long)length;
}

static long statx_of(int file, unsigned int mask, void *buffer)
{
	unsigned char *stx = buffer;
	uint32_t told = 1;
	uint16_t mode;

	if (injected(FAKE_STATX, file))
		return -fake.error;
	if (file < 0)
		return -ENOENT;
	mode = (uint16_t)fake.files[file].mode;
	if (!fake.no_mount_ids && mask & 0x4000 && !fake.no_unique)
		told |= 0x4000;
	else if (!fake.no_mount_ids && mask & 0x1000)
		told |= 0x1000;
	memset(stx, 0, 256);
	/* Offsets of the kernel's struct statx. */
	memcpy(stx, &told, 4);
	memcpy(stx + 28, &mode, 2);
	memcpy(stx + 136, &fake.files[file].dev_major, 4);
	memcpy(stx + 140, &fake.files[file].dev_minor, 4);
	if (told & 0x5000)
		memcpy(stx + 144, &fake.files[file].mount, 8);
	return 0;
}

static long open_file(const char *path)
{
	int file = fake.find_open != NULL ? fake.find_open(path) : find(path);

	if (injected(FAKE_OPEN, file))
		return -fake.error;
	if (file < 0)
		return -ENOENT;
	for (int i = 0; i < FDS; i++) {
		if (fd_files[i] == -1) {
			fd_files[i] = file;
			fake.open_fds++;
			return FIRST_FD + i;
		}
	}
	return -EMFILE;
}

static long close_file(int fd)
{
	fake.counts[FAKE_CLOSE]++;
	if (fd < FIRST_FD || fd >= FIRST_FD + FDS || fd_files[fd - FIRST_FD] == -1)
		return -EBADF;
	fd_files[fd - FIRST_FD] = -1;
	fake.open_fds--;
	return 0;
}

static long statfs_of(int file, struct statfs *fs)
{
	if (injected(FAKE_STATFS, file))
		return -fake.error;
	if (file < 0)
		return -ENOENT;
	memset(fs, 0, sizeof *fs);
	memcpy(&fs->f_type, &fake.files[file].magic, sizeof fs->f_type);
	return 0;
}

/* These would mount what waits for being looked at. */
static void no_automount(bool good, const char *what)
{
	if (good)
		return;
	(void)fprintf(stderr, "the library made a call that triggers automounts: %s\n", what);
	abort();
}

long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	switch (number) {
	case SYS_getxattr:
	case SYS_lgetxattr:
		return give(get(find((const char *)a[0]), (const char *)a[1], (char *)a[2], (size_t)a[3]));
	case SYS_fgetxattr:
		return give(get(fake.find("0"), (const char *)a[1], (char *)a[2], (size_t)a[3]));
	case SYS_listxattr:
	case SYS_llistxattr:
		return give(list(find((const char *)a[0]), (char *)a[1], (size_t)a[2]));
	case SYS_flistxattr:
		return give(list(fake.find("0"), (char *)a[1], (size_t)a[2]));
	case 464: {
		const uint64_t *value = (const uint64_t *)a[4];
		const uint32_t *size = (const uint32_t *)(value + 1);

		fake.at_counts++;
		if (fake.at_error != 0)
			return give(-fake.at_error);
		return give(get(find((const char *)a[1]), (const char *)a[3], (char *)(uintptr_t)*value, *size));
	}
	case 465:
		fake.at_counts++;
		if (fake.at_error != 0)
			return give(-fake.at_error);
		return give(list(find((const char *)a[1]), (char *)a[3], (size_t)a[4]));
	case SYS_statx:
		no_automount((a[2] & 0x800) != 0, "statx without AT_NO_AUTOMOUNT");
		return give(statx_of(find((const char *)a[1]), (unsigned int)a[3], (void *)a[4]));
	case SYS_openat:
		no_automount((a[2] & 010000000) != 0, "openat without O_PATH");
		return give(open_file((const char *)a[1]));
	case SYS_close:
		return give(close_file((int)a[0]));
	case SYS_statfs:
		no_automount(by_proc((const char *)a[0]) != -2, "statfs by the file's own name");
		return give(statfs_of(find((const char *)a[0]), (struct statfs *)a[1]));
	case SYS_faccessat:
		fake.counts[FAKE_ACCESS]++;
		return give(fake.no_proc ? -ENOENT : 0);
	default:
		(void)fprintf(stderr, "the library made call %ld, which the test does not know\n", number);
		abort();
	}
}
