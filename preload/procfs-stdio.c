/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams on procfs and sysfs get a buffer of several pages: stdio takes the
 * file's st_blksize, which is 1,024 there.  The buffer goes with the stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "preload.h"

#define BUFFER 16384
/* Streams with a buffer of ours at a time; more read as ever. */
#define STREAMS 64

/* Without a lock, which a fork could leave locked in the child. */
static struct {
	FILE *file; /* taken first, given back last */
	char *buffer; /* NULL while there is none */
} streams[STREAMS];

static bool reads(const char *mode)
{
	return mode[0] == 'r' && !strchr(mode, '+');
}

static FILE *widen(FILE *file)
{
	int saved = errno;
	char *buffer = malloc(BUFFER);

	for (unsigned i = 0; buffer && i < STREAMS; i++) {
		FILE *none = NULL;

		if (!__atomic_compare_exchange_n(&streams[i].file, &none, file, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		if (setvbuf(file, buffer, _IOFBF, BUFFER) != 0) {
			__atomic_store_n(&streams[i].file, NULL, __ATOMIC_RELEASE);
			break;
		}
		streams[i].buffer = buffer;
		buffer = NULL;
	}
	free(buffer);
	errno = saved;
	return file;
}

/* Called when the stream is closed: the buffer may go afterwards. */
char *preload_stream_buffer(FILE *file)
{
	char *buffer;

	if (!preload_has(PART_PROCFS) || !file)
		return NULL;
	for (unsigned i = 0; i < STREAMS; i++) {
		if (__atomic_load_n(&streams[i].file, __ATOMIC_ACQUIRE) != file)
			continue;
		buffer = streams[i].buffer;
		streams[i].buffer = NULL;
		__atomic_store_n(&streams[i].file, NULL, __ATOMIC_RELEASE);
		return buffer;
	}
	return NULL;
}

static bool by_name(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

static bool by_fd(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC);
}

SLOT(fopen);
EXPORT FILE *fopen(const char *path, const char *mode)
{
	FILE *file = NEXT(fopen)(path, mode);

	return file && preload_has(PART_PROCFS) && by_name(path) && reads(mode) ? widen(file) : file;
}

SLOT(fopen64);
EXPORT FILE *fopen64(const char *path, const char *mode)
{
	FILE *file = NEXT(fopen64)(path, mode);

	return file && preload_has(PART_PROCFS) && by_name(path) && reads(mode) ? widen(file) : file;
}

SLOT(fdopen);
EXPORT FILE *fdopen(int fd, const char *mode)
{
	FILE *file = NEXT(fdopen)(fd, mode);

	return file && preload_has(PART_PROCFS) && reads(mode) && by_fd(fd) ? widen(file) : file;
}
