/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rule.h"
#include "test.h"

static const struct rule one_rule = { .id = "one" }, other_rule = { .id = "other" };

static struct finding *make(struct finding_list *list, const struct rule *rule, uint32_t pid, const char *object)
{
	struct finding *finding = finding_add(list, rule, FINDING_LIKELY);
	struct finding_remedy *remedy;

	finding->pid = pid;
	finding->process_id = pid;
	finding_set(&finding->exe, "/bin/some");
	finding_set(&finding->what, "asks in vain");
	finding_set(&finding->object, "%s", object);
	finding_set(&finding->where, "folder of %u", pid);
	finding_add_cost(finding, CALL_getxattr, ENODATA, 100 + pid, "a.b")->components = 200;
	finding->calls = 100 + pid;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	finding_set(&remedy->text, "ask once");
	finding_add_delta(remedy, CALL_getxattr, ENODATA, -(int64_t)(99 + pid), 198);
	finding_add_delta(remedy, CALL_llistxattr, 0, 1, 2);
	return finding;
}

static void equal_ones_become_one(void **state)
{
	struct finding_list list = { 0 };
	const struct finding *sum;

	(void)state;
	(void)make(&list, &one_rule, 1, "x");
	(void)make(&list, &one_rule, 2, "y");
	(void)make(&list, &one_rule, 3, "x");
	(void)make(&list, &other_rule, 4, "x");
	(void)make(&list, &one_rule, 5, "x");
	finding_list_merge(&list);

	assert_int_equal(list.items.used, 3);
	sum = &list.items.at[0];
	assert_int_equal(sum->pid, 0);
	assert_int_equal(sum->calls, 309);
	assert_int_equal(sum->costs.used, 1);
	assert_int_equal(sum->costs.at[0].count, 309);
	assert_int_equal(sum->costs.at[0].components, 600);
	assert_int_equal(sum->remedies.at[0].deltas.used, 2);
	assert_int_equal(sum->remedies.at[0].deltas.at[0].count, -306);
	assert_int_equal(sum->remedies.at[0].deltas.at[1].count, 3);
	assert_string_equal(sum->where, "folder of 1");
	assert_int_equal(sum->notes.used, 1);
	assert_non_null(strstr(sum->notes.at[0], "in 3 processes"));
	assert_string_equal(list.items.at[1].object, "y");
	assert_int_equal(list.items.at[1].pid, 2);
	assert_int_equal(list.items.at[1].notes.used, 0);
	assert_ptr_equal(list.items.at[2].rule, &other_rule);
	finding_list_done(&list);
}

static void place_of(const char *first, const char *second, const char *wanted)
{
	struct finding_list list = { 0 };

	finding_set(&make(&list, &one_rule, 1, "x")->place, "%s", first);
	if (second)
		finding_set(&make(&list, &one_rule, 2, "x")->place, "%s", second);
	else
		(void)make(&list, &one_rule, 2, "x");
	finding_list_merge(&list);
	assert_int_equal(list.items.used, 1);
	assert_string_equal(list.items.at[0].place ? list.items.at[0].place : "none", wanted);
	finding_list_done(&list);
}

static void places_are_joined(void **state)
{
	(void)state;
	place_of("/a/b", "/a/b", "/a/b");
	place_of("/a/b", "/a/c", "/a/");
	place_of("/a/b/", "/a/b", "/a/");
	place_of("/a/b/", "/a/b/c", "/a/b/");
	place_of("/a/b/", "/c/", "/");
	place_of("/a/b", "c", "none");
	place_of("/a/b", NULL, "none");
}

static void add_site(struct finding *finding, const char *module, uint32_t number, uint64_t count)
{
	struct finding_site site = { .offset = 16, .number = number, .count = count };

	finding_set(&site.module, "%s", module);
	assert_true(vec_push(&finding->sites, site));
}

static void sites_of_all_processes(void **state)
{
	struct finding_list list = { 0 };
	struct finding *finding;

	(void)state;
	add_site(make(&list, &one_rule, 1, "x"), "/lib", 1, 5);
	finding = make(&list, &one_rule, 2, "x");
	add_site(finding, "/lib", 2, 40);
	add_site(finding, "/lib", 1, 3);
	finding->sites_other = 7;
	finding_list_merge(&list);
	finding = &list.items.at[0];
	assert_int_equal(finding->sites.used, 2);
	assert_int_equal(finding->sites.at[0].number, 2);
	assert_int_equal(finding->sites.at[0].count, 40);
	assert_int_equal(finding->sites.at[1].count, 8);
	assert_int_equal(finding->sites_other, 7);
	finding_list_done(&list);
}

static void script_of(const char *first, const char *second, const char *wanted)
{
	struct finding_list list = { 0 };
	const char *const names[] = { first, second };

	for (uint32_t i = 0; i < 2; i++) {
		struct finding *finding = make(&list, &one_rule, i + 1, "x");

		if (!names[i])
			continue;
		finding->script_kind = SCRIPT_FILE;
		finding_set(&finding->script, "%s", names[i]);
	}
	finding_list_merge(&list);
	assert_int_equal(list.items.used, 1);
	assert_int_equal(list.items.at[0].script_kind, wanted ? SCRIPT_FILE : SCRIPT_NONE);
	if (wanted)
		assert_string_equal(list.items.at[0].script, wanted);
	else
		assert_null(list.items.at[0].script);
	finding_list_done(&list);
}

static void scripts_are_one_or_none(void **state)
{
	(void)state;
	script_of("/a.py", "/a.py", "/a.py");
	script_of("/a.py", "/b.py", NULL);
	script_of("/a.py", NULL, NULL);
	script_of(NULL, "/b.py", NULL);
}

static void different_ones_stay(void **state)
{
	struct finding_list list = { 0 };

	(void)state;
	(void)make(&list, &one_rule, 1, "x");
	make(&list, &one_rule, 2, "x")->tier = FINDING_CERTAIN;
	make(&list, &one_rule, 3, "x")->information = true;
	finding_set(&make(&list, &one_rule, 4, "x")->exe, "/bin/another");
	finding_set(&make(&list, &one_rule, 5, "x")->remedies.at[0].text, "another way");
	/* Of several processes already: as the rule told it. */
	(void)make(&list, &one_rule, 0, "x");
	(void)make(&list, &one_rule, 0, "x");
	finding_list_merge(&list);
	assert_int_equal(list.items.used, 7);
	finding_list_done(&list);
}

static void nothing_is_nothing(void **state)
{
	struct finding_list list = { 0 };

	(void)state;
	finding_list_merge(&list);
	assert_int_equal(list.items.used, 0);
	finding_list_done(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_ones_become_one),  cmocka_unit_test(places_are_joined),
		cmocka_unit_test(sites_of_all_processes), cmocka_unit_test(scripts_are_one_or_none),
		cmocka_unit_test(different_ones_stay),	  cmocka_unit_test(nothing_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
