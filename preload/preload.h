/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libsyscull-preload.so: what its files share.  Every function that is put in
 * front of libc's keeps libc's contract to the errno, and hands on whatever it
 * is not sure of.  Never prints, never exits, starts no thread.
 */
#ifndef SYSCULL_PRELOAD_H
#define SYSCULL_PRELOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

/* Which parts are on: SYSCULL_PRELOAD names them, see init.c. */
enum preload_part {
	PART_XATTR = 1,
	PART_CLOSEFROM = 2,
	PART_NOFILE = 4,
	PART_PROCFS = 8,
	PART_UNSUPPORTED = 16,
};

/* Are all of these on?  The first question reads the environment. */
bool preload_has(unsigned parts);

/* The function that we stand in front of.  dlsym may allocate, so the
 * constructor asks for those that have to be safe in signal handlers. */
void *preload_next(const char *name);
#define NEXT(slot, name) \
	((__typeof__(&name))(__atomic_load_n(&(slot), __ATOMIC_RELAXED) ? __atomic_load_n(&(slot), __ATOMIC_RELAXED) \
									: preload_next_keep(&(slot), #name)))
void *preload_next_keep(void **slot, const char *name);
/* Is the next one libc's own?  Another interposer's word goes before ours. */
bool preload_next_is_libc(const char *name);

/* procfs-stdio.c: the buffer of a stream that ends, to be freed after it; NULL none. */
char *preload_stream_buffer(FILE *file);

/*
 * changes.c: grows with everything that this process does through libc that
 * can make a path, or a descriptor's number, mean another file.  What was
 * learnt of a path is believed as long as the number stays.  Nothing is
 * counted before somebody watches.
 */
extern unsigned preload_changes, preload_watched;

static inline unsigned preload_changes_now(void)
{
	return __atomic_load_n(&preload_changes, __ATOMIC_ACQUIRE);
}

static inline void preload_changed(void)
{
	if (__atomic_load_n(&preload_watched, __ATOMIC_RELAXED))
		__atomic_add_fetch(&preload_changes, 1, __ATOMIC_ACQ_REL);
}

static inline void preload_watch(void)
{
	__atomic_store_n(&preload_watched, 1, __ATOMIC_RELAXED);
}

#endif
