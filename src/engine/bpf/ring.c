/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader's side of the kernel's ring buffer.  Records are handed out
 * where they lie; their room is given back in large steps, since the kernel
 * looks at that counter for each record that it writes.
 */
#include "engine/bpf/bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP_SHARE 16 /* of the ring, given back at once */

int ring_open(struct ring *ring, int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer;

	*ring = (struct ring){ .fd = fd, .bytes = bytes };
	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	ring->consumer = consumer;
	ring->pages = mmap(NULL, page + 2 * bytes, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (ring->pages == MAP_FAILED) {
		int r = -errno;

		ring->pages = NULL;
		ring_close(ring);
		return r;
	}
	/* A child that is made has no use for them, and copying their table takes long. */
	(void)madvise(ring->pages, page + 2 * bytes, MADV_DONTFORK);
	ring->producer = ring->pages;
	ring->data = (const char *)ring->pages + page;
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
