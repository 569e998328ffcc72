/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds up what the CPUs have counted.  A call is seen when its enter is, or,
 * when it had none, its exit; it is in flight until its end was counted.
 * What went wrong on the way must not look as if it had closed.
 */
#include <bpf/bpf.h>

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
		ret->lost_state += book->lost_state;
		ret->stacks += book->stacks;
		ret->stacks_left_out += book->stacks_left_out;
		ret->stacks_unread += book->stacks_unread;
		ret->callers_unknown += book->codes_full;
		if (book->lost_first_ns && (ret->lost_from_ns == 0 || book->lost_first_ns < ret->lost_from_ns))
			ret->lost_from_ns = book->lost_first_ns;
		if (book->lost_last_ns > ret->lost_to_ns)
			ret->lost_to_ns = book->lost_last_ns;
		made += book->made;
		returned += book->returned;
		strays += book->strays;
		/* The table of those who will come was full: not followed, and not by intent. */
		failed += book->storage_failed + book->awaited_failed;
		for (unsigned place = 0; place < KERN_PLACES; place++)
			for (unsigned outcome = 0; outcome < KERN_OUTCOMES; outcome++)
				ended += book->ended[place][outcome];
	}
	ret->lost_from_ns -= ret->lost_from_ns > e->begin_ns ? e->begin_ns : ret->lost_from_ns;
	ret->lost_to_ns -= ret->lost_to_ns > e->begin_ns ? e->begin_ns : ret->lost_to_ns;
	ret->in_flight = ret->seen > ended + strays ? ret->seen - ended - strays : 0;
	if (made > returned)
		ret->children += made - returned;
	/* What a program could not look at, because one of ours was at work there. */
	if (e->finished)
		ret->seen += load_misses(&e->loaded);
	/* Who could not be followed is missing on one side. */
	ret->followed = ret->followed > failed ? ret->followed - failed : 0;
	ret->wall_ns = e->end_ns > e->begin_ns ? e->end_ns - e->begin_ns : 0;
}

static uint32_t place_of(const struct kern_lost_key *key)
{
	uint32_t number = (uint32_t)key->nr, table = KERN_TABLE_COMPAT;

	if (key->arch == SYS_ARCH_NATIVE)
		table = KERN_TABLE_NATIVE;
	if (key->arch == SYS_ARCH_X32) {
		table = KERN_TABLE_X32;
		number &= ~0x40000000u;
	}
	return number < KERN_NRS ? table * KERN_NRS + number : KERN_PLACES - 1;
}

/* The number behind a place, for what only the sums know. */
static struct engine_loss loss_of(uint32_t place, unsigned outcome, uint64_t count)
{
	static const uint16_t arches[] = { SYS_ARCH_NATIVE,
					   SYS_ARCH_NATIVE == SYS_ARCH_X86_64 ? SYS_ARCH_I386 : SYS_ARCH_ARM,
					   SYS_ARCH_X32 };
	struct engine_loss loss = { .nr = -1, .arch = SYS_ARCH_NATIVE, .count = count };

	loss.failed = outcome == KERN_FAILED;
	if (place < KERN_PLACES - 1) {
		loss.arch = arches[place / KERN_NRS];
		loss.nr = (int32_t)(place % KERN_NRS);
		if (loss.arch == SYS_ARCH_X32)
			loss.nr |= 0x40000000;
	}
	return loss;
}

static struct engine_loss loss_of_key(const struct kern_lost_key *key, const struct kern_lost *value)
{
	struct event_call call = { .nr = key->nr, .arch = key->arch };
	struct engine_loss loss = { .nr = key->nr, .arch = key->arch, .count = value->count, .ns = value->ns };

	/* Interruptions and rt_sigreturn's register are no failures. */
	if (key->err != UINT16_MAX) {
		call.ret = -(int64_t)key->err;
		loss.err = event_call_errno(&call);
		loss.failed = loss.err != 0;
	}
	return loss;
}

size_t books_losses(const struct engine_bpf *e, struct engine_loss *ret, size_t most)
{
	uint64_t sums[KERN_PLACES][KERN_OUTCOMES] = { 0 };
	int fd = load_lost_fd(&e->loaded);
	struct kern_lost_key key, next;
	const void *from = NULL;
	size_t used = 0;

	for (uint32_t cpu = 0; cpu < e->loaded.cpus; cpu++)
		for (unsigned place = 0; place < KERN_PLACES; place++)
			for (unsigned outcome = 0; outcome < KERN_OUTCOMES; outcome++)
				sums[place][outcome] += e->loaded.books[cpu].lost[place][outcome];
	while (used < most && bpf_map_get_next_key(fd, from, &next) == 0) {
		struct kern_lost value;
		unsigned outcome = next.err == UINT16_MAX ? KERN_UNRETURNED : next.err ? KERN_FAILED : KERN_OK;
		uint64_t *sum = &sums[place_of(&next)][outcome];

		key = next;
		from = &key;
		if (bpf_map_lookup_elem(fd, &key, &value) != 0)
			continue;
		ret[used++] = loss_of_key(&key, &value);
		*sum -= value.count < *sum ? value.count : *sum;
	}
	for (unsigned place = 0; place < KERN_PLACES; place++)
		for (unsigned outcome = 0; outcome < KERN_OUTCOMES && used < most; outcome++)
			if (sums[place][outcome])
				ret[used++] = loss_of(place, outcome, sums[place][outcome]);
	return used;
}
