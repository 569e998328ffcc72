/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact counts, against the plainest way of counting. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "verdict/tally.h"

static struct event_call call_of(int32_t nr, uint16_t arch, uint64_t duration_ns)
{
	return (struct event_call){ .nr = nr, .arch = arch, .duration_ns = duration_ns };
}

static const struct tally_row *find(const struct tally *tally, uint16_t arch, int32_t nr)
{
	for (size_t i = 0; i < tally->rows.used; i++)
		if (tally->rows.at[i].arch == arch && tally->rows.at[i].nr == nr)
			return &tally->rows.at[i];
	return NULL;
}

static void same_as_counting_one_by_one(void **state)
{
	enum { NUMBERS = 700, ERRORS = 40 };
	static uint64_t count[2][NUMBERS], failed[2][NUMBERS][ERRORS], duration[2][NUMBERS];
	static const uint16_t arches[] = { SYS_ARCH_NATIVE, SYS_ARCH_I386 };
	uint32_t random = 12345;
	struct tally tally;

	tally_init(&tally);
	for (unsigned i = 0; i < 300000; i++) {
		unsigned arch, nr, err;
		struct event_call call;

		random = random * 1664525 + 1013904223;
		arch = random >> 30 & 1;
		nr = (random >> 8) % NUMBERS;
		err = random >> 20 & 1 ? (random >> 12) % ERRORS : 0;
		call = call_of((int32_t)nr, arches[arch], i);
		count[arch][nr]++;
		failed[arch][nr][err]++;
		duration[arch][nr] += i;
		assert_non_null(tally_add(&tally, &call, (int)err, 2));
	}
	assert_int_equal(tally.total, 300000);
	assert_int_equal(tally.lost, 0);
	for (unsigned arch = 0; arch < 2; arch++)
		for (unsigned nr = 0; nr < NUMBERS; nr++) {
			const struct tally_row *row = find(&tally, arches[arch], (int32_t)nr);
			uint64_t errors = 0, seen;
			size_t iter = 0;
			int err;

			if (count[arch][nr] == 0) {
				assert_null(row);
				continue;
			}
			assert_int_equal(row->count, count[arch][nr]);
			assert_int_equal(row->failed, count[arch][nr] - failed[arch][nr][0]);
			assert_int_equal(row->duration_ns, duration[arch][nr]);
			assert_int_equal(row->path_components, 2 * count[arch][nr]);
			for (int e = 1; e < ERRORS; e++)
				assert_int_equal(tally_errors(&tally, row, e), failed[arch][nr][e]);
			while (tally_next_error(&tally, row, &iter, &err, &seen))
				errors += seen;
			assert_int_equal(errors, row->failed);
		}
	tally_done(&tally);
}

static void sorted_by_count_then_name(void **state)
{
	static const enum sys_call_id ids[] = { CALL_write, CALL_read, CALL_read, CALL_close };
	struct tally tally;
	struct tally_row *rows;
	size_t count;

	tally_init(&tally);
	for (size_t i = 0; i < 4; i++) {
		struct event_call call = call_of(sys_call_nr(SYS_ARCH_NATIVE, ids[i]), SYS_ARCH_NATIVE, 0);

		(void)tally_add(&tally, &call, 0, 0);
	}
	assert_int_equal(tally_sorted(&tally, &rows, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(rows[0].id, CALL_read);
	assert_int_equal(rows[1].id, CALL_close);
	assert_int_equal(rows[2].id, CALL_write);
	free(rows);
	tally_done(&tally);
}

static void nothing_counted(void **state)
{
	struct tally tally;
	struct tally_row *rows;
	size_t count;

	tally_init(&tally);
	assert_int_equal(tally_sorted(&tally, &rows, &count), 0);
	assert_int_equal(count, 0);
	free(rows);
	tally_done(&tally);
}

/* A program can make up numbers; the total stays exact and the rest is told. */
static void made_up_numbers_are_bounded(void **state)
{
	struct tally tally;
	const struct tally_row *other;
	uint64_t sum = 0;

	tally_init(&tally);
	for (int32_t nr = 0; nr < 3 * TALLY_ROWS_MAX; nr++) {
		struct event_call call = call_of(nr - TALLY_ROWS_MAX, SYS_ARCH_NATIVE, 1);

		(void)tally_add(&tally, &call, ENOSYS, 0);
	}
	assert_int_equal(tally.total, 3 * TALLY_ROWS_MAX);
	assert_int_equal(tally.failed, 3 * TALLY_ROWS_MAX);
	assert_true(tally.rows.used <= TALLY_ROWS_MAX);
	assert_true(tally.lost > 0);
	for (size_t i = 0; i < tally.rows.used; i++)
		sum += tally.rows.at[i].count;
	assert_int_equal(sum, tally.total);
	other = find(&tally, SYS_ARCH_NATIVE, TALLY_OTHER_NR);
	assert_non_null(other);
	assert_int_equal(other->count, tally.lost);
	tally_done(&tally);
}

/* They are in the counts; a failure whose errno is not known is in that of failures alone. */
static void lost_calls_are_counted(void **state)
{
	struct event_call call = { .arch = SYS_ARCH_NATIVE, .nr = 3, .ret = -9 };
	const struct tally_row *row;
	struct tally tally;

	tally_init(&tally);
	assert_non_null(tally_add(&tally, &call, 9, 0));
	assert_true(tally_add_lost(&tally, SYS_ARCH_NATIVE, 3, true, 9, 10));
	assert_true(tally_add_lost(&tally, SYS_ARCH_NATIVE, 3, true, 0, 5));
	assert_true(tally_add_lost(&tally, SYS_ARCH_NATIVE, 3, false, 0, 100));
	assert_true(tally_add_lost(&tally, SYS_ARCH_I386, 3, false, 0, 7));
	assert_true(tally_add_lost(&tally, SYS_ARCH_NATIVE, -1, false, 0, 2));
	row = find(&tally, SYS_ARCH_NATIVE, 3);
	assert_int_equal(row->count, 116);
	assert_int_equal(row->failed, 16);
	assert_int_equal(tally_errors(&tally, row, 9), 11);
	assert_int_equal(find(&tally, SYS_ARCH_I386, 3)->count, 7);
	assert_int_equal(find(&tally, SYS_ARCH_NATIVE, TALLY_OTHER_NR)->count, 2);
	assert_int_equal(tally.total, 125);
	assert_int_equal(tally.failed, 16);
	tally_done(&tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_counting_one_by_one),
		cmocka_unit_test(sorted_by_count_then_name),
		cmocka_unit_test(nothing_counted),
		cmocka_unit_test(made_up_numbers_are_bounded),
		cmocka_unit_test(lost_calls_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
