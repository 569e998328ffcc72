/* SPDX-License-Identifier: BSD-2-Clause */
/* Budgets that are proposed: from several runs, and for the next run. */
#include "verdict/budget-next.h"
#include "verdict/budget-suggest.h"

#include "scripted.h"

static void add_run(struct suggest *suggest, unsigned stats, unsigned reads, unsigned writes)
{
	struct analysis *analysis;
	char script[512];

	(void)snprintf(script, sizeof script,
		       "task 100 exe=/bin/some\n"
		       "repeat %u i {\n  100 statx(AT_FDCWD, \"f{i}\", 0, 0, _) = 0\n}\n"
		       "repeat %u i {\n  100 read(3, _, 10) = 10\n}\n"
		       "repeat %u i {\n  100 write(1, _, 10) = 10\n}\n"
		       "repeat 50 i {\n  100 mmap() = 0\n  100 rseq() = 0\n  100 call_490() = 0\n}\n"
		       "repeat 9 i {\n  100 fsync(3) = 0\n}\n"
		       "exit 100 0\n",
		       stats, reads, writes);
	analysis = scripted(script, NULL, NULL);
	assert_int_equal(suggest_add(suggest, analysis_result(analysis)), 0);
	analysis_free(analysis);
}

static const struct suggest_row *row(const struct suggest *suggest, const char *name)
{
	for (size_t i = 0; i < suggest->rows.used; i++)
		if (strcmp(suggest->rows.at[i].name, name) == 0)
			return &suggest->rows.at[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void from_runs(void **state)
{
	struct suggest suggest = SUGGEST_INIT;

	(void)state;
	add_run(&suggest, 100, 100, 100);
	add_run(&suggest, 100, 91, 80);
	add_run(&suggest, 100, 95, 200);
	suggest_conclude(&suggest);
	assert_int_equal(suggest.runs, 3);
	/* The same in each run: that. */
	assert_int_equal(row(&suggest, "@stat")->limit, 100);
	/* 91 to 100: the most, and a tenth. */
	assert_int_equal(row(&suggest, "@read")->min, 91);
	assert_int_equal(row(&suggest, "@read")->limit, 111);
	assert_int_equal(row(&suggest, "@write")->limit, 0);
	assert_string_equal(row(&suggest, "@write")->why, "varies too much");
	assert_string_equal(row(&suggest, "@mmap")->why, "made by the loader and the allocator");
	assert_string_equal(row(&suggest, "rseq")->why, "made at the start of each program");
	assert_string_equal(row(&suggest, "call_490")->why, "has no name");
	assert_string_equal(row(&suggest, "@sync")->why, "few");
	/* Most calls first, and the steadiest of them for a canary. */
	assert_string_equal(suggest.rows.at[0].name, "@write");
	assert_string_equal(suggest.rows.at[suggest.canary - 1].name, "@stat");
	assert_int_equal(suggest.canary_limit, 50);
	suggest_done(&suggest);
}

static void no_runs(void **state)
{
	struct suggest suggest = SUGGEST_INIT;

	(void)state;
	suggest_conclude(&suggest);
	assert_int_equal(suggest.rows.used, 0);
	suggest_done(&suggest);
}

static void waste_is_no_canary(void **state)
{
	struct analysis *analysis =
		scripted("task 100 exe=/bin/ls cwd=/tmp\n"
			 "mount 8:1 / ext4 /dev/vda\n"
			 "repeat 500 i {\n"
			 "  100 statx(AT_FDCWD, \"d/f{i}\", 0, 0, _) = 0\n"
			 "  100 lgetxattr(\"d/f{i}\", \"security.selinux\", _, 255) = -1 ENODATA\n"
			 "  100 getxattr(\"d/f{i}\", \"system.posix_acl_access\", _, 132) = -1 ENODATA\n"
			 "}\n"
			 "exit 100 0\n",
			 NULL, NULL);
	const struct analysis_result *result = analysis_result(analysis);
	struct suggest suggest = SUGGEST_INIT;

	(void)state;
	assert_int_equal(suggest_add(&suggest, result), 0);
	suggest_conclude(&suggest);
	assert_string_equal(suggest.rows.at[0].name, "@xattr");
	assert_int_equal(suggest.rows.at[0].waste, 1000);
	assert_string_equal(suggest.rows.at[0].rule, "xattr-probe");
	assert_string_equal(suggest.rows.at[suggest.canary - 1].name, "@stat");
	suggest_done(&suggest);

	/* One listing a file is left of two questions, and a tenth more. */
	assert_string_equal(result->next_budget.what, "@xattr");
	assert_int_equal(result->next_budget.limit, 550);
	analysis_free(analysis);
}

/* Each finding has the guard of its own calls, also one that is not worth fixing. */
static void every_finding_has_its_own(void **state)
{
	struct analysis *analysis =
		scripted("task 100 exe=/bin/ls cwd=/tmp\n"
			 "mount 8:1 / ext4 /dev/vda\n"
			 "limits 100 nofile=10003:10003\n"
			 "repeat 500 i {\n"
			 "  100 statx(AT_FDCWD, \"d/f{i}\", 0, 0, _) = 0\n"
			 "  100 lgetxattr(\"d/f{i}\", \"security.selinux\", _, 255) = -1 ENODATA\n"
			 "  100 getxattr(\"d/f{i}\", \"system.posix_acl_access\", _, 132) = -1 ENODATA\n"
			 "}\n"
			 "repeat 10000 i {\n  100 close({i+3}) = -1 EBADF\n}\nexit 100 0\n",
			 NULL, NULL);
	const struct analysis_result *result = analysis_result(analysis);
	unsigned found = 0;

	(void)state;
	for (size_t i = 0; i < result->finding_count; i++) {
		const char *id = result->findings[i].finding->rule->id;
		struct verdict_budget budget;

		budget_of_finding(result, i, &budget);
		if (strcmp(id, "xattr-probe") == 0)
			assert_string_equal(budget.what, "@xattr");
		else if (strcmp(id, "fd-sweep") == 0)
			assert_string_equal(budget.what, "@close");
		else
			continue;
		found++;
	}
	assert_int_equal(found, 2);
	analysis_free(analysis);
}

static void nothing_for_a_clean_run(void **state)
{
	struct analysis *analysis = scripted("task 100 exe=/bin/ls\nrepeat 500 i {\n  100 read(3, _, 10) = 10\n}\n"
					     "exit 100 0\n",
					     NULL, NULL);

	(void)state;
	assert_string_equal(analysis_result(analysis)->next_budget.what, "");
	analysis_free(analysis);
}

static void not_closed(struct analysis_facts *facts)
{
	facts->seen++;
}

static void nothing_for_open_books(void **state)
{
	struct analysis *analysis = scripted("task 100 exe=/bin/ssd\nlimits 100 nofile=10003:10003\n"
					     "repeat 10000 i {\n  100 close({i+3}) = -1 EBADF\n}\nexit 100 0\n",
					     NULL, NULL);

	(void)state;
	assert_string_equal(analysis_result(analysis)->next_budget.what, "@close");
	assert_int_equal(analysis_result(analysis)->next_budget.limit, 2);
	analysis_free(analysis);
	analysis = scripted("task 100 exe=/bin/ssd\nlimits 100 nofile=10003:10003\n"
			    "repeat 10000 i {\n  100 close({i+3}) = -1 EBADF\n}\nexit 100 0\n",
			    NULL, not_closed);
	assert_string_equal(analysis_result(analysis)->next_budget.what, "");
	analysis_free(analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_runs),
		cmocka_unit_test(no_runs),
		cmocka_unit_test(waste_is_no_canary),
		cmocka_unit_test(every_finding_has_its_own),
		cmocka_unit_test(nothing_for_a_clean_run),
		cmocka_unit_test(nothing_for_open_books),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
