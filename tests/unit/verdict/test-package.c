/* SPDX-License-Identifier: BSD-2-Clause */
/* A database of dpkg's as small as it gets, right and wrong. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verdict/package.h"

static const char status[] = "Package: coreutils\n"
			     "Status: install ok installed\n"
			     "Architecture: amd64\n"
			     "Version: 9.1-1\n"
			     "Description: many\n"
			     " Version: 7 in a text\n"
			     "\n"
			     "Package: libc6\n"
			     "Status: install ok installed\n"
			     "Architecture: i386\n"
			     "Source: glibc\n"
			     "Version: 2.35-1\n"
			     "\n"
			     "Package: libc6\n"
			     "Status: hold ok installed\n"
			     "Architecture: amd64\n"
			     "Source: glibc\n"
			     "Version: 2.36-9\n"
			     "\n"
			     "Package: libgpgme11\n"
			     "Status: install ok unpacked\n"
			     "Architecture: amd64\n"
			     "Source: gpgme1.0 (1.18.0-3)\n"
			     "Version: 1.18.0-3+b1\n"
			     "\n"
			     "Package: gone\n"
			     "Status: deinstall ok config-files\n"
			     "Version: 1-1\n"
			     "\n"
			     "Package: wrapper\n"
			     "Status: install ok installed\n"
			     "Version: 0.5\n"
			     "\n"
			     "Package: tool\n"
			     "Status: install ok installed\n"
			     "Version: 3.0-1"; /* no newline at the end */

static const struct {
	const char *name, *text;
} files[] = {
	{ "status", status },
	{ "diversions", "/usr/bin/tool\n/usr/bin/tool.real\nwrapper\n"
			"/bin/local\n/bin/local.distrib\n:\n" },
	{ "info/coreutils.list", "/.\n/bin\n/bin/ls\n/usr/bin/dir\n" },
	{ "info/libc6:amd64.list", "/lib/x86_64-linux-gnu/libc.so.6\n" },
	{ "info/libc6:i386.list", "/lib/i386-linux-gnu/libc.so.6\n" },
	{ "info/libgpgme11:amd64.list", "/usr/lib/x86_64-linux-gnu/libgpgme.so.11\n" },
	{ "info/gone.list", "/etc/gone\n" },
	{ "info/wrapper.list", "/usr/bin/tool\n" },
	{ "info/tool.list", "/usr/bin/tool\n/bin/local\n/usr/bin/last" },
	{ "info/tool.md5sums", "/usr/bin/no-list\n" },
	{ "info/nobody.list", "/usr/bin/nobody\n" },
};

static char database[] = "/tmp/syscull-test-package.XXXXXX";

static void path_to(char *out, size_t bytes, const char *name)
{
	(void)snprintf(out, bytes, "%s/%s", database, name);
}

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	path_to(path, sizeof path, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	char path[256];

	assert_non_null(mkdtemp(database));
	path_to(path, sizeof path, "info");
	assert_int_equal(mkdir(path, 0700), 0);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		put(files[i].name, files[i].text);
	return 0;
}

static int tear_down(void **state)
{
	char path[256];

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		path_to(path, sizeof path, files[i].name);
		(void)unlink(path);
	}
	path_to(path, sizeof path, "info");
	(void)rmdir(path);
	return rmdir(database);
}

/* "name version source source-version" or "-". */
static void assert_package(const char *path, bool merged, const char *want)
{
	struct package_book *book = package_book_new(database, merged);
	const struct package *package;
	char got[256] = "-";

	assert_non_null(book);
	assert_int_equal(package_book_want(book, path), 0);
	assert_int_equal(package_book_read(book), 0);
	package = package_book_get(book, path);
	if (package)
		(void)snprintf(got, sizeof got, "%s %s %s", package->label, package->source, package->source_version);
	assert_string_equal(got, want);
	package_book_free(book);
}

static void owners(void **state)
{
	assert_package("/bin/ls", false, "coreutils 9.1-1 coreutils 9.1-1");
	assert_package("/usr/bin/dir", false, "coreutils 9.1-1 coreutils 9.1-1");
	assert_package("/usr/lib/x86_64-linux-gnu/libgpgme.so.11", false, "libgpgme11 1.18.0-3+b1 gpgme1.0 1.18.0-3");
	assert_package("/usr/bin/last", false, "tool 3.0-1 tool 3.0-1");
	assert_package("/usr/local/bin/ls", true, "-");
	assert_package("/bin", false, "coreutils 9.1-1 coreutils 9.1-1");
	assert_package("ls", true, "-");
}

static void architectures_are_told_apart(void **state)
{
	assert_package("/lib/x86_64-linux-gnu/libc.so.6", false, "libc6 2.36-9 glibc 2.36-9");
	assert_package("/lib/i386-linux-gnu/libc.so.6", false, "libc6 2.35-1 glibc 2.35-1");
}

static void a_merged_usr_gives_two_names(void **state)
{
	assert_package("/usr/bin/ls", true, "coreutils 9.1-1 coreutils 9.1-1");
	assert_package("/bin/dir", true, "coreutils 9.1-1 coreutils 9.1-1");
	assert_package("/usr/lib/x86_64-linux-gnu/libc.so.6", true, "libc6 2.36-9 glibc 2.36-9");
	assert_package("/usr/bin/ls", false, "-");
	assert_package("/bin/dir", false, "-");
}

static void diverted_files_are_whose_they_are(void **state)
{
	for (int merged = 0; merged < 2; merged++) {
		assert_package("/usr/bin/tool", merged, "wrapper 0.5 wrapper 0.5");
		assert_package("/usr/bin/tool.real", merged, "tool 3.0-1 tool 3.0-1");
		assert_package("/bin/local", merged, "-");
		assert_package("/bin/local.distrib", merged, "tool 3.0-1 tool 3.0-1");
	}
	assert_package("/bin/tool.real", true, "tool 3.0-1 tool 3.0-1");
}

static void what_is_not_installed_is_not_known(void **state)
{
	assert_package("/etc/gone", false, "-");
	assert_package("/usr/bin/nobody", false, "-");
	assert_package("/usr/bin/no-list", false, "-");
}

static void one_reading_for_many(void **state)
{
	struct package_book *book = package_book_new(database, true);

	assert_int_equal(package_book_add(book, "/opt/own", "own", "1-1", "own", "1-1"), 0);
	assert_int_equal(package_book_add(book, "/opt/own", "own", "2-1", "own", "2-1"), -EEXIST);
	assert_int_equal(package_book_want(book, "/usr/bin/ls"), 0);
	assert_int_equal(package_book_want(book, "/usr/bin/ls"), 0);
	assert_int_equal(package_book_want(book, NULL), 0);
	assert_int_equal(package_book_want(book, "/usr/bin/tool"), 0);
	assert_null(package_book_get(book, "/usr/bin/ls"));
	assert_int_equal(package_book_read(book), 0);
	assert_string_equal(package_book_get(book, "/usr/bin/ls")->name, "coreutils");
	assert_string_equal(package_book_get(book, "/usr/bin/tool")->name, "wrapper");
	assert_string_equal(package_book_get(book, "/opt/own")->version, "1-1");
	assert_int_equal(package_book_read(book), 0);
	for (unsigned i = 0; i < 2 * PACKAGE_PATHS_MAX; i++) {
		char path[32];

		(void)snprintf(path, sizeof path, "/opt/%u", i);
		assert_int_equal(package_book_want(book, path), 0);
	}
	assert_int_equal(package_book_add(book, "/opt/more", "own", "1-1", "own", "1-1"), -E2BIG);
	assert_int_equal(package_book_read(book), 0);
	assert_string_equal(package_book_get(book, "/usr/bin/ls")->name, "coreutils");
	package_book_free(book);
}

static void elsewhere_nothing_is_known(void **state)
{
	static const char *const databases[] = { NULL, "/nonexistent", "/etc/passwd", "/tmp" };

	for (size_t i = 0; i < sizeof databases / sizeof *databases; i++) {
		struct package_book *book = package_book_new(databases[i], true);

		assert_int_equal(package_book_want(book, "/usr/bin/ls"), 0);
		assert_int_equal(package_book_read(book), 0);
		assert_null(package_book_get(book, "/usr/bin/ls"));
		package_book_free(book);
	}
	assert_int_equal(package_book_want(NULL, "/usr/bin/ls"), 0);
	assert_int_equal(package_book_read(NULL), 0);
	assert_null(package_book_get(NULL, "/usr/bin/ls"));
	package_book_free(NULL);
}

/* A half-written database is no reason to fail, and control characters in it
 * none to print them. */
static void a_broken_database_does_no_harm(void **state)
{
	put("status", "Package:\nVersion\n\n\n\nPackage: coreutils\nStatus: install ok installed\nVersion: 9\0331-1\n"
		      "Source: x (\n");
	put("diversions", "/usr/bin/tool\n/usr/bin/tool.real\n");
	assert_package("/bin/ls", false, "coreutils 9\\0331-1 x 9\0331-1");
	put("status", "");
	assert_package("/bin/ls", false, "-");
	put("status", status);
	put("diversions", files[1].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners),
		cmocka_unit_test(architectures_are_told_apart),
		cmocka_unit_test(a_merged_usr_gives_two_names),
		cmocka_unit_test(diverted_files_are_whose_they_are),
		cmocka_unit_test(what_is_not_installed_is_not_known),
		cmocka_unit_test(one_reading_for_many),
		cmocka_unit_test(elsewhere_nothing_is_known),
		cmocka_unit_test(a_broken_database_does_no_harm),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
