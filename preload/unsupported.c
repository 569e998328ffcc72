/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_file_range and FICLONE that were refused between two devices are not
 * tried there again, and a call that the kernel does not have is not tried at
 * all.  The devices are those that an fstat of the program itself told; where
 * it asked for none, the call is made.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "preload.h"
#include "xattr.h"

#define FDS 8
#define PAIRS 16

/* Descriptors that this thread asked about last. */
static __thread struct {
	int fd;
	unsigned changes;
	dev_t dev;
	bool known;
} seen[FDS];
static __thread unsigned seen_at;
/* Set while this thread works with it: a signal handler does not. */
static __thread volatile bool busy;

/* What was refused; one that is being written is not read. */
enum { EMPTY, WRITTEN, READY };
static struct pair {
	unsigned state;
	unsigned generation; /* of mounts: others are over */
	int what; /* FICLONE, or 0 for copy_file_range */
	int code;
	dev_t from, to;
} pairs[PAIRS];
static unsigned generation;

static unsigned missing; /* calls that do not exist */
#define NO_COPY 1U
#define NO_STATX 2U

/* `changes` is from before the question. */
static void told(int fd, dev_t dev, unsigned changes)
{
	if (!preload_has(PART_UNSUPPORTED) || busy || fd < 0)
		return;
	preload_watch();
	busy = true;
	for (unsigned i = 0; i < FDS; i++) {
		if (seen[i].known && seen[i].fd == fd)
			seen[i].known = false;
	}
	seen[seen_at].fd = fd;
	seen[seen_at].dev = dev;
	seen[seen_at].changes = changes;
	seen[seen_at].known = true;
	seen_at = (seen_at + 1) % FDS;
	busy = false;
}

static bool device(int fd, dev_t *ret)
{
	for (unsigned i = 0; !busy && i < FDS; i++) {
		if (seen[i].known && seen[i].fd == fd && preload_believes(seen[i].changes)) {
			*ret = seen[i].dev;
			return true;
		}
	}
	return false;
}

static bool current(const struct pair *pair)
{
	return pair->generation == __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
}

void preload_unsupported_forget(void)
{
	(void)__atomic_add_fetch(&generation, 1, __ATOMIC_ACQ_REL);
}

/* The errno of a refusal of this between these, 0 none. */
static int refusal(int what, int from, int to)
{
	dev_t from_dev, to_dev;

	if (!device(from, &from_dev) || !device(to, &to_dev))
		return 0;
	for (unsigned i = 0; i < PAIRS; i++) {
		const struct pair *pair = &pairs[i];

		if (__atomic_load_n(&pair->state, __ATOMIC_ACQUIRE) == READY && current(pair) && pair->what == what &&
		    pair->from == from_dev && pair->to == to_dev)
			return pair->code;
	}
	return 0;
}

/* `now`: the generation before it was asked. */
static void refuse(int what, int from, int to, int code, unsigned now)
{
	dev_t from_dev, to_dev;

	/* Others are about these two files. */
	if (code != EXDEV && code != EOPNOTSUPP)
		return;
	if (!device(from, &from_dev) || !device(to, &to_dev) || refusal(what, from, to))
		return;
	for (unsigned i = 0; i < PAIRS; i++) {
		unsigned state = __atomic_load_n(&pairs[i].state, __ATOMIC_ACQUIRE);

		if (state == WRITTEN || (state == READY && current(&pairs[i])) ||
		    !__atomic_compare_exchange_n(&pairs[i].state, &state, WRITTEN, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		pairs[i].what = what;
		pairs[i].code = code;
		pairs[i].from = from_dev;
		pairs[i].to = to_dev;
		pairs[i].generation = now;
		__atomic_store_n(&pairs[i].state, READY, __ATOMIC_RELEASE);
		return;
	}
}

SLOT(fstat);
EXPORT int fstat(int fd, struct stat *st)
{
	unsigned changes = preload_changes_now();
	int result = NEXT(fstat)(fd, st);

	if (result == 0)
		told(fd, st->st_dev, changes);
	return result;
}

SLOT(fstat64);
EXPORT int fstat64(int fd, struct stat64 *st)
{
	unsigned changes = preload_changes_now();
	int result = NEXT(fstat64)(fd, st);

	if (result == 0)
		told(fd, st->st_dev, changes);
	return result;
}

SLOT(statx);
EXPORT int statx(int fd, const char *path, int flags, unsigned int mask, struct statx *stx)
{
	bool on = preload_has(PART_UNSUPPORTED);
	unsigned changes = preload_changes_now(), moves = preload_moves_now();
	bool looks = preload_xattr_looks() && ALONE(statx);
	int result;

	if (on && (__atomic_load_n(&missing, __ATOMIC_RELAXED) & NO_STATX)) {
		errno = ENOSYS;
		return -1;
	}
	/* The kernel may always tell more than it was asked for. */
	result = NEXT(statx)(fd, path, flags, looks ? mask | STATX_MNT_ID : mask, stx);
	if (result == 0 && path && *path && looks && !(flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)))
		preload_xattr_told(fd, path, !(flags & AT_SYMLINK_NOFOLLOW), stx, changes, moves);
	if (result == 0 && path && !*path && (flags & AT_EMPTY_PATH))
		told(fd, makedev(stx->stx_dev_major, stx->stx_dev_minor), changes);
	if (result != 0 && on && errno == ENOSYS)
		(void)__atomic_or_fetch(&missing, NO_STATX, __ATOMIC_RELAXED);
	return result;
}

SLOT(copy_file_range);
EXPORT ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t length, unsigned int flags)
{
	unsigned now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	ssize_t result;
	int code;

	if (!preload_has(PART_UNSUPPORTED))
		return NEXT(copy_file_range)(from, from_at, to, to_at, length, flags);
	code = __atomic_load_n(&missing, __ATOMIC_RELAXED) & NO_COPY ? ENOSYS : flags == 0 ? refusal(0, from, to) : 0;
	if (code != 0) {
		errno = code;
		return -1;
	}
	result = NEXT(copy_file_range)(from, from_at, to, to_at, length, flags);
	if (result < 0 && errno == ENOSYS)
		(void)__atomic_or_fetch(&missing, NO_COPY, __ATOMIC_RELAXED);
	else if (result < 0 && flags == 0)
		refuse(0, from, to, errno, now);
	return result;
}

SLOT(ioctl);
EXPORT int ioctl(int fd, unsigned long request, ...)
{
	unsigned now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	va_list list;
	void *argument;
	int result, from, code;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	if (request != FICLONE || !preload_has(PART_UNSUPPORTED))
		return NEXT(ioctl)(fd, request, argument);
	from = (int)(intptr_t)argument;
	code = refusal(FICLONE, from, fd);
	if (code != 0) {
		errno = code;
		return -1;
	}
	result = NEXT(ioctl)(fd, request, argument);
	if (result < 0)
		refuse(FICLONE, from, fd, errno, now);
	return result;
}
