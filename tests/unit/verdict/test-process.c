/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts by process: split by program, summed beyond the limit, none lost. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "event/event.h"
#include "verdict/process.h"

#define ROWS 8

static const double row_ns[ROWS] = { 100, 200, 0, 0, 0, 0, 0, 0 };
static const uint64_t row_counts[ROWS] = { 10, 10, 1, 1, 1, 1, 1, 1 };

static char sh[] = "/bin/sh", ls[] = "/bin/ls", cp[] = "/bin/cp";
static struct model_exe exes[3] = { { .path = sh, .id = 0 }, { .path = ls, .id = 1 }, { .path = cp, .id = 2 } };

static struct model_process image(uint64_t id, uint32_t pid, unsigned exe, bool execed)
{
	return (struct model_process){ .id = id, .pid = pid, .ppid = 1, .exe = &exes[exe], .execed = execed };
}

static void splits_by_process_call_and_errno(void **state)
{
	struct model_process a = image(1, 10, 0, true), b = image(2, 11, 0, false), c = image(3, 11, 1, true);
	struct verdict_processes list;
	struct process_book book;

	process_init(&book);
	for (int i = 0; i < 3; i++)
		assert_int_equal(process_add(&book, &a, 0, 0), 0);
	assert_int_equal(process_add(&book, &a, 1, ENOENT), 0);
	assert_int_equal(process_add(&book, &b, 1, 0), 0);
	assert_int_equal(process_add(&book, &c, 0, ENOENT), 0);
	assert_int_equal(process_add(&book, &c, 0, EACCES), 0);
	assert_int_equal(process_add(&book, &c, 0, EACCES), 0);
	a.ended = true;
	a.exit_how = EVENT_EXIT_SIGNAL;
	a.exit_status = 9;
	c.ended = true;
	c.exit_how = EVENT_EXIT_STATUS;
	c.exit_status = 3;
	assert_int_equal(process_judge(&book, row_ns, row_counts, ROWS, &list), 0);
	assert_int_equal(list.count, 2);
	assert_false(list.truncated);
	assert_int_equal(list.items[0].pid, 10);
	assert_int_equal(list.items[0].calls, 4);
	assert_int_equal(list.items[0].program_count, 0);
	assert_true(list.items[0].exit_known);
	assert_int_equal(list.items[0].exit_signal, 9);
	assert_int_equal(list.items[0].by_call_count, 2);
	assert_int_equal(list.items[0].by_call[0].count, 3);
	assert_true(list.items[0].by_call[0].ns == 30);
	assert_int_equal(list.items[0].by_call[1].failed, 1);
	assert_string_equal(list.items[1].exe, "/bin/ls");
	assert_int_equal(list.items[1].exit_status, 3);
	assert_int_equal(list.items[1].calls, 4);
	assert_int_equal(list.items[1].program_count, 2);
	assert_string_equal(list.items[1].programs[0].exe, "/bin/sh");
	assert_int_equal(list.items[1].programs[0].calls, 1);
	assert_int_equal(list.items[1].programs[1].calls, 3);
	assert_int_equal(list.items[1].by_call[0].failed, 3);
	assert_int_equal(list.items[1].by_call[0].error_count, 2);
	assert_int_equal(list.errors[list.items[1].by_call[0].first_error].err, ENOENT);
	assert_int_equal(list.errors[list.items[1].by_call[0].first_error + 1].count, 2);
	processes_done(&list);
	process_done(&book);
}

static void a_pid_that_comes_again_is_another_process(void **state)
{
	struct model_process a = image(1, 10, 0, false), b = image(2, 10, 1, true);
	struct verdict_processes list;
	struct process_book book;

	process_init(&book);
	assert_int_equal(process_add(&book, &a, 0, 0), 0);
	a.ended = true;
	a.exit_how = EVENT_EXIT_STATUS;
	process_end(&book, &a);
	assert_int_equal(process_add(&book, &b, 0, 0), 0);
	assert_int_equal(process_judge(&book, row_ns, row_counts, ROWS, &list), 0);
	assert_int_equal(list.count, 2);
	processes_done(&list);
	process_done(&book);
}

static void sums_by_program_beyond_the_limit(void **state)
{
	enum { COUNT = PROCESS_MOST + 500 };
	struct model_process *images = calloc(COUNT, sizeof *images);
	uint64_t calls = 0, processes = 0;
	struct verdict_processes list;
	struct process_book book;

	assert_non_null(images);
	process_init(&book);
	for (unsigned i = 0; i < COUNT; i++) {
		images[i] = image(i + 1, 100 + i, i % 2, false);
		assert_int_equal(process_add(&book, &images[i], 0, i % 3 ? 0 : ENOENT), 0);
		assert_int_equal(process_add(&book, &images[i], 1, 0), 0);
		images[i].ended = true;
		images[i].exit_how = EVENT_EXIT_STATUS;
		process_end(&book, &images[i]);
	}
	for (unsigned i = 0; i < COUNT; i++)
		assert_int_equal(process_see(&book, &images[i]), 0);
	assert_int_equal(process_judge(&book, row_ns, row_counts, ROWS, &list), 0);
	assert_true(list.truncated);
	assert_int_equal(list.count, PROCESS_MOST + 2);
	assert_int_equal(list.unsplit, 0);
	for (size_t i = 0; i < list.count; i++) {
		calls += list.items[i].calls;
		processes += list.items[i].processes;
		assert_true((list.items[i].pid != 0) == (i < PROCESS_MOST));
	}
	assert_int_equal(calls, 2 * COUNT);
	assert_int_equal(processes, COUNT);
	assert_string_equal(list.items[PROCESS_MOST].exe, "/bin/sh");
	assert_int_equal(list.items[PROCESS_MOST].processes, 250);
	assert_int_equal(list.items[PROCESS_MOST].by_call_count, 2);
	processes_done(&list);
	process_done(&book);
	free(images);
}

static void one_process_of_endless_execs_stays_small(void **state)
{
	enum { COUNT = PROCESS_RUNS_MAX + 100 };
	struct model_process *images = calloc(COUNT, sizeof *images);
	struct verdict_processes list;
	struct process_book book;
	uint64_t calls = 0;

	assert_non_null(images);
	process_init(&book);
	for (unsigned i = 0; i < COUNT; i++) {
		images[i] = image(i + 1, 100, 2, i > 0);
		assert_int_equal(process_add(&book, &images[i], 0, 0), 0);
	}
	assert_int_equal(process_judge(&book, row_ns, row_counts, ROWS, &list), 0);
	assert_int_equal(list.count, 2);
	assert_true(list.truncated);
	for (size_t i = 0; i < list.count; i++)
		calls += list.items[i].calls;
	assert_int_equal(calls, COUNT);
	processes_done(&list);
	process_done(&book);
	free(images);
}

static void made_up_calls_stay_small(void **state)
{
	struct model_process *images = calloc(PROCESS_MOST, sizeof *images);
	uint64_t calls = 0, split = 0, sum = 0;
	struct verdict_processes list;
	struct process_book book;

	assert_non_null(images);
	process_init(&book);
	for (unsigned i = 0; i < PROCESS_MOST; i++) {
		images[i] = image(i + 1, 100 + i, 0, false);
		for (uint32_t row = 0; row < 4096; row += 1000, sum++)
			assert_int_equal(process_add(&book, &images[i], 4095 - row, 0), 0);
	}
	assert_true(book.cells <= PROCESS_CELLS_MAX);
	assert_true(book.unsplit > 0);
	assert_int_equal(process_judge(&book, row_ns, row_counts, 0, &list), 0);
	for (size_t i = 0; i < list.count; i++)
		calls += list.items[i].calls;
	for (size_t i = 0; i < book.runs.used; i++)
		for (size_t row = 0; row < book.runs.at[i].counts.used; row++)
			split += book.runs.at[i].counts.at[row];
	assert_int_equal(calls, sum);
	assert_int_equal(split + book.unsplit, sum);
	processes_done(&list);
	process_done(&book);
	free(images);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_by_process_call_and_errno),
		cmocka_unit_test(a_pid_that_comes_again_is_another_process),
		cmocka_unit_test(sums_by_program_beyond_the_limit),
		cmocka_unit_test(one_process_of_endless_execs_stays_small),
		cmocka_unit_test(made_up_calls_stay_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
