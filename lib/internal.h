/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of libsyscull share: one door to the kernel, and option
 * structs that begin with their size.  Nothing here has a symbol.  What several
 * sources of one part share is SYSCULL_HIDDEN and named syscull__PART_….
 */
#ifndef SYSCULL_INTERNAL_H
#define SYSCULL_INTERNAL_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYSCULL_HIDDEN __attribute__((visibility("hidden")))

/*
 * A raw call: the same on every libc, and no cancellation point.  Its result or
 * a negative errno.  Changes errno: public functions save and restore it.
 */
#define KERNEL(...) syscull_kernel_result(syscall(__VA_ARGS__))

static inline long syscull_kernel_result(long result)
{
	return result == -1 ? -errno : result;
}

/*
 * Takes a caller's struct of `theirs` bytes into one of `ours`.  Returns 0;
 * -EINVAL when it is smaller than `least`, the size in the first version;
 * -E2BIG when it is larger than ours and says something there.
 */
static inline int syscull_options_take(void *into, size_t ours, const void *from, size_t theirs, size_t least)
{
	const unsigned char *bytes = (const unsigned char *)from;

	if (theirs < least)
		return -EINVAL;
	for (size_t i = ours; i < theirs; i++)
		if (bytes[i] != 0)
			return -E2BIG;
	memset(into, 0, ours);
	memcpy(into, from, theirs < ours ? theirs : ours);
	return 0;
}

#endif
