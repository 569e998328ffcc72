/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the sources of the part xattr share: the calls, what is known of file
 * system classes, and the memo.  Bits of names: those of the public kinds, then
 * names that single look-ups brought (XATTR_NAMES in all).
 */
#ifndef SYSCULL_XATTR_INTERNAL_H
#define SYSCULL_XATTR_INTERNAL_H

#include "internal.h"
#include "syscull/xattr.h"

#include <stdbool.h>

#define XATTR_KINDS ((1U << SYSCULL_XATTR_KINDS) - 1)
#define XATTR_SYSTEM (SYSCULL_XATTR_ACL_ACCESS | SYSCULL_XATTR_ACL_DEFAULT | SYSCULL_XATTR_ACL_NFS4)
#define XATTR_LABELS (SYSCULL_XATTR_SELINUX | SYSCULL_XATTR_SMACK)
#define XATTR_HAVE_MOUNTS (SYSCULL_XATTR_HAVE_MOUNT | SYSCULL_XATTR_HAVE_MOUNT_UNIQUE)
#define XATTR_NAMES 32

/* Calls that were made for one question, and what was found out of the calls themselves. */
struct xattr_tally {
	uint32_t asked;
	uint32_t other;
	bool no_at; /* getxattrat and listxattrat do not exist */
};

/* The calls: xattr-calls.c.  Results are as the kernel's, or a negative errno. */
SYSCULL_HIDDEN long syscull__xattr_get(const struct syscull_xattr_file *file, const char *name, void *value,
				       size_t size, struct xattr_tally *tally);
SYSCULL_HIDDEN long syscull__xattr_list(const struct syscull_xattr_file *file, void *list, size_t size,
					struct xattr_tally *tally);
/* True when ENOSYS means that the calls do not exist; some file systems say it of one file. */
SYSCULL_HIDDEN bool syscull__xattr_missing(struct xattr_tally *tally);
/* Fills what file does not have; it stays without when the system has no mount ids. */
SYSCULL_HIDDEN void syscull__xattr_stat(struct syscull_xattr_file *file, struct xattr_tally *tally);

/* A file that stays the same one however often it is asked. */
struct xattr_pin {
	int close_fd; /* -1: the caller's */
	struct syscull_xattr_file file;
	char path[48];
};

/* Returns 0; -ENXIO when this way does not exist here (no /proc); otherwise it is about this file: ask as ever. */
SYSCULL_HIDDEN int syscull__xattr_pin(const struct syscull_xattr_file *file, struct xattr_pin *ret_pin,
				      struct xattr_tally *tally);
SYSCULL_HIDDEN void syscull__xattr_unpin(struct xattr_pin *pin, struct xattr_tally *tally);

/* Classes of file systems: xattr-class.c.  0 is one of which nothing is known. */
#define XATTR_LEARN 0x1U /* support belongs to super block, inode type and name */
#define XATTR_LIST 0x2U /* a list has every name that a look-up would find (but see labels) */
#define XATTR_DIRS_DIFFER 0x4U /* directories differ among themselves */
#define XATTR_DIRS_DIFFER_HANDLED 0x8U /* they do, but not for system.* */

/* The class of the mount that the pinned file is on, by one statfs; a negative errno. */
SYSCULL_HIDDEN int syscull__xattr_class(const struct xattr_pin *pin, struct xattr_tally *tally, uint32_t *ret_class);
/* Which names may be learnt of there, of this inode type. */
SYSCULL_HIDDEN uint32_t syscull__xattr_learnable(uint32_t class, uint32_t mode);

/* The memo: xattr-memo.c. */
struct xattr_key {
	uint64_t mount;
	uint64_t dev;
	uint32_t kind; /* inode type, whether followed, which sort of mount id */
};

struct xattr_known {
	uint32_t class;
	uint32_t asked; /* names whose support is known */
	uint32_t unsupported; /* of these: not there */
	uint32_t labelled; /* labels that were found: a security module may be answering, lists do not tell */
};

/* A memo in memory of the caller's, who never frees it; NULL: that is too little.  For
 * those who may not allocate. */
SYSCULL_HIDDEN struct syscull_xattr_memo *syscull__xattr_memo_at(void *place, size_t bytes, uint32_t flags,
								 uint32_t max_age_ms);
SYSCULL_HIDDEN void syscull__xattr_key(const struct syscull_xattr_file *file, struct xattr_key *ret_key);
SYSCULL_HIDDEN bool syscull__xattr_memo_find(struct syscull_xattr_memo *memo, const struct xattr_key *key,
					     struct xattr_known *ret_known);
/* The class of key's mount, from any inode type; false when unknown. */
SYSCULL_HIDDEN bool syscull__xattr_memo_class(struct syscull_xattr_memo *memo, const struct xattr_key *key,
					      uint32_t *ret_class);
/* Adds to what is known; may do nothing (another thread is writing). */
SYSCULL_HIDDEN void syscull__xattr_memo_learn(struct syscull_xattr_memo *memo, const struct xattr_key *key,
					      const struct xattr_known *more);
SYSCULL_HIDDEN bool syscull__xattr_memo_declared(struct syscull_xattr_memo *memo, const struct xattr_key *key);
/* The bit of a name; 0 when there is none (add: and no room for it). */
SYSCULL_HIDDEN uint32_t syscull__xattr_memo_name(struct syscull_xattr_memo *memo, const char *name, bool add);
/* Whether the calls do not exist at all. */
SYSCULL_HIDDEN bool syscull__xattr_memo_gone(const struct syscull_xattr_memo *memo);
SYSCULL_HIDDEN void syscull__xattr_memo_set_gone(struct syscull_xattr_memo *memo);
SYSCULL_HIDDEN bool syscull__xattr_memo_trusts(const struct syscull_xattr_memo *memo);
/* Begins and ends a question: what is known of the calls, and the counters. */
SYSCULL_HIDDEN void syscull__xattr_memo_begin(const struct syscull_xattr_memo *memo, struct xattr_tally *ret_tally);
SYSCULL_HIDDEN void syscull__xattr_memo_end(struct syscull_xattr_memo *memo, const struct xattr_tally *tally,
					    uint32_t skipped);

#endif
