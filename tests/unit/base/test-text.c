/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers at their edges, escaping of what a terminal would obey, words for
 * a shell proved by a shell, distance against the definition. */
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#include "test.h"

#define equal_number(call, expected) \
	do { \
		char out_[TEXT_NUMBER_MAX]; \
		assert_string_equal(call, expected); \
	} while (0)

static void test_counts(void **state)
{
	equal_number(text_count(0, out_), "0");
	equal_number(text_count(999, out_), "999");
	equal_number(text_count(1000, out_), "1,000");
	equal_number(text_count(1234567, out_), "1,234,567");
	equal_number(text_count(UINT64_MAX, out_), "18,446,744,073,709,551,615");
}

static void test_times(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },		 { 0.4, "0 ns" },	    { 420, "420 ns" },	     { 999.4, "999 ns" },
		{ 999.6, "1.00 us" },	 { 1140, "1.14 us" },	    { 9994, "9.99 us" },     { 9996, "10 us" },
		{ 87000, "87 us" },	 { 999400, "999 us" },	    { 999600, "1.00 ms" },   { 2.3e6, "2.30 ms" },
		{ 1.8e9, "1.80 s" },	 { 59e9, "59 s" },	    { 119e9, "119 s" },	     { 120e9, "2.0 min" },
		{ 12 * 60e9, "12 min" }, { 119 * 60e9, "119 min" }, { 120 * 60e9, "2.0 h" }, { 1e30, "2.8e+17 h" },
		{ -2.3e6, "-2.30 ms" },	 { (double)INFINITY, "?" }, { (double)NAN, "?" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		equal_number(text_ns(cases[i].ns, out_), cases[i].text);
}

static void test_shares(void **state)
{
	equal_number(text_share(0, out_), "0 %");
	equal_number(text_share(0.00001, out_), "<0.1 %");
	equal_number(text_share(0.004, out_), "0.4 %");
	equal_number(text_share(0.0094, out_), "0.9 %");
	equal_number(text_share(0.0096, out_), "1 %");
	equal_number(text_share(0.153, out_), "15 %");
	equal_number(text_share(1, out_), "100 %");
	equal_number(text_share(-0.004, out_), "-0.4 %");
	equal_number(text_share((double)NAN, out_), "?");
}

static void test_bytes(void **state)
{
	equal_number(text_bytes(0, out_), "0 B");
	equal_number(text_bytes(1023, out_), "1023 B");
	equal_number(text_bytes(1024, out_), "1.0 KiB");
	equal_number(text_bytes(1536, out_), "1.5 KiB");
	equal_number(text_bytes(136 * 1024, out_), "136 KiB");
	equal_number(text_bytes(1048575, out_), "1.0 MiB");
	equal_number(text_bytes(UINT64_MAX, out_), "16 EiB");
}

static void check_escape(const char *text, size_t bytes, char quote, bool utf8, const char *expected)
{
	struct buf buf = BUF_INIT;

	assert_int_equal(text_escape(&buf, text, bytes, quote, utf8), 0);
	assert_string_equal(buf_text(&buf), expected);
	buf_done(&buf);
}

#define escapes(literal, quote, utf8, expected) check_escape(literal, sizeof(literal) - 1, quote, utf8, expected)

static void tames(const char *text, const char *expected)
{
	char copy[64];

	(void)snprintf(copy, sizeof copy, "%s", text);
	text_tame(copy);
	assert_string_equal(copy, expected);
}

static void test_tame(void **state)
{
	tames("plain \"text\" \\ \xc3\xa9", "plain \"text\" \\ \xc3\xa9");
	tames("", "");
	tames("a\033[31m\n\177", "a?[31m??");
	tames("\xff\xc3", "??");
	tames("\xc2\x9b"
	      "31m",
	      "??31m");
}

static void test_escape(void **state)
{
	escapes("plain", '"', true, "plain");
	escapes("a\"b'c\\d", '"', true, "a\\\"b'c\\\\d");
	escapes("a\"b'c", 0, true, "a\"b'c");
	escapes("a\"b'c", '\'', true, "a\"b\\'c");
	escapes("\t\n\v\f\r", 0, true, "\\t\\n\\v\\f\\r");
	escapes("\033[31mred", 0, true, "\\33[31mred");
	escapes("\033"
		"7",
		0, true, "\\0337");
	escapes("\001\0", 0, true, "\\1\\0");
	escapes("\0"
		"8",
		0, true, "\\0008");
	escapes("\x7f", 0, true, "\\177");
}

static void test_escape_utf8(void **state)
{
	escapes("gr\xc3\xbc\xc3\x9f", 0, true, "gr\xc3\xbc\xc3\x9f");
	escapes("gr\xc3\xbc", 0, false, "gr\\303\\274");
	escapes("\xe6\x97\xa5", 0, true, "\xe6\x97\xa5");
	escapes("\xf0\x9f\x98\x80", 0, true, "\xf0\x9f\x98\x80");
	/* Cut, overlong, surrogates, beyond Unicode, stray. */
	escapes("\xc3", 0, true, "\\303");
	escapes("\xe6\x97", 0, true, "\\346\\227");
	escapes("\xc0\x8a", 0, true, "\\300\\212");
	escapes("\xe0\x80\x8a", 0, true, "\\340\\200\\212");
	escapes("\xed\xa0\x80", 0, true, "\\355\\240\\200");
	escapes("\xf5\x80\x80\x80", 0, true, "\\365\\200\\200\\200");
	escapes("\xf4\x90\x80\x80", 0, true, "\\364\\220\\200\\200");
	escapes("\x80x", 0, true, "\\200x");
	/* C1 control sequence introducer, right-to-left override, zero width. */
	escapes("\xc2\x9b"
		"31m",
		0, true, "\\302\\23331m");
	escapes("\xe2\x80\xae", 0, true, "\\342\\200\\256");
	escapes("\xe2\x80\x8b", 0, true, "\\342\\200\\213");
	escapes("\xf3\xa0\x80\xa0", 0, true, "\\363\\240\\200\\240");
}

/* Whatever comes in, what goes out holds nothing that a terminal obeys. */
static void test_escape_all_bytes(void **state)
{
	for (unsigned first = 0; first < 256; first++) {
		for (unsigned second = 0; second < 256; second++) {
			char text[2] = { (char)first, (char)second };

			for (int utf8 = 0; utf8 < 2; utf8++) {
				struct buf buf = BUF_INIT;

				assert_int_equal(text_escape(&buf, text, 2, '"', utf8), 0);
				for (size_t i = 0; i < buf.bytes; i++) {
					unsigned char c = (unsigned char)buf.data[i];

					assert_true(c >= 0x20 && c != 0x7f && (utf8 || c < 0x7f));
				}
				buf_done(&buf);
			}
		}
	}
}

/* What a shell makes of the word must be the text again. */
static void shell_reads(const char *text, size_t bytes)
{
	struct buf inner = BUF_INIT, command = BUF_INIT, read = BUF_INIT;
	FILE *shell;

	/* popen's sh need not know $'...'; bash does. */
	(void)buf_puts(&inner, "printf %s ");
	assert_int_equal(text_shell_word(&inner, text, bytes, true), 0);
	(void)buf_puts(&command, "exec bash -c ");
	assert_int_equal(text_shell_word(&command, inner.data, inner.bytes, true), 0);
	shell = popen(buf_text(&command), "r");
	assert_non_null(shell);
	assert_int_equal(buf_read_fd(&read, fileno(shell), 10000), 0);
	assert_int_equal(pclose(shell), 0);
	assert_int_equal(read.bytes, bytes);
	assert_memory_equal(buf_text(&read), text, bytes);
	buf_done(&read);
	buf_done(&command);
	buf_done(&inner);
}

static void check_word(const char *text, const char *expected)
{
	struct buf buf = BUF_INIT;

	assert_int_equal(text_shell_word(&buf, text, strlen(text), true), 0);
	assert_string_equal(buf_text(&buf), expected);
	buf_done(&buf);
}

static void test_shell_words(void **state)
{
	check_word("ls", "ls");
	check_word("--color=always", "--color=always");
	check_word("/tmp/a.b", "/tmp/a.b");
	check_word("", "''");
	check_word("a b", "'a b'");
	check_word("~root", "'~root'");
	check_word("*", "'*'");
	check_word("it's", "'it'\\''s'");
	check_word("a\nb", "$'a\\nb'");
	check_word("\033'\\", "$'\\033\\'\\\\'");
	if (system("command -v bash >/dev/null") != 0)
		skip_part("no bash: words are not read back");
	shell_reads("it's $HOME `id` \"x\" \\ * ~", strlen("it's $HOME `id` \"x\" \\ * ~"));
	shell_reads("\001\0337\n'\\\377x", 8);
	shell_reads("gr\xc3\xbc\xc3\x9f e", strlen("gr\xc3\xbc\xc3\x9f e"));
}

static void test_columns(void **state)
{
	assert_int_equal(text_columns("abc", 3), 3);
	assert_int_equal(text_columns("", 0), 0);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip_part("no locale C.UTF-8");
	assert_int_equal(text_columns("gr\xc3\xbc\xc3\x9f", 6), 4);
	assert_int_equal(text_columns("\xe6\x97\xa5\xe6\x9c\xac", 6), 4);
	assert_int_equal(text_columns("e\xcc\x81", 3), 1);
	assert_int_equal(text_columns("\xff\xc3", 2), 2);
	(void)setlocale(LC_CTYPE, "C");
}

/* The definition, slow. */
static unsigned distance(const char *a, const char *b)
{
	unsigned best, other;

	if (*a == '\0' || *b == '\0')
		return (unsigned)(strlen(a) + strlen(b));
	best = distance(a + 1, b + 1) + (*a != *b);
	other = distance(a + 1, b) + 1;
	if (other < best)
		best = other;
	other = distance(a, b + 1) + 1;
	if (other < best)
		best = other;
	if (a[0] != '\0' && a[0] == b[1] && a[1] == b[0]) {
		other = distance(a + 2, b + 2) + 1;
		if (other < best)
			best = other;
	}
	return best;
}

static void test_distance(void **state)
{
	static const char *const words[] = { "", "a", "run", "rum", "nur", "rules", "urles", "report", "doctor" };
	size_t count = sizeof words / sizeof words[0];
	char longer[200];

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			unsigned exact = distance(words[i], words[j]);

			for (unsigned bound = 0; bound < 8; bound++) {
				unsigned expected = exact > bound ? bound + 1 : exact;

				assert_int_equal(text_distance(words[i], words[j], bound), expected);
			}
		}
	}
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_int_equal(text_distance(longer, "run", 3), 4);
	assert_int_equal(text_distance(longer, longer, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_tame),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_escape_utf8),
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_escape_all_bytes),
		cmocka_unit_test(test_shell_words),
		cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
