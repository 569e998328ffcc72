/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command that ends at once pays for each page of the ring, so that a run
 * begins with a small one; who makes many calls gets the whole one.
 * A thread makes it and puts it in the place where the programs look.  Until
 * no program can be at work with the former one, both are read.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "engine/bpf/bpf.h"

/* Of the small ring: what waits in it, and what was written at all. */
#define WAITS_SHARE 16
#define WRITTEN_SHARE 4

static void *make_whole(void *data)
{
	struct growth *growth = data;
	uint32_t key = 0;
	int r;

	growth->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, growth->bytes, NULL);
	r = growth->fd < 0 ? growth->fd : ring_open(&growth->ring, growth->fd, growth->bytes);
	if (r == 0) {
		__atomic_store_n(&growth->state, GROWTH_BOTH, __ATOMIC_RELEASE);
		/* Returns when all programs that may know the former one have ended. */
		r = bpf_map_update_elem(growth->rings_fd, &key, &growth->fd, BPF_ANY);
	}
	__atomic_store_n(&growth->state, r == 0 ? GROWTH_DONE : GROWTH_FAILED, __ATOMIC_RELEASE);
	return NULL;
}

static void begin(struct growth *growth)
{
	sigset_t all, before;

	/* Signals are for the thread that reads. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	growth->state = GROWTH_MAKING;
	growth->running = pthread_create(&growth->thread, NULL, make_whole, growth) == 0;
	/* The small one is enough for slow ones, and who loses calls is told so. */
	if (!growth->running)
		growth->state = GROWTH_FAILED;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void grow_look(struct loaded *loaded)
{
	struct growth *growth = &loaded->growth;

	if (growth->state != GROWTH_SMALL)
		return;
	if (growth->bytes <= loaded->ring.bytes)
		growth->state = GROWTH_NONE;
	else if (ring_used(&loaded->ring) > loaded->ring.bytes / WAITS_SHARE ||
		 loaded->ring.taken > loaded->ring.bytes / WRITTEN_SHARE)
		begin(growth);
}

static int state_of(const struct growth *growth)
{
	return __atomic_load_n(&growth->state, __ATOMIC_ACQUIRE);
}

bool grow_is_busy(const struct loaded *loaded)
{
	int state = state_of(&loaded->growth);

	return state == GROWTH_MAKING || state == GROWTH_BOTH;
}

static void join(struct growth *growth)
{
	if (growth->running)
		(void)pthread_join(growth->thread, NULL);
	growth->running = false;
}

/* Nothing of the former ring is held or awaited any more. */
static void change_over(struct loaded *loaded)
{
	struct growth *growth = &loaded->growth;

	join(growth);
	ring_close(&loaded->ring);
	loaded->ring = growth->ring;
	growth->ring = (struct ring){ .fd = -1 };
	growth->state = GROWTH_NONE;
}

/* A record of the new ring may only be taken when all that its task, and who
 * made that, has written into the former one has been: what is in the new one
 * is looked at first, then the former one is emptied. */
static const void *next_of_both(struct loaded *loaded, bool *ret_dry)
{
	struct growth *growth = &loaded->growth;
	bool any = ring_look(&growth->ring);
	const void *raw = ring_next(&loaded->ring, ret_dry);

	if (raw)
		return raw;
	*ret_dry = true;
	return any ? ring_next(&growth->ring, ret_dry) : NULL;
}

const void *grow_next(struct loaded *loaded, bool *ret_dry)
{
	int state = loaded->growth.state == GROWTH_NONE ? GROWTH_NONE : state_of(&loaded->growth);
	const void *raw;

	if (state != GROWTH_BOTH && state != GROWTH_DONE)
		return ring_next(&loaded->ring, ret_dry);
	raw = next_of_both(loaded, ret_dry);
	if (raw || state != GROWTH_DONE || ring_waits(&loaded->ring))
		return raw;
	change_over(loaded);
	return ring_next(&loaded->ring, ret_dry);
}

bool grow_waits(const struct loaded *loaded)
{
	int state = state_of(&loaded->growth);

	return ring_waits(&loaded->ring) ||
	       ((state == GROWTH_BOTH || state == GROWTH_DONE) && ring_waits(&loaded->growth.ring));
}

void grow_settle(struct loaded *loaded)
{
	join(&loaded->growth);
}

void grow_done(struct loaded *loaded)
{
	struct growth *growth = &loaded->growth;

	join(growth);
	ring_close(&growth->ring);
	if (growth->fd >= 0)
		(void)close(growth->fd);
	growth->fd = -1;
}
