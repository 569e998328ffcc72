/* SPDX-License-Identifier: BSD-2-Clause */
/* Which words are hashed, which stay, and that hashes are stable. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "report/redact.h"

static const struct redact_words paths = { .set = REDACT_PATHS };
static const struct redact_words argv = { .set = REDACT_ARGV };
static const struct redact_words users = { .set = REDACT_USERS, .users = { "alice", "al" } };

static void expect(struct buf *buf, const char *wanted)
{
	assert_string_equal(buf_text(buf), wanted);
	buf_done(buf);
}

static void path_is(const struct redact_words *words, const char *path, const char *wanted)
{
	struct buf buf = BUF_INIT;

	redact_path(words, &buf, path, strlen(path));
	expect(&buf, wanted);
}

static void argument_is(const struct redact_words *words, const char *word, bool first, const char *wanted)
{
	struct buf buf = BUF_INIT;

	redact_argument(words, &buf, word, strlen(word), first);
	expect(&buf, wanted);
}

static void prose_is(const struct redact_words *words, const char *text, const char *wanted)
{
	struct buf buf = BUF_INIT;

	redact_prose(words, &buf, text);
	expect(&buf, wanted);
}

static void names_are(const struct redact_words *words, const char *text, const char *wanted)
{
	struct buf buf = BUF_INIT;

	redact_names(words, &buf, text);
	expect(&buf, wanted);
}

static void paths_keep_their_shape(void **state)
{
	path_is(&paths, "", "");
	path_is(&paths, "/", "/");
	path_is(&paths, "a", "_296230c0");
	path_is(&paths, "//a/./../a/", "//_296230c0/./../_296230c0/");
	path_is(&paths, "?", "?");
	path_is(&argv, "/a/b", "/a/b");
	path_is(&users, "/home/bob/x", "/home/_13074e4d/x");
	path_is(&users, "/srv/alice/x", "/srv/_352b13bc/x");
	path_is(&users, "/srv/malice/x", "/srv/malice/x");
	path_is(&users, "/run/user/1000/bus", "/run/user/_f50c23d4/bus");
	path_is(&users, "/home/", "/home/");
}

static void arguments_that_may_be_paths(void **state)
{
	argument_is(&paths, "ls", true, "_bdf957ef");
	argument_is(&paths, "-l", false, "-l");
	argument_is(&paths, "--file=a", false, "--file=_296230c0");
	argument_is(&paths, "-I/a", false, "_b3482624/_296230c0");
	argument_is(&paths, "a", false, "_296230c0");
	argument_is(&argv, "/bin/ls", true, "/bin/ls");
	argument_is(&argv, "-l", false, "_b348069b");
	argument_is(&argv, "", false, "_4fd0bfc1");
	argument_is(&users, "alice", false, "_352b13bc");
	argument_is(&users, "-a", false, "-a");
}

static void sentences_keep_our_words(void **state)
{
	prose_is(&paths, "looks at the file again (TZ is unset)", "looks at the file again (TZ is unset)");
	prose_is(&paths, "on /a, more", "on /_296230c0, more");
	prose_is(&paths, "open(\"a\", 0) = -1 ENOENT", "open(\"_296230c0\", 0) = -1 ENOENT");
	prose_is(&paths, "getxattr(\"a\", \"security.selinux\", ..., 5) = 3",
		 "getxattr(\"_296230c0\", \"security.selinux\", ..., 5) = 3");
	prose_is(&paths, "f(\"security.a/b\")", "f(\"_da641dfa/_29622ee9\")");
	prose_is(&paths, "f(\"a\\\"b c\", 1)", "f(\"_8524b326\", 1)");
	prose_is(&paths, "f(\"not ended", "f(\"_b1b0a523");
	prose_is(&paths, "no \"+\" on files that have an ACL", "no \"+\" on files that have an ACL");
	prose_is(&users, "for alice: 3", "for _352b13bc: 3");
}

static void of_names_only_known_words_stay(void **state)
{
	names_are(&paths, "1,000 files in a and a itself; ext4 on /a",
		  "1,000 files in _296230c0 and _296230c0 itself; "
		  "ext4 on /_296230c0");
	names_are(&paths, "security.selinux on ext4", "security.selinux on ext4");
	names_are(&paths, "user.a on ext4", "_8d00e825 on ext4");
	names_are(&paths, "at least 5 files below a", "at least 5 files below _296230c0");
}

static void lists_are_read(void **state)
{
	struct error err = { 0 };
	unsigned set = 0;

	assert_int_equal(redact_parse("paths", &set, &err), 0);
	assert_int_equal(set, REDACT_PATHS);
	assert_int_equal(redact_parse("argv,users", &set, &err), 0);
	assert_int_equal(set, REDACT_ARGV | REDACT_PATHS | REDACT_USERS);
	assert_int_equal(redact_parse("argv,", &set, &err), -EINVAL);
	err.code = 0;
	assert_int_equal(redact_parse("arg", &set, &err), -EINVAL);
	assert_non_null(strstr(err.text, "'arg'"));
}

static void users_come_from_the_environment(void **state)
{
	struct redact_words words;

	assert_int_equal(setenv("USER", "carol", 1), 0);
	assert_int_equal(setenv("LOGNAME", "root", 1), 0);
	assert_int_equal(setenv("HOME", "/srv/homes/dave", 1), 0);
	assert_int_equal(unsetenv("SUDO_USER"), 0);
	redact_words_init(&words, REDACT_USERS);
	assert_string_equal(words.users[0], "carol");
	assert_string_equal(words.users[1], "dave");
	assert_null(words.users[2]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_keep_their_shape),   cmocka_unit_test(arguments_that_may_be_paths),
		cmocka_unit_test(sentences_keep_our_words), cmocka_unit_test(of_names_only_known_words_stay),
		cmocka_unit_test(lists_are_read),	    cmocka_unit_test(users_come_from_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
