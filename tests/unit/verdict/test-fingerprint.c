/* SPDX-License-Identifier: BSD-2-Clause */
/* Fingerprints stay while pids, counts and temporary names change, and only then. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "rules/rule.h"
#include "verdict/fingerprint.h"

static void steady_replaces_what_changes(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "/usr/lib/libc.so.6", "/usr/lib/libc.so.6" },
		{ "security.selinux on ext4", "security.selinux on ext4" },
		{ "/tmp/abc/d1k", "/tmp/*/d1k" },
		{ "/tmp/abc on ext4", "/tmp/* on ext4" },
		{ "/build/tmp/abc", "/build/tmp/*" },
		{ "/run/user/1000/bus", "/run/user/*/bus" },
		{ "/proc/17/status", "/proc/*/status" },
		{ "/proc/self/status", "/proc/self/status" },
		{ "/sys/block/sda17", "/sys/block/sda17" },
		{ "lock.12345", "lock.*" },
		{ "python3.11", "python3.11" },
		{ "/home/u/.cache/out.x7Gq2B", "/home/u/.cache/out.*" },
		{ "tmpk3v9xq2_/f", "*/f" },
		{ "README.Makefile", "README.Makefile" },
		{ "x86_64-linux-gnu", "x86_64-linux-gnu" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct buf buf = BUF_INIT;

		assert_int_equal(fingerprint_steady(&buf, cases[i][0]), 0);
		assert_string_equal(buf_text(&buf), cases[i][1]);
		buf_done(&buf);
	}
}

struct variant {
	const char *exe, *object;
	uint32_t pid;
	uint64_t first, second; /* counts */
	int err;
	bool swapped;
};

static void fingerprint_of(const struct variant *variant, char out[static FINGERPRINT_BYTES])
{
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, rule_list[0], FINDING_LIKELY);

	assert_non_null(finding);
	finding->pid = variant->pid;
	finding_set(&finding->exe, "%s", variant->exe);
	finding_set(&finding->object, "%s", variant->object);
	if (variant->swapped)
		(void)finding_add_cost(finding, CALL_lgetxattr, ENODATA, variant->second, NULL);
	(void)finding_add_cost(finding, CALL_getxattr, variant->err, variant->first, NULL);
	if (!variant->swapped)
		(void)finding_add_cost(finding, CALL_lgetxattr, ENODATA, variant->second, NULL);
	assert_true(fingerprint(finding, out));
	assert_int_equal(strlen(out), FINGERPRINT_BYTES - 1);
	finding_list_done(&list);
}

static void same_finding_same_fingerprint(void **state)
{
	static const struct variant same[] = {
		{ "/usr/bin/ls", "a on ext4", 10, 1, 2, ENODATA, false },
		{ "/usr/bin/ls", "a on ext4", 11, 1000, 2000, ENODATA, false },
		{ "/bin/ls", "a on ext4", 0, 1, 2, ENODATA, true },
	};
	static const struct variant others[] = {
		{ "/usr/bin/cp", "a on ext4", 10, 1, 2, ENODATA, false },
		{ "/usr/bin/ls", "b on ext4", 10, 1, 2, ENODATA, false },
		{ "/usr/bin/ls", "a on ext4", 10, 1, 2, EOPNOTSUPP, false },
	};
	char first[FINGERPRINT_BYTES], next[FINGERPRINT_BYTES];

	fingerprint_of(&same[0], first);
	for (size_t i = 1; i < sizeof same / sizeof same[0]; i++) {
		fingerprint_of(&same[i], next);
		assert_string_equal(next, first);
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		fingerprint_of(&others[i], next);
		assert_string_not_equal(next, first);
	}
}

/* Baselines hold them: this one was made by the first version. */
static void never_changes(void **state)
{
	static const struct variant variant = { "/usr/bin/ls", "a on ext4", 10, 1, 2, ENODATA, false };
	char now[FINGERPRINT_BYTES];

	if (strcmp(rule_list[0]->id, "xattr-probe") != 0)
		skip_part("the first rule is another one now");
	fingerprint_of(&variant, now);
	assert_string_equal(now, "86cacca93a046ea9");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_replaces_what_changes),
		cmocka_unit_test(same_finding_same_fingerprint),
		cmocka_unit_test(never_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
