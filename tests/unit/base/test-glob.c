/* SPDX-License-Identifier: BSD-2-Clause */
/* Patterns over whole texts, and texts that match themselves alone. */
#include "test.h"

#include <string.h>

#include "base/glob.h"

static void matches_whole_texts(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} rows[] = {
		{ "", "", true },
		{ "", "a", false },
		{ "*", "", true },
		{ "*", "/a/b", true },
		{ "a", "a", true },
		{ "a", "ab", false },
		{ "b", "ab", false },
		{ "*/ls", "/usr/bin/ls", true },
		{ "*/ls", "/usr/bin/lsof", false },
		{ "/usr/*/ls", "/usr/local/bin/ls", true },
		{ "a*b*c", "aXbXbXc", true },
		{ "a*b*c", "aXbXbX", false },
		{ "?", "", false },
		{ "?", "x", true },
		{ "?", "\xc3\xa4", true }, /* one character of two bytes */
		{ "??", "\xc3\xa4", false },
		{ "?", "\xff", true }, /* no UTF-8: a byte */
		{ "?*", "ab", true },
		{ "*?", "ab", true },
		{ "**", "ab", true },
		{ "\\*", "*", true },
		{ "\\*", "a", false },
		{ "\\\\", "\\", true },
		{ "a\\", "a\\", true }, /* nothing to take as it is */
		{ "[ab]", "a", false },
		{ "[ab]", "[ab]", true },
		{ "*\\?*", "what?", true },
		{ "*\\?*", "what", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (glob_matches(rows[i].pattern, rows[i].text) != rows[i].matches)
			fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].text);
}

/* A hundred stars would take the age of the world if each were tried. */
static void no_pattern_takes_long(void **state)
{
	char pattern[401], text[4001];

	(void)state;
	for (size_t i = 0; i < 400; i += 2)
		(void)strcpy(pattern + i, "*a");
	memset(text, 'a', 4000);
	text[4000] = '\0';
	assert_true(glob_matches(pattern, text));
	text[3999] = 'b';
	assert_false(glob_matches(pattern, text));
}

static void quoted_texts_match_themselves(void **state)
{
	static const char *const texts[] = { "",       "plain", "a*b",	"?",	    "\\",      "\\*?",
					     "[a] b;", "#",	"a\nb", "a\tb\x7f", "\xff\xc3" };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct buf buf = BUF_INIT;

		assert_int_equal(glob_quote(&buf, texts[i]), 0);
		assert_null(strchr(buf_text(&buf), '\n'));
		if (!glob_matches(buf_text(&buf), texts[i]))
			fail_msg("'%s' and '%s'", buf_text(&buf), texts[i]);
		buf_done(&buf);
	}
	assert_false(glob_matches("a\\*b", "aXb"));
}

static void test_may_begin(void **state)
{
	assert_true(glob_may_begin("", ""));
	assert_true(glob_may_begin("p:ask", "p:"));
	assert_true(glob_may_begin("p?a*", "p:"));
	assert_true(glob_may_begin("*", "p:"));
	assert_true(glob_may_begin("p*k", "p:xyz"));
	assert_true(glob_may_begin("\\*x", "*"));
	assert_false(glob_may_begin("\\*x", "p"));
	assert_false(glob_may_begin("p", "p:"));
	assert_false(glob_may_begin("q*", "p:"));
	assert_false(glob_may_begin("p??", "p:xyz"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_may_begin),
		cmocka_unit_test(matches_whole_texts),
		cmocka_unit_test(no_pattern_takes_long),
		cmocka_unit_test(quoted_texts_match_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
