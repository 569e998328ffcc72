/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscull/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PREFIX "/.syscull/mark/"

int syscull_mark(const char *name)
{
	char path[sizeof PREFIX + SYSCULL_MARK_NAME_MAX] = PREFIX;
	size_t used = sizeof PREFIX - 1;
	int saved = errno;

	if (name == NULL || name[0] == '\0')
		return -EINVAL;
	for (size_t i = 0; name[i] != '\0' && i < SYSCULL_MARK_NAME_MAX; i++)
		path[used++] = name[i];
	path[used] = '\0';
	/* The raw call: the same on every libc and architecture. */
	(void)syscall(SYS_faccessat, AT_FDCWD, path, F_OK);
	errno = saved;
	return 0;
}
