/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull/xattr.h - attribute look-ups that do not ask twice what cannot be.
 *
 * A listing or a copy asks every file for its ACLs, label and capability, and
 * nearly always there are none.  A memo remembers, per mount, inode type and
 * attribute name, what cannot be there; one question answers all the names
 * that are wanted, with one list where a list is known to be complete.
 *
 * ABI: structs begin with their size, which the caller sets; fields are only
 * ever added at the end, where 0 means the behaviour of before.
 */
#ifndef SYSCULL_XATTR_H
#define SYSCULL_XATTR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct statx;
struct syscull_xattr_memo;

/* What can be asked in one question, a set of bits. */
#define SYSCULL_XATTR_ACL_ACCESS 0x01U /* system.posix_acl_access */
#define SYSCULL_XATTR_ACL_DEFAULT 0x02U /* system.posix_acl_default; only directories can have one */
#define SYSCULL_XATTR_ACL_NFS4 0x04U /* system.nfs4_acl */
#define SYSCULL_XATTR_SELINUX 0x08U /* security.selinux */
#define SYSCULL_XATTR_SMACK 0x10U /* security.SMACK64 */
#define SYSCULL_XATTR_CAPABILITY 0x20U /* security.capability */
#define SYSCULL_XATTR_USER 0x40U /* any name that begins with "user." */
#define SYSCULL_XATTR_KINDS 7 /* how many there are; bit N has errors[N] */

/* Flags of struct syscull_xattr_memo_options. */
#define SYSCULL_XATTR_SHARED 0x1U /* several threads use the memo at a time */
#define SYSCULL_XATTR_TRUST_DEVICE 0x2U /* learn on any file system: wrong on stacked ones */

/* Flags of struct syscull_xattr_file. */
#define SYSCULL_XATTR_FOLLOW 0x1U /* the target of a symbolic link, not the link */

/* What a struct syscull_xattr_file says of the file: bits of have. */
#define SYSCULL_XATTR_HAVE_STAT 0x1U /* mode, dev_major, dev_minor */
#define SYSCULL_XATTR_HAVE_MOUNT 0x2U /* mount_id, of STATX_MNT_ID */
#define SYSCULL_XATTR_HAVE_MOUNT_UNIQUE 0x4U /* mount_id, of STATX_MNT_ID_UNIQUE */

/* How old what was learnt may be before it is asked again, unless said otherwise. */
#define SYSCULL_XATTR_AGE_MS 30000U

struct syscull_xattr_memo_options {
	size_t size; /* sizeof(struct syscull_xattr_memo_options) */
	uint32_t flags; /* SYSCULL_XATTR_SHARED, SYSCULL_XATTR_TRUST_DEVICE */
	uint32_t max_age_ms; /* 0: SYSCULL_XATTR_AGE_MS */
};

/*
 * Which file: path relative to dirfd (a directory or AT_FDCWD), or, without a
 * path, dirfd itself (any descriptor, also one of O_PATH).  What the caller
 * knows of it from a stat of his own is told in the rest: see
 * syscull_xattr_file_statx().  The stat must be of the same file: with
 * SYSCULL_XATTR_FOLLOW that of the target.
 */
struct syscull_xattr_file {
	size_t size; /* sizeof(struct syscull_xattr_file) */
	const char *path;
	int dirfd;
	uint32_t flags; /* SYSCULL_XATTR_FOLLOW */
	uint32_t have; /* SYSCULL_XATTR_HAVE_... */
	uint32_t mode; /* as st_mode */
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t mount_id;
};

#define SYSCULL_XATTR_FILE_INIT(dirfd, path) \
	{ \
		sizeof(struct syscull_xattr_file), (path), (dirfd), 0, 0, 0, 0, 0, 0 \
	}

/*
 * Every wanted bit is in exactly one of present, absent and unknown.  An
 * unknown one has its errno in errors[].  A label that was asked for is copied
 * when label is not NULL: label_length is its size in bytes (its final NUL, if
 * it has one, included), and the bytes are there when that is no more than
 * label_size.
 */
struct syscull_xattr_answers {
	size_t size; /* sizeof(struct syscull_xattr_answers), set by the caller */
	uint32_t present;
	uint32_t absent;
	uint32_t unknown;
	uint32_t unsupported; /* of the absent: known not to be supported there */
	int errors[8]; /* positive errnos, by bit number */
	char *label; /* set by the caller; NULL: not wanted */
	size_t label_size; /* set by the caller */
	size_t label_length; /* 0: no label was read */
};

#define SYSCULL_XATTR_ANSWERS_INIT \
	{ \
		sizeof(struct syscull_xattr_answers), 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0, 0, 0 }, NULL, 0, 0 \
	}

struct syscull_xattr_counters {
	size_t size; /* sizeof(struct syscull_xattr_counters), set by the caller */
	uint64_t asked; /* calls of the getxattr and listxattr families that were made */
	uint64_t skipped; /* names that were answered from the memo */
	uint64_t learnt; /* names found to be unsupported, per mount and inode type */
	uint64_t other; /* other calls: openat, statx, statfs, close */
};

/*
 * syscull_xattr_memo_new - make an empty memo.
 *
 * options: NULL for a memo of one thread with all defaults.
 * Returns the memo, which syscull_xattr_memo_free() frees; NULL with errno
 * ENOMEM, EINVAL (unknown flag, size too small) or E2BIG (a newer struct with
 * something set that this library does not know).
 * Safety: any thread.  A memo is for one thread at a time unless it was made
 * with SYSCULL_XATTR_SHARED.  After fork(2) the child has a memo of its own;
 * where another thread was learning in a shared one just then, the child's may
 * be unable to learn more, and is never wrong and never waits.
 * Cost: no system calls (memory: one malloc of less than 8 KiB).
 */
struct syscull_xattr_memo *syscull_xattr_memo_new(const struct syscull_xattr_memo_options *options);

/*
 * syscull_xattr_memo_free - let go of a memo; NULL is fine.
 *
 * errno is left as it was.  Nobody may be using it.
 * Cost: no system calls.
 */
void syscull_xattr_memo_free(struct syscull_xattr_memo *memo);

/*
 * syscull_xattr_memo_drop - forget what was learnt and declared.
 *
 * For after a mount was changed (mount -o remount,acl); what is older than
 * max_age_ms is forgotten by itself.
 * Safety: as the memo.
 * Cost: no system calls.
 */
void syscull_xattr_memo_drop(struct syscull_xattr_memo *memo);

/*
 * syscull_xattr_memo_declare - a mount is free of attributes: ask nothing there.
 *
 * mount_id, have: as in struct syscull_xattr_file, have being one of
 * SYSCULL_XATTR_HAVE_MOUNT and SYSCULL_XATTR_HAVE_MOUNT_UNIQUE.  Holds until
 * syscull_xattr_memo_drop().  Everything is absent on files that are told to
 * be on that mount, whatever they have: the caller's word is taken.
 * Returns 0; -EINVAL; -ENOSPC beyond 16 mounts; -EAGAIN when another thread is
 * just writing into a shared memo.
 * Safety: as the memo.
 * Cost: no system calls.
 */
int syscull_xattr_memo_declare(struct syscull_xattr_memo *memo, uint64_t mount_id, uint32_t have);

/*
 * syscull_xattr_memo_count - what was asked and what was spared so far.
 *
 * Returns 0; -EINVAL when ret_counters->size is too small.
 * Safety: as the memo; counts of other threads may be under way.
 * Cost: no system calls.
 */
int syscull_xattr_memo_count(const struct syscull_xattr_memo *memo, struct syscull_xattr_counters *ret_counters);

/*
 * syscull_xattr_file_statx - take over what a statx(2) told.
 *
 * stx: of the same file, asked with STATX_TYPE and STATX_MNT_ID (or
 * STATX_MNT_ID_UNIQUE, which is better: those are never used again).  What its
 * stx_mask lacks is not taken.
 * Safety: any thread, async-signal-safe.
 * Cost: no system calls.
 */
void syscull_xattr_file_statx(struct syscull_xattr_file *file, const struct statx *stx);

/*
 * syscull_xattr_file_stat - take over what a stat(2) told.
 *
 * A stat has no mount id, and without one nothing is learnt or skipped: set
 * mount_id and SYSCULL_XATTR_HAVE_MOUNT as well when it is known otherwise.
 * Safety: any thread, async-signal-safe.
 * Cost: no system calls.
 */
static inline void syscull_xattr_file_stat(struct syscull_xattr_file *file, const struct stat *st)
{
	file->mode = (uint32_t)st->st_mode;
	file->dev_major = (uint32_t)major(st->st_dev);
	file->dev_minor = (uint32_t)minor(st->st_dev);
	file->have |= SYSCULL_XATTR_HAVE_STAT;
}

/*
 * syscull_xattr_name - the name of one kind of attribute.
 *
 * kind: one of the bits above.  Returns a string of the library's, "user." for
 * SYSCULL_XATTR_USER, NULL for anything else.
 * Safety: any thread, async-signal-safe.
 * Cost: no system calls.
 */
const char *syscull_xattr_name(uint32_t kind);

/*
 * syscull_xattr_get - one attribute's value, as getxattr(2) gives it.
 *
 * memo: NULL to ask the kernel each time.  Names of security.*, trusted.* and
 * system.* are skipped where the memo knows that they cannot be; user.* never,
 * since there the answer also depends on who asks.
 * name: the full name.  value, size: where it goes, bytes; size 0 asks for the
 * length.
 * Returns the length, or -ENODATA (absent), -EOPNOTSUPP (not supported there,
 * also when this library or system has no attributes at all), -ERANGE (the
 * value is larger than size), or what the kernel said of the file: -ENOENT,
 * -EACCES, -EIO, ...; -ENXIO: dirfd with a path needs Linux 6.13 or /proc.
 * -EINVAL, -E2BIG: the struct, as in syscull_xattr_memo_new().  errno is left
 * as it was.
 * Safety: as the memo; without one any thread, async-signal-safe.
 * Cost: see COST in syscull_xattr(3), which a test holds to be true.
 */
ssize_t syscull_xattr_get(struct syscull_xattr_memo *memo, const struct syscull_xattr_file *file, const char *name,
			  void *value, size_t size);

/*
 * syscull_xattr_ask - which of the wanted attributes has this file?
 *
 * memo: NULL to ask the kernel for each name each time.  wanted: bits, not 0.
 * What the kernel calls unsupported is absent; what it refuses to tell
 * (EACCES, EIO, ENOENT, ...) is unknown, never absent.
 * Returns 0 and the answers; -EINVAL, -E2BIG: the structs, as in
 * syscull_xattr_memo_new(), and nothing is written.  errno is left as it was.
 * Safety: as the memo.  Allocates only for a list larger than 1 KiB.
 * Cost: see COST in syscull_xattr(3), which a test holds to be true.
 */
int syscull_xattr_ask(struct syscull_xattr_memo *memo, const struct syscull_xattr_file *file, uint32_t wanted,
		      struct syscull_xattr_answers *ret_answers);

#ifdef __cplusplus
}
#endif

#endif
