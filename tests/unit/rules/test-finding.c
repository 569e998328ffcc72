/* SPDX-License-Identifier: BSD-2-Clause */
/* Building and freeing findings; run under a memory checker this also proves
 * that nothing is lost. */
#include "rules/finding.h"

#include <errno.h>
#include <string.h>

#include "test.h"

static void test_sums(void **state)
{
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, NULL, FINDING_LIKELY);
	struct finding_remedy *remedy;
	struct finding_cost *cost;

	cost = finding_add_cost(finding, CALL_lgetxattr, ENODATA, 1001, "security.selinux");
	assert_non_null(cost);
	cost->components = 2002;
	assert_string_equal(cost->detail, "security.selinux");
	assert_non_null(finding_add_cost(finding, CALL_getxattr, ENODATA, 1002, NULL));
	assert_int_equal(finding->calls, 2003);
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	finding_remedy_saves_all(remedy, finding);
	assert_int_equal(remedy->deltas.used, 2);
	assert_int_equal(remedy->deltas.at[0].call, CALL_lgetxattr);
	assert_int_equal(remedy->deltas.at[0].err, ENODATA);
	assert_int_equal(remedy->deltas.at[0].count, -1001);
	assert_int_equal(remedy->deltas.at[0].components, 2002);
	assert_int_equal(remedy->deltas.at[1].count, -1002);
	finding_list_done(&list);
	assert_int_equal(list.items.used, 0);
}

static void test_equal_deltas_add_up(void **state)
{
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, NULL, FINDING_CERTAIN);
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_SOURCE);

	finding_add_delta(remedy, CALL_getxattr, ENODATA, -3, 6);
	finding_add_delta(remedy, CALL_getxattr, ENODATA, -4, 8);
	finding_add_delta(remedy, CALL_getxattr, EOPNOTSUPP, -1, 2);
	finding_add_delta(remedy, CALL_getxattr, ENODATA, 2, 4);
	finding_add_delta(remedy, CALL_listxattr, 0, 0, 0);
	assert_int_equal(remedy->deltas.used, 3);
	assert_int_equal(remedy->deltas.at[0].count, -7);
	assert_int_equal(remedy->deltas.at[0].components, 14);
	assert_int_equal(remedy->deltas.at[2].count, 2);
	finding_list_done(&list);
}

static void test_texts_and_limits(void **state)
{
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, NULL, FINDING_CERTAIN);

	finding_set(&finding->where, "%d files", 3);
	finding_set(&finding->where, "%d files", 4);
	assert_string_equal(finding->where, "4 files");
	for (int i = 0; i < 10; i++)
		finding_add_sample(finding, strdup("getpid() = 1"));
	assert_int_equal(finding->samples.used, FINDING_SAMPLES_MAX);
	finding_add_sample(finding, NULL);
	finding_add_note(finding, "at most %s", "this");
	assert_int_equal(finding->notes.used, 1);
	assert_string_equal(finding->notes.at[0], "at most this");
	finding_list_done(&list);
}

static void test_missing_targets_are_ignored(void **state)
{
	finding_set(NULL, "x");
	finding_add_note(NULL, "x");
	finding_add_sample(NULL, strdup("x"));
	finding_add_delta(NULL, CALL_getxattr, 0, 1, 0);
	finding_remedy_saves_all(NULL, NULL);
	assert_null(finding_add_cost(NULL, CALL_getxattr, 0, 1, NULL));
	assert_null(finding_add_remedy(NULL, REMEDY_SOURCE));
	finding_done(NULL);
	finding_list_done(NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_equal_deltas_add_up),
		cmocka_unit_test(test_texts_and_limits),
		cmocka_unit_test(test_missing_targets_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
