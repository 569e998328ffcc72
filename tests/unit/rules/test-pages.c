/* SPDX-License-Identifier: BSD-2-Clause */
/* Each rule has its page, and the page prints the limits that the rule has. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "rules/page.h"
#include "rules/rule.h"

#include "test.h"

static void test_each_has_a_page(void **state)
{
	for (size_t i = 0; rule_list[i]; i++) {
		const struct rule_page *page = rule_page_by_id(rule_list[i]->id);

		assert_non_null(page);
		assert_string_equal(page->id, rule_list[i]->id);
		assert_int_equal(strncmp(page->text, "# ", 2), 0);
		assert_int_equal(strncmp(page->text + 2, page->id, strlen(page->id)), 0);
	}
	assert_null(rule_page_by_id("no-such-rule"));
}

/* "| `calls` | 50 |" as the table of limits has it. */
static void limit_row(const struct rule_limit *limit, char *out, size_t bytes)
{
	char number[TEXT_NUMBER_MAX];

	switch (limit->unit) {
	case RULE_BYTES:
		(void)snprintf(out, bytes, "| `%s` | %s |", limit->name, text_bytes(limit->value, number));
		break;
	case RULE_NS:
		(void)snprintf(out, bytes, "| `%s` | %s |", limit->name, text_ns((double)limit->value, number));
		break;
	case RULE_PERCENT:
		(void)snprintf(out, bytes, "| `%s` | %" PRIu64 " %% |", limit->name, limit->value);
		break;
	case RULE_COUNT:
		(void)snprintf(out, bytes, "| `%s` | %s |", limit->name, text_count(limit->value, number));
		break;
	}
}

static void test_limits_are_true(void **state)
{
	for (size_t i = 0; rule_list[i]; i++) {
		const char *text = rule_page_by_id(rule_list[i]->id)->text;

		for (const struct rule_limit *limit = rule_list[i]->limits; limit->name; limit++) {
			char row[200];

			limit_row(limit, row, sizeof row);
			if (!strstr(text, row))
				fail_msg("docs/rules/%s.md has no row that starts with %s", rule_list[i]->id, row);
		}
	}
}

/* The parts that add-a-rule.md asks for. */
static void test_parts(void **state)
{
	static const char *const parts[] = {
		"\n## What it matches\n", "\n## Why it is waste\n", "\n## When it is right\n",
		"\n## What it costs\n",	  "\n## What to do\n",	    "\n## Where it was seen\n",
	};

	for (size_t i = 0; rule_list[i]; i++)
		for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
			assert_non_null(strstr(rule_page_by_id(rule_list[i]->id)->text, parts[p]));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_has_a_page),
		cmocka_unit_test(test_limits_are_true),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
