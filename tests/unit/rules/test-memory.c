/* SPDX-License-Identifier: BSD-2-Clause */
/* What rules about memory share: lengths, round numbers, whose allocator. */
#include "rules/memory.h"

#include <string.h>

#include "test.h"

static void test_pages(void **state)
{
	assert_int_equal(memory_pages(0), 0);
	assert_int_equal(memory_pages(1), 1);
	assert_int_equal(memory_pages(4096), 1);
	assert_int_equal(memory_pages(4097), 2);
	assert_true(memory_pages(UINT64_MAX) == UINT64_C(1) << 52);
}

/* The smallest of its form that is not below. */
static void test_round(void **state)
{
	assert_int_equal(memory_round(0), 1);
	for (uint64_t n = 1; n < 30000; n++) {
		uint64_t least = 0;

		for (uint64_t step = 1; least == 0; step *= 10)
			for (unsigned digit = 1; digit <= 5 && least == 0; digit += digit == 2 ? 3 : 1)
				if (digit * step >= n)
					least = digit * step;
		assert_int_equal(memory_round(n), least);
	}
	assert_int_equal(memory_round(389120), 500000);
	assert_int_equal(memory_round(500001), 1000000);
	assert_true(memory_round(UINT64_MAX) == UINT64_MAX);
	assert_true(memory_round(UINT64_MAX / 2) >= UINT64_MAX / 2);
}

static bool by_glibc(const char *first, const char *second, uint64_t other)
{
	struct rule_sites sites = { .used = second ? 2 : 1, .other = other };

	sites.site[0].module = first;
	sites.site[1].module = second;
	return memory_by_glibc(&sites);
}

static void test_by_glibc(void **state)
{
	struct rule_sites none = { 0 };

	assert_true(by_glibc("/usr/lib/x86_64-linux-gnu/libc.so.6", NULL, 0));
	assert_true(by_glibc("/lib/libc-2.31.so", "/lib/libc.so.6", 0));
	assert_false(by_glibc("/lib/libc.so.6", "/usr/bin/some", 0));
	assert_false(by_glibc("/lib/libc.so.6", NULL, 1));
	assert_false(by_glibc(NULL, NULL, 0));
	assert_false(by_glibc("/lib/ld-musl-x86_64.so.1", NULL, 0));
	assert_false(by_glibc("/lib/libc.so.6.old/libjemalloc.so.2", NULL, 0));
	assert_false(memory_by_glibc(&none));
	assert_false(memory_by_glibc(NULL));
}

static void test_faults(void **state)
{
	struct finding_list list = { 0 };
	struct finding *finding = finding_add(&list, NULL, FINDING_LIKELY);
	struct finding_remedy *remedy;

	(void)finding_add_cost(finding, CALL_munmap, 0, 1000, NULL);
	(void)finding_add_cost(finding, CALL_mmap, 0, 1000, NULL);
	memory_tell_faults(finding, CALL_mmap, 1000, 34000, "a page of each");
	memory_tell_faults(finding, CALL_munmap, 20, 20, "a page of each");
	memory_tell_faults(finding, CALL_brk, 1, 2, "it");
	memory_tell_faults(NULL, CALL_mmap, 1, 2, "it");
	assert_int_equal(finding->costs.at[0].pages_high, 20);
	assert_int_equal(finding->costs.at[1].pages_low, 1000);
	assert_int_equal(finding->costs.at[1].pages_high, 34000);
	assert_non_null(
		strstr(finding->notes.at[0], "1,000, and up to 34,000 if all was used, not only a page of each"));
	assert_null(strstr(finding->notes.at[1], " if "));
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	finding_remedy_saves_all(remedy, finding);
	assert_int_equal(remedy->deltas.at[1].pages_low, 1000);
	assert_int_equal(remedy->deltas.at[1].pages_high, 34000);
	finding_list_done(&list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_by_glibc),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
