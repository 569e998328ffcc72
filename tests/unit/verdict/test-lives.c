/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * No time is told twice: what other findings tell of processes whose whole
 * lives trivial-process prices is taken from those lives.
 */
#include "scripted.h"

#include "rules/finding.h"

#define CHILDREN 30
#define MISSES 8 /* look-ups of each before its exec */
#define LIFE_NS 2000000 /* of each before its exec, and after */

/* A shell whose children look for sed in folders that do not have it. */
static const char script[] = "task 100 launched exe=/bin/sh cwd=/w\n"
			     "env 100 PATH=/a:/b:/c:/d:/e:/f:/g:/h:/bin\n"
			     "clock 100 at=other run=1ms\n"
			     "repeat 30 i {\n"
			     "  fork 100 1{i+10}\n"
			     "  100 fork() = 1{i+10}\n"
			     "  clock 1{i+10} at=other run=0ns\n"
			     "  1{i+10} newfstatat(AT_FDCWD, \"/a/sed\", _, 0) = -1 ENOENT\n"
			     "  1{i+10} newfstatat(AT_FDCWD, \"/b/sed\", _, 0) = -1 ENOENT\n"
			     "  1{i+10} newfstatat(AT_FDCWD, \"/c/sed\", _, 0) = -1 ENOENT\n"
			     "  1{i+10} newfstatat(AT_FDCWD, \"/d/sed\", _, 0) = -1 ENOENT\n"
			     "  1{i+10} newfstatat(AT_FDCWD, \"/e/sed\", _, 0) = -1 ENOENT\n"
			     "  1{i+10} newfstatat(AT_FDCWD, \"/f/sed\", _, 0) = -1 ENOENT\n"
			     "  1{i+10} newfstatat(AT_FDCWD, \"/g/sed\", _, 0) = -1 ENOENT\n"
			     "  1{i+10} newfstatat(AT_FDCWD, \"/h/sed\", _, 0) = -1 ENOENT\n"
			     "  1{i+10} newfstatat(AT_FDCWD, \"/bin/sed\", _, 0) = 0\n"
			     "  clock 1{i+10} at=enter run=2ms\n"
			     "  1{i+10} execve(\"/bin/sed\", _, _) = 0\n"
			     "  exec 1{i+10} /bin/sed \"sed s/1/2/\"\n"
			     "  1{i+10} write(1, \"x\", 1) = 1\n"
			     "  clock 1{i+10} at=other run=4ms\n"
			     "  exit 1{i+10} 0\n"
			     "  100 wait4(-1, _, 0, 0) = 1{i+10}\n"
			     "}\n"
			     "repeat 20000 i {\n"
			     "  100 getppid() = 1\n"
			     "}\n"
			     "clock 100 at=other run=500ms\n"
			     "exit 100 0\n";

static const struct verdict_finding *of(const struct analysis_result *result, const char *rule)
{
	for (size_t i = 0; i < result->finding_count; i++)
		if (strcmp(result->findings[i].finding->rule->id, rule) == 0)
			return &result->findings[i];
	fail_msg("no %s", rule);
	return NULL;
}

static void what_is_told_of_a_life_is_taken_from_it(void **state)
{
	struct analysis *analysis = scripted(script, NULL, NULL);
	const struct analysis_result *result = analysis_result(analysis);
	const struct verdict_finding *misses = of(result, "search-path-miss"), *small = of(result, "trivial-process");
	double lives_ns = 0;

	(void)state;
	assert_int_equal(misses->finding->calls, CHILDREN * MISSES);
	assert_int_equal(misses->finding->owned, CHILDREN * MISSES);
	assert_int_equal(misses->finding->parts.used, 1);
	assert_int_equal(misses->finding->parts.at[0].life, FINDING_LIFE_BEFORE);
	assert_int_equal(misses->finding->parts.at[0].count, CHILDREN * MISSES);
	assert_string_equal(misses->finding->parts.at[0].exe->path, "/bin/sh");
	/* Only the forks have a price, the others are in it. */
	for (size_t i = 0; i < small->finding->costs.used; i++) {
		bool forks = small->finding->costs.at[i].call == CALL_fork;

		assert_int_equal(small->costs[i].elsewhere, !forks);
		assert_true(forks ? small->costs[i].ns > 0 : small->costs[i].ns == 0);
	}
	for (size_t i = 0; i < small->finding->children.used; i++)
		lives_ns += (double)small->finding->children.at[i].count *
			    programs_life_ns(result->programs, small->finding->children.at[i].exe,
					     small->finding->children.at[i].life, result->dearer_ns);
	assert_true(lives_ns > CHILDREN * LIFE_NS && lives_ns < CHILDREN * 3.0 * LIFE_NS);
	assert_true(misses->cost_ns > CHILDREN * MISSES * 100.0);
	/* The forks themselves at 1 us each, and every life once. */
	assert_true(result->waste_ns < lives_ns + CHILDREN * 1000.0 + 1);
	assert_true(result->waste_ns > lives_ns * 0.99);
	analysis_free(analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_told_of_a_life_is_taken_from_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
