/* SPDX-License-Identifier: BSD-2-Clause */
/* Every way in which books can fail to close. */
#include "test.h"

#include <string.h>

#include "verdict/books.h"

static struct analysis_result judged(struct analysis_facts facts, uint64_t analysed, uint64_t unsplit)
{
	struct analysis_result result = { .facts = facts };

	/* What was there before must not stay. */
	memset(result.books_why, 'x', sizeof result.books_why - 1);
	books_judge(&result, analysed, unsplit);
	return result;
}

static void closed_and_complete(void **state)
{
	struct analysis_result result = judged((struct analysis_facts){ .seen = 110,
									.delivered = 100,
									.in_flight = 3,
									.marks = 7,
									.children = 5,
									.followed = 4,
									.not_followed = 1 },
					       100, 0);

	assert_true(result.closed);
	assert_true(result.complete);
	assert_string_equal(result.books_why, "");
}

static void nothing_at_all_is_closed(void **state)
{
	struct analysis_result result = judged((struct analysis_facts){ 0 }, 0, 0);

	assert_true(result.closed);
	assert_true(result.complete);
}

static void lost_is_closed_but_not_complete(void **state)
{
	struct analysis_result result =
		judged((struct analysis_facts){ .seen = 110, .delivered = 100, .lost = 10 }, 100, 0);

	assert_true(result.closed);
	assert_false(result.complete);
	assert_string_equal(result.books_why, "10 calls lost");
}

static void lost_state_is_not_complete(void **state)
{
	struct analysis_result result =
		judged((struct analysis_facts){ .seen = 100, .delivered = 100, .lost_state = 2 }, 100, 0);

	assert_true(result.closed);
	assert_false(result.complete);
	assert_string_equal(result.books_why, "2 forks, execs or ends not told of");
}

static void seen_more_than_accounted(void **state)
{
	struct analysis_result result = judged((struct analysis_facts){ .seen = 3357, .delivered = 3356 }, 3356, 0);

	assert_false(result.closed);
	assert_false(result.complete);
	assert_string_equal(result.books_why, "3,357 calls seen, 3,356 accounted for");
}

static void seen_less_than_accounted(void **state)
{
	struct analysis_result result = judged((struct analysis_facts){ .seen = 9, .delivered = 9, .marks = 1 }, 9, 0);

	assert_false(result.closed);
	assert_string_equal(result.books_why, "9 calls seen, 10 accounted for");
}

static void delivered_but_not_analysed(void **state)
{
	struct analysis_result result = judged((struct analysis_facts){ .seen = 9, .delivered = 9 }, 8, 0);

	assert_false(result.closed);
	assert_string_equal(result.books_why, "9 calls delivered, 8 analysed");
}

static void a_child_too_many(void **state)
{
	struct analysis_result result =
		judged((struct analysis_facts){ .children = 3, .followed = 1, .not_followed = 1 }, 0, 0);

	assert_false(result.closed);
	assert_string_equal(result.books_why, "3 children made, 2 accounted for");
}

static void a_child_that_nobody_made(void **state)
{
	assert_false(judged((struct analysis_facts){ .children = 1, .followed = 2 }, 0, 0).closed);
}

static void aborted_is_not_complete(void **state)
{
	struct analysis_result result = judged(
		(struct analysis_facts){ .seen = 5, .delivered = 5, .aborted = true, .abort_reason = "out of memory" },
		5, 0);

	assert_true(result.closed);
	assert_false(result.complete);
	assert_string_equal(result.books_why, "let go early: out of memory");
}

static void a_full_tally_is_not_complete(void **state)
{
	struct analysis_result result = judged((struct analysis_facts){ .seen = 5, .delivered = 5 }, 5, 2);

	assert_true(result.closed);
	assert_false(result.complete);
	assert_string_equal(result.books_why, "2 calls counted in the total only");
}

/* Tasks that were let go and state that could not be read are told, but the
 * counts are right all the same. */
static void what_does_not_open_the_books(void **state)
{
	struct analysis_result result = judged(
		(struct analysis_facts){ .seen = 5, .delivered = 4, .in_flight = 1, .let_go = 3, .state_errors = 9 }, 4,
		0);

	assert_true(result.closed);
	assert_true(result.complete);
}

static void all_reasons_fit_or_are_left_out_whole(void **state)
{
	struct analysis_facts facts = { .seen = UINT64_MAX,
					.delivered = UINT64_MAX / 3,
					.lost = UINT64_MAX / 5,
					.children = UINT64_MAX,
					.followed = 1,
					.aborted = true,
					.abort_reason = "out of memory" };
	struct analysis_result result = judged(facts, UINT64_MAX / 7, UINT64_MAX);
	size_t bytes = strlen(result.books_why);

	assert_false(result.closed);
	assert_true(bytes > 0 && bytes < sizeof result.books_why);
	assert_int_equal(strncmp(result.books_why, "18,446,744,073,709,551,615 calls seen, ", 39), 0);
	assert_int_not_equal(result.books_why[bytes - 1], ' ');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closed_and_complete),
		cmocka_unit_test(nothing_at_all_is_closed),
		cmocka_unit_test(lost_is_closed_but_not_complete),
		cmocka_unit_test(lost_state_is_not_complete),
		cmocka_unit_test(seen_more_than_accounted),
		cmocka_unit_test(seen_less_than_accounted),
		cmocka_unit_test(delivered_but_not_analysed),
		cmocka_unit_test(a_child_too_many),
		cmocka_unit_test(a_child_that_nobody_made),
		cmocka_unit_test(aborted_is_not_complete),
		cmocka_unit_test(a_full_tally_is_not_complete),
		cmocka_unit_test(what_does_not_open_the_books),
		cmocka_unit_test(all_reasons_fit_or_are_left_out_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
