/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SYSCULL_PRELOAD_XATTR_H
#define SYSCULL_PRELOAD_XATTR_H

#include <stdbool.h>

struct statx;

/* Does it pay to know the mounts of files? */
bool preload_xattr_looks(void);
/* A statx of this path has just told; `changes` and `moves` are from before it. */
void preload_xattr_told(int dirfd, const char *path, bool follow, const struct statx *stx, unsigned changes,
			unsigned moves);
/* Mounts or this process may answer otherwise from now on. */
void preload_xattr_forget(void);

#endif
