/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * closefrom(3) that closes what is open, and goes on where glibc's ends the
 * process: close_range refused and no /proc.  close_range(2) that a sandbox
 * refuses is done in another way.
 */
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "preload.h"
#include "syscull/fds.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

SLOT(closefrom);
EXPORT void closefrom(int from)
{

	preload_changed();
	/* Only what libsyscull cannot promise either is left to libc. */
	if (!preload_has(PART_CLOSEFROM) || !ALONE(closefrom) ||
	    syscull_fds_close(from < 0 ? 0 : from, NULL, 0, NULL) < 0)
		NEXT(closefrom)(from);
	preload_changed();
}

SLOT(close_range);
EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	int saved = errno, result;

	preload_changed();
	result = NEXT(close_range)(first, last, flags);
	if (result < 0 && (errno == ENOSYS || errno == EPERM) && last >= INT_MAX && first <= INT_MAX &&
	    (flags == 0 || flags == CLOSE_RANGE_CLOEXEC) && preload_has(PART_CLOSEFROM) && ALONE(close_range)) {
		int code = errno;
		struct syscull_fds_options options = SYSCULL_FDS_OPTIONS_INIT;

		options.flags = SYSCULL_FDS_NO_RANGE;
		result = flags ? syscull_fds_cloexec((int)first, NULL, 0, &options)
			       : syscull_fds_close((int)first, NULL, 0, &options);
		errno = result < 0 ? code : saved;
		result = result < 0 ? -1 : 0;
	}
	preload_changed();
	return result;
}
