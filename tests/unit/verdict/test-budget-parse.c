/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of budgets: what is understood, what is refused and what is said then. */
#include "verdict/budget.h"

#include <errno.h>
#include <string.h>

#include "test.h"

static struct budget *added(struct budgets *budgets, enum budget_kind kind, const char *text)
{
	struct error err = { 0 };

	if (budgets_add(budgets, kind, text, BUDGET_FROM_COMMAND_LINE, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return &budgets->items.at[budgets->items.used - 1];
}

static void good_ones(void **state)
{
	static const struct {
		enum budget_kind kind;
		const char *text, *what;
		double limit;
		enum budget_measure measure;
	} rows[] = {
		{ BUDGET_MAX, "@xattr=3", "@xattr", 3, BUDGET_COUNT },
		{ BUDGET_MAX, "  @xattr <= 3 ", "@xattr", 3, BUDGET_COUNT },
		{ BUDGET_MAX, "@xattr<3", "@xattr", 2, BUDGET_COUNT },
		{ BUDGET_MAX, "getxattr+lgetxattr=0", "getxattr+lgetxattr", 0, BUDGET_COUNT },
		{ BUDGET_MAX, "close:EBADF=0", "close:EBADF", 0, BUDGET_COUNT },
		{ BUDGET_MAX, "%file=9007199254740992", "%file", 9007199254740992.0, BUDGET_COUNT },
		{ BUDGET_MAX, "total=5000", "total", 5000, BUDGET_COUNT },
		{ BUDGET_MAX, "fd-sweep=0", "fd-sweep", 0, BUDGET_COUNT },
		{ BUDGET_MAX, "fd-sweep:worth+brk-churn=0", "fd-sweep:worth+brk-churn", 0, BUDGET_COUNT },
		{ BUDGET_MAX, "call_480=0", "call_480", 0, BUDGET_COUNT },
		{ BUDGET_MIN, "read>=1", "read", 1, BUDGET_COUNT },
		{ BUDGET_MIN, "read>1", "read", 2, BUDGET_COUNT },
		{ BUDGET_MIN, "read=1", "read", 1, BUDGET_COUNT },
		{ BUDGET_CANARY, "@stat>=100", "@stat", 100, BUDGET_COUNT },
		{ BUDGET_CANARY, "@stat", "@stat", 1, BUDGET_COUNT },
		{ BUDGET_MAX, "@stat per item=1.5", "@stat per item", 1.5, BUDGET_PER_ITEM },
		{ BUDGET_MAX, "@stat fixed<=60", "@stat fixed", 60, BUDGET_FIXED },
		{ BUDGET_MAX, "@stat in program ls=1", "@stat in program ls", 1, BUDGET_COUNT },
		{ BUDGET_MAX, "@stat in region a=b>c in region d=1", "@stat in region a=b>c in region d", 1,
		  BUDGET_COUNT },
		{ BUDGET_MAX, "@stat per item in program /bin/ls in region x=1",
		  "@stat per item in program /bin/ls in region x", 1, BUDGET_PER_ITEM },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct budgets budgets = BUDGETS_INIT;
		const struct budget *budget = added(&budgets, rows[i].kind, rows[i].text);

		assert_string_equal(budget->what, rows[i].what);
		assert_true(budget->limit == rows[i].limit);
		assert_int_equal(budget->measure, rows[i].measure);
		budgets_done(&budgets);
	}
}

static void parts(void **state)
{
	struct budgets budgets = BUDGETS_INIT;
	const struct budget *budget;

	(void)state;
	budget = added(&budgets, BUDGET_MAX, "@stat per item in program /bin/ls in region tests/a.py::b[1]=1");
	assert_string_equal(budget->calls, "@stat");
	assert_string_equal(budget->program, "/bin/ls");
	assert_string_equal(budget->region, "tests/a.py::b[1]");
	assert_null(budget->site);
	budget = added(&budgets, BUDGET_MAX, "@stat at site */libx.so.1:operator==(a, b) in region one=2");
	assert_string_equal(budget->site, "*/libx.so.1:operator==(a, b)");
	assert_string_equal(budget->region, "one");
	assert_null(budget->program);
	budget = added(&budgets, BUDGET_MIN, "@stat in program ls at site ls+0x171cc>=2");
	assert_string_equal(budget->site, "ls+0x171cc");
	assert_string_equal(budget->program, "ls");
	assert_string_equal(budget->what, "@stat in program ls at site ls+0x171cc");
	budget = added(&budgets, BUDGET_MAX, "close:EBADF+@xattr=0");
	assert_int_equal(budget->terms.used, 2);
	assert_int_equal(budget->terms.at[0].err, EBADF);
	assert_true(sys_expr_has(&budget->terms.at[0].calls, CALL_close));
	assert_false(sys_expr_has(&budget->terms.at[0].calls, CALL_close_range));
	assert_false(budget->terms.at[0].family);
	assert_int_equal(budget->terms.at[1].err, 0);
	assert_true(sys_expr_has(&budget->terms.at[1].calls, CALL_listxattrat));
	assert_true(budget->terms.at[1].family);
	budget = added(&budgets, BUDGET_MAX, "fd-sweep:worth=0");
	assert_int_equal(budget->rules.used, 1);
	assert_true(budget->rules.at[0].worth);
	assert_false(budget->total);
	assert_true(added(&budgets, BUDGET_MAX, "total=1")->total);
	assert_false(added(&budgets, BUDGET_MAX, "total:ENOENT=1")->total);
	budgets_done(&budgets);
}

static void bad_ones(void **state)
{
	static const struct {
		enum budget_kind kind;
		const char *text, *said;
	} rows[] = {
		{ BUDGET_MAX, "", "has no number" },
		{ BUDGET_MAX, "=3", "a name is missing" },
		{ BUDGET_MAX, "@xattr at site =3", "is not understood" },
		{ BUDGET_MAX, "@xattr at site  in region x=3", "is not understood" },
		{ BUDGET_MAX, "@xattr in site x=3", "'at site PATTERN'" },
		{ BUDGET_MAX, "@xattr", "write '@xattr=0'" },
		{ BUDGET_MAX, "@xattr=", "is no number" },
		{ BUDGET_MAX, "@xattr=x", "'x' is no number" },
		{ BUDGET_MAX, "@xattr=-1", "'-1' is no number" },
		{ BUDGET_MAX, "@xattr=1e3", "'1e3' is no number" },
		{ BUDGET_MAX, "@xattr=1,000", "'1,000' is no number" },
		{ BUDGET_MAX, "@xattr=1.5", "whole numbers" },
		{ BUDGET_MAX, "@xattr=1.", "is no number" },
		{ BUDGET_MAX, "@xattr=99999999999999999999", "too large" },
		{ BUDGET_MAX, "@xattr==3", "'==' is no comparison" },
		{ BUDGET_MAX, "@xattr=<3", "'=<' is no comparison" },
		{ BUDGET_MAX, "@xattr>=3", "--max is the most that is allowed: '@xattr<=3'" },
		{ BUDGET_MIN, "@xattr<=3", "--min is the least that is wanted: '@xattr>=3'" },
		{ BUDGET_CANARY, "@stat<100", "--canary is the least" },
		{ BUDGET_MAX, "@xattr<0", "nothing is less than 0" },
		{ BUDGET_MAX, "getxatr=3", "no call 'getxatr'; did you mean 'getxattr'?" },
		{ BUDGET_MAX, "@xatr=3", "no family '@xatr'; did you mean '@xattr'?" },
		{ BUDGET_MAX, "%fil=3", "no class '%fil'; did you mean '%file'?" },
		{ BUDGET_MAX, "fd-swep=0", "no rule 'fd-swep'; did you mean 'fd-sweep'?" },
		{ BUDGET_MAX, "no-such-thing=0", "no rule 'no-such-thing'; 'syscull rules' lists them" },
		{ BUDGET_MAX, "frobnicate=0", "there is no call 'frobnicate'" },
		{ BUDGET_MAX, "close:EBADFF=0", "no such errno" },
		{ BUDGET_MAX, "close:ebadf=0", "did you mean 'close:EBADF'?" },
		{ BUDGET_MAX, "close:worth=0", "only a rule has findings" },
		{ BUDGET_MAX, "fd-sweep:EBADF=0", "only ':worth'" },
		{ BUDGET_MAX, "close:=0", "a name is missing" },
		{ BUDGET_MAX, "read+=3", "a name is missing" },
		{ BUDGET_MAX, "+read=3", "a name is missing" },
		{ BUDGET_MAX, "read++write=3", "a name is missing" },
		{ BUDGET_MAX, "read,write=3", "joined by '+'" },
		{ BUDGET_MAX, "!read=3", "names no call" },
		{ BUDGET_MAX, "?reed=3", "names no call" },
		{ BUDGET_MAX, "none=3", "names no call" },
		{ BUDGET_MAX, "0=3", "names no call" },
		{ BUDGET_MAX, "trace=read=3", "names no call" },
		{ BUDGET_MAX, "read write=3", "after the calls comes" },
		{ BUDGET_MAX, "read in programme ls=3", "after the calls comes" },
		{ BUDGET_MAX, "read in region =3", "after the calls comes" },
		{ BUDGET_MAX, "read+fd-sweep=3", "make it two budgets" },
		{ BUDGET_MAX, "fd-sweep in region x=3", "not of a region" },
		{ BUDGET_CANARY, "fd-sweep>=1", "rules find waste" },
		{ BUDGET_CANARY, "read per item>=1", "met in every run" },
		{ BUDGET_MAX, "read per item<1", "write <=" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct budgets budgets = BUDGETS_INIT;
		struct error err = { 0 };
		int r = budgets_add(&budgets, rows[i].kind, rows[i].text, BUDGET_FROM_COMMAND_LINE, &err);

		if (r >= 0 || !strstr(err.text, rows[i].said))
			fail_msg("'%s': %d, '%s'; wanted '%s'", rows[i].text, r, err.text, rows[i].said);
		assert_int_equal(budgets.items.used, 0);
		budgets_done(&budgets);
	}
}

static int ready(const char *const *texts, bool per_item, struct error *err)
{
	struct budgets budgets = BUDGETS_INIT;
	int r;

	budgets.per_item = per_item;
	for (; *texts; texts++) {
		enum budget_kind kind = **texts == 'M' ? BUDGET_MAX : **texts == 'm' ? BUDGET_MIN : BUDGET_CANARY;

		(void)added(&budgets, kind, *texts + 1);
	}
	r = budgets_ready(&budgets, err);
	budgets_done(&budgets);
	return r;
}

static void contradictions(void **state)
{
	static const struct {
		const char *texts[4];
		const char *said; /* NULL: they go together */
	} rows[] = {
		{ { "M@xattr=3", "m@xattr=3" }, NULL },
		{ { "M@xattr=3", "m@xattr=4" }, "nothing can be both: --max '@xattr=3' and --min '@xattr>=4'" },
		{ { "c@xattr>=4", "M@xattr=3" }, "nothing can be both" },
		{ { "Mtotal=3", "mread=4" }, "nothing can be both" },
		{ { "M@xattr=3", "mgetxattr=4" }, "nothing can be both" },
		{ { "M@xattr=3", "mgetxattr+read=4" }, NULL },
		{ { "Mclose=3", "mclose:EBADF=4" }, "nothing can be both" },
		{ { "Mclose:EBADF=3", "mclose=4" }, NULL },
		{ { "Mread in region a=3", "mread=4" }, NULL },
		{ { "Mread=3", "mread in region a=4" }, "nothing can be both" },
		{ { "Mread in program a=3", "mread in program b=4" }, NULL },
		{ { "Mfd-sweep=3", "mfd-sweep=4" }, "nothing can be both" },
		{ { "M@xattr=3", "M@xattr=4" }, "--max '@xattr' is given twice, as 3 and as 4" },
		{ { "M@xattr=3", "M@xattr<=3" }, NULL },
		{ { "Mread per item=3" }, "needs --per-item" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct error err = { 0 };
		int r = ready(rows[i].texts, false, &err);

		if (rows[i].said ? r >= 0 || !strstr(err.text, rows[i].said) : r < 0)
			fail_msg("%s, %s: %d, '%s'", rows[i].texts[0], rows[i].texts[1], r, err.text);
	}
}

static void slopes_want_to_know_which(void **state)
{
	struct error err = { 0 };

	(void)state;
	assert_int_equal(
		ready((const char *const[]){ "Mread per item=3", "Mread fixed=3", "c@stat", NULL }, true, &err), 0);
	assert_int_equal(ready((const char *const[]){ "Mread=3", NULL }, true, &err), -EINVAL);
	assert_string_equal(err.text, "'read': with --per-item say 'read per item' or 'read fixed'");
}

/* What was said on the command line counts, in whichever order it came. */
static void command_line_over_file(void **state)
{
	struct error err = { 0 };

	(void)state;
	for (int order = 0; order < 2; order++) {
		struct budgets budgets = BUDGETS_INIT;

		for (int i = 0; i < 2; i++) {
			enum budget_origin origin = i == order ? BUDGET_FROM_FILE : BUDGET_FROM_COMMAND_LINE;

			assert_int_equal(
				budgets_add(&budgets, BUDGET_MAX, i == order ? "read=1" : "read=2", origin, &err), 0);
			assert_int_equal(
				budgets_add(&budgets, BUDGET_MAX, i == order ? "write=1" : "open=2", origin, &err), 0);
		}
		assert_int_equal(budgets_ready(&budgets, &err), 0);
		assert_int_equal(budgets.items.used, 3);
		assert_string_equal(budgets.items.at[0].what, "read");
		assert_true(budgets.items.at[0].limit == 2);
		budgets_done(&budgets);
	}
}

static bool in_scope(const uint64_t *calls, enum sys_call_id id)
{
	return calls[id >> 6] >> (id & 63) & 1;
}

static void scope_is_what_was_named(void **state)
{
	struct budgets budgets = BUDGETS_INIT;
	struct error err = { 0 };
	uint64_t calls[SYS_EXPR_WORDS];
	bool regions;

	(void)state;
	assert_false(budgets_scope(&budgets, calls, &regions));
	(void)added(&budgets, BUDGET_MAX, "close:EBADF=0");
	(void)added(&budgets, BUDGET_CANARY, "@stat>=1");
	assert_int_equal(budgets_ready(&budgets, &err), 0);
	assert_true(budgets_scope(&budgets, calls, &regions));
	assert_false(regions);
	assert_true(in_scope(calls, CALL_close));
	assert_true(in_scope(calls, CALL_statx));
	assert_false(in_scope(calls, CALL_read));
	(void)added(&budgets, BUDGET_MAX, "read in region a=0");
	assert_int_equal(budgets_ready(&budgets, &err), 0);
	assert_true(budgets_scope(&budgets, calls, &regions));
	assert_true(regions);
	assert_true(in_scope(calls, CALL_read));
	(void)added(&budgets, BUDGET_MAX, "total=100");
	assert_false(budgets_scope(&budgets, calls, &regions));
	budgets_done(&budgets);
	budgets = BUDGETS_INIT;
	(void)added(&budgets, BUDGET_MAX, "read=0");
	(void)added(&budgets, BUDGET_MAX, "fd-sweep=0");
	assert_false(budgets_scope(&budgets, calls, &regions));
	assert_true(budgets_need_rules(&budgets));
	budgets_done(&budgets);
}

static void there_are_at_most(void **state)
{
	struct budgets budgets = BUDGETS_INIT;
	struct error err = { 0 };
	char text[64];

	(void)state;
	for (int i = 0; i < BUDGETS_MAX; i++) {
		(void)snprintf(text, sizeof text, "read in region %d=1", i);
		(void)added(&budgets, BUDGET_MAX, text);
	}
	assert_int_equal(budgets_add(&budgets, BUDGET_MAX, "read=1", BUDGET_FROM_COMMAND_LINE, &err), -E2BIG);
	assert_int_equal(budgets_ready(&budgets, &err), 0);
	budgets_done(&budgets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_ones),
		cmocka_unit_test(parts),
		cmocka_unit_test(bad_ones),
		cmocka_unit_test(contradictions),
		cmocka_unit_test(slopes_want_to_know_which),
		cmocka_unit_test(command_line_over_file),
		cmocka_unit_test(scope_is_what_was_named),
		cmocka_unit_test(there_are_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
