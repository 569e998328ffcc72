/* SPDX-License-Identifier: BSD-2-Clause */
/* The map against an array that is searched from end to end. */
#include "base/map.h"

#include <stdbool.h>
#include <string.h>

#include "test.h"

#define PLAIN_MOST 600

struct value {
	uint64_t number;
	char text[5];
};

struct plain {
	struct {
		uint64_t key;
		struct value value;
	} at[PLAIN_MOST];
	size_t used;
};

/* Always the same numbers: a failure must come back. */
static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static struct value *plain_get(struct plain *plain, uint64_t key)
{
	for (size_t i = 0; i < plain->used; i++) {
		if (plain->at[i].key == key)
			return &plain->at[i].value;
	}
	return NULL;
}

static bool plain_remove(struct plain *plain, uint64_t key)
{
	for (size_t i = 0; i < plain->used; i++) {
		if (plain->at[i].key != key)
			continue;
		plain->at[i] = plain->at[--plain->used];
		return true;
	}
	return false;
}

static void compare_all(struct map *map, struct plain *plain)
{
	uint64_t key;
	size_t iter = 0, entries = 0;
	struct value *value;

	while ((value = map_next(map, &iter, &key))) {
		struct value *expected = plain_get(plain, key);

		assert_non_null(expected);
		assert_int_equal(value->number, expected->number);
		assert_string_equal(value->text, expected->text);
		entries++;
	}
	assert_int_equal(entries, plain->used);
	assert_int_equal(map->used, plain->used);
}

/* Keys as they come: small numbers, page-aligned ones, the extremes. */
static uint64_t key_of(uint64_t random)
{
	uint64_t low = random % PLAIN_MOST;

	switch (random >> 32 & 3) {
	case 0:
		return low;
	case 1:
		return low << 12;
	case 2:
		return UINT64_MAX - low;
	default:
		return low << 52;
	}
}

static void one_random_walk(uint64_t seed, unsigned keep_percent)
{
	struct map map;
	struct plain *plain = calloc(1, sizeof *plain);
	uint64_t random = seed;

	assert_non_null(plain);
	map_init(&map, sizeof(struct value), PLAIN_MOST);
	for (unsigned step = 0; step < 20000; step++) {
		uint64_t key = key_of(random_next(&random));
		struct value *expected = plain_get(plain, key);

		if (random_next(&random) % 100 < keep_percent) {
			bool new = false;
			struct value *value = map_put(&map, key, &new);

			if (!expected && plain->used == PLAIN_MOST) {
				assert_null(value);
				continue;
			}
			assert_non_null(value);
			assert_int_equal(new, !expected);
			if (!expected) {
				assert_int_equal(value->number, 0);
				plain->at[plain->used].key = key;
				expected = &plain->at[plain->used++].value;
			}
			value->number = expected->number = step;
			(void)snprintf(value->text, sizeof value->text, "%u", step % 10000);
			memcpy(expected->text, value->text, sizeof value->text);
		} else {
			assert_int_equal(map_remove(&map, key), plain_remove(plain, key));
			assert_null(map_get(&map, key));
		}
		if (step % 500 == 0)
			compare_all(&map, plain);
	}
	compare_all(&map, plain);
	map_done(&map);
	free(plain);
}

static void test_against_brute_force(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		one_random_walk(seed * 77, 50);
		one_random_walk(seed * 77, 90);
		one_random_walk(seed * 77, 20);
	}
}

static void test_empty(void **state)
{
	struct map map;
	size_t iter = 0;

	map_init(&map, 8, 0);
	assert_null(map_get(&map, 0));
	assert_false(map_remove(&map, 0));
	assert_null(map_next(&map, &iter, NULL));
	map_clear(&map);
	map_done(&map);
	map_done(&map);
}

static void test_limit_counts_refusals(void **state)
{
	struct map map;

	map_init(&map, 1, 3);
	for (uint64_t key = 0; key < 3; key++)
		assert_non_null(map_put(&map, key, NULL));
	assert_null(map_put(&map, 3, NULL));
	assert_null(map_put(&map, 4, NULL));
	assert_non_null(map_put(&map, 2, NULL));
	assert_int_equal(map.refused, 2);
	assert_true(map_remove(&map, 0));
	assert_non_null(map_put(&map, 3, NULL));
	map_done(&map);
}

/* Keys that come and go (tids do) must not make the table grow. */
static void test_churn_stays_small(void **state)
{
	struct map map;

	map_init(&map, 8, 0);
	for (uint64_t key = 0; key < 200000; key++) {
		assert_non_null(map_put(&map, key, NULL));
		if (key >= 10)
			assert_true(map_remove(&map, key - 10));
	}
	assert_int_equal(map.used, 10);
	assert_true(map.room <= 64);
	map_done(&map);
}

static void test_remove_while_walking(void **state)
{
	struct map map;
	uint64_t key;
	size_t iter = 0, walked = 0;

	map_init(&map, 8, 0);
	for (uint64_t i = 0; i < 1000; i++)
		assert_non_null(map_put(&map, i * i, NULL));
	while (map_next(&map, &iter, &key)) {
		walked++;
		if (key % 2 == 0)
			assert_true(map_remove(&map, key));
	}
	assert_int_equal(walked, 1000);
	assert_int_equal(map.used, 500);
	assert_null(map_get(&map, 4));
	assert_non_null(map_get(&map, 9));
	map_done(&map);
}

static void test_hash(void **state)
{
	char a[40], b[40];

	for (size_t i = 0; i < sizeof a; i++)
		a[i] = b[i] = (char)i;
	for (size_t bytes = 0; bytes <= sizeof a; bytes++)
		assert_int_equal(map_hash(a, bytes), map_hash(b, bytes));
	for (size_t i = 0; i < sizeof a; i++) {
		b[i] ^= 1;
		assert_int_not_equal(map_hash(a, sizeof a), map_hash(b, sizeof b));
		b[i] ^= 1;
	}
	assert_int_not_equal(map_hash("\0", 1), map_hash("\0", 2));
	assert_int_not_equal(map_mix(1, 2), map_mix(2, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_brute_force),   cmocka_unit_test(test_empty),
		cmocka_unit_test(test_limit_counts_refusals), cmocka_unit_test(test_churn_stays_small),
		cmocka_unit_test(test_remove_while_walking),  cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
