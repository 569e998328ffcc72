/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A preload under which memory runs out: in a process whose name is that of
 * SYSCULL_FAIL_IN every malloc, calloc, realloc and aligned_alloc after the
 * first SYSCULL_FAIL_AFTER ones fails.  Other processes are left alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static long left = -2; /* -1: nothing fails here */

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void *(*next_aligned)(size_t, size_t);

/* What dlsym itself wants before there is anything to hand on to. */
static char early[16384];
static size_t early_used;
static bool looking;

static void *early_get(size_t bytes)
{
	void *place = early + early_used;

	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > sizeof early - early_used)
		return NULL;
	early_used += bytes;
	return place;
}

static bool is_early(const void *place)
{
	return (const char *)place >= early && (const char *)place < early + sizeof early;
}

static void look(void)
{
	const char *after = getenv("SYSCULL_FAIL_AFTER");
	const char *in = getenv("SYSCULL_FAIL_IN");

	looking = true;
	*(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&next_aligned = dlsym(RTLD_NEXT, "aligned_alloc");
	looking = false;
	left = after && in && strcmp(program_invocation_short_name, in) == 0 ? atol(after) : -1;
}

static bool fails(void)
{
	if (left == -2)
		look();
	if (left != 0) {
		left -= left > 0;
		return false;
	}
	errno = ENOMEM;
	return true;
}

void *malloc(size_t bytes)
{
	if (looking)
		return early_get(bytes);
	return fails() ? NULL : next_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	if (looking)
		return early_get(count * bytes);
	return fails() ? NULL : next_calloc(count, bytes);
}

void *realloc(void *place, size_t bytes)
{
	if (looking)
		return early_get(bytes);
	return fails() ? NULL : next_realloc(is_early(place) ? NULL : place, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
	return fails() ? NULL : next_aligned(align, bytes);
}

void free(void *place)
{
	static void (*next_free)(void *);

	if (!place || is_early(place))
		return;
	if (!next_free)
		*(void **)&next_free = dlsym(RTLD_NEXT, "free");
	next_free(place);
}
