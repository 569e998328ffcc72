/* SPDX-License-Identifier: BSD-2-Clause */
/* Debian's order of versions, against a list and against dpkg itself. */
#include "test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verdict/package-version.h"

/* In rising order; those on one line are equal. */
static const char *const order[][3] = {
	{ "~~" },
	{ "~~a" },
	{ "~" },
	{ "0", "0-0", "0:0" },
	{ "0-1" },
	{ "0a" },
	{ "0+b1" },
	{ "1.0~rc1-1" },
	{ "1.0~rc2-1" },
	{ "1.0", "1.00", "1.0-0" },
	{ "1.0-1~bpo1" },
	{ "1.0-1" },
	{ "1.0-1+deb12u1" },
	{ "1.0-1.1" },
	{ "1.0-9" },
	{ "1.0-10" },
	{ "1.0a" },
	{ "1.0+dfsg-1" },
	{ "1.0.0", "1.0.-0" },
	{ "1.1", "1.01" },
	{ "1.9" },
	{ "1.10" },
	{ "9.1-1" },
	{ "9.6-1" },
	{ "9.10-1" },
	{ "1:0.1", "001:0.1" },
	{ "1:25.2.3+dfsg-1" },
	{ "2:4.0.2-3" },
	{ "10:0" },
};

#define ORDERS (sizeof order / sizeof *order)

static int sign(int r)
{
	return (r > 0) - (r < 0);
}

static void rises(void **state)
{
	for (size_t i = 0; i < ORDERS; i++)
		for (size_t j = 0; j < ORDERS; j++)
			for (size_t a = 0; a < 3 && order[i][a]; a++)
				for (size_t b = 0; b < 3 && order[j][b]; b++) {
					int want = (i > j) - (i < j);
					int got = sign(package_version_compare(order[i][a], order[j][b]));

					if (got != want)
						print_error("%s against %s\n", order[i][a], order[j][b]);
					assert_int_equal(got, want);
				}
}

static int dpkg_says(const char *a, const char *op, const char *b)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)!freopen("/dev/null", "w", stderr);
		execlp("dpkg", "dpkg", "--compare-versions", a, op, b, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

static void as_dpkg_has_it(void **state)
{
	if (dpkg_says("1", "lt", "2") != 0)
		skip_part("no dpkg here");
	for (size_t i = 0; i < ORDERS; i++)
		for (size_t j = i; j < ORDERS; j++) {
			const char *a = order[i][0], *b = order[j][0];

			/* dpkg warns of versions without a digit in front, and compares them. */
			assert_int_equal(dpkg_says(a, i == j ? "eq" : "lt", b), 0);
			assert_int_equal(sign(package_version_compare(a, b)), i == j ? 0 : -1);
		}
}

static void upstream_has_no_epoch_and_no_revision(void **state)
{
	static const char *const pairs[][2] = {
		{ "9.1-1", "9.1" },	{ "2:4.0.2-3", "4.0.2" },	  { "1:25.2.3+dfsg-1+deb12u4", "25.2.3+dfsg" },
		{ "1.22.6", "1.22.6" }, { "4.95.0-rc1-2", "4.95.0-rc1" }, { "", "" },
	};
	char out[PACKAGE_VERSION_MAX], longer[3 * PACKAGE_VERSION_MAX];

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		assert_string_equal(package_version_upstream(pairs[i][0], out), pairs[i][1]);
	memset(longer, '1', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_int_equal(strlen(package_version_upstream(longer, out)), PACKAGE_VERSION_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rises),
		cmocka_unit_test(as_dpkg_has_it),
		cmocka_unit_test(upstream_has_no_epoch_and_no_revision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
