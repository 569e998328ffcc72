/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds up what the CPUs have counted.  A call is seen when its enter is, or,
 * when it had none, its exit; it is in flight until its end was counted.
 * What went wrong on the way must not look as if it had closed.
 */
#include "engine/bpf/bpf.h"

uint64_t books_lost(const struct loaded *loaded)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < loaded->cpus; cpu++)
		sum += __atomic_load_n(&loaded->books[cpu].lost_calls, __ATOMIC_RELAXED);
	return sum;
}

void books_stats(const struct engine_bpf *e, struct engine_stats *ret)
{
	uint64_t ended = 0, strays = 0, failed = 0, made = 0, returned = 0;

	*ret = e->stats;
	for (uint32_t cpu = 0; cpu < e->loaded.cpus; cpu++) {
		const struct kern_books *book = &e->loaded.books[cpu];

		ret->seen += book->entered + book->no_enter;
		ret->lost += book->lost_calls;
		ret->children += book->children;
		ret->followed += book->followed;
		ret->not_followed += book->not_followed;
		ret->state_errors += book->lost_state;
		made += book->made;
		returned += book->returned;
		strays += book->strays;
		/* The table of those who will come was full: not followed, and not by intent. */
		failed += book->storage_failed + book->awaited_failed;
		for (unsigned place = 0; place < KERN_PLACES; place++)
			for (unsigned outcome = 0; outcome < KERN_OUTCOMES; outcome++)
				ended += book->ended[place][outcome];
	}
	ret->in_flight = ret->seen > ended + strays ? ret->seen - ended - strays : 0;
	if (made > returned)
		ret->children += made - returned;
	/* Who could not be followed is missing on one side. */
	ret->followed = ret->followed > failed ? ret->followed - failed : 0;
	ret->wall_ns = e->end_ns > e->begin_ns ? e->end_ns - e->begin_ns : 0;
}
