/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/host.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

struct analysis_host host_of_this(void)
{
	static struct utsname names;
	static char libc[40];
	struct analysis_host host = { 0 };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (uname(&names) == 0) {
		host.kernel = names.release;
		host.arch = names.machine;
	}
#ifdef __GLIBC__
	(void)snprintf(libc, sizeof libc, "glibc %s", gnu_get_libc_version());
	host.libc = libc;
#endif
	host.cpus = cpus > 0 ? (unsigned)cpus : 0;
	return host;
}
