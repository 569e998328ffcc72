/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of rules: each is whole, and what it declares can be had. */
#include "rules/rule.h"

#include <ctype.h>
#include <string.h>

#include "test.h"

static void test_by_id(void **state)
{
	for (size_t i = 0; rule_list[i]; i++)
		assert_ptr_equal(rule_by_id(rule_list[i]->id), rule_list[i]);
	assert_null(rule_by_id("no-such-rule"));
	assert_null(rule_by_id(""));
}

static void test_each_is_whole(void **state)
{
	for (size_t i = 0; rule_list[i]; i++) {
		const struct rule *rule = rule_list[i];
		const size_t room = sizeof((struct rule_run *)0)->limits / sizeof(uint64_t);
		size_t n = 0;

		for (const char *c = rule->id; *c; c++)
			assert_true(islower((unsigned char)*c) || *c == '-');
		assert_true(rule->title && rule->title[0] && islower((unsigned char)rule->title[0]));
		assert_null(strchr(rule->title, '\n'));
		assert_non_null(rule->call);
		assert_non_null(rule->end);
		assert_non_null(rule->calls);
		assert_int_not_equal(rule->calls[0], 0);
		for (n = 0; rule->limits[n].name; n++)
			assert_true(rule->limits[n].why && rule->limits[n].value > 0);
		assert_true(n > 0 && n <= room);
	}
}

/* The arguments of the calls that a rule subscribes to, and no others, can
 * hold the evidence that it wants. */
static void test_evidence_is_captured(void **state)
{
	for (size_t i = 0; rule_list[i]; i++) {
		const struct rule *rule = rule_list[i];
		uint64_t can = 0;

		for (size_t n = 0; rule->calls[n]; n++) {
			const struct sys_call *call = sys_call((enum sys_call_id)rule->calls[n]);

			for (unsigned arg = 0; arg < call->nargs; arg++)
				can |= UINT64_C(1) << sys_kind(call->args[arg].kind)->item;
		}
		assert_int_equal(rule->items & ~can, 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_id),
		cmocka_unit_test(test_each_is_whole),
		cmocka_unit_test(test_evidence_is_captured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
