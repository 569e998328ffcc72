/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys in a bounded table, tallies, bursts. */
#include <string.h>

#include "rules/keyed.h"

#include "test.h"

#define SECOND UINT64_C(1000000000)

static char program[] = "/usr/bin/some";
static struct model_exe exe = { .path = program };
static const struct rule rule = { .id = "some" };
static unsigned folded, freed, told;
static uint64_t told_hashes[16];

static void fold(struct rule_run *run, struct rule_key *key)
{
	folded++;
}

static void free_key(struct rule_run *run, struct rule_key *key)
{
	freed++;
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	assert_true(told < 16);
	told_hashes[told++] = key->hash;
}

static void count(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	folded++;
}

static struct rule_key *get(struct rule_run *run, struct rule_keys *keys, uint64_t process_id, uint64_t hash,
			    uint64_t now_ns, bool *ret_new)
{
	struct model_process process = { .id = process_id, .pid = 100 + (uint32_t)process_id, .exe = &exe };
	struct event_call call = { .head.time_ns = now_ns };
	struct model_view view = { .call = &call, .process = &process };

	return rule_keys_get(run, keys, &view, hash, ret_new);
}

static void start(struct rule_run *run, struct rule_keys *keys, uint32_t most, uint64_t idle_ns, uint64_t candidate)
{
	*run = (struct rule_run){ .rule = &rule };
	*keys = (struct rule_keys){ .idle_ns = idle_ns, .candidate = candidate, .fold = fold, .free = free_key };
	rule_keys_init(keys, sizeof(struct rule_key), most);
	folded = freed = told = 0;
}

static void test_least_valuable_goes(void **state)
{
	struct rule_keys keys;
	struct rule_run run;
	bool fresh;

	start(&run, &keys, 3, 0, 100);
	for (uint64_t i = 1; i <= 3; i++) {
		struct rule_key *key = get(&run, &keys, 1, i, i, &fresh);

		assert_true(fresh);
		rule_keys_value(&keys, key, i == 2 ? 1 : 60);
	}
	(void)get(&run, &keys, 1, 4, 4, NULL);
	assert_int_equal(run.evicted, 1);
	assert_null(rule_keys_find(&keys, 2));
	/* The new one has no value yet; then the older one of two about equal ones. */
	(void)get(&run, &keys, 1, 5, 5, NULL);
	assert_null(rule_keys_find(&keys, 4));
	rule_keys_value(&keys, rule_keys_find(&keys, 5), 61);
	(void)get(&run, &keys, 1, 1, 6, NULL);
	(void)get(&run, &keys, 1, 6, 7, NULL);
	assert_null(rule_keys_find(&keys, 3));
	assert_non_null(rule_keys_find(&keys, 1));
	assert_int_equal(run.evicted, 3);
	assert_int_equal(freed, 3);
	assert_int_equal(folded, 0);
	rule_keys_done(&run, &keys);
	assert_int_equal(freed, 6);
}

static void test_candidates_by_value(void **state)
{
	static const uint64_t values[] = { 300, 200, 400 };
	struct rule_keys keys;
	struct rule_run run;

	start(&run, &keys, 3, SECOND, 100);
	for (uint64_t i = 0; i < 3; i++)
		rule_keys_value(&keys, get(&run, &keys, 1, i, i, NULL), values[i]);
	/* Idle for long, but candidates. */
	(void)get(&run, &keys, 1, 9, 5 * SECOND, NULL);
	assert_null(rule_keys_find(&keys, 1));
	assert_int_equal(run.evicted, 1);
	rule_keys_tell(&run, &keys, NULL, tell);
	assert_int_equal(told, 2);
	assert_int_equal(told_hashes[0], 0);
	assert_int_equal(told_hashes[1], 2);
	rule_keys_done(&run, &keys);
}

static void test_idle_is_folded(void **state)
{
	struct rule_keys keys;
	struct rule_run run;

	start(&run, &keys, 100, SECOND, 100);
	(void)get(&run, &keys, 1, 1, 0, NULL);
	rule_keys_value(&keys, get(&run, &keys, 1, 2, 0, NULL), 7);
	rule_keys_value(&keys, get(&run, &keys, 1, 3, 0, NULL), 100);
	(void)get(&run, &keys, 1, 4, SECOND, NULL);
	assert_int_equal(folded, 0);
	(void)get(&run, &keys, 1, 4, SECOND + 1, NULL);
	assert_int_equal(folded, 2);
	assert_int_equal(keys.folded, 2);
	assert_int_equal(run.evicted, 0);
	assert_non_null(rule_keys_find(&keys, 3));
	assert_non_null(rule_keys_find(&keys, 4));
	rule_keys_done(&run, &keys);
}

static void test_end_of_a_run(void **state)
{
	struct model_process process = { .id = 1 };
	struct rule_key *key = NULL;
	struct rule_keys keys;
	struct rule_run run;
	unsigned left = 0;

	start(&run, &keys, 100, 0, 100);
	for (uint64_t i = 0; i < 20; i++)
		rule_keys_value(&keys, get(&run, &keys, i % 2, i, 0, NULL), i * 10);
	rule_keys_image_end(&run, &keys, &process);
	/* 1, 3, 5, 7, 9 go; 11 and more are candidates; the other run's stay. */
	assert_int_equal(folded, 5);
	while ((key = rule_keys_next_of(&keys, 1, key)))
		left += key->value >= 100;
	assert_int_equal(left, 5);
	for (left = 0; (key = rule_keys_next_of(&keys, 0, key));)
		left++;
	assert_int_equal(left, 10);
	process.id = 0;
	rule_keys_image_end(&run, &keys, &process);
	assert_int_equal(keys.by_hash.used, 10);
	rule_keys_done(&run, &keys);
}

/* Two million, of which 200 are candidates. */
static void test_many_keys_stay_bounded(void **state)
{
	struct rule_keys keys;
	struct rule_run run;

	start(&run, &keys, 1000, SECOND, 1000);
	for (uint64_t i = 0; i < 2000000; i++) {
		struct rule_key *key = get(&run, &keys, i % 50, map_mix(i, 3), i * 1000, NULL);

		assert_non_null(key);
		rule_keys_value(&keys, key, i % 10007 == 0 ? 5000 : i % 13);
	}
	assert_true(keys.by_hash.used <= 1000);
	folded = 0;
	rule_keys_tell(&run, &keys, NULL, count);
	rule_keys_done(&run, &keys);
	assert_int_equal(folded, 200);
	assert_int_equal(freed, 2000000);
}

static void test_tallies(void **state)
{
	struct event_call call = { .duration_ns = 5 };
	struct model_path path = { .components = 3 };
	struct model_view view = { .call = &call, .id = CALL_stat, .path = &path };
	struct rule_tally one = { 0 }, two = { 0 };
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, &rule, FINDING_LIKELY);

	for (int err = 0; err < 3; err++) {
		view.err = err;
		(void)rule_tally_add(&one, NULL, &view);
		(void)rule_tally_add(&two, NULL, &view);
		(void)rule_tally_count(&two, &view);
	}
	view.id = CALL_lstat;
	for (int err = 1; err <= RULE_LINES_MAX; err++) {
		view.err = err;
		(void)rule_tally_count(&two, &view);
	}
	assert_int_equal(two.calls, 6 + RULE_LINES_MAX);
	assert_int_equal(two.other, 3);
	rule_tally_merge(&one, &two);
	assert_int_equal(one.calls, 9 + RULE_LINES_MAX);
	assert_int_equal(one.other, 3);
	assert_int_equal(two.calls, 0);
	rule_tally_tell(&one, finding, "what");
	assert_int_equal(finding->costs.used, RULE_LINES_MAX);
	assert_int_equal(finding->costs.at[0].count, 3);
	assert_int_equal(finding->costs.at[0].components, 9);
	assert_int_equal(finding->costs.at[0].duration_ns, 15);
	assert_int_equal(finding->samples.used, 1);
	rule_tally_done(&one);
	finding_list_done(&list);
}

static bool next(struct rule_burst *burst, uint64_t now_ns, uint64_t calls)
{
	struct model_process process = { .calls = calls };
	struct event_call call = { .head.time_ns = now_ns };
	struct model_view view = { .call = &call, .process = &process };

	return rule_burst_next(burst, &view, RULE_BURST_GAP_NS);
}

static void test_bursts(void **state)
{
	struct rule_burst burst = { 0 };
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, &rule, FINDING_LIKELY);

	assert_true(next(&burst, SECOND, 10));
	assert_true(next(&burst, SECOND + RULE_BURST_GAP_NS, 11));
	assert_false(next(&burst, SECOND + 2 * RULE_BURST_GAP_NS + 1, 12));
	rule_burst_note(&burst, finding);
	assert_int_equal(finding->notes.used, 0);
	/* 1,000 calls between: 120 ms of the pause may be the watching. */
	assert_true(next(&burst, SECOND + 4 * RULE_BURST_GAP_NS + 1, 1013));
	assert_false(next(&burst, 2 * SECOND, 1015));
	assert_true(next(&burst, 900 * SECOND, UINT64_MAX));
	/* A record that comes late is no pause. */
	assert_true(next(&burst, SECOND, 5));
	rule_burst_note(&burst, finding);
	assert_int_equal(finding->notes.used, 1);
	assert_string_equal(finding->notes.at[0],
			    "2 pauses told short by the number of calls in them, since watching stretches time");
	finding_list_done(&list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_least_valuable_goes),
		cmocka_unit_test(test_candidates_by_value),
		cmocka_unit_test(test_idle_is_folded),
		cmocka_unit_test(test_end_of_a_run),
		cmocka_unit_test(test_many_keys_stay_bounded),
		cmocka_unit_test(test_tallies),
		cmocka_unit_test(test_bursts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
