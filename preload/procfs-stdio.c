/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams on procfs and sysfs get a buffer of several pages: stdio takes the
 * file's st_blksize, which is 1,024 there.  The buffer goes with the stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "preload.h"

#define BUFFER 16384
/* Streams with a buffer of ours at a time; more read as ever. */
#define STREAMS 64

static struct {
	FILE *file;
	char *buffer;
} streams[STREAMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool reads(const char *mode)
{
	return mode[0] == 'r' && !strchr(mode, '+');
}

static FILE *widen(FILE *file)
{
	int saved = errno;
	char *buffer;

	buffer = malloc(BUFFER);
	if (!buffer)
		goto out;
	(void)pthread_mutex_lock(&lock);
	for (unsigned i = 0; buffer && i < STREAMS; i++) {
		if (streams[i].file)
			continue;
		if (setvbuf(file, buffer, _IOFBF, BUFFER) != 0)
			break;
		streams[i].file = file;
		streams[i].buffer = buffer;
		buffer = NULL;
	}
	(void)pthread_mutex_unlock(&lock);
	free(buffer);
out:
	errno = saved;
	return file;
}

/* Called when the stream is closed: the buffer may go afterwards. */
char *preload_stream_buffer(FILE *file)
{
	char *buffer = NULL;

	if (!preload_has(PART_PROCFS))
		return NULL;
	(void)pthread_mutex_lock(&lock);
	for (unsigned i = 0; !buffer && i < STREAMS; i++) {
		if (streams[i].file == file) {
			buffer = streams[i].buffer;
			streams[i].file = NULL;
		}
	}
	(void)pthread_mutex_unlock(&lock);
	return buffer;
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

EXPORT FILE *fopen(const char *path, const char *mode)
{
	static void *next;
	FILE *file = NEXT(next, fopen)(path, mode);

	return file && preload_has(PART_PROCFS) && by_name(path) && reads(mode) ? widen(file) : file;
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
	static void *next;
	FILE *file = NEXT(next, fopen64)(path, mode);

	return file && preload_has(PART_PROCFS) && by_name(path) && reads(mode) ? widen(file) : file;
}

EXPORT FILE *fdopen(int fd, const char *mode)
{
	static void *next;
	FILE *file = NEXT(next, fdopen)(fd, mode);

	return file && preload_has(PART_PROCFS) && reads(mode) && by_fd(fd) ? widen(file) : file;
}
