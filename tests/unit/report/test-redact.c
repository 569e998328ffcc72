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

static void call_is(const struct redact_words *words, const char *text, const char *wanted)
{
	struct buf buf = BUF_INIT;

	redact_call(words, &buf, text);
	expect(&buf, wanted);
}

static void sentences_keep_our_words(void **state)
{
	prose_is(&paths, "looks at the file again (TZ is unset)", "looks at the file again (TZ is unset)");
	prose_is(&paths, "on /a, more", "on /_296230c0, more");
	call_is(&paths, "open(\"a\", 0) = -1 ENOENT", "open(\"_296230c0\", 0) = -1 ENOENT");
	call_is(&paths, "getxattr(\"a\", \"security.selinux\", ..., 5) = 3",
		"getxattr(\"_296230c0\", \"security.selinux\", ..., 5) = 3");
	call_is(&paths, "f(\"security.a/b\")", "f(\"_da641dfa/_29622ee9\")");
	call_is(&paths, "f(\"a\\\"b c\", 1)", "f(\"_8524b326\", 1)");
	call_is(&paths, "f(\"not ended", "f(\"_b1b0a523");
	prose_is(&paths, "\"not supported\" at once, by a filter", "\"not supported\" at once, by a filter");
	/* The same with the command as in the line of the remedy. */
	prose_is(&paths, "TZ=:/etc/localtime", "TZ=:/etc/localtime");
	call_is(&paths, "stat(\"/etc/localtime\", 0)", "stat(\"/etc/localtime\", 0)");
	prose_is(&paths, "TZ=:/etc/localtime2", "_68d3df62/_33601295/_600778db");
	prose_is(&paths, "tz=/etc/localtime", "_13af00ab/_33601295/_7646277c");
	prose_is(&paths, "no \"+\" on files that have an ACL", "no \"+\" on files that have an ACL");
	prose_is(&users, "for alice: 3", "for _352b13bc: 3");
}

static void of_names_only_known_words_stay(void **state)
{
	names_are(&paths, "1,000 files in b and b itself; ext4 on /b",
		  "1,000 files in _29622ee9 and _29622ee9 itself; "
		  "ext4 on /_29622ee9");
	names_are(&paths, "security.selinux on ext4", "security.selinux on ext4");
	names_are(&paths, "user.a on ext4", "_8d00e825 on ext4");
	names_are(&paths, "b/b and others in b", "_29622ee9/_29622ee9 and others in _29622ee9");
	names_are(&paths, "descriptors without a name", "descriptors without a name");
	names_are(&paths, "3 starts; calls of each: 4 openat", "3 starts; calls of each: 4 openat");
	names_are(&paths, "at least 5 files below b", "at least 5 files below _29622ee9");
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

static void strip_is(const struct redact_words *words, const char *text, const char *wanted)
{
	struct buf buf = BUF_INIT;

	redact_strip(words, &buf, text);
	expect(&buf, wanted);
}

static void baselines_hold_nothing_of_one_machine(void **state)
{
	static const struct redact_words words = { .set = REDACT_BASELINE,
						   .home = "/srv/people/eve",
						   .host = "ci-7.example.org" };
	static const struct redact_words plain = { .set = REDACT_BASELINE };

	strip_is(&words, "", "");
	strip_is(&words, "/srv/people/eve", "~");
	strip_is(&words, "/srv/people/eve/src/a.c", "~/src/a.c");
	strip_is(&words, "/srv/people/evelyn/a", "/srv/people/evelyn/a");
	strip_is(&words, "/srv/people/eve.old/a", "/srv/people/eve.old/a");
	strip_is(&words, "/mnt/srv/people/eve", "/mnt/srv/people/eve");
	strip_is(&words, "--dir=/srv/people/eve/x", "--dir=~/x");
	strip_is(&words, "3 files in /home/bob/x; ext4", "3 files in ~/x; ext4");
	strip_is(&words, "/home/bob", "~");
	strip_is(&words, "/home/", "/home/");
	strip_is(&words, "/home", "/home");
	strip_is(&words, "a:/home/bob:/home/al/bin", "a:~:~/bin");
	strip_is(&words, "/var/home/bob/x", "~/x");
	strip_is(&words, "/root/x and /root", "~/x and ~");
	strip_is(&words, "/rootfs/x", "/rootfs/x");
	strip_is(&words, "/srv/ci-7.example.org/log", "/srv/HOST/log");
	strip_is(&words, "ci-7: up", "HOST: up");
	strip_is(&words, "ci-77 and magci-7 and ci-7-b", "ci-77 and magci-7 and ci-7-b");
	strip_is(&words, "/proc/4711/status", "/proc/*/status");
	strip_is(&words, "/tmp/x7Gq2B/f", "/tmp/*/f");
	strip_is(&plain, "/srv/people/eve on ci-7", "/srv/people/eve on ci-7");
	strip_is(&plain, "/home/bob", "~");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_keep_their_shape),
		cmocka_unit_test(arguments_that_may_be_paths),
		cmocka_unit_test(sentences_keep_our_words),
		cmocka_unit_test(of_names_only_known_words_stay),
		cmocka_unit_test(baselines_hold_nothing_of_one_machine),
		cmocka_unit_test(lists_are_read),
		cmocka_unit_test(users_come_from_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
