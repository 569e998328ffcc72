/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* One multiplication a word: paths are hashed for every call. */
static uint64_t fold(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#define FOLD_KEY UINT64_C(0xa0761d6478bd642f)
#define FOLD_START UINT64_C(0x9e3779b97f4a7c15)

/* The last bytes, in loads of known sizes: with those before them, where there are some. */
static uint64_t last_word(const unsigned char *p, size_t bytes)
{
	uint64_t word;
	uint32_t low, high;

	if (bytes >= 8) {
		memcpy(&word, p + bytes - 8, 8);
		return word;
	}
	if (bytes >= 4) {
		memcpy(&low, p, 4);
		memcpy(&high, p + bytes - 4, 4);
		return (uint64_t)high << 32 | low;
	}
	return (uint64_t)p[0] << 16 | (uint64_t)p[bytes / 2] << 8 | p[bytes - 1];
}

uint64_t map_hash_prefix(struct map_prefix *prefix, const void *data, size_t bytes)
{
	const unsigned char *p = data;
	uint64_t even = prefix->state[0], odd = prefix->state[1], word, other;
	size_t words = bytes / 8, at = prefix->words;

	if (at < words && at % 2) {
		memcpy(&word, p + 8 * at++, 8);
		odd = fold(odd ^ word ^ FOLD_START, FOLD_KEY);
	}
	for (; at + 2 <= words; at += 2) {
		memcpy(&word, p + 8 * at, 8);
		memcpy(&other, p + 8 * at + 8, 8);
		even = fold(even ^ word ^ FOLD_START, FOLD_KEY);
		odd = fold(odd ^ other ^ FOLD_START, FOLD_KEY);
	}
	if (at < words) {
		memcpy(&word, p + 8 * at++, 8);
		even = fold(even ^ word ^ FOLD_START, FOLD_KEY);
	}
	prefix->state[0] = even;
	prefix->state[1] = odd;
	prefix->words = words;
	word = bytes % 8 > 0 ? last_word(p, bytes) : 0;
	return map_mix_one(fold(even ^ word ^ FOLD_START, odd ^ FOLD_KEY) ^ bytes);
}

uint64_t map_hash(const void *data, size_t bytes)
{
	return map_hash_prefix(&(struct map_prefix){ 0 }, data, bytes);
}

void map_init(struct map *map, size_t value_bytes, size_t most)
{
	*map = (struct map){
		.value_bytes = value_bytes,
		.slot_bytes = 8 + (value_bytes + 7) / 8 * 8,
		.most = most,
	};
}

void map_done(struct map *map)
{
	free(map->slots);
	free(map->state);
	map->slots = NULL;
	map->state = NULL;
	map->room = map->used = map->dead = 0;
}

void map_clear(struct map *map)
{
	map_done(map);
}

static char *slot_at(const struct map *map, size_t i)
{
	return map->slots + i * map->slot_bytes;
}

static uint64_t slot_key(const struct map *map, size_t i)
{
	uint64_t key;

	memcpy(&key, slot_at(map, i), 8);
	return key;
}

static size_t map_find(const struct map *map, uint64_t key, bool *ret_found)
{
	size_t i = map_mix_one(key) & (map->room - 1);
	size_t dead = SIZE_MAX;

	for (;; i = (i + 1) & (map->room - 1)) {
		if (map->state[i] == MAP_SLOT_FREE) {
			*ret_found = false;
			return dead != SIZE_MAX ? dead : i;
		}
		if (map->state[i] == MAP_SLOT_DEAD) {
			if (dead == SIZE_MAX)
				dead = i;
		} else if (slot_key(map, i) == key) {
			*ret_found = true;
			return i;
		}
	}
}

static bool map_resize(struct map *map, size_t room)
{
	struct map bigger = *map;

	bigger.slots = malloc(room * map->slot_bytes);
	bigger.state = calloc(room, 1);
	if (!bigger.slots || !bigger.state) {
		free(bigger.slots);
		free(bigger.state);
		return false;
	}
	bigger.room = room;
	bigger.dead = 0;
	for (size_t i = 0; i < map->room; i++) {
		bool found;
		size_t to;

		if (map->state[i] != MAP_SLOT_USED)
			continue;
		to = map_find(&bigger, slot_key(map, i), &found);
		memcpy(slot_at(&bigger, to), slot_at(map, i), map->slot_bytes);
		bigger.state[to] = MAP_SLOT_USED;
	}
	free(map->slots);
	free(map->state);
	*map = bigger;
	return true;
}

void *map_put(struct map *map, uint64_t key, bool *ret_new)
{
	bool found = false;
	size_t i = 0;

	if (map->room > 0)
		i = map_find(map, key, &found);
	if (ret_new)
		*ret_new = !found;
	if (found)
		return slot_at(map, i) + 8;
	if (map->most > 0 && map->used >= map->most) {
		map->refused++;
		return NULL;
	}
	if ((map->used + map->dead + 1) * 4 >= map->room * 3) {
		/* Mostly dead slots want a clean-up, not a bigger table. */
		size_t room = map->used * 2 >= map->room ? map->room * 2 : map->room;

		if (!map_resize(map, room ? room : 16))
			return NULL;
		i = map_find(map, key, &found);
	}
	if (map->state[i] == MAP_SLOT_DEAD)
		map->dead--;
	map->state[i] = MAP_SLOT_USED;
	map->used++;
	memcpy(slot_at(map, i), &key, 8);
	return memset(slot_at(map, i) + 8, 0, map->slot_bytes - 8);
}

bool map_remove(struct map *map, uint64_t key)
{
	bool found;
	size_t i;

	if (map->used == 0)
		return false;
	i = map_find(map, key, &found);
	if (!found)
		return false;
	map->state[i] = MAP_SLOT_DEAD;
	map->used--;
	map->dead++;
	return true;
}

void *map_next(const struct map *map, size_t *iter, uint64_t *ret_key)
{
	for (size_t i = *iter; i < map->room; i++) {
		if (map->state[i] != MAP_SLOT_USED)
			continue;
		*iter = i + 1;
		if (ret_key)
			*ret_key = slot_key(map, i);
		return slot_at(map, i) + 8;
	}
	*iter = map->room;
	return NULL;
}
