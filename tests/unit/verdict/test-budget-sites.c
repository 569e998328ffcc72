/* SPDX-License-Identifier: BSD-2-Clause */
/* Budgets at a site: what is counted, and when what is not known makes a verdict impossible. */
#include <string.h>

#include "engine/script/script.h"
#include "test.h"
#include "verdict/analysis.h"

/* 10 calls of f, 4 of g, 3 whose caller nobody knows, 2 of the loader. */
#define SCRIPT \
	"task 100 launched exe=/bin/sh cwd=/w\n" \
	"exec 100 /bin/p \"p\" base=700000\n" \
	"map 100 700000-702000 r-xp 0 /lib/ld.so\n" \
	"map 100 400000-402000 r-xp 0 /bin/p\n" \
	"map 100 800000-802000 r-xp 0 /lib/libc.so.6\n" \
	"100 execve(\"/bin/p\", _, _) = 0\n" \
	"repeat 2 i {\n100 getgid() = 1 ip=700010\n}\n" \
	"repeat 10 i {\n100 getgid() = 1 ip=800010 caller=400020\n}\n" \
	"repeat 4 i {\n100 getgid() = 1 ip=800010 caller=400040\n}\n" \
	"repeat 3 i {\n100 getgid() = 1 ip=800010 caller=400060\n}\n" \
	"100 getuid() = 1 ip=800010 caller=400060\n" \
	"exit 100 0\n"

static struct model *the_model;

static void nothing_taken(void *data, struct model *model, const struct model_view *view, uint32_t site)
{
	(void)data;
	(void)model;
	(void)view;
	(void)site;
}

static void nothing_wanted(void *data, uint32_t site)
{
	(void)data;
	(void)site;
}

static void resolve(void *data, struct model *model)
{
	(void)data;
	the_model = model;
}

static const struct frames *frames_of(const void *data, uint32_t site)
{
	static const struct frame f[] = { { .module = "/lib/libc.so.6", .offset = 16, .symbol = "getgid" },
					  { .module = "/bin/p", .offset = 32, .symbol = "f" } },
				  g[] = { { .module = "/lib/libc.so.6", .offset = 16, .symbol = "getgid" },
					  { .module = "/bin/p", .offset = 64, .symbol = "g" } };
	static const struct frames of_f = { .at = f, .count = 2, .outer = 1, .program = 1, .whole = true },
				   of_g = { .at = g, .count = 2, .outer = 1, .program = 1, .whole = true };
	const struct model_site *known = model_site_at(the_model, site);

	(void)data;
	if (!known)
		return NULL;
	return known->caller_offset == 32 ? &of_f : known->caller_offset == 64 ? &of_g : NULL;
}

static const char *no_trouble(const void *data)
{
	(void)data;
	return NULL;
}

static const struct analysis_stacks stacks = {
	.take = nothing_taken, .want = nothing_wanted, .resolve = resolve, .frames = frames_of, .trouble = no_trouble
};

static void expect(enum budget_kind kind, const char *text, const struct analysis_stacks *with, bool lost,
		   enum budget_state state, double seen, const char *why)
{
	struct budgets budgets = BUDGETS_INIT;
	struct analysis_spec spec = { .prices = price_book_new_fixed(NULL, 0, 1000),
				      .budgets = &budgets,
				      .stacks = with };
	struct analysis_facts facts = { .engine = "script", .wall_ns = 1000000, .exit_known = true };
	struct engine_spec engine_spec = { 0 };
	const struct budget_verdict *verdict;
	struct check check = CHECK_INIT;
	const struct event_head *head;
	struct analysis *analysis;
	struct engine_stats stats;
	struct engine *engine;
	struct error err = { 0 };

	assert_int_equal(budgets_add(&budgets, kind, text, BUDGET_FROM_COMMAND_LINE, &err), 0);
	assert_true(budgets_need_sites(&budgets));
	assert_int_equal(budgets_ready(&budgets, &err), 0);
	assert_int_equal(analysis_new(&spec, &analysis, &err), 0);
	assert_int_equal(script_open(SCRIPT, strlen(SCRIPT), "script", &engine_spec, &engine, &err), 0);
	while (engine_script.next(engine, &head, &err) == ENGINE_RECORD)
		assert_int_equal(analysis_feed(analysis, head), 0);
	engine_script.stats(engine, &stats);
	facts.seen = stats.seen + lost;
	facts.delivered = stats.delivered;
	facts.lost = lost;
	assert_int_equal(analysis_finish(analysis, &facts, &err), 0);
	assert_int_equal(budgets_take(&budgets, analysis_result(analysis), 0), 0);
	assert_int_equal(budgets_judge(&budgets, &check), 0);
	verdict = &check.budgets[0];
	if (verdict->state != state || verdict->seen != seen || (why && (!verdict->why || !strstr(verdict->why, why))))
		fail_msg("%s: %s, %g, '%s'", text, budget_state_name(verdict->state), verdict->seen,
			 verdict->why ? verdict->why : "");
	if (state == BUDGET_BROKEN && kind == BUDGET_MAX)
		assert_true(verdict->top_count > 0 && verdict->top[0].site);
	engine_script.stop(engine);
	analysis_free(analysis);
	check_done(&check);
	budgets_done(&budgets);
}

static void counted(void **state)
{
	expect(BUDGET_MAX, "getgid at site p:f=9", &stacks, false, BUDGET_BROKEN, 10, NULL);
	expect(BUDGET_MIN, "getgid at site p:f=10", &stacks, false, BUDGET_OK, 10, NULL);
	expect(BUDGET_MAX, "getgid at site p:?=13", &stacks, false, BUDGET_BROKEN, 14, NULL);
	expect(BUDGET_MAX, "getgid at site libc.so.6=16", &stacks, false, BUDGET_BROKEN, 17, NULL);
	/* Nobody called the loader. */
	expect(BUDGET_MAX, "getgid at site ld.so=1", &stacks, false, BUDGET_BROKEN, 2, NULL);
	expect(BUDGET_MAX, "getuid at site ld.so=1", &stacks, false, BUDGET_NOT_EXERCISED, 0, NULL);
}

static void unknown(void **state)
{
	/* Three calls may be there or not: 10 to 13. */
	expect(BUDGET_MAX, "getgid at site p:f=13", &stacks, false, BUDGET_OK, 10, NULL);
	expect(BUDGET_MAX, "getgid at site p:f=12", &stacks, false, BUDGET_CANNOT_JUDGE, 10, "where 3 of the calls");
	expect(BUDGET_MAX, "getgid at site p:f=10", &stacks, false, BUDGET_CANNOT_JUDGE, 10, "where 3 of the calls");
	expect(BUDGET_MIN, "getgid at site p:f=13", &stacks, false, BUDGET_CANNOT_JUDGE, 10, "where 3 of the calls");
	expect(BUDGET_MIN, "getgid at site p:f=14", &stacks, false, BUDGET_BROKEN, 10, NULL);
	expect(BUDGET_CANARY, "getgid at site p:f", &stacks, false, BUDGET_OK, 10, NULL);
	expect(BUDGET_MAX, "getgid at site p:none=0", &stacks, false, BUDGET_CANNOT_JUDGE, 0, "where 3 of the calls");
}

static void never_silent(void **state)
{
	expect(BUDGET_MAX, "getgid at site p:f=100", NULL, false, BUDGET_CANNOT_JUDGE, 0, "without libdw");
	/* Whose call was lost nobody knows. */
	expect(BUDGET_MAX, "getgid at site p:f=100", &stacks, true, BUDGET_CANNOT_JUDGE, 10, "not complete");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted),
		cmocka_unit_test(unknown),
		cmocka_unit_test(never_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
