/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings that one remedy would end, and sums that fit into the time. */
#include "test.h"

#include <errno.h>

#include "verdict/cause.h"
#include "verdict/judge.h"

#define MOST 16

static const struct rule rule = { .id = "rule-a" };

struct world {
	struct finding_list list;
	struct verdict_finding findings[MOST];
	size_t count;
};

static const char *const remedies[] = { "remedy a", "remedy b", "remedy c", "remedy d" };

static void add_site(struct finding *finding, const char *module, uint64_t offset, const struct frames *frames)
{
	struct finding_site site = { .module = strdup(module), .offset = offset, .count = 10, .frames = frames };

	assert_true(vec_push(&finding->sites, site));
}

/* A finding of a program with remedies by the bits of a mask, all called at one place of the program; in the order
 * in which they are added. */
static void add(struct world *world, const char *exe, unsigned mask, bool worth)
{
	struct finding *finding = finding_add(&world->list, &rule, FINDING_LIKELY);

	assert_non_null(finding);
	finding_set(&finding->exe, "%s", exe);
	add_site(finding, exe, 0x10, NULL);
	for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
		if (mask >> i & 1) {
			struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_SOURCE);

			assert_non_null(remedy);
			finding_set(&remedy->text, "%s", remedies[i]);
		}
	world->findings[world->count++].worth = worth;
}

/* The numbers that they had before, and of each that of its cause. */
static void expect(struct world *world, const int *order, const int *causes)
{
	for (size_t i = 0; i < world->count; i++)
		world->findings[i].finding = &world->list.items.at[i];
	cause_group(world->findings, world->count);
	for (size_t i = 0; i < world->count; i++) {
		const struct finding *cause = world->findings[i].cause;

		assert_int_equal(world->findings[i].finding - world->list.items.at, order[i]);
		assert_int_equal(cause ? cause - world->list.items.at : -1, causes[i]);
	}
	finding_list_done(&world->list);
}

static void one_remedy_of_one_program(void **state)
{
	struct world world = { 0 };

	add(&world, "/bin/a", 1, true);
	add(&world, "/bin/b", 1, true);
	add(&world, "/bin/a", 2, true);
	add(&world, "/bin/a", 3, true);
	add(&world, "/bin/b", 1 | 4, true);
	expect(&world, (const int[]){ 0, 3, 1, 4, 2 }, (const int[]){ -1, 0, -1, 1, -1 });
}

/* What ends the second, not the first, ends the fourth: no remedy of the first ends that. */
static void a_cause_ends_both_itself(void **state)
{
	struct world world = { 0 };

	add(&world, "/bin/a", 1, true);
	add(&world, "/bin/a", 8, true);
	add(&world, "/bin/a", 1 | 2, true);
	add(&world, "/bin/a", 2, true);
	expect(&world, (const int[]){ 0, 2, 1, 3 }, (const int[]){ -1, 0, -1, -1 });
}

static struct finding *at(struct world *world, size_t n)
{
	return &world->list.items.at[n];
}

static void at_place(struct world *world, size_t n, const char *module, uint64_t offset)
{
	struct finding_site *site = &at(world, n)->sites.at[0];

	free(site->module);
	site->module = strdup(module);
	site->offset = offset;
}

/* The same words are about another place of the program, or about one that is not known. */
static void a_change_of_the_source_is_of_one_place(void **state)
{
	struct world world = { 0 };

	for (unsigned i = 0; i < 6; i++)
		add(&world, "/bin/a", 1, true);
	at_place(&world, 1, "/bin/a", 0x20);
	at_place(&world, 2, "/lib/x86_64-linux-gnu/libc.so.6", 0x30);
	at_place(&world, 3, "/lib/x86_64-linux-gnu/libc.so.6", 0x30);
	at(&world, 4)->sites_other = 1;
	expect(&world, (const int[]){ 0, 5, 1, 2, 3, 4 }, (const int[]){ -1, 0, -1, -1, -1, -1 });
}

static void a_setting_acts_everywhere(void **state)
{
	struct world world = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		add(&world, "/bin/a", 1, true);
		at(&world, i)->remedies.at[0].kind = i ? REMEDY_UPGRADE : REMEDY_ENVIRONMENT;
	}
	for (unsigned i = 2; i < 4; i++) {
		add(&world, "/bin/a", 1, true);
		at(&world, i)->remedies.at[0].kind = i == 3 ? REMEDY_UPGRADE : REMEDY_ENVIRONMENT;
		at_place(&world, i, "/bin/a", 0x100 * i);
	}
	expect(&world, (const int[]){ 0, 2, 1, 3 }, (const int[]){ -1, 0, -1, 1 });
}

/* The place of the one must be among those of the other, not the other way round. */
static void a_part_of_the_places_is_enough(void **state)
{
	struct world world = { 0 };

	for (unsigned i = 0; i < 3; i++)
		add(&world, "/bin/a", 1, true);
	add_site(at(&world, 0), "/bin/a", 0x20, NULL);
	at_place(&world, 1, "/bin/a", 0x20);
	add_site(at(&world, 2), "/bin/a", 0x30, NULL);
	expect(&world, (const int[]){ 0, 1, 2 }, (const int[]){ -1, 0, -1 });
}

/* Behind one instruction of the C library there are many callers. */
static void callers_are_told_apart(void **state)
{
	static const struct frame in_fa[] = { { .module = "/lib/libc.so.6", .offset = 1, .flags = FRAME_LIBC },
					      { .module = "/bin/a", .symbol = "fa", .offset = 0x10 } },
				  in_fb[] = { { .module = "/lib/libc.so.6", .offset = 2, .flags = FRAME_LIBC },
					      { .module = "/bin/a", .symbol = "fb", .offset = 0x20 } };
	const struct frames fa = { .at = in_fa, .count = 2, .outer = 1, .program = 1 },
			    fb = { .at = in_fb, .count = 2, .outer = 1, .program = 1 },
			    many = { .at = in_fa, .count = 2, .outer = 1, .program = 1, .outer_varies = true };
	const struct frames *const frames[] = { &fa, &fb, &fa, &many, &many };
	struct world world = { 0 };

	for (unsigned i = 0; i < 5; i++) {
		add(&world, "/bin/a", 1, true);
		at_place(&world, i, "/lib/libc.so.6", i % 2 + 1);
		at(&world, i)->sites.at[0].frames = frames[i];
	}
	expect(&world, (const int[]){ 0, 2, 1, 3, 4 }, (const int[]){ -1, 0, -1, -1, -1 });
}

/* Those worth fixing stay before the others. */
static void worth_comes_first(void **state)
{
	struct world world = { 0 };

	add(&world, "/bin/a", 1, true);
	add(&world, "/bin/a", 2, true);
	add(&world, "/bin/a", 4, false);
	add(&world, "/bin/a", 1, false);
	add(&world, "/bin/b", 1, false);
	add(&world, "/bin/a", 1, false);
	expect(&world, (const int[]){ 0, 1, 2, 3, 5, 4 }, (const int[]){ -1, -1, -1, 0, 0, -1 });
}

static void information_has_no_cause(void **state)
{
	struct world world = { 0 };

	add(&world, "/bin/a", 1, true);
	add(&world, "/bin/a", 1, false);
	world.list.items.at[1].information = true;
	expect(&world, (const int[]){ 0, 1 }, (const int[]){ -1, -1 });
}

static void other_processes_have_others(void **state)
{
	struct world world = { 0 };

	add(&world, "/bin/a", 1, true);
	add(&world, "/bin/a", 1, true);
	world.list.items.at[1].process_id = 7;
	expect(&world, (const int[]){ 0, 1 }, (const int[]){ -1, -1 });
}

static void none_and_no_remedies(void **state)
{
	struct world world = { 0 };

	cause_group(world.findings, 0);
	add(&world, "/bin/a", 0, true);
	add(&world, "/bin/a", 0, true);
	expect(&world, (const int[]){ 0, 1 }, (const int[]){ -1, -1 });
}

/* Every order of random findings: all are there, none is its own cause, each
 * stands behind what it shares with. */
static void random_ones_are_all_there(void **state)
{
	for (unsigned seed = 1; seed <= 500; seed++) {
		struct world world = { 0 };
		unsigned random = seed * 7919, count = seed % MOST + 1;
		uint32_t seen = 0;

		for (unsigned i = 0; i < count; i++) {
			random = random * 1103515245 + 12345;
			add(&world, random >> 16 & 1 ? "/bin/a" : "/bin/b", random >> 20 & 15, i * 2 < count);
		}
		for (size_t i = 0; i < count; i++)
			world.findings[i].finding = &world.list.items.at[i];
		cause_group(world.findings, count);
		for (size_t i = 0; i < count; i++) {
			const struct verdict_finding *one = &world.findings[i];
			size_t at = (size_t)(one->finding - world.list.items.at);

			assert_int_equal(seen >> at & 1, 0);
			seen |= 1u << at;
			assert_int_equal(one->worth, at * 2 < count);
			assert_int_equal(one->worth, i * 2 < count);
			assert_true(!one->cause || one->cause < one->finding);
			for (size_t k = 0; one->cause && k < count; k++)
				assert_true(world.findings[k].finding != one->cause || !world.findings[k].cause);
			if (!one->cause || i == 0 ||
			    ((size_t)(one->cause - world.list.items.at) * 2 < count) != one->worth)
				continue;
			assert_true(world.findings[i - 1].finding == one->cause ||
				    world.findings[i - 1].cause == one->cause);
		}
		finding_list_done(&world.list);
	}
}

static const struct price_fixed prices[] = { { CALL_close, EBADF, 100, 0 } };

/* Priced one by one two of them come to 1.5 ms of 1 ms; the third is information. */
static void all_fit_into_the_time(void **state)
{
	struct analysis_result result = { .floor = JUDGE_FLOOR_DEFAULT, .complete = true, .closed = true };
	struct finding_list list = { 0 };
	double costs = 0, saves = 0;

	result.prices = price_book_new_fixed(prices, 1, 50);
	result.task_ns = 1e6;
	result.calls = 30000;
	for (unsigned i = 0; i < 3; i++) {
		struct finding *finding = finding_add(&list, &rule, FINDING_CERTAIN);

		assert_non_null(finding_add_cost(finding, CALL_close, EBADF, 5000 * (i + 1), NULL));
		finding_remedy_saves_all(finding_add_remedy(finding, REMEDY_SOURCE), finding);
		finding->information = i == 2;
	}
	assert_int_equal(judge_findings(&result, &list), 0);
	for (size_t i = 0; i < result.finding_count; i++) {
		const struct verdict_finding *verdict = &result.findings[i];

		if (verdict->finding->information)
			continue;
		costs += verdict->cost_ns;
		saves += verdict->saves_ns;
		assert_true(verdict->costs[0].ns <= verdict->cost_ns * 1.001);
		assert_true(verdict->remedies[0].saves_ns <= verdict->cost_ns * 1.001);
		assert_true(verdict->cost_low_ns <= verdict->cost_ns && verdict->cost_ns <= verdict->cost_high_ns);
		assert_true(verdict->share <= 1);
	}
	assert_true(costs > 0.999e6 && costs < 1.001e6);
	assert_true(saves <= costs * 1.001);
	assert_true(result.waste_ns <= result.task_ns);
	judge_done(&result);
	finding_list_done(&list);
	price_book_free(result.prices);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_remedy_of_one_program),
		cmocka_unit_test(a_cause_ends_both_itself),
		cmocka_unit_test(a_change_of_the_source_is_of_one_place),
		cmocka_unit_test(a_setting_acts_everywhere),
		cmocka_unit_test(a_part_of_the_places_is_enough),
		cmocka_unit_test(callers_are_told_apart),
		cmocka_unit_test(worth_comes_first),
		cmocka_unit_test(information_has_no_cause),
		cmocka_unit_test(other_processes_have_others),
		cmocka_unit_test(none_and_no_remedies),
		cmocka_unit_test(random_ones_are_all_there),
		cmocka_unit_test(all_fit_into_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
