/* SPDX-License-Identifier: BSD-2-Clause */
/* .syscull.conf: what is read, and that nothing odd passes in silence. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/conf.h"

struct taken {
	struct buf text;
	bool refuse;
};

static int take(void *data, const char *key, const char *value, struct error *err)
{
	struct taken *taken = data;

	if (taken->refuse)
		return error_set(err, EINVAL, "no such call");
	(void)buf_printf(&taken->text, "%s=%s|", key, value);
	return 0;
}

static int parse(struct conf *conf, const char *text, struct error *err)
{
	return conf_parse(conf, "f", text, strlen(text), err);
}

static void reads_all_three_sections(void **state)
{
	static const char text[] = "# of this project\n"
				   "\n"
				   "[budget]\r\n"
				   "max = close:EBADF=0\n"
				   "  max = @xattr=3   ; as few as can be\n"
				   "max: getxattr + lgetxattr=3\n"
				   "canary = @stat>=100\n"
				   "; strict\n"
				   "strict = yes\n"
				   "[rule fd-sweep]\n"
				   "calls = 1,000\n"
				   "failed = 95 %\n"
				   "[rule  xattr-probe] # and here\n"
				   "floor = 2%,1ms\n"
				   "[suppress]\n"
				   "rule = fd-sweep\n"
				   "exe = /bin/old*\n"
				   "exe = sh\n"
				   "reason = closes 3 to 255 = harmless\n"
				   "[suppress]\n"
				   "rule = xattr-probe\n"
				   "reason = no attributes here";
	struct taken taken = { .text = BUF_INIT };
	struct conf conf = { .budget = take, .data = &taken };
	struct error err = { 0 };
	const struct rule *sweep = rule_by_id("fd-sweep");

	(void)state;
	if (parse(&conf, text, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(buf_text(&taken.text), "max=close:EBADF=0|max=@xattr=3|max=getxattr + lgetxattr=3|"
						   "canary=@stat>=100|strict=yes|");
	assert_int_equal(conf.settings.items.used, 3);
	assert_true(settings_limit(&conf.settings, sweep, 0) == 1000);
	assert_true(settings_limit(&conf.settings, sweep, 1) == 95);
	assert_int_equal(conf.suppressions.entries.used, 2);
	assert_int_equal(conf.suppressions.entries.at[0].patterns[SUPPRESS_EXE].at.used, 2);
	assert_string_equal(conf.suppressions.entries.at[0].reason, "closes 3 to 255 = harmless");
	assert_string_equal(conf.suppressions.entries.at[0].file, "f");
	assert_int_equal(conf.suppressions.entries.at[0].line, 15);
	assert_int_equal(conf.suppressions.entries.at[1].line, 20);
	conf_done(&conf);
	buf_done(&taken.text);
}

static void an_empty_one_says_nothing(void **state)
{
	static const char *const texts[] = { "", "\n\n", "# only this\n", "[budget]\n",
					     "\xef\xbb\xbf[budget]\nmax = a=1\n" };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct conf conf = { 0 };
		struct error err = { 0 };

		if (parse(&conf, texts[i], &err) < 0)
			fail_msg("%zu: %s", i, err.text);
		assert_int_equal(conf.settings.items.used + conf.suppressions.entries.used, 0);
		conf_done(&conf);
	}
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	static const char *const rows[][2] = {
		{ "max = a=1\n", "f:1: 'max' stands before any section" },
		{ "[bugdet]\n", "f:1: the section 'bugdet' is not known; did you mean 'budget'?" },
		{ "[budget]\n[something]\n", "f:2: the section 'something' is not known" },
		{ "[]\n", "f:1: the section '' is not known" },
		{ "[budget\nmax = a=1\n", "f:1: the ']' is missing" },
		{ "[budget] max = a=1\n", "f:1: something stands behind the ']'" },
		{ "[budget]\nmaxx = a=1\n", "f:2: the key 'maxx' is not known; did you mean 'max'?" },
		{ "[budget]\ncanaries = a\n", "f:2: the key 'canaries' is not known" },
		{ "[budget]\nrun = rm -rf /\n", "f:2: the key 'run' is not known" },
		{ "[budget]\nmax =\n", "f:2: max is empty" },
		{ "[budget]\nmax = ; nothing\n", "f:2: max is empty" },
		{ "[budget]\nmax\n", "f:2: neither KEY = VALUE" },
		{ "[budget]\n\n= a\nmax = a=1\n", "f:3: the key '' is not known" },
		{ "[budget]\nwhat is this\n[bugdet]\n", "f:2: neither KEY = VALUE" },
		{ "[bugdet]\nwhat is this\n", "f:1: the section 'bugdet'" },
		{ "[rule]\n", "f:1: [rule NAME]: the name is missing" },
		{ "[rule fd-sweeep]\n", "f:1: no rule is called 'fd-sweeep'; did you mean 'fd-sweep'?" },
		{ "[rules fd-sweep]\n", "f:1: the section 'rules fd-sweep' is not known" },
		{ "[rule fd-sweep]\ncals = 3\n", "f:2: fd-sweep has no limit 'cals'; did you mean 'calls'?" },
		{ "[rule fd-sweep]\ncalls = many\n", "f:2: 'many' is no count" },
		{ "[rule fd-sweep]\ncalls = 1\n[rule fd-sweep]\ncalls = 1\n", "f:4: calls of fd-sweep is set twice" },
		{ "[suppress]\nrule = fd-sweep\n\n[budget]\n", "f:4: the suppression gives no reason" },
		{ "[suppress]\nrule = fd-sweep\n\n", "f:3: the suppression gives no reason" },
		{ "[suppress]\nreason = x\n[suppress]\n", "f:3: the suppression names no rule" },
		{ "[suppress]\n", "f:1: the suppression names no rule" },
		{ "[suppress]\nrule = fd-sweep\nreason = x\nrule = fd-sweep\n", "f:4: a second rule" },
		{ "[suppress]\nfun = x\n", "f:2: a suppression has no 'fun'" },
		{ "[budget]\n\xff\xfe\n", "f:2: neither KEY = VALUE" },
	};
	char long_line[400];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct conf conf = { 0 };
		struct error err = { 0 };

		assert_true(parse(&conf, rows[i][0], &err) < 0);
		if (strncmp(err.text, rows[i][1], strlen(rows[i][1])) != 0)
			fail_msg("expected %s, got %s", rows[i][1], err.text);
		assert_null(strchr(err.text, '\n'));
		conf_done(&conf);
	}
	memset(long_line, 'a', sizeof long_line - 1);
	long_line[sizeof long_line - 1] = '\0';
	memcpy(long_line, "[budget]\nmax = ", 15);
	for (int i = 0; i < 3; i++) {
		struct conf conf = { 0 };
		struct error err = { 0 };

		/* Not a line cut into two. */
		assert_int_equal(parse(&conf, long_line, &err), -EINVAL);
		assert_non_null(strstr(err.text, "f:2: a line of more than 199 bytes"));
		memcpy(long_line + 250, "\nmax = b", 8);
		conf_done(&conf);
	}
}

static void binary_files_are_refused(void **state)
{
	struct conf conf = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(conf_parse(&conf, "f", "[budget]\nmax\0 = a\n", 18, &err), -EINVAL);
	assert_non_null(strstr(err.text, "f:2: a NUL byte"));
	conf_done(&conf);
}

static void what_a_budget_says_has_its_line(void **state)
{
	struct taken taken = { .text = BUF_INIT, .refuse = true };
	struct conf conf = { .budget = take, .data = &taken };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(parse(&conf, "[budget]\n# here\nmax = nope=1\nmax = nope=2\n", &err), -EINVAL);
	assert_string_equal(err.text, "f:3: no such call");
	conf_done(&conf);
	/* Who does not judge does not look at them. */
	conf = (struct conf){ 0 };
	assert_int_equal(parse(&conf, "[budget]\nmax = nope=1\n", NULL), 0);
	conf_done(&conf);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void files_are_found_or_named(void **state)
{
	struct conf conf = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(conf_load(&conf, NULL, &err), 0);
	assert_null(conf.path);
	assert_int_equal(conf_load(&conf, "named.conf", &err), -ENOENT);
	assert_non_null(strstr(err.text, "named.conf"));

	write_file(CONF_NAME, "[rule fd-sweep]\ncalls = 7\n");
	assert_int_equal(conf_load(&conf, NULL, NULL), 0);
	assert_string_equal(conf.path, CONF_NAME);
	assert_int_equal(conf.settings.items.used, 1);
	conf_done(&conf);

	/* The named one, not the other. */
	conf = (struct conf){ 0 };
	write_file("named.conf", "[rule fd-sweep]\ncalls = 8\n");
	assert_int_equal(conf_load(&conf, "named.conf", NULL), 0);
	assert_true(settings_limit(&conf.settings, rule_by_id("fd-sweep"), 0) == 8);
	write_file("s", "[suppress]\nrule = fd-sweep\nreason = a\n");
	assert_int_equal(conf_load_suppressions(&conf, "s", NULL), 0);
	assert_int_equal(conf_load_suppressions(&conf, "s", NULL), 0);
	assert_int_equal(conf.suppressions.entries.used, 2);
	write_file("s", "[budget]\n");
	err = (struct error){ 0 };
	assert_int_equal(conf_load_suppressions(&conf, "s", &err), -EINVAL);
	assert_string_equal(err.text, "s:1: only [suppress] can stand here, not [budget]");
	conf_done(&conf);
	(void)unlink(CONF_NAME);
}

static void what_is_no_file_is_refused(void **state)
{
	struct conf conf = { 0 };
	struct error err = { 0 };
	FILE *file;

	(void)state;
	assert_int_equal(mkdir(CONF_NAME, 0700), 0);
	assert_true(conf_load(&conf, NULL, &err) < 0);
	assert_int_equal(err.code, EINVAL);
	assert_int_equal(rmdir(CONF_NAME), 0);
	/* Nobody writes into it: we must not wait. */
	assert_int_equal(mkfifo(CONF_NAME, 0600), 0);
	err = (struct error){ 0 };
	assert_int_equal(conf_load(&conf, NULL, &err), -EINVAL);
	assert_string_equal(err.text, CONF_NAME " is no regular file");
	assert_int_equal(unlink(CONF_NAME), 0);
	assert_int_equal(symlink(CONF_NAME, CONF_NAME), 0);
	err = (struct error){ 0 };
	assert_int_equal(conf_load(&conf, NULL, &err), -ELOOP);
	assert_int_equal(unlink(CONF_NAME), 0);

	file = fopen(CONF_NAME, "w");
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), CONF_BYTES_MAX + 1), 0);
	(void)fclose(file);
	err = (struct error){ 0 };
	assert_int_equal(conf_load(&conf, NULL, &err), -EFBIG);
	(void)unlink(CONF_NAME);
	conf_done(&conf);
}

static char folder[] = "/tmp/test-conf-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	(void)unlink("s");
	(void)unlink("named.conf");
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_all_three_sections),
		cmocka_unit_test(an_empty_one_says_nothing),
		cmocka_unit_test(what_is_wrong_is_said_with_its_line),
		cmocka_unit_test(binary_files_are_refused),
		cmocka_unit_test(what_a_budget_says_has_its_line),
		cmocka_unit_test(files_are_found_or_named),
		cmocka_unit_test(what_is_no_file_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
