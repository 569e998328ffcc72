/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libsyscull-preload.so: what its files share.  Every function that is put in
 * front of libc's keeps libc's contract to the errno, and hands on whatever it
 * is not sure of.  Never prints, never exits, starts no thread, takes no lock,
 * allocates nothing where the function in front of which it stands does not.
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

/* Are all of these on?  The constructor reads the environment, or the first question. */
bool preload_has(unsigned parts);

/*
 * The functions that we stand in front of.  All are looked up by the
 * constructor, since dlsym is not for signal handlers and vfork's children;
 * who calls before it looks up his own.
 */
struct preload_slot {
	const char *name;
	void *next;
	bool foreign; /* another library stands behind us: what it says goes before what we know */
};
#define SLOT(function) \
	static struct preload_slot slot_##function = { .name = #function }; \
	static struct preload_slot *const listed_##function __attribute__((section("preload_slots"), used)) = \
		&slot_##function

void *preload_resolve(struct preload_slot *slot);

static inline void *preload_next(struct preload_slot *slot)
{
	void *next = __atomic_load_n(&slot->next, __ATOMIC_ACQUIRE);

	return next ? next : preload_resolve(slot);
}

#define NEXT(function) ((__typeof__(&(function)))preload_next(&slot_##function))
/* Does libc itself come next? */
#define ALONE(function) (preload_next(&slot_##function) && !slot_##function.foreign)

/* procfs-stdio.c: the buffer of a stream that ends, to be freed after it; NULL none. */
char *preload_stream_buffer(FILE *file);

/* unsupported.c: other file systems may be there now. */
void preload_unsupported_forget(void);

/*
 * changes.c: grows with everything that this process does through libc that
 * can make a path, or a descriptor's number, mean another file, or the same
 * file answer otherwise.  What was learnt of a path is believed as long as the
 * number stays, and not long.  Nothing is counted before somebody watches.
 */
extern unsigned preload_changes, preload_watched;
/* The same for the working directory alone. */
extern unsigned preload_moves;
/* The descriptor whose directory is the working one, as this thread made it, if
 * neither number has changed since. */
struct preload_place {
	bool known;
	int fd;
	unsigned changes, moves;
};
extern __thread struct preload_place preload_place __attribute__((tls_model("initial-exec")));
/* This thread's memory is a vfork child's too: nothing is believed until it has waited for it. */
extern __thread bool preload_apart __attribute__((tls_model("initial-exec")));
/* Directories change between calls that we see: nothing is believed any more. */
extern bool preload_unsure;

static inline unsigned preload_changes_now(void)
{
	return __atomic_load_n(&preload_changes, __ATOMIC_ACQUIRE);
}

static inline unsigned preload_moves_now(void)
{
	return __atomic_load_n(&preload_moves, __ATOMIC_ACQUIRE);
}

static inline void preload_changed(void)
{
	if (__atomic_load_n(&preload_watched, __ATOMIC_RELAXED))
		__atomic_add_fetch(&preload_changes, 1, __ATOMIC_ACQ_REL);
}

static inline void preload_watch(void)
{
	if (!__atomic_load_n(&preload_watched, __ATOMIC_RELAXED))
		__atomic_store_n(&preload_watched, 1, __ATOMIC_SEQ_CST);
}

static inline bool preload_believes(unsigned changes)
{
	return changes == preload_changes_now() && !preload_apart &&
	       !__atomic_load_n(&preload_unsure, __ATOMIC_RELAXED);
}

#endif
