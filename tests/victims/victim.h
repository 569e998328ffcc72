/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the victims share.  A victim wastes in exactly one way and prints, one
 * a line on stdout, what must be seen of it:
 *
 *     expect rule=NAME calls=N [errno=NAME] [tier=NAME]   a finding must exist
 *         [with=TEXT] [without=TEXT]                      and say so, or not
 *     expect-none rule=NAME                               and this one must not
 *     count CALL[+CALL…]=N [errno=NAME] [path=PATH]       calls made, exactly
 *     count @FAMILY=N                                     of all calls of a family
 *     skip WHY                                            nothing could be tried
 *
 * `calls` is what the finding calls wasted; `least=N` in its place where libraries
 * have a part in it.  Temporary files are made where
 * TMPDIR says, and removed.
 */
#ifndef SYSCULL_TESTS_VICTIM_H
#define SYSCULL_TESTS_VICTIM_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VICTIM_FILES_MAX 100000

struct victim_dir {
	char path[4096];
	int fd;
	unsigned files;
};

static inline void victim_fail(const char *what)
{
	(void)fprintf(stderr, "victim: %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline void victim_skip(const char *why)
{
	(void)printf("skip %s\n", why);
	(void)fprintf(stderr, "victim: %s\n", why);
	exit(77);
}

/* A new directory with the files f0, f1, …; its fd is open. */
static inline void victim_make_files(struct victim_dir *dir, unsigned files)
{
	const char *tmp = getenv("TMPDIR");
	char name[32];

	if (snprintf(dir->path, sizeof dir->path, "%s/victim.XXXXXX", tmp && tmp[0] ? tmp : "/tmp") >=
	    (int)sizeof dir->path)
		victim_fail("TMPDIR is too long");
	if (!mkdtemp(dir->path))
		victim_fail(dir->path);
	dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0)
		victim_fail(dir->path);
	for (dir->files = 0; dir->files < files; dir->files++) {
		int fd;

		(void)snprintf(name, sizeof name, "f%u", dir->files);
		fd = openat(dir->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0)
			victim_fail(name);
		(void)close(fd);
	}
}

static inline void victim_remove_files(struct victim_dir *dir)
{
	char name[32];

	for (unsigned i = 0; i < dir->files; i++) {
		(void)snprintf(name, sizeof name, "f%u", i);
		(void)unlinkat(dir->fd, name, 0);
	}
	(void)close(dir->fd);
	(void)rmdir(dir->path);
}

/* The number of times to waste, argv[1] or the default. */
static inline unsigned victim_times(int argc, char **argv, unsigned times)
{
	unsigned long value = argc > 1 ? strtoul(argv[1], NULL, 10) : times;

	if (value == 0 || value > VICTIM_FILES_MAX) {
		(void)fprintf(stderr, "usage: %s [TIMES]\n", argv[0]);
		exit(2);
	}
	return (unsigned)value;
}

#endif
