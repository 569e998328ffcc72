/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc says of somebody who is to be watched. */
#ifndef SYSCULL_ENGINE_WHOM_H
#define SYSCULL_ENGINE_WHOM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

struct whom {
	char why[160]; /* one line */
	char brief[280]; /* what to do, within a line */
};

/* Whom no tracer can have: ourselves, threads of the kernel, the dead.  The
 * kernel tells of these before it looks at any right. */
bool whom_never(pid_t pid, struct whom *ret);
/* 0, or -EPERM with both in err. */
int whom_check(pid_t pid, struct error *err);

/* The letter of a task's state and the kernel's flags; false when it is gone. */
bool whom_state(pid_t tid, char *ret_state, unsigned *ret_flags);
/* A number of /proc/PID/status, of ours for 0; -1 unknown.  field: "\nPPid:" */
long whom_status(pid_t pid, const char *field);
/* The beginning of a small file, "" without one. */
bool whom_read(const char *path, char *ret, size_t room);

#endif
