/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our folder of the invoking user, below XDG_CACHE_HOME or the like.  Run as
 * root through sudo it is that user's, not root's, and every look at it is
 * made with that user's rights (setfsuid), so that nothing can be done to
 * root with links or left behind as root's.
 */
#ifndef SYSCULL_BASE_USER_DIR_H
#define SYSCULL_BASE_USER_DIR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

struct user_dir {
	int fd;
	uid_t uid;
	gid_t gid;
	bool as_other; /* we are root, the user is not */
};

#define USER_DIR_INIT ((struct user_dir){ .fd = -1 })

/*
 * Opens $VARIABLE/syscull, without VARIABLE ~/FALLBACK/syscull; with `make`
 * what is missing of them is made, 0700, with all that is missing above
 * $VARIABLE, but never the home itself.  -ENOENT: not there, or no user, no
 * home; -EPERM: a folder of somebody else (in which root makes nothing either),
 * or one that others may write; -ENOTDIR and -ELOOP: something else is there.
 */
int user_dir_open(struct user_dir *ret, const char *variable, const char *fallback, bool make);
void user_dir_close(struct user_dir *dir);
/* A regular file of the user that nobody else may write, whole. */
int user_dir_read(const struct user_dir *dir, const char *name, struct buf *buf, size_t most);
/* 0600; the old file or the new one is there at any moment, never half of one. */
int user_dir_write(const struct user_dir *dir, const char *name, const void *data, size_t bytes);

/*
 * The same for what is too much for the memory: an open file, 0600, that has
 * no name until user_dir_commit and is gone without it (where the file system
 * cannot do that it has a passing one).
 */
struct user_file {
	int fd; /* -1: none */
	char passing[64]; /* "": no name yet */
};
#define USER_FILE_INIT ((struct user_file){ .fd = -1 })

int user_dir_create(const struct user_dir *dir, struct user_file *ret);
/* Gives it its name in place of what had it; fd stays open. */
int user_dir_commit(const struct user_dir *dir, struct user_file *file, const char *name);
/* Closes it; without a commit before it is gone. */
void user_file_close(const struct user_dir *dir, struct user_file *file);
/* A regular file of the user that nobody else may write, for reading. */
int user_dir_open_file(const struct user_dir *dir, const char *name);

#endif
