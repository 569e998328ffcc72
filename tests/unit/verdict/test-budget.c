/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting and judging: scripted runs against budgets, and every reason why they cannot be judged. */
#include "verdict/budget.h"

#include <errno.h>
#include <string.h>

#include "test.h"

#include "scripted.h"

/* One check: budgets as "Mread=3", "mread=3", "cread>=3". */
struct world {
	struct budgets budgets;
	struct check check;
	void (*facts)(struct analysis_facts *facts); /* what else is known of the run; NULL nothing */
};

static void add(struct world *world, const char *text)
{
	enum budget_kind kind = *text == 'M' ? BUDGET_MAX : *text == 'm' ? BUDGET_MIN : BUDGET_CANARY;
	struct error err = { 0 };

	if (budgets_add(&world->budgets, kind, text + 1, BUDGET_FROM_COMMAND_LINE, &err) < 0)
		fail_msg("%s: %s", text, err.text);
}

static void run(struct world *world, const char *script, uint64_t item)
{
	struct error err = { 0 };
	struct analysis *analysis;

	assert_int_equal(budgets_ready(&world->budgets, &err), 0);
	analysis = scripted(script, &world->budgets, world->facts);
	assert_int_equal(budgets_take(&world->budgets, analysis_result(analysis), item), 0);
	analysis_free(analysis);
}

static enum check_state conclude(struct world *world)
{
	assert_int_equal(budgets_judge(&world->budgets, &world->check), 0);
	check_conclude(&world->check);
	return world->check.state;
}

static void done(struct world *world)
{
	check_done(&world->check);
	budgets_done(&world->budgets);
}

/* The one budget of a run. */
static void expect(const char *script, const char *budget, enum budget_state state, double seen, const char *why)
{
	static const enum check_state states[] = { CHECK_PASSED, CHECK_FAILED, CHECK_PASSED, CHECK_CANNOT_JUDGE };
	struct world world = { 0 };
	const struct budget_verdict *verdict;
	enum check_state found;

	add(&world, budget);
	run(&world, script, 0);
	found = conclude(&world);
	verdict = &world.check.budgets[0];
	if (found != states[state] || verdict->state != state || !verdict->seen_known || verdict->seen != seen ||
	    (why && (world.check.reasons.used == 0 || !strstr(world.check.reasons.at[0], why))))
		fail_msg("%s: %s, %s, %g, '%s'", budget, check_state_name(found), budget_state_name(verdict->state),
			 verdict->seen, world.check.reasons.used ? world.check.reasons.at[0] : "");
	done(&world);
}

#define SCRIPT \
	"task 100 exe=/bin/ls cwd=/tmp\n" \
	"repeat 5 i {\n" \
	"  100 lgetxattr(\"d/f{i}\", \"security.selinux\", _, 255) = -1 ENODATA\n" \
	"}\n" \
	"100 getxattr(\"d\", \"a\", _, 255) = 3\n" \
	"100 statx(AT_FDCWD, \"d\", 0, 0, _) = 0\n" \
	"100 close(3) = 0\n" \
	"100 close(4) = -1 EBADF\n" \
	"fork 100 101\n" \
	"exec 101 /usr/bin/sort \"sort\"\n" \
	"101 close(9) = -1 EBADF\n" \
	"101 call_480() = -1 ENOSYS\n" \
	"exit 101 0\n" \
	"100 access(\"/.syscull/mark/one\", 0) = -1 ENOENT\n" \
	"100 close(5) = 0\n" \
	"100 access(\"/.syscull/mark/two\", 0) = -1 ENOENT\n" \
	"100 close(6) = 0\n" \
	"100 close(7) = 0\n" \
	"100 access(\"/.syscull/mark/one\", 0) = -1 ENOENT\n" \
	"100 close(8) = -1 EBADF\n" \
	"exit 100 0\n"

static void counts(void **state)
{
	static const struct {
		const char *calls;
		double seen;
	} rows[] = {
		{ "@xattr", 6 },
		{ "lgetxattr", 5 },
		{ "getxattr+lgetxattr", 6 },
		{ "@xattr+lgetxattr", 6 }, /* no call counts twice */
		{ "@xattr:ENODATA", 5 },
		{ "close", 7 },
		{ "close:EBADF", 3 },
		{ "@close:EBADF+close:EBADF", 3 },
		{ "lgetxattr:ENODATA+close:EBADF", 8 },
		{ "call_480", 1 },
		{ "close in program ls", 6 },
		{ "close in program /bin/ls", 6 },
		{ "close in program sort", 1 },
		{ "close in region one", 2 },
		{ "close in region two", 2 },
		{ "close:EBADF in program ls in region one", 1 },
	};
	char budget[128];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		(void)snprintf(budget, sizeof budget, "M%s=%.0f", rows[i].calls, rows[i].seen);
		expect(SCRIPT, budget, BUDGET_OK, rows[i].seen, NULL);
		(void)snprintf(budget, sizeof budget, "M%s=%.0f", rows[i].calls, rows[i].seen - 1);
		expect(SCRIPT, budget, BUDGET_BROKEN, rows[i].seen, "at most");
		(void)snprintf(budget, sizeof budget, "m%s=%.0f", rows[i].calls, rows[i].seen);
		expect(SCRIPT, budget, BUDGET_OK, rows[i].seen, NULL);
		(void)snprintf(budget, sizeof budget, "m%s=%.0f", rows[i].calls, rows[i].seen + 1);
		expect(SCRIPT, budget, BUDGET_BROKEN, rows[i].seen, "at least");
	}
	/* Marks are no calls: the three looks at them are in no count. */
	expect(SCRIPT, "Maccess=0", BUDGET_NOT_EXERCISED, 0, NULL);
	expect(SCRIPT, "Mread=0", BUDGET_NOT_EXERCISED, 0, NULL);
	expect(SCRIPT, "c@stat>=1", BUDGET_OK, 1, NULL);
	expect(SCRIPT, "c@stat>=2", BUDGET_CANNOT_JUDGE, 1, "canary @stat: 1, at least 2");
	expect(SCRIPT, "Mread in region three=0", BUDGET_CANNOT_JUDGE, 0, "no region 'three' began");
	expect(SCRIPT, "Mread in program cat=0", BUDGET_CANNOT_JUDGE, 0, "no program 'cat' ran");
	/* It ran and made none of them. */
	expect(SCRIPT, "Mread in program sort=0", BUDGET_NOT_EXERCISED, 0, NULL);
}

static void total(void **state)
{
	(void)state;
	expect("task 100 exe=/bin/true\n100 close(3) = 0\n100 call_480() = 0\nexit 100 0\n", "Mtotal=2", BUDGET_OK, 2,
	       NULL);
}

static void strict(void **state)
{
	struct world world = { 0 };

	(void)state;
	world.budgets.strict = true;
	add(&world, "Mread=3");
	add(&world, "Mclose=100");
	run(&world, SCRIPT, 0);
	assert_int_equal(conclude(&world), CHECK_CANNOT_JUDGE);
	assert_int_equal(world.check.budgets[0].state, BUDGET_CANNOT_JUDGE);
	assert_int_equal(world.check.budgets[1].state, BUDGET_OK);
	assert_int_equal(world.check.reasons.used, 1);
	assert_string_equal(world.check.reasons.at[0], "read: 0, at most 3: nothing was counted (--strict)");
	done(&world);
}

static void contributors(void **state)
{
	struct world world = { 0 };
	const struct budget_verdict *verdict;

	(void)state;
	add(&world, "M@xattr+@close=3");
	run(&world, SCRIPT, 0);
	assert_int_equal(conclude(&world), CHECK_FAILED);
	verdict = &world.check.budgets[0];
	assert_int_equal(verdict->top_count, 3);
	assert_int_equal(verdict->top[0].count, 5);
	assert_string_equal(verdict->top[0].name, "lgetxattr ENODATA");
	assert_string_equal(verdict->top[0].place, "d/f0 and others in d");
	assert_string_equal(verdict->top[0].program, "ls");
	assert_int_equal(verdict->top[1].count, 4);
	assert_string_equal(verdict->top[1].name, "close");
	assert_null(verdict->top[1].place);
	assert_int_equal(verdict->top[2].count, 2);
	assert_string_equal(verdict->top[2].name, "close EBADF");
	assert_string_equal(world.check.reasons.at[0], "@xattr+@close: 13, at most 3");
	done(&world);
}

/* Paths of a tracee do not reach a terminal as they are. */
static void foreign_paths(void **state)
{
	struct world world = { 0 };

	(void)state;
	add(&world, "Mopen=0");
	run(&world, "task 100 exe=/bin/ls\n100 open(\"a\\x1b[31m\\n/b\", 0) = 3\nexit 100 0\n", 0);
	assert_int_equal(conclude(&world), CHECK_FAILED);
	assert_null(strpbrk(world.check.budgets[0].top[0].place, "\x1b\n"));
	done(&world);
}

static void many_groups(void **state)
{
	struct world world = { 0 };

	(void)state;
	add(&world, "Mopen=0");
	run(&world,
	    "task 100 exe=/bin/ls\nrepeat 5000 i {\n  100 open(\"d{i}/f\", 0) = 3\n}\n"
	    "100 open(\"d7/f\", 0) = 3\nexit 100 0\n",
	    0);
	assert_int_equal(conclude(&world), CHECK_FAILED);
	assert_true(world.check.budgets[0].seen == 5001);
	assert_int_equal(world.check.budgets[0].top[0].count, 2);
	assert_string_equal(world.check.budgets[0].top[0].place, "d7/f");
	done(&world);
}

/* 100 closes of nothing, in a tree that does something else for long. */
#define SWEEP \
	"task 100 exe=/sbin/ssd argv=\"ssd\"\n" \
	"limits 100 nofile=103:103\n" \
	"repeat 100 i {\n  100 close({i+3}) = -1 EBADF\n}\n" \
	"fork 100 101\nexec 101 /bin/sh \"sh\"\n" \
	"repeat 100000 i {\n  101 getppid() = 1\n}\nexit 101 0\nexit 100 0\n"

static void rules(void **state)
{
	(void)state;
	expect(SWEEP, "Mfd-sweep=0", BUDGET_BROKEN, 100, "fd-sweep: 100, at most 0");
	expect(SWEEP, "Mfd-sweep=100", BUDGET_OK, 100, NULL);
	expect(SWEEP, "Mfd-sweep+xattr-probe=99", BUDGET_BROKEN, 100, NULL);
	/* Below the floor of what is worth fixing: it is counted all the same, but not as worth it. */
	expect(SWEEP, "Mfd-sweep:worth=0", BUDGET_NOT_EXERCISED, 0, NULL);
	expect(SWEEP, "Mfd-sweep in program ssd=0", BUDGET_BROKEN, 100, NULL);
	expect(SWEEP, "Mfd-sweep in program sh=0", BUDGET_NOT_EXERCISED, 0, NULL);
	expect(SWEEP, "Mxattr-probe=0", BUDGET_NOT_EXERCISED, 0, NULL);
}

static void rules_have_contributors(void **state)
{
	struct world world = { 0 };

	(void)state;
	add(&world, "Mfd-sweep=0");
	run(&world, SWEEP, 0);
	assert_int_equal(conclude(&world), CHECK_FAILED);
	assert_int_equal(world.check.budgets[0].top_count, 1);
	assert_int_equal(world.check.budgets[0].top[0].count, 100);
	assert_string_equal(world.check.budgets[0].top[0].name, "fd-sweep");
	assert_string_equal(world.check.budgets[0].top[0].program, "ssd");
	assert_non_null(strstr(world.check.budgets[0].top[0].place, "numbers 3 to 102"));
	done(&world);
}

static void not_closed(struct analysis_facts *facts)
{
	facts->seen++;
}

static void lost(struct analysis_facts *facts)
{
	facts->seen++;
	facts->lost++;
}

static void aborted(struct analysis_facts *facts)
{
	facts->aborted = true;
	facts->abort_reason = "out of memory";
}

static void untraced_child(struct analysis_facts *facts)
{
	facts->children++;
	facts->not_followed++;
}

static void io_uring(struct analysis_facts *facts)
{
	facts->io_uring = true;
}

static void foreign(struct analysis_facts *facts)
{
	facts->foreign_calls = true;
}

static void cannot_judge(void **state)
{
	static const struct {
		void (*facts)(struct analysis_facts *facts);
		const char *budget;
		enum budget_state state;
		const char *why;
	} rows[] = {
		{ not_closed, "Mread=0", BUDGET_CANNOT_JUDGE, "the books are not closed" },
		{ not_closed, "Mclose=0", BUDGET_CANNOT_JUDGE, "the books are not closed" },
		{ not_closed, "c@stat", BUDGET_CANNOT_JUDGE, "the books are not closed" },
		{ lost, "Mread=0", BUDGET_CANNOT_JUDGE, "1 call was lost, and it is not known which" },
		{ lost, "Mtotal=100", BUDGET_OK, NULL },
		{ lost, "Mclose in program ls=9", BUDGET_CANNOT_JUDGE, "the books are not complete" },
		{ lost, "Mclose in region one=9", BUDGET_CANNOT_JUDGE, "the books are not complete" },
		{ lost, "Mfd-sweep=0", BUDGET_CANNOT_JUDGE, "the books are not complete" },
		{ aborted, "Mread=0", BUDGET_CANNOT_JUDGE, "we let go early: out of memory" },
		{ untraced_child, "Mread=0", BUDGET_CANNOT_JUDGE, "ran untraced" },
		{ untraced_child, "Mclose=0", BUDGET_CANNOT_JUDGE, "ran untraced" },
		{ untraced_child, "mclose=7", BUDGET_OK, NULL },
		{ untraced_child, "mclose=8", BUDGET_CANNOT_JUDGE, "ran untraced" },
		{ io_uring, "M@open=0", BUDGET_CANNOT_JUDGE, "io_uring was used" },
		{ io_uring, "Mfd-sweep=0", BUDGET_CANNOT_JUDGE, "io_uring was used" },
		{ io_uring, "Mtotal=100", BUDGET_CANNOT_JUDGE, "io_uring was used" },
		{ io_uring, "Mbrk=0", BUDGET_NOT_EXERCISED, NULL },
		{ io_uring, "mclose=7", BUDGET_OK, NULL },
		{ io_uring, "c@stat>=2", BUDGET_CANNOT_JUDGE, "io_uring was used" },
		{ foreign, "Mread=0", BUDGET_CANNOT_JUDGE, "32-bit" },
		{ foreign, "Mtotal=100", BUDGET_OK, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct world world = { .facts = rows[i].facts };

		add(&world, rows[i].budget);
		run(&world, SCRIPT, 0);
		(void)conclude(&world);
		if (world.check.budgets[0].state != rows[i].state ||
		    (rows[i].why && !strstr(world.check.reasons.at[0], rows[i].why)))
			fail_msg("%zu, %s: %s, '%s'", i, rows[i].budget,
				 budget_state_name(world.check.budgets[0].state),
				 world.check.reasons.used ? world.check.reasons.at[0] : "");
		assert_true((world.check.state == CHECK_CANNOT_JUDGE) == (rows[i].state == BUDGET_CANNOT_JUDGE));
		done(&world);
	}
}

/* 3 closes and 2 failed reads, one of them in a way that nobody knows. */
static const struct analysis_loss losses[] = {
	{ .arch = SYS_ARCH_X86_64, .nr = 3, .count = 3 },
	{ .arch = SYS_ARCH_X86_64, .nr = 0, .failed = true, .err = EAGAIN, .count = 1 },
	{ .arch = SYS_ARCH_X86_64, .nr = 0, .failed = true, .count = 1 },
};

static void lost_by_name(struct analysis_facts *facts)
{
	facts->seen += 5;
	facts->lost = 5;
	facts->losses = losses;
	facts->loss_count = 3;
}

static void one_nameless(struct analysis_facts *facts)
{
	lost_by_name(facts);
	facts->seen++;
	facts->lost++;
}

/* Totals by call stay exact when records were lost; splits do not. */
static void lost_calls_count(void **state)
{
	static const struct {
		const char *budget;
		enum budget_state state;
		double seen;
	} rows[] = {
		{ "Mclose=9", BUDGET_BROKEN, 10 },
		{ "mclose=10", BUDGET_OK, 10 },
		{ "cread>=2", BUDGET_OK, 2 },
		{ "Mread:EAGAIN=9", BUDGET_CANNOT_JUDGE, 0 },
		{ "Mclose:EBADF=3", BUDGET_OK, 3 },
		{ "Mwrite=0", BUDGET_NOT_EXERCISED, 0 },
		{ "Mclose in program ls=9", BUDGET_CANNOT_JUDGE, 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct world world = { .facts = lost_by_name };

		add(&world, rows[i].budget);
		run(&world, SCRIPT, 0);
		(void)conclude(&world);
		if (world.check.budgets[0].state != rows[i].state || world.check.budgets[0].seen != rows[i].seen)
			fail_msg("%s: %s, %g", rows[i].budget, budget_state_name(world.check.budgets[0].state),
				 world.check.budgets[0].seen);
		done(&world);
		world.facts = one_nameless;
		add(&world, rows[i].budget);
		run(&world, SCRIPT, 0);
		assert_int_equal(conclude(&world), CHECK_CANNOT_JUDGE);
		done(&world);
	}
}

/* A call that the kernel knows and the table does not may be a new variant. */
static void unnamed_calls(void **state)
{
	static const char script[] = "task 100 exe=/bin/ls\n100 call_490() = 0\n100 close(3) = 0\nexit 100 0\n";

	(void)state;
	expect(script, "M@close=1", BUDGET_CANNOT_JUDGE, 1, "a call without a name here was made");
	expect(script, "Mclose=1", BUDGET_OK, 1, NULL);
	expect(script, "m@close=1", BUDGET_OK, 1, NULL);
}

static void slopes(void **state)
{
	static const struct {
		const char *budget;
		enum budget_state state;
		double seen;
	} rows[] = {
		{ "Mstat per item=2", BUDGET_OK, 2 },
		{ "Mstat per item=1.9", BUDGET_BROKEN, 2 },
		{ "Mstat fixed=1", BUDGET_OK, 1 },
		{ "Mstat fixed=0", BUDGET_BROKEN, 1 },
		{ "mstat per item=2", BUDGET_OK, 2 },
		{ "mstat per item=2.5", BUDGET_BROKEN, 2 },
		{ "Mread per item=0", BUDGET_NOT_EXERCISED, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct world world = { 0 };

		world.budgets.per_item = true;
		add(&world, rows[i].budget);
		add(&world, "cstat>=21");
		for (unsigned n = 10; n <= 30; n += 20) {
			char script[256];

			(void)snprintf(
				script, sizeof script,
				"task 100 exe=/bin/ls\nrepeat %u i {\n  100 stat(\"f{i}\", _) = 0\n}\nexit 100 0\n",
				2 * n + 1);
			run(&world, script, n);
		}
		(void)conclude(&world);
		assert_int_equal(world.check.budgets[0].state, rows[i].state);
		assert_true(world.check.budgets[0].seen == rows[i].seen);
		assert_int_equal(world.check.budgets[1].state, BUDGET_OK);
		done(&world);
	}
}

static void one_size_is_no_slope(void **state)
{
	struct world world = { 0 };

	(void)state;
	world.budgets.per_item = true;
	add(&world, "Mstat per item=1");
	run(&world, "task 100 exe=/bin/ls\n100 stat(\"f\", _) = 0\nexit 100 0\n", 1);
	assert_int_equal(conclude(&world), CHECK_CANNOT_JUDGE);
	done(&world);
}

static void never_ran(void **state)
{
	struct world world = { 0 };
	struct error err = { 0 };

	(void)state;
	add(&world, "Mstat=1");
	assert_int_equal(budgets_ready(&world.budgets, &err), 0);
	assert_int_equal(check_add_reason(&world.check, CHECK_CANNOT_JUDGE, "no engine\x1b"), 0);
	assert_int_equal(conclude(&world), CHECK_CANNOT_JUDGE);
	/* Said once. */
	assert_int_equal(world.check.reasons.used, 1);
	assert_string_equal(world.check.reasons.at[0], "no engine?");
	done(&world);
}

/* What cannot be judged goes before what is broken, and its reasons too. */
static void order_of_reasons(void **state)
{
	struct world world = { 0 };

	(void)state;
	add(&world, "Mclose=1");
	add(&world, "cread>=1");
	run(&world, SCRIPT, 0);
	assert_int_equal(check_add_reason(&world.check, CHECK_FAILED, "findings are new"), 0);
	assert_int_equal(conclude(&world), CHECK_CANNOT_JUDGE);
	assert_int_equal(world.check.unjudged_count, 1);
	assert_int_equal(world.check.beside_count, 1);
	assert_int_equal(world.check.reasons.used, 3);
	assert_non_null(strstr(world.check.reasons.at[0], "canary read"));
	assert_string_equal(world.check.reasons.at[1], "findings are new");
	assert_string_equal(world.check.reasons.at[2], "close: 7, at most 1");
	done(&world);
}

static void beside_budgets(void **state)
{
	struct world world = { 0 };

	(void)state;
	assert_int_equal(check_add_reason(&world.check, CHECK_FAILED, "findings are new"), 0);
	assert_int_equal(conclude(&world), CHECK_FAILED);
	for (int i = 0; i < 2 * CHECK_REASONS_MAX; i++)
		assert_int_equal(check_add_reason(&world.check, CHECK_FAILED, "%d", i), 0);
	assert_int_equal(world.check.reasons.used, CHECK_REASONS_MAX);
	assert_int_equal(world.check.reasons_left_out, CHECK_REASONS_MAX + 1);
	done(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(total),
		cmocka_unit_test(strict),
		cmocka_unit_test(contributors),
		cmocka_unit_test(foreign_paths),
		cmocka_unit_test(many_groups),
		cmocka_unit_test(rules),
		cmocka_unit_test(rules_have_contributors),
		cmocka_unit_test(cannot_judge),
		cmocka_unit_test(lost_calls_count),
		cmocka_unit_test(unnamed_calls),
		cmocka_unit_test(slopes),
		cmocka_unit_test(one_size_is_no_slope),
		cmocka_unit_test(never_ran),
		cmocka_unit_test(order_of_reasons),
		cmocka_unit_test(beside_budgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
