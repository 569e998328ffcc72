/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader's side of the kernel's ring buffer.  Records are handed out
 * where they lie; their room is given back in large steps, since the kernel
 * looks at that counter for each record that it writes.  To map a page takes
 * as long as to make it: those that nothing has been read of yet are not.
 */
#include "engine/bpf/bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP_SHARE 16 /* of the ring, given back at once */
#define RECORD_MAX 65536
#define FIRST_MAPPED (4 * RECORD_MAX)

/* `bytes` from the producer's page on, as far as they are not mapped yet. */
static int map_more(struct ring *ring, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = (char *)ring->pages + ring->mapped;

	if (mmap(at, bytes - ring->mapped, PROT_READ, MAP_SHARED | MAP_FIXED, ring->fd, (off_t)(page + ring->mapped)) ==
	    MAP_FAILED)
		return -errno;
	/* A child that is made has no use for them, and copying their table takes long. */
	(void)madvise(at, bytes - ring->mapped, MADV_DONTFORK);
	ring->mapped = bytes;
	return 0;
}

/* What begins at `place` of the data can be read: false when it never will be. */
static bool can_read(struct ring *ring, size_t place)
{
	size_t begin = (size_t)(ring->data - (const char *)ring->pages), wanted = ring->mapped;
	size_t all = begin + 2 * ring->bytes, end = begin + place + RECORD_MAX;

	if (end <= ring->mapped || ring->mapped == all)
		return true;
	while (wanted < end)
		wanted *= 2;
	/* What stays unread is missing in the books. */
	return map_more(ring, wanted < all ? wanted : all) == 0;
}

int ring_open(struct ring *ring, int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer, *pages;
	int r;

	*ring = (struct ring){ .fd = fd, .bytes = bytes };
	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	ring->consumer = consumer;
	/* A place for all of them. */
	pages = mmap(NULL, page + 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pages == MAP_FAILED) {
		r = -errno;
		ring_close(ring);
		return r;
	}
	ring->pages = pages;
	ring->data = (const char *)pages + page;
	r = map_more(ring, page + (2 * bytes < FIRST_MAPPED ? 2 * bytes : FIRST_MAPPED));
	if (r < 0) {
		ring_close(ring);
		return r;
	}
	ring->producer = ring->pages;
	return 0;
}

void ring_close(struct ring *ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (ring->pages)
		(void)munmap(ring->pages, page + 2 * ring->bytes);
	if (ring->consumer)
		(void)munmap(ring->consumer, page);
	*ring = (struct ring){ .fd = -1 };
}

static void give_back(struct ring *ring)
{
	ring->given_back = ring->taken;
	__atomic_store_n(ring->consumer, ring->taken, __ATOMIC_RELEASE);
}

bool ring_waits(const struct ring *ring)
{
	return ring->producer && __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) != ring->taken;
}

uint64_t ring_used(const struct ring *ring)
{
	return ring->producer ? __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) - ring->taken : 0;
}

bool ring_look(struct ring *ring)
{
	if (ring->taken == ring->seen)
		ring->seen = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	return ring->taken != ring->seen;
}

const void *ring_next(struct ring *ring, bool *ret_dry)
{
	*ret_dry = false;
	for (;;) {
		const uint32_t *head;
		uint32_t length;

		if (ring->taken - ring->given_back >= ring->bytes / STEP_SHARE)
			give_back(ring);
		if (ring->taken == ring->seen) {
			*ret_dry = true;
			ring->seen = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
			if (ring->taken == ring->seen) {
				if (ring->taken != ring->given_back)
					give_back(ring);
				return NULL;
			}
		}
		if (!can_read(ring, ring->taken & (ring->bytes - 1)))
			return NULL;
		head = (const void *)(ring->data + (ring->taken & (ring->bytes - 1)));
		length = __atomic_load_n(head, __ATOMIC_ACQUIRE);
		if (length & BPF_RINGBUF_BUSY_BIT) {
			/* Somebody is still writing it. */
			*ret_dry = true;
			if (ring->taken != ring->given_back)
				give_back(ring);
			return NULL;
		}
		ring->taken += ((length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT)) + BPF_RINGBUF_HDR_SZ + 7) &
			       ~UINT64_C(7);
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			return (const char *)head + BPF_RINGBUF_HDR_SZ;
	}
}
