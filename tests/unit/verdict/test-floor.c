/* SPDX-License-Identifier: BSD-2-Clause */
/* The floor as people write it, and what is worth fixing above it. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "rules/rule.h"
#include "verdict/judge.h"

static void what_is_written_is_meant(void **state)
{
	static const struct {
		const char *text;
		struct analysis_floor floor;
	} rows[] = {
		{ "1%,100us", { .share = 0.01, .least_ns = 100000, .enough_ns = 100000000 } },
		{ "0.5%,1ms,2s", { .share = 0.005, .least_ns = 1000000, .enough_ns = 2000000000 } },
		{ "0,0ns", { .share = 0, .least_ns = 0, .enough_ns = 100000000 } },
		{ "0.25,1.5us", { .share = 0.25, .least_ns = 1500, .enough_ns = 100000000 } },
		{ "100%,7ns,0s", { .share = 1, .least_ns = 7, .enough_ns = 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct analysis_floor floor;

		assert_int_equal(judge_floor_parse(rows[i].text, &floor, NULL), 0);
		assert_true(floor.share > rows[i].floor.share - 1e-9 && floor.share < rows[i].floor.share + 1e-9);
		assert_int_equal(floor.least_ns, rows[i].floor.least_ns);
		assert_int_equal(floor.enough_ns, rows[i].floor.enough_ns);
		assert_true(floor.set);
	}
}

static void what_is_not_meant_is_refused(void **state)
{
	static const char *const odd[] = {
		"",	    "1%",	 "1%,",	     "1%,100",	     "101%,1us",       "2,1us",	  "-1%,1us",
		"1%,-1us",  "1%,1us,",	 "1%,1us,1", "1%,1us,1s,1s", "1 %,1us",	       "1%, 1us", "x,1us",
		"1%,1min",  ",1us",	 "1%;1us",   "1%,1us ",	     "1%,1e3us",       "nan,1us", "%,1us",
		"1%,1us,x", "1%,1e99us", "1%,us",    "1%,.us",	     "1%,9999999999s", "1%%,1us",
	};
	struct analysis_floor floor = { .share = 0.5 };

	(void)state;
	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
		assert_int_equal(judge_floor_parse(odd[i], &floor, NULL), -EINVAL);
	assert_true(floor.share == 0.5 && !floor.set);
}

static void what_is_wrong_is_said(void **state)
{
	static const char *const rows[][2] = {
		{ "0,0", "the time '0' needs a unit" },
		{ "1%,1ms,5", "the time '5' needs a unit" },
		{ "200%,1us", "a share is at most 100%, not 200%" },
		{ "2,1us", "a share is at most 100%, not 2" },
		{ "much,1us", "'much,1us' is no share" },
		{ "1%", "a time is missing" },
		{ "1%,1min", "'1min' is no time" },
		{ "1%,9999999999s", "is too long" },
		{ "1%,1us,1s,1s", "',1s' is too much" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct analysis_floor floor;
		struct error err = { 0 };

		assert_int_equal(judge_floor_parse(rows[i][0], &floor, &err), -EINVAL);
		if (!strstr(err.text, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], err.text);
	}
}

static const struct rule rule = { .id = "some-rule" };

/* One finding that saves so much of so much task time. */
static bool is_worth(const char *floor, uint64_t calls, double task_ns)
{
	struct analysis_result result = { .complete = true, .task_ns = task_ns };
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, &rule, FINDING_CERTAIN);
	bool worth;

	(void)finding_add_cost(finding, CALL_getpid, 0, calls, NULL);
	finding_remedy_saves_all(finding_add_remedy(finding, REMEDY_SOURCE), finding);
	result.prices = price_book_new_fixed(NULL, 0, 1000);
	result.floor = JUDGE_FLOOR_DEFAULT;
	if (floor)
		assert_int_equal(judge_floor_parse(floor, &result.floor, NULL), 0);
	assert_int_equal(judge_findings(&result, &list), 0);
	worth = result.findings[0].worth;
	judge_done(&result);
	finding_list_done(&list);
	price_book_free(result.prices);
	return worth;
}

static void both_or_so_much_in_all(void **state)
{
	(void)state;
	assert_true(is_worth(NULL, 100, 10e6)); /* 100 us, 1 % */
	assert_false(is_worth(NULL, 99, 1e6)); /* too little time */
	assert_false(is_worth(NULL, 100, 10.1e6)); /* too small a share */
	assert_true(is_worth(NULL, 100000, 1e12)); /* 100 ms are enough */
	assert_false(is_worth(NULL, 99999, 1e12));
	assert_true(is_worth("0,50us", 50, 1e12));
	assert_false(is_worth("2%,50us,1s", 100, 10e6));
	assert_true(is_worth("2%,50us,90us", 100, 10e6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_meant),
		cmocka_unit_test(what_is_not_meant_is_refused),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(both_or_so_much_in_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
