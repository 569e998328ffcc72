/* SPDX-License-Identifier: BSD-2-Clause */
/* Folding of paths into a directory, counting, and what is told of them. */
#include <string.h>

#include "rules/rule.h"

#include "test.h"

static void add(struct rule_places *places, const char *path)
{
	(void)rule_places_add(places, path, map_hash(path, strlen(path)));
}

#define assert_places(expected, cwd, ...) \
	do { \
		static const char *const paths_[] = { __VA_ARGS__ }; \
		struct rule_places places_; \
		char *text_; \
		assert_int_equal(rule_places_init(&places_, 1000), 0); \
		rule_places_relative(&places_, cwd); \
		for (size_t i_ = 0; i_ < sizeof paths_ / sizeof *paths_; i_++) \
			add(&places_, paths_[i_]); \
		text_ = rule_places_text(&places_, "file", "files"); \
		assert_string_equal(text_, expected); \
		free(text_); \
		rule_places_done(&places_); \
	} while (0)

static void test_one_directory(void **state)
{
	assert_places("1 file in /tmp", NULL, "/tmp/a");
	assert_places("2 files in /tmp", NULL, "/tmp/a", "/tmp/b");
	assert_places("1 file in /tmp", NULL, "/tmp/a", "/tmp/a");
	assert_places("2 files in /", NULL, "/a", "/b");
	assert_places("2 files", NULL, "a", "b");
	assert_places("2 files in d", NULL, "d/a", "d/b");
}

static void test_directory_and_its_files(void **state)
{
	assert_places("2 files in /t/d1k and /t/d1k itself", NULL, "/t/d1k", "/t/d1k/f1", "/t/d1k/f2");
	assert_places("2 files in /t/d1k and /t/d1k itself", NULL, "/t/d1k/f1", "/t/d1k", "/t/d1k/f2");
	assert_places("1 file in /t/d1k and /t/d1k itself", NULL, "/t/d1k", "/t/d1k/f1");
	/* a directory that is only one among others */
	assert_places("3 files below /t", NULL, "/t/d1k", "/t/d1k/f1", "/t/e/f1");
	assert_places("3 files below /t", NULL, "/t/x", "/t/d1k", "/t/d1k/f1");
}

static void test_common_leading_directory(void **state)
{
	assert_places("2 files below /usr", NULL, "/usr/lib/a", "/usr/share/a");
	assert_places("2 files below /", NULL, "/usr/lib/a", "/var/lib/a");
	assert_places("2 files below /usr/lib", NULL, "/usr/lib/a", "/usr/lib/x/a");
	assert_places("2 files below /usr/lib", NULL, "/usr/lib/x/a", "/usr/lib/a");
	/* part of a name is no directory */
	assert_places("2 files below /usr", NULL, "/usr/lib/a", "/usr/lib64/a");
	assert_places("3 files below /usr", NULL, "/usr/lib/a", "/usr/lib/b/c", "/usr/lib64/a");
	assert_places("2 files", NULL, "a/x", "b/x");
}

static void test_relative_to_working_directory(void **state)
{
	assert_places("2 files in d1k", "/tmp/w", "/tmp/w/d1k/f1", "/tmp/w/d1k/f2");
	assert_places("1 file in d1k and d1k itself", "/tmp/w", "/tmp/w/d1k", "/tmp/w/d1k/f1");
	assert_places("2 files in /tmp/w", "/tmp/w", "/tmp/w/f1", "/tmp/w/f2");
	assert_places("2 files in /tmp/w2", "/tmp/w", "/tmp/w2/f1", "/tmp/w2/f2");
	assert_places("2 files in /etc", "/", "/etc/f1", "/etc/f2");
}

static void test_foreign_names_are_printable(void **state)
{
	assert_places("1 file in /tmp/a\\nb\\33[31m", NULL, "/tmp/a\nb\33[31m/f");
}

#define assert_place(expected, ...) \
	do { \
		static const char *const paths_[] = { __VA_ARGS__ }; \
		struct rule_places places_; \
		char *place_; \
		assert_int_equal(rule_places_init(&places_, 3), 0); \
		for (size_t i_ = 0; i_ < sizeof paths_ / sizeof *paths_; i_++) \
			add(&places_, paths_[i_]); \
		place_ = rule_places_place(&places_); \
		assert_string_equal(place_ ? place_ : "none", expected); \
		free(place_); \
		rule_places_done(&places_); \
	} while (0)

/* What a suppression's path is compared with: it must hold for all of them. */
static void test_place_of_all(void **state)
{
	(void)state;
	assert_place("/tmp/a", "/tmp/a");
	assert_place("/tmp/a", "/tmp/a", "/tmp/a");
	assert_place("/tmp/", "/tmp/a", "/tmp/b");
	assert_place("/tmp/d/", "/tmp/d", "/tmp/d/a");
	assert_place("/tmp/", "/tmp/d/a", "/tmp/e/a");
	assert_place("/", "/a", "/b");
	assert_place("/", "/tmp/a", "/usr/a");
	assert_place("none", "/tmp/a", "b");
	assert_place("none", "a/b", "c/d");
	assert_place("/tmp/", "/tmp/a", "/tmp/b", "/tmp/c");
	assert_place("none", "/tmp/a", "/tmp/b", "/tmp/c", "/usr/d"); /* one found no room */
}

static void test_room(void **state)
{
	struct rule_places places;
	char path[32], *text;

	assert_int_equal(rule_places_init(&places, 10), 0);
	for (int i = 0; i < 20; i++) {
		(void)snprintf(path, sizeof path, "/d/%d", i);
		assert_int_equal(rule_places_add(&places, path, map_hash(path, strlen(path))), i < 10);
	}
	assert_int_equal(places.distinct, 10);
	text = rule_places_text(&places, "file", "files");
	assert_string_equal(text, "at least 10 files in /d");
	free(text);
	rule_places_seal(&places);
	text = rule_places_text(&places, "file", "files");
	assert_string_equal(text, "at least 10 files in /d");
	free(text);
	rule_places_done(&places);
}

static void test_thousands(void **state)
{
	struct rule_places places;
	char path[32], *text;

	assert_int_equal(rule_places_init(&places, 0), 0);
	for (int i = 0; i < 1234; i++) {
		(void)snprintf(path, sizeof path, "/d/%d", i);
		assert_true(rule_places_add(&places, path, 1));
	}
	text = rule_places_text(&places, "file", "files");
	assert_string_equal(text, "1,234 files in /d");
	free(text);
	rule_places_done(&places);
}

static void test_long_directories(void **state)
{
	struct rule_places places;
	char path[3 * RULE_PLACE_MAX], *text;

	memset(path, 'x', sizeof path);
	for (size_t i = 0; i < sizeof path; i += 100)
		path[i] = '/';
	path[sizeof path - 1] = '\0';
	assert_int_equal(rule_places_init(&places, 10), 0);
	add(&places, path);
	path[sizeof path - 2] = 'y';
	add(&places, path);
	assert_true(strlen(places.dir) < RULE_PLACE_MAX);
	assert_int_equal(strncmp(places.dir, path, strlen(places.dir)), 0);
	assert_int_equal(path[strlen(places.dir)], '/');
	text = rule_places_text(&places, "file", "files");
	assert_int_equal(strncmp(text, "2 files below /xxx", 18), 0);
	free(text);
	rule_places_done(&places);
}

static void test_base_name(void **state)
{
	assert_string_equal(rule_base_name("/usr/bin/ls"), "ls");
	assert_string_equal(rule_base_name("ls"), "ls");
	assert_string_equal(rule_base_name(NULL), "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_directory),
		cmocka_unit_test(test_directory_and_its_files),
		cmocka_unit_test(test_common_leading_directory),
		cmocka_unit_test(test_relative_to_working_directory),
		cmocka_unit_test(test_foreign_names_are_printable),
		cmocka_unit_test(test_place_of_all),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_thousands),
		cmocka_unit_test(test_long_directories),
		cmocka_unit_test(test_base_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
