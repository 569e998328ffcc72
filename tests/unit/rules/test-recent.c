/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/keyed.h"

#include <string.h>

#include "test.h"

struct entry {
	uint64_t hash;
	uint64_t value;
};

static void test_remembers(void **state)
{
	struct rule_recent recent;
	struct entry *entry;
	bool fresh = false;

	(void)state;
	assert_int_equal(rule_recent_init(&recent, sizeof(struct entry), 8), 0);
	assert_null(rule_recent_get(&recent, 5));
	entry = rule_recent_put(&recent, 5, &fresh);
	assert_true(fresh);
	assert_int_equal(entry->value, 0);
	entry->value = 7;
	entry = rule_recent_put(&recent, 5, &fresh);
	assert_false(fresh);
	assert_int_equal(entry->value, 7);
	assert_ptr_equal(rule_recent_get(&recent, 5), entry);
	rule_recent_done(&recent);
}

/* Another one in the same place: the first is forgotten, never mistaken. */
static void test_forgets(void **state)
{
	struct rule_recent recent;
	struct entry *entry;
	bool fresh = false;

	(void)state;
	assert_int_equal(rule_recent_init(&recent, sizeof(struct entry), 8), 0);
	entry = rule_recent_put(&recent, 5, NULL);
	entry->value = 7;
	assert_null(rule_recent_get(&recent, 13));
	entry = rule_recent_put(&recent, 13, &fresh);
	assert_true(fresh);
	assert_int_equal(entry->value, 0);
	assert_null(rule_recent_get(&recent, 5));
	rule_recent_done(&recent);
}

/* 0 is a hash like any other, though an empty place holds it too. */
static void test_zero(void **state)
{
	struct rule_recent recent;
	bool fresh = false;

	(void)state;
	assert_int_equal(rule_recent_init(&recent, sizeof(struct entry), 8), 0);
	assert_null(rule_recent_get(&recent, 0));
	(void)rule_recent_put(&recent, 0, &fresh);
	assert_true(fresh);
	assert_non_null(rule_recent_get(&recent, 0));
	rule_recent_done(&recent);
	rule_recent_done(&recent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remembers),
		cmocka_unit_test(test_forgets),
		cmocka_unit_test(test_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
