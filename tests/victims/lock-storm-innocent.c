/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks a file once for 300 changes, and another one that a child wants too. */
#include <sys/wait.h>

#include "victim.h"

static int lock(int fd, short type)
{
	struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_len = 1 };

	return fcntl(fd, F_SETLKW, &range);
}

static int lock_each(const struct victim_dir *dir, unsigned times)
{
	int fd = openat(dir->fd, "f1", O_RDWR | O_CLOEXEC), r = fd < 0 ? -1 : 0;

	for (unsigned i = 0; r == 0 && i < times; i++)
		r = lock(fd, F_WRLCK) < 0 || lock(fd, F_UNLCK) < 0 ? -1 : 0;
	(void)close(fd);
	return r;
}

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 300);
	struct victim_dir dir;
	pid_t child;
	int fd, status;

	victim_make_files(&dir, 2);
	fd = openat(dir.fd, "f0", O_RDWR | O_CLOEXEC);
	if (fd < 0 || lock(fd, F_WRLCK) < 0)
		victim_fail("f0");
	for (unsigned i = 0; i < times; i++)
		if (pwrite(fd, "x", 1, 0) != 1)
			victim_fail("pwrite");
	if (lock(fd, F_UNLCK) < 0)
		victim_fail("f0");
	child = fork();
	if (child == 0)
		_exit(lock_each(&dir, times) < 0);
	if (child < 0 || lock_each(&dir, times) < 0)
		victim_fail("f1");
	if (waitpid(child, &status, 0) != child || status != 0)
		victim_fail("the child");
	(void)close(fd);
	victim_remove_files(&dir);
	(void)printf("expect-none rule=lock-storm\n");
	return 0;
}
