/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from a 64-bit key to a fixed-size value, open addressing,
 * with a limit on its entries.  Values move when the table grows: keep keys,
 * not pointers, across insertions.
 */
#ifndef SYSCULL_BASE_MAP_H
#define SYSCULL_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MAP_SLOT_FREE, MAP_SLOT_USED, MAP_SLOT_DEAD };

struct map {
	char *slots;
	uint8_t *state;
	size_t value_bytes, slot_bytes;
	size_t room, used, dead; /* slots */
	size_t most; /* entries, 0 no limit */
	uint64_t refused; /* insertions refused by the limit */
};

/* Nothing is allocated before the first insertion. */
void map_init(struct map *map, size_t value_bytes, size_t most);
void map_done(struct map *map);
void map_clear(struct map *map);
/* The value of the key, made zeroed when it was not there (*ret_new, may be
 * NULL).  NULL without memory or at the limit (then refused grows). */
void *map_put(struct map *map, uint64_t key, bool *ret_new);
bool map_remove(struct map *map, uint64_t key);
/* Walks all entries in no order: *iter starts at 0; NULL at the end.
 * Removing the entry just returned is allowed. */
void *map_next(const struct map *map, size_t *iter, uint64_t *ret_key);

/* Hash of bytes, and of a pair, good enough for keys. */
uint64_t map_hash(const void *data, size_t bytes);
static inline uint64_t map_mix_one(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	return x;
}

static inline uint64_t map_mix(uint64_t a, uint64_t b)
{
	return map_mix_one(a * UINT64_C(0x9e3779b97f4a7c15) + map_mix_one(b));
}

/* The value of the key, NULL when there is none.  Rules ask for every call: inline. */
static inline void *map_get(const struct map *map, uint64_t key)
{
	size_t i;

	if (map->used == 0)
		return NULL;
	for (i = map_mix_one(key) & (map->room - 1); map->state[i] != MAP_SLOT_FREE; i = (i + 1) & (map->room - 1)) {
		char *slot = map->slots + i * map->slot_bytes;

		if (map->state[i] == MAP_SLOT_USED && memcmp(slot, &key, sizeof key) == 0)
			return slot + sizeof key;
	}
	return NULL;
}

/* The same of several beginnings of one text, the shorter ones first, in one
 * pass; zeroed at first. */
struct map_prefix {
	uint64_t state[2]; /* of every other word: two multiplications at a time */
	size_t words; /* taken */
};
uint64_t map_hash_prefix(struct map_prefix *prefix, const void *data, size_t bytes);

#endif
