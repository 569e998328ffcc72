/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --user NAME: whom the command runs as when we are root.  The names are
 * looked up before anything is forked; the child only asks the kernel.
 */
#ifndef SYSCULL_CMD_USER_H
#define SYSCULL_CMD_USER_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

#define USER_GROUPS_MAX 256

struct user {
	uid_t uid;
	gid_t gid;
	gid_t groups[USER_GROUPS_MAX];
	int group_count;
};

/* -ENOENT or another errno with err.  Needs root. */
int user_find(const char *name, struct user *ret, struct error *err);
/* The child becomes the user for good; async-signal-safe.  Negative errno. */
int user_become(const struct user *user);
/* We do, but for what reading our own programs' books in the kernel needs. */
int user_drop(const struct user *user);

#endif
