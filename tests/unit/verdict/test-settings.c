/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of rules as configurations give them: units, mistakes, and that a
 * rule goes by them. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "verdict/analysis.h"
#include "verdict/judge.h"

static const struct rule_limit limits[] = {
	{ "calls", RULE_COUNT, 64, "" },
	{ "size", RULE_BYTES, 4096, "" },
	{ "gap", RULE_NS, 500000000, "" },
	{ "share", RULE_PERCENT, 50, "" },
	{ 0 },
};
static const struct rule rule = { .id = "some-rule", .limits = limits };

static void values_have_their_units(void **state)
{
	static const struct {
		const char *key, *value;
		uint64_t is;
	} rows[] = {
		{ "calls", "0", 0 },
		{ "calls", "64", 64 },
		{ "calls", "4,096", 4096 },
		{ "calls", "1,000,000", 1000000 },
		{ "size", "1 B", 1 },
		{ "size", "4 KiB", 4096 },
		{ "size", "4KiB", 4096 },
		{ "size", "3 MiB", 3 << 20 },
		{ "size", "512 GiB", UINT64_C(1) << 39 },
		{ "gap", "500 ms", 500000000 },
		{ "gap", "1.5us", 1500 },
		{ "gap", "0 s", 0 },
		{ "share", "0 %", 0 },
		{ "share", "100%", 100 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct settings settings = { 0 };
		struct error err = { 0 };
		size_t n = 0;

		while (strcmp(limits[n].name, rows[i].key) != 0)
			n++;
		if (settings_set(&settings, &rule, rows[i].key, rows[i].value, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(settings_limit(&settings, &rule, n) == rows[i].is);
		assert_true(settings_limit(NULL, &rule, n) == limits[n].value);
		settings_done(&settings);
	}
}

static void what_is_wrong_is_said(void **state)
{
	static const char *const rows[][3] = {
		{ "calls", "", "is no count" },
		{ "calls", "-1", "is no count" },
		{ "calls", "1.5", "is no count" },
		{ "calls", "1,00", "is no count" },
		{ "calls", "1,0000", "is no count" },
		{ "calls", ",1", "is no count" },
		{ "calls", "1000,000", "is no count" },
		{ "calls", "1k", "is no count" },
		{ "calls", "64 %", "is no count" },
		{ "calls", "18446744073709551617", "is no count" },
		{ "size", "4096", "needs a unit" },
		{ "size", "4 kB", "is no size" },
		{ "size", "x", "is no size" },
		{ "size", "99999999999 GiB", "is no size" },
		{ "size", "4 KiB x", "is no size" },
		{ "gap", "500", "needs a unit" },
		{ "gap", "500 min", "is no time" },
		{ "gap", "1ms,2ms", "is no time" },
		{ "share", "50", "is no percentage" },
		{ "share", "101 %", "is no percentage" },
		{ "share", "% 5", "is no percentage" },
		{ "floor", "1%", "a time is missing" },
		{ "cals", "1", "no limit 'cals'; did you mean 'calls'?" },
		{ "floo", "1", "did you mean 'floor'?" },
		{ "threshold", "1", "there are calls, size, gap, share, floor" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct settings settings = { 0 };
		struct error err = { 0 };

		assert_int_equal(settings_set(&settings, &rule, rows[i][0], rows[i][1], &err), -EINVAL);
		if (!strstr(err.text, rows[i][2]))
			fail_msg("%s = %s: %s", rows[i][0], rows[i][1], err.text);
		assert_int_equal(settings.items.used, 0);
	}
}

static void a_limit_is_set_once(void **state)
{
	struct settings settings = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(settings_set(&settings, &rule, "calls", "1", NULL), 0);
	assert_int_equal(settings_set(&settings, &rule, "floor", "1%,1us", NULL), 0);
	assert_int_equal(settings_set(&settings, &rule, "calls", "2", &err), -EEXIST);
	assert_non_null(strstr(err.text, "set twice"));
	assert_int_equal(settings_set(&settings, &rule, "floor", "2%,1us", NULL), -EEXIST);
	settings_done(&settings);
}

static void printed_values_are_read_again(void **state)
{
	static const uint64_t values[] = { 0, 1, 64, 100, 1000, 1024, 4096, 999999, 1000000, 1 << 20, 1500000000 };

	(void)state;
	for (size_t n = 0; limits[n].name; n++) {
		for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
			struct settings settings = { 0 };
			struct buf buf = BUF_INIT;

			if (limits[n].unit == RULE_PERCENT && values[i] > 100)
				continue;
			settings_print(&buf, limits[n].unit, values[i]);
			assert_int_equal(settings_set(&settings, &rule, limits[n].name, buf_text(&buf), NULL), 0);
			assert_true(settings_limit(&settings, &rule, n) == values[i]);
			settings_done(&settings);
			buf_done(&buf);
		}
	}
}

static void rules_are_named(void **state)
{
	struct error err = { 0 };

	(void)state;
	assert_ptr_equal(settings_rule("fd-sweep", NULL), rule_by_id("fd-sweep"));
	assert_null(settings_rule("fd-sweeep", &err));
	assert_non_null(strstr(err.text, "did you mean 'fd-sweep'?"));
	err = (struct error){ 0 };
	assert_null(settings_rule("", &err));
	assert_non_null(strstr(err.text, "'syscull rules' lists them"));
}

/* One finding that saves 10 us of 1 ms. */
static bool is_worth(const struct settings *settings)
{
	struct analysis_result result = { .complete = true, .task_ns = 1e6, .settings = settings };
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, &rule, FINDING_CERTAIN);
	bool worth;

	(void)finding_add_cost(finding, CALL_getpid, 0, 100, NULL);
	finding_remedy_saves_all(finding_add_remedy(finding, REMEDY_SOURCE), finding);
	result.prices = price_book_new_fixed(NULL, 0, 100);
	result.floor = JUDGE_FLOOR_DEFAULT;
	assert_int_equal(judge_findings(&result, &list), 0);
	worth = result.findings[0].worth;
	judge_done(&result);
	finding_list_done(&list);
	price_book_free(result.prices);
	return worth;
}

static void a_rule_has_a_floor_of_its_own(void **state)
{
	struct settings settings = { 0 };

	(void)state;
	assert_false(is_worth(NULL));
	assert_false(is_worth(&settings));
	assert_int_equal(settings_set(&settings, rule_by_id("fd-sweep"), "floor", "0%,1us", NULL), 0);
	assert_false(is_worth(&settings));
	assert_int_equal(settings_set(&settings, &rule, "floor", "0%,1us", NULL), 0);
	assert_true(is_worth(&settings));
	settings_done(&settings);
}

static void feed_closes(struct analysis *analysis, int count)
{
	for (int fd = 0; fd < count; fd++) {
		struct buf buf = BUF_INIT;
		struct event_call *call = event_begin(&buf, EVENT_CALL);

		call->head.pid = call->head.tid = 10;
		call->head.time_ns = 1000 + (uint64_t)fd;
		call->arch = SYS_ARCH_NATIVE;
		call->nr = sys_call_nr(SYS_ARCH_NATIVE, CALL_close);
		call->ret = -EBADF;
		call->args[0] = (uint64_t)fd + 100;
		assert_int_equal(analysis_feed(analysis, event_end(&buf)), 0);
		buf_done(&buf);
	}
}

static size_t sweeps_found(const struct settings *settings, int count)
{
	static const char *const only[] = { "fd-sweep", NULL };
	struct analysis_spec spec = { .only_rules = only,
				      .prices = price_book_new_fixed(NULL, 0, 100),
				      .settings = settings };
	struct analysis_facts facts = { .seen = (uint64_t)count, .delivered = (uint64_t)count };
	struct analysis *analysis = NULL;
	struct buf buf = BUF_INIT;
	struct event_task *task;
	size_t found;

	assert_int_equal(analysis_new(&spec, &analysis, NULL), 0);
	task = event_begin(&buf, EVENT_TASK);
	task->head.pid = task->head.tid = 10;
	assert_int_equal(analysis_feed(analysis, event_end(&buf)), 0);
	buf_done(&buf);
	feed_closes(analysis, count);
	assert_int_equal(analysis_finish(analysis, &facts, NULL), 0);
	found = analysis_result(analysis)->finding_count;
	analysis_free(analysis);
	return found;
}

static void rules_go_by_them(void **state)
{
	struct settings settings = { 0 };

	(void)state;
	assert_int_equal(sweeps_found(NULL, 63), 0);
	assert_int_equal(sweeps_found(NULL, 64), 1);
	assert_int_equal(settings_set(&settings, rule_by_id("fd-sweep"), "calls", "10", NULL), 0);
	assert_int_equal(sweeps_found(&settings, 9), 0);
	assert_int_equal(sweeps_found(&settings, 10), 1);
	settings_done(&settings);
}

/* The least and the most of every limit of every rule. */
static void no_value_breaks_a_rule(void **state)
{
	static const char *const least[] = { "0", "0 B", "0 s", "0 %" };
	static const char *const most[] = { "1000000000000", "900 GiB", "1000000 s", "100 %" };

	(void)state;
	for (size_t i = 0; rule_list[i]; i++) {
		for (int which = 0; which < 2; which++) {
			struct settings settings = { 0 };

			for (const struct rule_limit *limit = rule_list[i]->limits; limit && limit->name; limit++)
				assert_int_equal(settings_set(&settings, rule_list[i], limit->name,
							      (which ? most : least)[limit->unit], NULL),
						 0);
			(void)sweeps_found(&settings, 200);
			settings_done(&settings);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_have_their_units), cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(a_limit_is_set_once),	   cmocka_unit_test(printed_values_are_read_again),
		cmocka_unit_test(rules_are_named),	   cmocka_unit_test(a_rule_has_a_floor_of_its_own),
		cmocka_unit_test(rules_go_by_them),	   cmocka_unit_test(no_value_breaks_a_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
