/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions for the limit of descriptors are answered with the highest open
 * one + 1, as it is at the call: who closes everything up to the limit then
 * closes what is open.  Who sets a limit that he was told gets the real one.
 * close(2) itself is never answered here: nobody but the kernel knows the
 * table.
 */
#include <errno.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include "preload.h"
#include "syscull/fds.h"

/* The standard three are always expected. */
#define LEAST 3

SLOT(prlimit);
SLOT(getrlimit);
SLOT(setrlimit);
SLOT(sysconf);
SLOT(getdtablesize);

/* What was told last; 0 nothing. */
static rlim_t told;

/* -1: not known, then the truth is told. */
static long highest(void)
{
	int saved = errno, fd, r;

	r = syscull_fds_highest(NULL, &fd);
	errno = saved;
	return r < 0 ? -1 : fd + 1 < LEAST ? LEAST : fd + 1;
}

static bool asks(int resource)
{
	return resource == RLIMIT_NOFILE && preload_has(PART_NOFILE);
}

static void shorten(struct rlimit *limit)
{
	long most = highest();

	if (most < 0)
		return;
	__atomic_store_n(&told, (rlim_t)most, __ATOMIC_RELAXED);
	if (limit->rlim_cur > (rlim_t)most)
		limit->rlim_cur = (rlim_t)most;
	if (limit->rlim_max > (rlim_t)most)
		limit->rlim_max = (rlim_t)most;
}

/* Back to what is really there, where the caller hands back what he was told. */
static void lengthen(struct rlimit *limit)
{
	rlim_t most = __atomic_load_n(&told, __ATOMIC_RELAXED);
	struct rlimit real;

	if (most == 0 || NEXT(prlimit)(0, RLIMIT_NOFILE, NULL, &real) != 0)
		return;
	if (limit->rlim_max == most && real.rlim_max > most)
		limit->rlim_max = real.rlim_max;
	if (limit->rlim_cur == most && real.rlim_cur > most)
		limit->rlim_cur = real.rlim_cur;
}

EXPORT int prlimit(pid_t pid, __rlimit_resource_t resource, const struct rlimit *set, struct rlimit *got)
{
	struct rlimit real;
	int result;

	if (!asks(resource) || (pid != 0 && pid != getpid()))
		return NEXT(prlimit)(pid, resource, set, got);
	if (set) {
		real = *set;
		lengthen(&real);
		set = &real;
	}
	result = NEXT(prlimit)(pid, resource, set, got);
	if (result == 0 && got)
		shorten(got);
	return result;
}

EXPORT int getrlimit(__rlimit_resource_t resource, struct rlimit *got)
{
	int result = NEXT(getrlimit)(resource, got);

	if (result == 0 && asks(resource))
		shorten(got);
	return result;
}

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *set)
{
	struct rlimit real;

	if (set && asks(resource)) {
		real = *set;
		lengthen(&real);
		set = &real;
	}
	return NEXT(setrlimit)(resource, set);
}

/* The same structs on 64-bit systems. */
_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "a 64-bit system");

EXPORT int prlimit64(pid_t pid, __rlimit_resource_t resource, const struct rlimit64 *set, struct rlimit64 *got)
{
	return prlimit(pid, resource, (const struct rlimit *)set, (struct rlimit *)got);
}

EXPORT int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *got)
{
	return getrlimit(resource, (struct rlimit *)got);
}

EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *set)
{
	return setrlimit(resource, (const struct rlimit *)set);
}

EXPORT long sysconf(int name)
{
	long most = name == _SC_OPEN_MAX && preload_has(PART_NOFILE) && ALONE(sysconf) ? highest() : -1;

	return most >= 0 ? most : NEXT(sysconf)(name);
}

EXPORT int getdtablesize(void)
{
	long most = preload_has(PART_NOFILE) && ALONE(getdtablesize) ? highest() : -1;

	return most >= 0 ? (int)most : NEXT(getdtablesize)();
}
