/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of several CPUs and programs add up; percentiles stand where a sorted
 * list of the same values has them. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/counted.h"

static unsigned bucket_of(uint64_t ns)
{
	unsigned bits = 0;

	while (ns >> bits > 1)
		bits++;
	if (bits < COUNT_LEAST_BITS)
		return 0;
	bits = 1 + (bits - COUNT_LEAST_BITS) * 4 + (unsigned)(ns >> (bits - 2) & 3);
	return bits < COUNT_BUCKETS ? bits : COUNT_BUCKETS - 1;
}

static void put_time(struct count_row *row, uint64_t ns)
{
	row->count++;
	row->timed++;
	row->ns += ns;
	row->buckets[bucket_of(ns)]++;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void percentiles_are_close(void **state)
{
	enum { VALUES = 2000 };
	static const double shares[] = { 0.01, 0.5, 0.9, 0.99 };
	uint64_t values[VALUES], seed = 1;

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct count_row row = { 0 };
		uint64_t max = 0;

		for (int i = 0; i < VALUES; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			values[i] = (seed >> 20) % (UINT64_C(100) << (round % 30));
			put_time(&row, values[i]);
			max = values[i] > max ? values[i] : max;
		}
		qsort(values, VALUES, sizeof *values, by_value);
		for (size_t k = 0; k < sizeof shares / sizeof shares[0]; k++) {
			double real = (double)values[(size_t)(shares[k] * VALUES) - 1];
			double said = counted_percentile(row.buckets, row.timed, max, shares[k]);

			assert_true(said <= (double)max);
			/* A bucket is a quarter of what it begins with wide, or 16 ns. */
			assert_true(said >= real * 0.79 - 17 && said <= real * 1.26 + 17);
		}
	}
}

static void nothing_timed_is_not_known(void **state)
{
	const uint64_t none[COUNT_BUCKETS] = { 0 };
	uint64_t last[COUNT_BUCKETS] = { 0 };

	(void)state;
	assert_true(counted_percentile(none, 0, 0, 0.5) < 0);
	last[COUNT_BUCKETS - 1] = 1;
	assert_true(counted_percentile(last, 1, 500000000000, 0.5) <= 500000000000.0);
}

static const struct counted_call *call_in(const struct counted_table *table, const char *name)
{
	for (size_t i = 0; i < table->calls.used; i++)
		if (strcmp(table->calls.at[i].name, name) == 0)
			return &table->calls.at[i];
	return NULL;
}

static void rows_add_up(void **state)
{
	struct count_row one = { .arch = SYS_ARCH_NATIVE, .failed = 2, .errors = { { .err = ENOENT, .count = 2 } } };
	struct count_row two = {
		.arch = SYS_ARCH_NATIVE, .cpu = 1, .failed = 1, .errors = { { .err = EPERM, .count = 1 } }
	};
	struct count_row end = { .arch = SYS_ARCH_NATIVE, .count = 1, .unreturned = 1 };
	struct counted_facts facts = { .seen = 13 };
	const struct counted_call *call;
	struct counted counted;

	(void)state;
	one.nr = two.nr = sys_call_nr(SYS_ARCH_NATIVE, CALL_openat);
	end.nr = sys_call_nr(SYS_ARCH_NATIVE, CALL_exit_group);
	for (int i = 0; i < 4; i++)
		put_time(&one, 1000);
	for (int i = 0; i < 2; i++)
		put_time(&two, 4000);
	two.count += 2; /* that were not timed */
	counted_init(&counted);
	assert_int_equal(counted_add(&counted, &one, 1000, "/bin/a", ""), 0);
	assert_int_equal(counted_add(&counted, &two, 4000, "/bin/b", ""), 0);
	assert_int_equal(counted_add(&counted, &end, 0, "/bin/a", ""), 0);
	assert_int_equal(counted_add_error(&counted, &two, "/bin/b", "", EACCES, 5), 0);
	assert_int_equal(counted_add_plain(&counted, SYS_ARCH_NATIVE, one.nr, 3, 1, 0), 0);
	assert_int_equal(counted_add_plain(&counted, SYS_ARCH_NATIVE, COUNTED_OTHER_NR, 1, 1, 0), 0);
	counted_finish(&counted);

	assert_int_equal(counted.all.count, 13);
	assert_int_equal(counted.all.failed, 5);
	assert_int_equal(counted.cgroups.at.used, 0);
	call = call_in(&counted.all, "openat");
	assert_non_null(call);
	assert_int_equal(call->count, 11);
	assert_int_equal(call->timed, 6);
	assert_int_equal(call->max_ns, 4000);
	assert_true(call->estimated);
	assert_true(call->ns == 12000.0 * 11 / 6);
	assert_int_equal(call->errors.used, 3);
	assert_int_equal(call->errors.at[0].err, EPERM);
	assert_int_equal(call->errors.at[2].count, 5);
	assert_non_null(call_in(&counted.all, "call_-1"));
	call = call_in(&counted.all, "exit_group");
	assert_true(call->ns < 0 && !call->estimated && call->unreturned == 1);

	assert_int_equal(counted.exes.at.used, 2);
	assert_string_equal(counted.exes.at.at[0].name, "/bin/b");
	assert_int_equal(counted.exes.at.at[0].table.count, 4);
	assert_int_equal(counted.exes.at.at[1].table.count, 5);
	assert_false(counted.exes.at.at[1].table.estimated);

	counted_judge(&counted, &facts);
	assert_true(facts.closed && facts.complete);
	facts.seen++;
	counted_judge(&counted, &facts);
	assert_true(!facts.closed && !facts.complete && facts.why[0]);
	facts.seen--;
	facts.failed_tasks = 1;
	counted_judge(&counted, &facts);
	assert_true(facts.closed && !facts.complete && facts.why[0]);
	counted_done(&counted);
}

static void unknown_programs_are_one(void **state)
{
	struct count_row row = { .arch = SYS_ARCH_NATIVE, .count = 1 };
	struct counted counted;

	(void)state;
	counted_init(&counted);
	for (int i = 0; i < 3; i++)
		assert_int_equal(counted_add(&counted, &row, 0, NULL, NULL), 0);
	/* A row that has not counted yet is nothing. */
	row.count = 0;
	assert_int_equal(counted_add(&counted, &row, 0, "/bin/c", "/x"), 0);
	counted_finish(&counted);
	assert_int_equal(counted.exes.at.used, 1);
	assert_null(counted.exes.at.at[0].name);
	assert_int_equal(counted.exes.at.at[0].table.count, 3);
	assert_int_equal(counted.cgroups.at.used, 1);
	counted_done(&counted);
}

static void what_came_since(void **state)
{
	struct count_row before = { .failed = 1, .errors = { { .err = ENOENT, .count = 1 } } }, now;

	(void)state;
	put_time(&before, 100);
	now = before;
	put_time(&now, 300);
	now.failed++;
	now.errors[0].count++;
	counted_minus(&now, &before);
	assert_int_equal(now.count, 1);
	assert_int_equal(now.failed, 1);
	assert_int_equal(now.errors[0].count, 1);
	assert_int_equal(now.ns, 300);
	assert_int_equal(now.buckets[bucket_of(300)], 1);
	assert_int_equal(now.buckets[bucket_of(100)], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_close), cmocka_unit_test(nothing_timed_is_not_known),
		cmocka_unit_test(rows_add_up),		 cmocka_unit_test(unknown_programs_are_one),
		cmocka_unit_test(what_came_since),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
