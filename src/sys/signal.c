/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of signals as kill -l has them.  The kernel's real-time signals
 * start at 32; glibc keeps two for itself, so that a program's SIGRTMIN is 34.
 */
#include "sys/sys.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define SIGNAL_LAST 64

const char *sys_signal_print(int sig, char buf[static SYS_NAME_MAX])
{
	const char *name = sig > 0 && sig < 32 ? sigabbrev_np(sig) : NULL;
	int first = SIGRTMIN;

	if (name)
		(void)snprintf(buf, SYS_NAME_MAX, "SIG%s", name);
	else if (sig == first)
		(void)snprintf(buf, SYS_NAME_MAX, "SIGRTMIN");
	else if (sig >= 32 && sig <= SIGNAL_LAST)
		(void)snprintf(buf, SYS_NAME_MAX, "SIGRTMIN%+d", sig - first);
	else
		(void)snprintf(buf, SYS_NAME_MAX, "signal %d", sig);
	return buf;
}
