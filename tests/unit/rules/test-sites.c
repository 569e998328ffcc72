/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting by call site: order, room, and what is told of unknown modules. */
#include "rules/rule.h"

#include "test.h"

static struct model *model;
static struct model_process process;

static void add(struct rule_sites *sites, uint64_t ip, unsigned times)
{
	struct event_call call = { .ip = ip };
	struct model_view view = { .call = &call, .process = &process };

	for (unsigned i = 0; i < times; i++)
		rule_sites_add(sites, model, &view);
}

/* Stands in for the model's: odd addresses lie in no known module. */
bool __wrap_model_locate(struct model *in, const struct model_process *of, uint64_t ip, const char **ret_module,
			 uint64_t *ret_offset);
bool __wrap_model_locate(struct model *in, const struct model_process *of, uint64_t ip, const char **ret_module,
			 uint64_t *ret_offset)
{
	if (ip % 2)
		return false;
	*ret_module = "/usr/bin/ls";
	*ret_offset = ip - 0x1000;
	return true;
}

static void test_largest_first(void **state)
{
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, NULL, FINDING_LIKELY);
	struct rule_sites sites = { 0 };

	add(&sites, 0x2000, 3);
	add(&sites, 0x3000, 7);
	add(&sites, 0x4001, 5);
	add(&sites, 0, 100);
	rule_sites_top(&sites, finding, 2);
	assert_int_equal(finding->sites.used, 2);
	assert_string_equal(finding->sites.at[0].module, "/usr/bin/ls");
	assert_int_equal(finding->sites.at[0].offset, 0x2000);
	assert_int_equal(finding->sites.at[0].count, 7);
	assert_null(finding->sites.at[1].module);
	assert_int_equal(finding->sites.at[1].offset, 0x4001);
	assert_int_equal(finding->sites.at[1].count, 5);
	finding_list_done(&list);
}

static void test_tags(void **state)
{
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, NULL, FINDING_LIKELY);
	struct rule_sites sites = { 0 };
	struct event_call call = { .ip = 0x2000 };
	struct model_view view = { .call = &call, .process = &process };

	for (uint32_t i = 0; i < 12; i++)
		rule_sites_add_tagged(&sites, model, &view, i % 3);
	call.ip = 0x3000;
	rule_sites_add_tagged(&sites, model, &view, 2);
	rule_sites_top_tagged(&sites, finding, 5, 1u << 0 | 1u << 1);
	assert_int_equal(finding->sites.used, 1);
	assert_int_equal(finding->sites.at[0].count, 8);
	rule_sites_top(&sites, finding, 5);
	assert_int_equal(finding->sites.used, 3);
	assert_int_equal(finding->sites.at[1].count, 12);
	assert_int_equal(finding->sites.at[2].count, 1);
	finding_list_done(&list);
}

static void test_room(void **state)
{
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, NULL, FINDING_LIKELY);
	struct rule_sites sites = { 0 };

	/* Who has the fewest calls goes, however late one comes that has many. */
	add(&sites, 0x1000, 3);
	for (unsigned i = 1; i < RULE_SITES_MAX + 10; i++)
		add(&sites, 0x2000 + 2 * i, 1);
	add(&sites, 0x8000, 50);
	add(&sites, 0x1000, 2);
	assert_int_equal(sites.used, RULE_SITES_MAX);
	assert_int_equal(sites.other, 11);
	rule_sites_top(&sites, finding, 2);
	assert_int_equal(finding->sites.used, 2);
	assert_int_equal(finding->sites.at[0].count, 50);
	assert_int_equal(finding->sites.at[0].offset, 0x7000);
	assert_int_equal(finding->sites.at[1].count, 5);
	/* No call is left out of the sum. */
	assert_int_equal(finding->sites_other, RULE_SITES_MAX + 9);
	finding_list_done(&list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_largest_first),
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
