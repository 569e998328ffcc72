/* SPDX-License-Identifier: BSD-2-Clause */
/* Money and order of hand-made findings, with prices that are set. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "verdict/judge.h"

#define NEAR(a, b) ((a) - (b) < 0.001 && (b) - (a) < 0.001)

static const struct rule rule_a = { .id = "rule-a" }, rule_b = { .id = "rule-b" };

static const struct price_fixed prices[] = {
	{ CALL_getxattr, ENODATA, 1000, 100 },
	{ CALL_llistxattr, 0, 400, 100 },
	{ CALL_close, EBADF, 100, 0 },
};

struct world {
	struct analysis_result result;
	struct finding_list list;
};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof *world);

	world->result.prices = price_book_new_fixed(prices, 3, 50);
	world->result.floor = JUDGE_FLOOR_DEFAULT;
	world->result.complete = world->result.closed = true;
	world->result.task_ns = 10e6;
	world->result.calls = 1000000;
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	judge_done(&world->result);
	finding_list_done(&world->list);
	price_book_free(world->result.prices);
	free(world);
	return 0;
}

/* `count` failing closes at 100 ns that a remedy of one kind takes away. */
static struct finding *add_closes(struct world *world, const struct rule *rule, uint64_t count)
{
	struct finding *finding = finding_add(&world->list, rule, FINDING_CERTAIN);

	(void)finding_add_cost(finding, CALL_close, EBADF, count, NULL);
	finding->calls = count;
	finding_remedy_saves_all(finding_add_remedy(finding, REMEDY_SOURCE), finding);
	return finding;
}

static const struct verdict_finding *judged(struct world *world, size_t n)
{
	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	assert_true(n < world->result.finding_count);
	return &world->result.findings[n];
}

/* Two failing gets against one list: half the calls, not all the money. */
static void a_remedy_pays_for_what_it_still_does(void **state)
{
	struct world *world = *state;
	struct finding *finding = finding_add(&world->list, &rule_a, FINDING_LIKELY);
	struct finding_cost *cost = finding_add_cost(finding, CALL_getxattr, ENODATA, 2000, "user.a");
	struct finding_remedy *remedy;
	const struct verdict_finding *verdict;

	cost->components = 4000;
	finding->calls = 2000;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	finding_add_delta(remedy, CALL_getxattr, ENODATA, -2000, 4000);
	finding_add_delta(remedy, CALL_llistxattr, 0, 1000, 2000);
	verdict = judged(world, 0);
	assert_true(NEAR(verdict->cost_ns, 2000 * 1200.0));
	assert_true(NEAR(verdict->costs[0].ns, verdict->cost_ns));
	assert_true(NEAR(verdict->share, 0.24));
	assert_int_equal(verdict->remedies[0].saves_calls, 1000);
	assert_true(NEAR(verdict->remedies[0].saves_ns, 2000 * 1200.0 - 1000 * 600.0));
	/* The worst case takes away little and adds much. */
	assert_true(NEAR(verdict->remedies[0].low_ns, 0.9 * 2000 * 1200.0 - 1.1 * 1000 * 600.0));
	assert_true(NEAR(verdict->remedies[0].high_ns, 1.1 * 2000 * 1200.0 - 0.9 * 1000 * 600.0));
	assert_true(NEAR(verdict->saves_ns, verdict->remedies[0].saves_ns));
	assert_true(verdict->worth);
	assert_true(NEAR(world->result.waste_ns, verdict->cost_ns));
	assert_int_equal(world->result.waste_calls, 2000);
}

/* Pages cost what a call costs that has no row: the least of them in the money, all in the range. */
static void pages_come_with_calls(void **state)
{
	struct world *world = *state;
	struct finding *finding = finding_add(&world->list, &rule_a, FINDING_LIKELY);
	struct finding_cost *cost = finding_add_cost(finding, CALL_close, EBADF, 1000, NULL);
	const struct verdict_finding *verdict;
	struct finding_remedy *remedy;

	cost->pages_low = 10;
	cost->pages_high = 100;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	finding_remedy_saves_all(remedy, finding);
	finding_add_delta(remedy, CALL_brk, 0, 1, 0);
	finding_add_pages(remedy, CALL_brk, 0, false, 1, 5);
	finding_add_pages(remedy, CALL_brk, 0, true, 1000, 1000);
	finding_add_pages(NULL, CALL_brk, 0, false, 1, 5);
	verdict = judged(world, 0);
	assert_true(NEAR(verdict->cost_ns, 1000 * 100.0 + 10 * 50.0));
	assert_true(NEAR(verdict->costs[0].ns, verdict->cost_ns));
	assert_true(NEAR(verdict->cost_low_ns, 0.9 * verdict->cost_ns));
	assert_true(NEAR(verdict->cost_high_ns, 1.1 * (1000 * 100.0 + 100 * 50.0)));
	assert_true(NEAR(verdict->remedies[0].saves_ns, verdict->cost_ns - 50.0 - 50.0));
	assert_true(NEAR(verdict->remedies[0].low_ns, 0.9 * verdict->cost_ns - 1.1 * (50.0 + 5 * 50.0)));
	assert_true(NEAR(verdict->remedies[0].high_ns, verdict->cost_high_ns - 0.9 * (50.0 + 50.0)));
}

static void a_remedy_that_changes_output_does_not_count(void **state)
{
	struct world *world = *state;
	struct finding *finding = finding_add(&world->list, &rule_a, FINDING_LIKELY);
	struct finding_remedy *remedy;
	const struct verdict_finding *verdict;

	(void)finding_add_cost(finding, CALL_close, EBADF, 50000, NULL);
	finding->calls = 50000;
	remedy = finding_add_remedy(finding, REMEDY_PRELOAD);
	finding_set(&remedy->changes, "no colours");
	finding_remedy_saves_all(remedy, finding);
	verdict = judged(world, 0);
	assert_true(NEAR(verdict->saves_ns, 0));
	assert_true(NEAR(verdict->remedies[0].saves_ns, 50000 * 100.0));
	assert_false(verdict->worth);
	assert_int_equal(world->result.below_count, 1);
}

static void remedies_upgrade_first_then_by_saving(void **state)
{
	static const struct {
		enum finding_remedy_kind kind;
		int64_t count;
		const char *changes;
	} rows[] = {
		{ REMEDY_PRELOAD, -1000, "other output" },
		{ REMEDY_SOURCE, -200, NULL },
		{ REMEDY_ENVIRONMENT, -500, NULL },
		{ REMEDY_UPGRADE, -100, NULL },
	};
	static const enum finding_remedy_kind order[] = { REMEDY_UPGRADE, REMEDY_ENVIRONMENT, REMEDY_SOURCE,
							  REMEDY_PRELOAD };
	struct world *world = *state;
	struct finding *finding = finding_add(&world->list, &rule_a, FINDING_LIKELY);
	const struct verdict_finding *verdict;

	(void)finding_add_cost(finding, CALL_close, EBADF, 1000, NULL);
	for (size_t i = 0; i < 4; i++) {
		struct finding_remedy *remedy = finding_add_remedy(finding, rows[i].kind);

		finding_add_delta(remedy, CALL_close, EBADF, rows[i].count, 0);
		if (rows[i].changes)
			finding_set(&remedy->changes, "%s", rows[i].changes);
	}
	verdict = judged(world, 0);
	assert_int_equal(verdict->remedy_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(verdict->remedies[i].remedy->kind, order[i]);
	assert_true(NEAR(verdict->saves_ns, 500 * 100.0));
}

static void no_remedy_saves_more_than_the_cost(void **state)
{
	struct world *world = *state;
	struct finding *finding = finding_add(&world->list, &rule_a, FINDING_LIKELY);
	const struct verdict_finding *verdict;

	(void)finding_add_cost(finding, CALL_close, EBADF, 10, NULL);
	finding_add_delta(finding_add_remedy(finding, REMEDY_SOURCE), CALL_close, EBADF, -5000, 0);
	verdict = judged(world, 0);
	assert_true(NEAR(verdict->saves_ns, 1000));
}

static void ordered_by_saving_never_by_count(void **state)
{
	struct world *world = *state;
	struct finding *many, *dear, *told;

	many = add_closes(world, &rule_a, 5000); /* 0.5 ms */
	dear = finding_add(&world->list, &rule_b, FINDING_LIKELY);
	(void)many;
	(void)finding_add_cost(dear, CALL_getxattr, ENODATA, 1000, NULL); /* 1 ms */
	finding_remedy_saves_all(finding_add_remedy(dear, REMEDY_SOURCE), dear);
	told = add_closes(world, &rule_a, 90000); /* 9 ms, but the program's job */
	told->information = true;
	assert_int_equal(judged(world, 2)->finding->information, true);
	assert_ptr_equal(world->result.findings[0].finding->rule, &rule_b);
	assert_int_equal(world->result.findings[1].finding->calls, 5000);
	assert_int_equal(world->result.worth_count, 2);
	assert_int_equal(world->result.below_count, 0);
	assert_true(NEAR(world->result.waste_ns, 1.5e6));
	assert_false(world->result.findings[2].worth);
}

/* A slow file system: what its calls took in this run, not what they cost elsewhere. */
static void what_was_measured_is_the_price(void **state)
{
	struct world *world = *state;
	struct verdict_call call = { .row = { .id = CALL_close, .count = 100, .failed = 100 },
				     .ns = 100 * 50000.0,
				     .low_ns = 100 * 40000.0,
				     .high_ns = 100 * 60000.0,
				     .source = PRICE_MEASURED };
	const struct verdict_finding *verdict;

	(void)add_closes(world, &rule_a, 100);
	world->result.all_calls = &call;
	world->result.all_call_count = 1;
	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	verdict = &world->result.findings[0];
	assert_true(NEAR(verdict->cost_ns, 100 * 50000.0));
	assert_true(NEAR(verdict->cost_low_ns, 100 * 40000.0));
	assert_int_equal(verdict->source, PRICE_MEASURED);
	assert_int_equal(verdict->costs[0].source, PRICE_MEASURED);
	assert_int_equal(verdict->remedies[0].source, PRICE_MEASURED);
	judge_done(&world->result);
	/* Not where others do the same work after all: entering and leaving is what is left. */
	world->list.items.at[0].work_stays = true;
	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	verdict = &world->result.findings[0];
	assert_true(NEAR(verdict->cost_ns, 100 * 100.0));
	assert_true(NEAR(verdict->remedies[0].saves_ns, 100 * 100.0));
	assert_int_equal(verdict->source, PRICE_CALIBRATED);
	judge_done(&world->result);
	world->list.items.at[0].work_stays = false;
	/* Not when most calls ended otherwise. */
	call.row.failed = 50;
	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	assert_int_equal(world->result.findings[0].source, PRICE_CALIBRATED);
	assert_true(world->result.findings[0].cost_ns < 100 * 50000.0);
}

/* 300 opens make files in 100 us each, 600 read a list in 2: a finding on the lists costs no 20 ms. */
static void a_part_of_the_calls_is_not_blamed_for_the_long_ones(void **state)
{
	struct world *world = *state;
	struct verdict_call call = { .row = { .id = CALL_close, .count = 100, .failed = 100 },
				     .ns = 100 * 50000.0,
				     .low_ns = 100 * 40000.0,
				     .high_ns = 100 * 60000.0,
				     .usual_ns = 10000,
				     .source = PRICE_MEASURED };

	(void)add_closes(world, &rule_a, 60);
	world->result.all_calls = &call;
	world->result.all_call_count = 1;
	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	assert_true(NEAR(world->result.findings[0].cost_ns, 60 * 10000.0));
	assert_true(NEAR(world->result.findings[0].cost_low_ns, 60 * 8000.0));
	judge_done(&world->result);
	/* Most of them took no longer than they always do. */
	call.usual_ns = 1;
	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	assert_int_equal(world->result.findings[0].source, PRICE_CALIBRATED);
	judge_done(&world->result);
	/* Nearly all of them are the finding's: the long ones too. */
	call.row.count = call.row.failed = 62;
	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	assert_true(NEAR(world->result.findings[0].cost_ns, 60 * 100 * 50000.0 / 62));
}

static void a_finding_is_priced_as_the_table_of_calls(void **state)
{
	struct world *world = *state;
	double full_ns;

	(void)add_closes(world, &rule_a, 100);
	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	full_ns = world->result.findings[0].cost_ns;
	judge_done(&world->result);
	world->result.price_fit = world->result.firm_fit = 0.5;
	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	assert_true(NEAR(world->result.findings[0].cost_ns, full_ns / 2));
}

static bool worth(struct world *world, uint64_t closes, double task_ns)
{
	bool ret;

	(void)add_closes(world, &rule_a, closes);
	world->result.task_ns = task_ns;
	ret = judged(world, 0)->worth;
	judge_done(&world->result);
	finding_list_done(&world->list);
	return ret;
}

static void the_edges_of_worth(void **state)
{
	struct world *world = *state;

	/* 0.1 ms at least, */
	assert_true(worth(world, 1000, 1e6));
	assert_false(worth(world, 999, 1e6));
	/* and one per cent, */
	assert_true(worth(world, 2000, 20e6));
	assert_false(worth(world, 1999, 20e6));
	/* or 100 ms, whatever the share. */
	assert_true(worth(world, 1000000, 1e12));
	assert_false(worth(world, 999999, 1e12));
	/* A floor of one's own. */
	world->result.floor = (struct analysis_floor){ .share = 0.5, .least_ns = 1, .enough_ns = UINT64_MAX };
	assert_true(worth(world, 50, 10000));
	assert_false(worth(world, 49, 10000));
}

static void nothing_is_worth_fixing_by_open_books(void **state)
{
	struct world *world = *state;

	world->result.complete = false;
	assert_false(worth(world, 50000, 10e6));
}

static void waste_is_never_more_than_there_was(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < 3; i++)
		(void)add_closes(world, &rule_a, 80000); /* 8 of 10 ms each */
	world->result.calls = 100000;
	(void)judged(world, 2);
	assert_true(NEAR(world->result.waste_ns, 10e6));
	assert_int_equal(world->result.waste_calls, 100000);
}

static void no_findings(void **state)
{
	struct world *world = *state;

	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	assert_int_equal(world->result.finding_count, 0);
	assert_true(world->result.waste_ns == 0);
}

static void no_time_known_is_no_division_by_zero(void **state)
{
	struct world *world = *state;

	world->result.task_ns = 0;
	(void)add_closes(world, &rule_a, 10);
	assert_true(judged(world, 0)->share == 0);
	assert_true(world->result.waste_ns == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_remedy_pays_for_what_it_still_does),
		TEST(pages_come_with_calls),
		TEST(what_was_measured_is_the_price),
		TEST(a_part_of_the_calls_is_not_blamed_for_the_long_ones),
		TEST(a_finding_is_priced_as_the_table_of_calls),
		TEST(a_remedy_that_changes_output_does_not_count),
		TEST(remedies_upgrade_first_then_by_saving),
		TEST(no_remedy_saves_more_than_the_cost),
		TEST(ordered_by_saving_never_by_count),
		TEST(the_edges_of_worth),
		TEST(nothing_is_worth_fixing_by_open_books),
		TEST(waste_is_never_more_than_there_was),
		TEST(no_findings),
		TEST(no_time_known_is_no_division_by_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
