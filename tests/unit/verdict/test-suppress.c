/* SPDX-License-Identifier: BSD-2-Clause */
/* Which findings an entry takes, what is left of the sums, and entries that
 * are made for findings. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "rules/rule.h"
#include "verdict/analysis.h"
#include "verdict/judge.h"

static void add_entry(struct suppressions *list, const char *const *pairs)
{
	assert_int_equal(suppressions_add(list, "file", 1, NULL), 0);
	for (; *pairs; pairs += 2)
		assert_int_equal(suppress_set(list, pairs[0], pairs[1], NULL), 0);
	assert_int_equal(suppress_check(list, NULL), 0);
}

static void add_site(struct finding *finding, const char *module, uint64_t offset, uint64_t count)
{
	struct finding_site site = { .offset = offset, .count = count };

	finding_set(&site.module, "%s", module);
	assert_true(vec_push(&finding->sites, site));
}

static struct finding *add_finding(struct finding_list *list, const char *rule, uint64_t calls)
{
	struct finding *finding = finding_add(list, rule_by_id(rule), FINDING_CERTAIN);

	(void)finding_add_cost(finding, CALL_getxattr, ENODATA, calls, NULL);
	finding->calls = calls;
	finding_set(&finding->exe, "/usr/bin/ls");
	finding_set(&finding->place, "/srv/data/");
	add_site(finding, "/usr/lib/libselinux.so.1", 0x49, calls);
	return finding;
}

/* A row: one key and one pattern, beside the rule and a reason. */
static bool takes(const struct finding *finding, const char *key, const char *pattern)
{
	const char *pairs[] = { "rule", "xattr-probe", "reason", "why", key, pattern, NULL };
	struct suppressions list = { 0 };
	bool matches;

	add_entry(&list, pairs);
	matches = suppress_matches(&list.entries.at[0], finding);
	suppressions_done(&list);
	return matches;
}

static void patterns_match_what_they_name(void **state)
{
	static const struct {
		const char *key, *pattern;
		bool takes;
	} rows[] = {
		{ "exe", "ls", true },
		{ "exe", "l?", true },
		{ "exe", "/usr/bin/ls", true },
		{ "exe", "*/bin/ls", true },
		{ "exe", "find", false },
		{ "exe", "bin", false },
		{ "exe", "/usr/bin", false },
		{ "path", "/srv/data", true },
		{ "path", "/srv/data/", true },
		{ "path", "/srv/data/*", true },
		{ "path", "/srv/*", true },
		{ "path", "data", true },
		{ "path", "/srv/data/*.txt", false }, /* what is in it may be others */
		{ "path", "/srv", false },
		{ "path", "/srv/dat", false },
		{ "path", "/home/*", false },
		{ "site", "libselinux.so.1", true },
		{ "site", "libselinux.so.*", true },
		{ "site", "libselinux.so.1+0x49", true },
		{ "site", "/usr/lib/libselinux.so.1+0x*", true },
		{ "site", "libselinux.so.1+0x50", false },
		{ "site", "libacl.so.1", false },
	};
	struct finding_list list = { 0 };
	struct finding *finding = add_finding(&list, "xattr-probe", 10);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (takes(finding, rows[i].key, rows[i].pattern) != rows[i].takes)
			fail_msg("%s = %s", rows[i].key, rows[i].pattern);
	finding_set(&finding->place, "/etc/localtime");
	assert_true(takes(finding, "path", "/etc/localtime"));
	assert_true(takes(finding, "path", "localtime"));
	assert_false(takes(finding, "path", "/etc/localtime/*"));
	free(finding->place);
	finding->place = NULL;
	assert_false(takes(finding, "path", "*"));
	free(finding->exe);
	finding->exe = NULL;
	assert_false(takes(finding, "exe", "*"));
	finding_list_done(&list);
}

/* A site must not hide what came from elsewhere. */
static void all_sites_have_to_match(void **state)
{
	struct finding_list list = { 0 };
	struct finding *finding = add_finding(&list, "xattr-probe", 10);

	(void)state;
	finding->calls = 11;
	assert_false(takes(finding, "site", "libselinux.so.1")); /* one is of no known site */
	add_site(finding, "/usr/bin/ls", 0x171, 1);
	assert_false(takes(finding, "site", "libselinux.so.1"));
	assert_true(takes(finding, "site", "*"));
	finding_list_done(&list);
}

static void an_entry_needs_all_that_it_says(void **state)
{
	static const char *const both[] = { "rule", "xattr-probe", "exe",    "find", "exe", "ls",
					    "path", "/srv/*",	   "reason", "why",  NULL };
	static const char *const other[] = { "rule", "fd-sweep", "reason", "why", NULL };
	static const char *const half[] = {
		"rule", "xattr-probe", "exe", "ls", "path", "/home/*", "reason", "why", NULL
	};
	struct suppressions list = { 0 };
	struct finding_list findings = { 0 };
	struct finding *finding = add_finding(&findings, "xattr-probe", 10);

	(void)state;
	add_entry(&list, both);
	add_entry(&list, other);
	add_entry(&list, half);
	assert_true(suppress_matches(&list.entries.at[0], finding));
	assert_false(suppress_matches(&list.entries.at[1], finding));
	assert_false(suppress_matches(&list.entries.at[2], finding));
	suppressions_done(&list);
	finding_list_done(&findings);
}

static void what_is_wrong_is_said(void **state)
{
	static const char *const rows[][3] = {
		{ "rule", "fd-sweeep", "did you mean 'fd-sweep'?" },
		{ "rule", "*", "no rule is called" },
		{ "reson", "x", "did you mean 'reason'?" },
		{ "frame", "x", "there are rule, exe, path, site, reason" },
		{ "exe", "", "exe is empty" },
		{ "reason", "", "reason is empty" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct suppressions list = { 0 };
		struct error err = { 0 };

		assert_int_equal(suppressions_add(&list, "file", 1, NULL), 0);
		assert_int_equal(suppress_set(&list, rows[i][0], rows[i][1], &err), -EINVAL);
		if (!strstr(err.text, rows[i][2]))
			fail_msg("%s = %s: %s", rows[i][0], rows[i][1], err.text);
		suppressions_done(&list);
	}
}

static void rule_and_reason_are_required(void **state)
{
	struct suppressions list = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(suppressions_add(&list, "file", 1, NULL), 0);
	assert_int_equal(suppress_check(&list, &err), -EINVAL);
	assert_non_null(strstr(err.text, "names no rule"));
	assert_int_equal(suppress_set(&list, "rule", "fd-sweep", NULL), 0);
	err = (struct error){ 0 };
	assert_int_equal(suppress_check(&list, &err), -EINVAL);
	assert_non_null(strstr(err.text, "gives no reason"));
	assert_int_equal(suppress_set(&list, "rule", "xattr-probe", NULL), -EINVAL);
	assert_int_equal(suppress_set(&list, "reason", "why", NULL), 0);
	assert_int_equal(suppress_set(&list, "reason", "again", NULL), -EINVAL);
	assert_int_equal(suppress_check(&list, NULL), 0);
	suppressions_done(&list);
}

static void suppressed_findings_are_in_no_sum(void **state)
{
	static const char *const first[] = { "rule", "fd-sweep", "reason", "old shell", NULL };
	static const char *const unused[] = { "rule", "brk-churn", "reason", "none here", NULL };
	struct analysis_result result = { .complete = true, .task_ns = 1e6, .calls = 100000 };
	struct suppressions list = { 0 };
	struct finding_list findings = { 0 };

	(void)state;
	(void)add_finding(&findings, "fd-sweep", 1000);
	(void)add_finding(&findings, "xattr-probe", 30);
	(void)add_finding(&findings, "fd-sweep", 200);
	add_entry(&list, unused);
	add_entry(&list, first);
	result.prices = price_book_new_fixed(NULL, 0, 100);
	result.floor = JUDGE_FLOOR_DEFAULT;
	assert_int_equal(judge_findings(&result, &findings), 0);
	assert_int_equal(result.waste_calls, 1230);
	assert_int_equal(suppress_apply(&result, &list), 0);
	assert_int_equal(result.finding_count, 1);
	assert_ptr_equal(result.findings[0].finding->rule, rule_by_id("xattr-probe"));
	assert_int_equal(result.waste_calls, 30);
	assert_int_equal(result.worth_count, 0);
	assert_int_equal(result.below_count, 1);
	assert_int_equal(result.suppressed_count, 2);
	assert_ptr_equal(result.suppressed[0].suppressed_by, &list.entries.at[1]);
	assert_int_equal(result.suppression_count, 2);
	assert_int_equal(result.suppressions[0].findings, 0);
	assert_int_equal(result.suppressions[1].findings, 2);
	assert_int_equal(result.suppressions[1].calls, 1200);
	judge_done(&result);
	assert_null(result.suppressed);
	finding_list_done(&findings);
	suppressions_done(&list);
	price_book_free(result.prices);
}

/* Reads what suppress_print wrote, as the configuration would. */
static bool reads_back(const struct finding *finding)
{
	struct buf buf = BUF_INIT;
	struct suppressions list = { 0 };
	char *line, *rest, *text;
	bool matches;

	assert_int_equal(suppress_print(&buf, finding), 0);
	text = rest = strdup(buf_text(&buf));
	assert_string_equal(strsep(&rest, "\n"), "[suppress]");
	assert_int_equal(suppressions_add(&list, "file", 1, NULL), 0);
	while ((line = strsep(&rest, "\n")) && *line) {
		char *value = strstr(line, " = ");

		assert_true(strlen(line) < 198);
		assert_non_null(value);
		assert_null(strchr(value, ';'));
		*value = '\0';
		value += 3;
		assert_true(*value != ' ' && value[strlen(value) - 1] != ' ');
		assert_int_equal(suppress_set(&list, line, value, NULL), 0);
	}
	assert_int_equal(suppress_check(&list, NULL), 0);
	matches = suppress_matches(&list.entries.at[0], finding);
	suppressions_done(&list);
	free(text);
	buf_done(&buf);
	return matches;
}

static void printed_entries_match_their_finding(void **state)
{
	static const char *const places[] = { "/srv/data/",    "/",	      "/a*b/",		" /x ",
					      "/a;b/ ;c/",     "/new\nline/", "/etc/localtime", "/tmp/x7Gq2B/f/",
					      "/srv/\xff\xfe/" };
	struct finding_list list = { 0 };
	struct finding *finding = add_finding(&list, "xattr-probe", 10);
	struct buf path = BUF_INIT, printed = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		finding_set(&finding->place, "%s", places[i]);
		if (!reads_back(finding))
			fail_msg("%s", places[i]);
	}
	for (int i = 0; i < 400; i++)
		(void)buf_puts(&path, i % 7 ? "/d" : "/\xc3\xa4*");
	finding_set(&finding->place, "%s/", buf_text(&path));
	assert_true(reads_back(finding));
	finding_set(&finding->exe, "%s", buf_text(&path));
	assert_true(reads_back(finding));

	/* The next run has another name there. */
	finding_set(&finding->exe, "/usr/bin/ls");
	finding_set(&finding->place, "/tmp/x7Gq2B/f/");
	assert_int_equal(suppress_print(&printed, finding), 0);
	assert_string_equal(buf_text(&printed), "[suppress]\nrule = xattr-probe\nexe = /usr/bin/ls\n"
						"path = /tmp/*/f\nreason = " SUPPRESS_REASON "\n");
	buf_done(&printed);
	buf_done(&path);
	finding_list_done(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_match_what_they_name),
		cmocka_unit_test(all_sites_have_to_match),
		cmocka_unit_test(an_entry_needs_all_that_it_says),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(rule_and_reason_are_required),
		cmocka_unit_test(suppressed_findings_are_in_no_sum),
		cmocka_unit_test(printed_entries_match_their_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
