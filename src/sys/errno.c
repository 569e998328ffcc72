/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of error numbers: glibc's, and the five of an interrupted call that
 * only a tracer sees.
 */
#include "sys/sys.h"

#include <stdio.h>
#include <string.h>

/* The kernel's MAX_ERRNO: a larger negative result is a value. */
#define ERRNO_MAX 4095

static const char *errno_name(int err)
{
	static const char *const restarts[] = {
		"ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ENOIOCTLCMD", "ERESTART_RESTARTBLOCK",
	};

	if (err >= 512 && err <= 516)
		return restarts[err - 512];
	/* glibc calls 0 "0". */
	return err > 0 ? strerrorname_np(err) : NULL;
}

const char *sys_errno_print(int err, char buf[static SYS_NAME_MAX])
{
	const char *name = errno_name(err);

	if (name)
		(void)snprintf(buf, SYS_NAME_MAX, "%s", name);
	else
		(void)snprintf(buf, SYS_NAME_MAX, "errno %d", err);
	return buf;
}

int sys_errno_by_name(const char *name)
{
	static const struct {
		const char *name;
		int err;
	} others[] = {
		/* Second names, which strerrorname_np never gives. */
		{ "EWOULDBLOCK", 11 },
		{ "EDEADLOCK", 35 },
		{ "ENOTSUP", 95 },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i].name))
			return others[i].err;
	for (int err = 1; err <= ERRNO_MAX; err++) {
		const char *other = errno_name(err);

		if (other && !strcmp(name, other))
			return err;
	}
	return 0;
}
