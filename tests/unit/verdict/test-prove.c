/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of runs without and with a remedy. */
#include "test.h"

#include "verdict/prove.h"

static void spread_is_sorted(void **state)
{
	double even[] = { 4, 1, 3, 2 }, odd[] = { 9, 7, 8 };
	struct prove_spread spread = prove_spread_of(even, 4);

	(void)state;
	assert_float_equal(spread.min, 1, 1e-9);
	assert_float_equal(spread.median, 2.5, 1e-9);
	assert_float_equal(spread.max, 4, 1e-9);
	assert_float_equal(prove_spread_of(odd, 3).median, 8, 1e-9);
}

/* Ten pairs: two values on each side may lie outside with 2.1 %, three not. */
static void the_range_of_ten_leaves_one_out(void **state)
{
	double before[10], after[10];
	struct prove_times times;

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		before[i] = 100 + 10 * i;
		after[i] = 100;
	}
	prove_judge(before, after, 10, &times);
	assert_float_equal(times.ratio.median, 1.45, 1e-9);
	assert_float_equal(times.ratio.low, 1.1, 1e-9);
	assert_float_equal(times.ratio.high, 1.8, 1e-9);
	assert_int_equal(times.word, PROVE_FASTER);
}

static void six_have_their_extremes(void **state)
{
	double before[] = { 90, 110, 110, 110, 110, 110 }, after[] = { 100, 100, 100, 100, 100, 100 };
	struct prove_times times;

	(void)state;
	prove_judge(before, after, 6, &times);
	assert_float_equal(times.ratio.low, 0.9, 1e-9);
	assert_int_equal(times.word, PROVE_NO_DIFFERENCE);
	before[0] = 110;
	prove_judge(before, after, 6, &times);
	assert_int_equal(times.word, PROVE_FASTER);
	prove_judge(after, before, 6, &times);
	assert_int_equal(times.word, PROVE_SLOWER);
}

/* However large the gain of so few looks, it proves nothing. */
static void four_runs_show_nothing(void **state)
{
	double before[] = { 200, 200, 200, 200 }, after[] = { 100, 100, 100, 100 };
	struct prove_times times;

	(void)state;
	prove_judge(before, after, 4, &times);
	assert_float_equal(times.ratio.median, 2, 1e-9);
	assert_int_equal(times.word, PROVE_NO_DIFFERENCE);
}

static void pairs_not_sides_make_the_ratio(void **state)
{
	/* The machine grew slower all the time; each pair says the same. */
	double before[10], after[10];
	struct prove_times times;

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		after[i] = 100.0 * (i + 1);
		before[i] = 1.2 * after[i];
	}
	prove_judge(before, after, 10, &times);
	assert_float_equal(times.ratio.low, 1.2, 1e-9);
	assert_float_equal(times.ratio.high, 1.2, 1e-9);
	assert_int_equal(times.word, PROVE_FASTER);
}

static void far_runs_are_counted(void **state)
{
	double before[] = { 100, 101, 102, 103, 104, 105, 106, 107, 108, 900 };
	double after[] = { 100, 101, 102, 103, 104, 105, 106, 107, 108, 109 };
	struct prove_times times;

	(void)state;
	prove_judge(before, after, 10, &times);
	assert_int_equal(times.outliers, 1);
	assert_float_equal(times.before.max, 900, 1e-9);
}

static void no_runs_say_nothing(void **state)
{
	struct prove_times times;

	(void)state;
	prove_judge(NULL, NULL, 0, &times);
	assert_int_equal(times.word, PROVE_NO_DIFFERENCE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread_is_sorted),
		cmocka_unit_test(the_range_of_ten_leaves_one_out),
		cmocka_unit_test(six_have_their_extremes),
		cmocka_unit_test(four_runs_show_nothing),
		cmocka_unit_test(pairs_not_sides_make_the_ratio),
		cmocka_unit_test(far_runs_are_counted),
		cmocka_unit_test(no_runs_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
