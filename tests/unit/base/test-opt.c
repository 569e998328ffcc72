/* SPDX-License-Identifier: BSD-2-Clause */
/* Options: what is found, where the operands begin, what the errors say. */
#include "base/opt.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

#include "test.h"

static const struct opt table[] = {
	{ 'h', "help", NULL, "this text" },
	{ 'o', "output", "FILE", "the report goes to FILE" },
	{ 'q', "quiet", NULL, "no report" },
	{ 256, "engine", "NAME", "who sees the calls" },
	{ 257, "an-option-that-is-very-long", "ARGUMENT", "wide" },
	{ 0 },
};

static int set(void *data, int letter, const char *value, struct error *err)
{
	if (value && strcmp(value, "bad") == 0)
		return error_set(err, EINVAL, "bad value");
	return buf_printf(data, "%d=%s ", letter, value ? value : "-");
}

static int parse(const char *line, struct buf *found, int *first, struct error *err)
{
	char copy[200], *argv[20], *save = NULL;
	int argc = 0;

	(void)snprintf(copy, sizeof copy, "%s", line);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	buf_clear(found);
	*err = (struct error){ 0 };
	*first = -1;
	return opt_parse(argc, argv, table, set, found, first, err);
}

static void test_finds(void **state)
{
	static const struct {
		const char *line, *found;
		int first;
	} cases[] = {
		{ "run", "", 1 },
		{ "run ls -l", "", 1 },
		{ "run -q ls -q", "113=- ", 2 },
		{ "run -qo F ls", "113=- 111=F ", 3 },
		{ "run -oF -- -q", "111=F ", 3 },
		{ "run --output=F --engine ptrace -- ls", "111=F 256=ptrace ", 5 },
		{ "run --eng=x --help", "256=x 104=- ", 3 },
		{ "run --", "", 2 },
		{ "run - x", "", 1 },
	};
	struct buf found = BUF_INIT;
	struct error err;
	int first;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(parse(cases[i].line, &found, &first, &err), 0);
		assert_string_equal(buf_text(&found), cases[i].found);
		assert_int_equal(first, cases[i].first);
		assert_int_equal(err.code, 0);
	}
	buf_done(&found);
}

static void test_scan_passes_over(void **state)
{
	static const struct {
		const char *line, *found;
		int first;
	} cases[] = {
		{ "run -o bad -q -- ls", "113=- ", 5 },
		{ "run --zebra -q ls -q", "113=- ", 3 },
		{ "run --zebra=bad -q -- ls", "113=- ", 4 },
		{ "run --zebra value -q -- ls", "113=- ", 5 },
		/* Without "--" it may as well be the command. */
		{ "run --zebra ls -q", "", 2 },
		{ "run -z ls -q -- x", "", 2 },
		{ "run --help=x --outputt -oF -- -q", "111=F ", 5 },
		{ "run -q --engine", "113=- ", 3 },
		{ "run -q bad -q -- ls", "113=- ", 2 },
		{ "run", "", 1 },
	};
	struct buf found = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char copy[200], *argv[20], *save = NULL;
		int argc = 0;

		(void)snprintf(copy, sizeof copy, "%s", cases[i].line);
		for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
			argv[argc++] = word;
		argv[argc] = NULL;
		buf_clear(&found);
		assert_int_equal(opt_scan(argc, argv, table, set, &found), cases[i].first);
		assert_string_equal(buf_text(&found), cases[i].found);
	}
	buf_done(&found);
}

static void test_complains(void **state)
{
	static const struct {
		const char *line, *text;
	} cases[] = {
		{ "run --outputt", "unknown option --outputt; did you mean --output?" },
		{ "run --enigne=x", "unknown option --enigne; did you mean --engine?" },
		{ "run --zebra ls", "unknown option --zebra; see --help" },
		{ "run -z", "unknown option -z; see --help" },
		{ "run --quiet -qz ls", "unknown option -z; see --help" },
		{ "run -o", "option -o needs FILE" },
		{ "run --engine", "option --engine needs NAME" },
		{ "run --quiet=yes", "option --quiet takes no value" },
		{ "run -o bad", "bad value" },
	};
	struct buf found = BUF_INIT;
	struct error err;
	int first;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(parse(cases[i].line, &found, &first, &err), -EINVAL);
		assert_string_equal(err.text, cases[i].text);
	}
	buf_done(&found);
}

static void test_long_word_is_cut(void **state)
{
	struct buf found = BUF_INIT;
	struct error err;
	char line[180] = "run --";
	int first;

	memset(line + 6, 'x', sizeof line - 7);
	assert_int_equal(parse(line, &found, &first, &err), -EINVAL);
	assert_non_null(strstr(err.text, "unknown option --xxx"));
	buf_done(&found);
}

static void test_help(void **state)
{
	struct buf text = BUF_INIT;
	int saved = dup(1), pipes[2];

	assert_int_equal(pipe(pipes), 0);
	(void)fflush(stdout);
	assert_int_equal(dup2(pipes[1], 1), 1);
	opt_print_help(table);
	(void)fflush(stdout);
	assert_int_equal(dup2(saved, 1), 1);
	(void)close(pipes[1]);
	assert_int_equal(buf_read_fd(&text, pipes[0], 10000), 0);
	assert_string_equal(buf_text(&text), "  -h, --help         this text\n"
					     "  -o, --output FILE  the report goes to FILE\n"
					     "  -q, --quiet        no report\n"
					     "      --engine NAME  who sees the calls\n"
					     "      --an-option-that-is-very-long ARGUMENT\n"
					     "                     wide\n");
	(void)close(pipes[0]);
	(void)close(saved);
	buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds),	  cmocka_unit_test(test_scan_passes_over),
		cmocka_unit_test(test_complains), cmocka_unit_test(test_long_word_is_cut),
		cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
