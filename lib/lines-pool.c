/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers that outlive readers.  A slot is taken by exchanging its pointer with
 * NULL and given back by exchanging NULL with a pointer, so that threads need
 * no lock and a slot cannot be mistaken for an earlier one.
 */
#include "lines-internal.h"

#include <stdlib.h>

#define POOL_KEEP 8U
#define POOL_KEEP_MOST 1024U
#define POOL_LARGEST ((size_t)1 << 30)

/* Size in the first version. */
#define POOL_OPTIONS_LEAST sizeof(struct syscull_pool_options)

struct syscull_pool {
	size_t buffer_bytes;
	uint32_t keep;
	uint32_t most;
	uint32_t out;
	void *slots[];
};

size_t syscull__lines_standard(void)
{
	size_t two_pages = 2 * syscull__lines_page();

	return two_pages > 32768 ? two_pages : 32768;
}

struct syscull_pool *syscull_pool_new(const struct syscull_pool_options *options)
{
	struct syscull_pool_options taken = { sizeof taken, 0, 0, 0 };
	struct syscull_pool *pool;
	int result = 0;

	if (options != NULL)
		result = syscull_options_take(&taken, sizeof taken, options, options->size, POOL_OPTIONS_LEAST);
	if (result == 0 &&
	    (taken.buffer_bytes == 1 || taken.buffer_bytes > POOL_LARGEST || taken.keep > POOL_KEEP_MOST))
		result = -EINVAL;
	if (result < 0) {
		errno = -result;
		return NULL;
	}
	if (taken.keep == 0)
		taken.keep = POOL_KEEP;
	pool = calloc(1, sizeof *pool + taken.keep * sizeof pool->slots[0]);
	if (pool == NULL)
		return NULL;
	pool->buffer_bytes = taken.buffer_bytes != 0 ? taken.buffer_bytes : syscull__lines_standard();
	pool->keep = taken.keep;
	pool->most = taken.most;
	return pool;
}

void syscull_pool_trim(struct syscull_pool *pool)
{
	int saved = errno;

	for (uint32_t i = 0; i < pool->keep; i++)
		free(__atomic_exchange_n(&pool->slots[i], NULL, __ATOMIC_ACQ_REL));
	errno = saved;
}

void syscull_pool_free(struct syscull_pool *pool)
{
	int saved = errno;

	if (pool == NULL)
		return;
	syscull_pool_trim(pool);
	free(pool);
	errno = saved;
}

/* Where a thread looks first: threads that come by turns find different slots. */
static uint32_t pool_first(const struct syscull_pool *pool, const void *hint)
{
	return (uint32_t)(((uintptr_t)hint >> 6) % pool->keep);
}

void *syscull__lines_pool_take(struct syscull_pool *pool, size_t *ret_bytes, int *ret_error)
{
	uint32_t first = pool_first(pool, ret_bytes);
	int saved = errno;
	void *buffer = NULL;

	if (__atomic_add_fetch(&pool->out, 1, __ATOMIC_ACQ_REL) > pool->most && pool->most != 0) {
		(void)__atomic_sub_fetch(&pool->out, 1, __ATOMIC_ACQ_REL);
		*ret_error = -ENOBUFS;
		return NULL;
	}
	for (uint32_t i = 0; i < pool->keep && buffer == NULL; i++) {
		void **slot = &pool->slots[(first + i) % pool->keep];

		if (__atomic_load_n(slot, __ATOMIC_RELAXED) != NULL)
			buffer = __atomic_exchange_n(slot, NULL, __ATOMIC_ACQ_REL);
	}
	if (buffer == NULL)
		buffer = malloc(pool->buffer_bytes);
	errno = saved;
	if (buffer == NULL) {
		(void)__atomic_sub_fetch(&pool->out, 1, __ATOMIC_ACQ_REL);
		*ret_error = -ENOMEM;
		return NULL;
	}
	*ret_bytes = pool->buffer_bytes;
	return buffer;
}

void syscull__lines_pool_give(struct syscull_pool *pool, void *buffer)
{
	uint32_t first = pool_first(pool, &buffer);
	int saved = errno;

	for (uint32_t i = 0; i < pool->keep; i++) {
		void *empty = NULL;

		if (__atomic_compare_exchange_n(&pool->slots[(first + i) % pool->keep], &empty, buffer, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			errno = saved;
			return;
		}
	}
	free(buffer);
	errno = saved;
}

void syscull__lines_pool_leave(struct syscull_pool *pool)
{
	(void)__atomic_sub_fetch(&pool->out, 1, __ATOMIC_ACQ_REL);
}
