/* SPDX-License-Identifier: BSD-2-Clause */
/* What runs of programs took, and what a finding about children makes of it. */
#include "test.h"

#include <string.h>

#include "verdict/judge.h"
#include "verdict/programs.h"

#define NEAR(a, b) ((a) - (b) < 0.001 && (b) - (a) < 0.001)

static const struct rule rule_a = { .id = "rule-a" }, rule_b = { .id = "rule-b" };

static struct model_exe exes[] = { { .path = (char *)"/a", .id = 0, .execs = 10 },
				   { .path = (char *)"/b", .id = 1, .execs = 4 } };

static struct model_process run_of(struct model_exe *exe, bool execed, uint32_t how)
{
	return (struct model_process){ .exe = exe, .execed = execed, .ended = true, .exit_how = how };
}

static void each_way_of_living_by_itself(void **state)
{
	struct model_process run = run_of(&exes[0], true, EVENT_EXIT_STATUS),
			     fork = run_of(&exes[0], false, EVENT_EXIT_STATUS),
			     before = run_of(&exes[0], false, EVENT_EXIT_REPLACED);
	struct program_book book;

	(void)state;
	programs_init(&book);
	assert_true(programs_life_ns(&book, &exes[0], FINDING_LIFE_RUN, 0) < 0);
	programs_add_work(&book, &run, true, 1000, 10);
	programs_add_work(&book, &run, false, 500, 5); /* a thread of it */
	programs_add_work(&book, &run, true, 2500, 5);
	programs_add_work(&book, &fork, true, 70, 1);
	programs_add_work(&book, &before, true, 30, 1);
	assert_true(NEAR(programs_life_ns(&book, &exes[0], FINDING_LIFE_RUN, 0), 2000.0));
	assert_true(NEAR(programs_life_ns(&book, &exes[0], FINDING_LIFE_RUN, 100), 3000.0));
	assert_true(NEAR(programs_life_ns(&book, &exes[0], FINDING_LIFE_RUN, -1000), 0.0));
	assert_true(NEAR(programs_life_ns(&book, &exes[0], FINDING_LIFE_FORK, 0), 70.0));
	assert_true(NEAR(programs_life_ns(&book, &exes[0], FINDING_LIFE_BEFORE, 0), 30.0));
	assert_true(programs_life_ns(&book, &exes[1], FINDING_LIFE_RUN, 0) < 0);
	programs_done(&book);
}

static void many_programs_share_the_last_entry(void **state)
{
	struct program_book book;

	(void)state;
	programs_init(&book);
	for (uint32_t i = 0; i < 3 * PROGRAMS_MAX; i++) {
		struct model_exe exe = { .path = (char *)"/x", .id = i };
		struct model_process run = run_of(&exe, true, EVENT_EXIT_STATUS);

		programs_add_work(&book, &run, true, 1, 0);
	}
	assert_int_equal(book.programs.used, PROGRAMS_MAX);
	assert_null(book.programs.at[PROGRAMS_MAX - 1].exe);
	assert_int_equal(book.programs.at[PROGRAMS_MAX - 1].lives[FINDING_LIFE_RUN].ended, 2 * PROGRAMS_MAX + 1);
	programs_done(&book);
}

/* 10 calls at 2 ns of one row, 3 at 100 ns of another. */
static void lists_are_of_what_was_counted(void **state)
{
	static const double row_ns[] = { 20, 300 };
	static const uint64_t row_counts[] = { 10, 3 };
	struct model_process a = run_of(&exes[0], true, EVENT_EXIT_STATUS),
			     b = run_of(&exes[1], false, EVENT_EXIT_STATUS);
	struct program_book book;
	struct verdict_exe *list;
	size_t count;

	(void)state;
	programs_init(&book);
	for (unsigned i = 0; i < 8; i++)
		programs_add_call(&book, &a, 0, i < 3 ? MODEL_PHASE_LOADER : MODEL_PHASE_WORK, i == 0 ? 2 : 0);
	programs_add_call(&book, &a, 1, MODEL_PHASE_EXEC, 0);
	for (unsigned i = 0; i < 2; i++) {
		programs_add_call(&book, &b, 0, MODEL_PHASE_LOCALE, 0);
		programs_add_call(&book, &b, 1, MODEL_PHASE_WORK, 0);
	}
	programs_see(&book, &a);
	b.forked = true;
	programs_see(&book, &b);
	b.forked = false;
	programs_see(&book, &b);
	assert_int_equal(programs_judge(&book, row_ns, row_counts, 2, 0, false, &list, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(list[0].exe, "/b");
	assert_int_equal(list[0].runs, 1);
	assert_int_equal(list[0].forks, 1);
	assert_true(NEAR(list[0].calls_ns, 2 * 2.0 + 2 * 100.0));
	assert_true(list[0].work_ns < 0);
	assert_int_equal(list[0].startup.calls, 2);
	assert_int_equal(list[1].calls, 9);
	assert_int_equal(list[1].startup.calls, 4);
	assert_true(NEAR(list[1].startup.ns, 3 * 2.0 + 100.0));
	assert_int_equal(list[1].parts[MODEL_PHASE_LOADER].failed, 1);
	assert_true(NEAR(list[1].parts[MODEL_PHASE_EXEC].ns, 100.0));
	free(list);
	programs_add_work(&book, &a, true, 1000, 10);
	assert_int_equal(programs_judge(&book, row_ns, row_counts, 2, 5, true, &list, &count), 0);
	assert_string_equal(list[0].exe, "/a");
	assert_true(NEAR(list[0].work_ns, 1050.0));
	free(list);
	programs_done(&book);
}

static struct finding *add_children(struct finding_list *list)
{
	struct finding *finding = finding_add(list, &rule_a, FINDING_LIKELY);
	struct finding_remedy *remedy;

	(void)finding_add_cost(finding, CALL_fork, 0, 4, NULL);
	(void)finding_add_cost(finding, CALL_execve, 0, 4, NULL);
	finding_add_child(finding, &exes[1], FINDING_LIFE_RUN, 3);
	finding_add_child(finding, &exes[1], FINDING_LIFE_RUN, 1);
	assert_int_equal(finding->children.used, 1);
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	finding_add_delta(remedy, CALL_fork, 0, -3, 0);
	finding_add_delta(remedy, CALL_execve, 0, -3, 0);
	return finding;
}

/* A fork is priced with its child's life, less what another finding tells of that. */
static void forks_have_lives_in_their_price(void **state)
{
	static const struct price_fixed prices[] = { { CALL_fork, 0, 100, 0 },
						     { CALL_brk, 0, 10, 0 },
						     { CALL_execve, 0, 5000, 0 } };
	struct model_process run = run_of(&exes[1], true, EVENT_EXIT_STATUS);
	struct analysis_result result = { .task_ns = 1e6, .complete = true };
	struct finding_list list = { 0 };
	struct program_book book;
	struct finding *part;

	(void)state;
	result.prices = price_book_new_fixed(prices, 3, 50);
	(void)add_children(&list);
	assert_int_equal(judge_findings(&result, &list), 0);
	assert_true(NEAR(result.findings[0].cost_ns, 4 * 100.0 + 4 * 5000.0));
	judge_done(&result);

	programs_init(&book);
	programs_add_work(&book, &run, true, 2000, 0);
	result.programs = &book;
	assert_int_equal(judge_findings(&result, &list), 0);
	assert_true(NEAR(result.findings[0].cost_ns, 4 * 2100.0));
	assert_true(NEAR(result.findings[0].remedies[0].saves_ns, 3 * 2100.0));
	assert_int_equal(result.findings[0].source, PRICE_MEASURED);
	judge_done(&result);

	/* 40 calls at 10 ns in the 4 runs that there were. */
	part = finding_add(&list, &rule_b, FINDING_LIKELY);
	(void)finding_add_cost(part, CALL_brk, 0, 40, NULL);
	part->part_of = &exes[1];
	assert_int_equal(judge_findings(&result, &list), 0);
	for (size_t i = 0; i < result.finding_count; i++)
		assert_true(NEAR(result.findings[i].cost_ns,
				 result.findings[i].finding->rule == &rule_a ? 4 * 2000.0 : 400.0));
	judge_done(&result);
	programs_done(&book);
	finding_list_done(&list);
	price_book_free(result.prices);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_way_of_living_by_itself),
		cmocka_unit_test(lists_are_of_what_was_counted),
		cmocka_unit_test(many_programs_share_the_last_entry),
		cmocka_unit_test(forks_have_lives_in_their_price),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
