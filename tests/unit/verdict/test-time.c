/* SPDX-License-Identifier: BSD-2-Clause */
/* Honest time out of made-up durations: every call costs 200 ns, every stop 10,000. */
#include "test.h"

#include <errno.h>

#include "verdict/time.h"

#define PRICE 200.0
#define STOP 10000.0
#define NEAR(a, b, by) ((a) - (b) < (by) && (b) - (a) < (by))

struct world {
	struct time_book book;
	struct tally tally;
	struct price_book *prices;
};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof *world);

	time_init(&world->book);
	tally_init(&world->tally);
	world->prices = price_book_new_fixed(NULL, 0, PRICE);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	time_done(&world->book);
	tally_done(&world->tally);
	price_book_free(world->prices);
	free(world);
	return 0;
}

static void add_flagged(struct world *world, enum sys_call_id id, uint64_t duration_ns, unsigned count, uint16_t flags)
{
	struct event_call call = { .head = { .tid = 7, .flags = flags }, .arch = SYS_ARCH_NATIVE };

	call.nr = sys_call_nr(SYS_ARCH_NATIVE, id);
	call.duration_ns = duration_ns;
	while (count-- > 0)
		assert_int_equal(time_add_call(&world->book, tally_add(&world->tally, &call, 0, 0), &call, 0, NULL), 0);
}

static void add(struct world *world, enum sys_call_id id, double duration_ns, unsigned count)
{
	add_flagged(world, id, (uint64_t)duration_ns, count, 0);
}

static struct time_result judged(struct world *world)
{
	struct time_result result;

	time_judge(&world->book, &world->tally, world->prices, &result, NULL);
	return result;
}

static void the_stop_is_found_among_outliers(void **state)
{
	struct world *world = *state;

	add(world, CALL_fstat, STOP + PRICE, 200);
	add(world, CALL_close, 30e6, 10); /* lost the CPU */
	add(world, CALL_getpid, 0, 5);
	assert_true(NEAR(judged(world).stop_ns, STOP, 1));
	assert_false(judged(world).stop_guessed);
}

static void few_calls_are_a_guess(void **state)
{
	struct world *world = *state;

	add(world, CALL_close, STOP + PRICE, TIME_SAMPLES_LEAST - 1);
	assert_true(judged(world).stop_guessed);
	assert_true(NEAR(judged(world).stop_ns, STOP, 1));
	add(world, CALL_close, STOP + PRICE, 1);
	assert_false(judged(world).stop_guessed);
}

static void nothing_measured_is_no_cost(void **state)
{
	struct world *world = *state;
	struct time_result result = judged(world);

	assert_true(result.stop_ns == 0);
	assert_true(result.stop_guessed);
	assert_true(result.task_ns == 0);
	/* Scripts give no durations. */
	add(world, CALL_close, 0, 100);
	result = judged(world);
	assert_true(result.stop_ns == 0);
	assert_true(NEAR(result.calls_ns, 100 * PRICE, 0.1));
	assert_true(result.waiting_ns == 0);
}

static void many_samples_stay_bounded_and_spread(void **state)
{
	struct world *world = *state;

	add(world, CALL_close, STOP + PRICE, 3 * TIME_SAMPLES_MAX);
	add(world, CALL_close, 3 * STOP + PRICE, 3 * TIME_SAMPLES_MAX);
	assert_true(world->book.sample_count <= TIME_SAMPLES_MAX);
	/* Half of the run was slower: the mean knows both halves. */
	assert_true(NEAR(judged(world).stop_ns, 2 * STOP, 0.15 * STOP));
}

static void user_time_is_what_stops_leave(void **state)
{
	struct world *world = *state;
	struct event_exit end = { .head = { .tid = 7 }, .user_ns = (uint64_t)(100 * STOP) + 5000000, .user_gaps = 100 };
	struct time_result result;

	add(world, CALL_close, STOP + PRICE, 100);
	time_add_exit(&world->book, &end);
	result = judged(world);
	assert_true(NEAR(result.user_ns, 5e6, 100));
	assert_true(NEAR(result.task_ns, 5e6 + 100 * PRICE, 100));
	assert_true(NEAR(result.root_ns, result.task_ns, 1));
	assert_true(NEAR(result.stops_ns, 200 * STOP, 200));
}

static void user_time_is_never_below_nothing(void **state)
{
	struct world *world = *state;
	struct event_exit end = { .head = { .tid = 7 }, .user_ns = 10, .user_gaps = 1000 };

	add(world, CALL_close, STOP + PRICE, 100);
	time_add_exit(&world->book, &end);
	assert_true(judged(world).user_ns == 0);
	assert_true(judged(world).root_ns >= 0);
}

static void waiting_is_no_cost(void **state)
{
	struct world *world = *state;
	struct time_result result;

	add(world, CALL_close, STOP + PRICE, 100);
	add(world, CALL_poll, STOP + PRICE, 50);
	add(world, CALL_poll, 500e6, 2);
	result = judged(world);
	assert_true(NEAR(result.waiting_ns, 2 * (500e6 - STOP - PRICE), 1000));
	assert_true(NEAR(result.calls_ns, 152 * PRICE, 1));
}

static void near_the_stop_is_no_waiting(void **state)
{
	struct world *world = *state;

	add(world, CALL_close, STOP + PRICE, 100);
	add(world, CALL_read, 4 * STOP, 100);
	assert_true(judged(world).waiting_ns == 0);
	add(world, CALL_read, 6 * STOP, 1);
	assert_true(judged(world).waiting_ns > 0);
}

static void slow_by_nature_is_work(void **state)
{
	struct world *world = *state;
	struct time_result result;

	add(world, CALL_close, STOP + PRICE, 100);
	add(world, CALL_statx, 1e6 + STOP, 10); /* a slow file system */
	add(world, CALL_execve, 1e6 + STOP, 1);
	result = judged(world);
	assert_true(NEAR(result.calls_ns, 100 * PRICE + 11e6, 100));
	assert_true(result.waiting_ns == 0);
}

static void slow_once_among_many_is_nobodys_work(void **state)
{
	struct world *world = *state;

	add(world, CALL_close, STOP + PRICE, 100);
	add(world, CALL_statx, STOP + PRICE, 100);
	add(world, CALL_statx, 5e6, 3);
	assert_true(NEAR(judged(world).calls_ns, 203 * PRICE, 1));
}

static void calls_without_an_end_have_no_time(void **state)
{
	static const uint16_t flags[] = { EVENT_F_UNFINISHED, EVENT_F_KILLED, EVENT_F_NO_ENTER, EVENT_F_BEFORE_ATTACH };
	struct world *world = *state;

	add(world, CALL_close, STOP + PRICE, 100);
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		add_flagged(world, CALL_poll, UINT64_C(900000000000), 1, flags[i]);
	assert_true(judged(world).waiting_ns == 0);
	assert_int_equal(world->book.timed, 100);
}

static void other_tasks_are_not_the_root(void **state)
{
	struct world *world = *state;
	struct event_exit end = { .head = { .tid = 8 }, .user_ns = 9000000, .user_gaps = 0 };
	struct time_result result;

	add(world, CALL_close, STOP + PRICE, 100);
	time_add_exit(&world->book, &end);
	result = judged(world);
	assert_true(NEAR(result.user_ns, 9e6, 1));
	assert_true(NEAR(result.root_ns, 100 * PRICE, 1));
}

static void huge_durations_do_not_break_anything(void **state)
{
	struct world *world = *state;

	add(world, CALL_close, STOP + PRICE, 100);
	add_flagged(world, CALL_close, UINT64_MAX, 1, 0);
	add_flagged(world, CALL_poll, UINT64_MAX / 2, 1, 0);
	assert_true(judged(world).waiting_ns > 0);
	assert_true(NEAR(judged(world).stop_ns, STOP, 1));
}

/* Then no stop is looked for: a call is what was measured and what entering costs. */
static void times_taken_in_the_kernel(void **state)
{
	struct world *world = *state;
	struct time_amount amounts[4];
	struct time_result result;

	time_add_floor(&world->book, &(struct event_floor){ 0 });
	add(world, CALL_getpid, 0, 100);
	add(world, CALL_read, 5000, 10);
	add_flagged(world, CALL_read, 1000000, 2, EVENT_F_SLEPT);
	/* Most of these sleep, and not for somebody else: a disk far away. */
	add(world, CALL_unlink, 1000, 1);
	add_flagged(world, CALL_unlink, 3000000, 9, EVENT_F_SLEPT);
	add(world, CALL_exit_group, 0, 0);
	add_flagged(world, CALL_exit_group, 123456789, 1, EVENT_F_UNFINISHED);
	time_judge(&world->book, &world->tally, world->prices, &result, amounts);
	assert_true(result.stop_ns == 0 && !result.stop_guessed && result.stops_ns == 0);
	assert_true(NEAR(amounts[0].ns, 100 * PRICE, 0.1) && amounts[0].waiting_ns == 0);
	assert_int_equal(amounts[0].source, PRICE_MEASURED);
	assert_true(NEAR(amounts[1].ns, 12 * (PRICE + 5000), 0.1));
	assert_true(NEAR(amounts[1].waiting_ns, 2 * (1000000 - 5000), 0.1));
	assert_true(amounts[1].low_ns < amounts[1].ns && amounts[1].ns < amounts[1].high_ns);
	assert_true(NEAR(amounts[2].ns, 10 * PRICE + 1000 + 9 * 3000000, 0.1) && amounts[2].waiting_ns == 0);
	assert_true(NEAR(amounts[3].ns, PRICE, 0.1));
	assert_true(NEAR(result.calls_ns, amounts[0].ns + amounts[1].ns + amounts[2].ns + amounts[3].ns, 1));
}

/* What they worked themselves is what the tasks had of CPUs beyond all that is known. */
static void syncs_that_slept_have_worked(void **state)
{
	const struct event_floor floor = { .call_ns = 100, .gap_ns = 50 };
	const struct event_exit end = { .run_ns = 10000000, .user_ns = 4000000, .user_gaps = 120 };
	struct world *world = *state;
	struct time_amount amounts[3];
	struct time_result result;

	time_add_floor(&world->book, &floor);
	add(world, CALL_read, 5000, 20);
	add_flagged(world, CALL_fdatasync, 2000000, 80, EVENT_F_SLEPT);
	add_flagged(world, CALL_poll, 1000000, 20, EVENT_F_SLEPT);
	time_add_exit(&world->book, &end);
	time_settle(&world->book);
	time_judge(&world->book, &world->tally, world->prices, &result, amounts);
	/* 10 ms without 4 of its own, 120 * (100 + 50) ns of ours and 20 reads, over 100 that slept. */
	assert_true(NEAR(world->book.asleep_work_ns, (10e6 - 4e6 - 120 * 150 - 20 * 5000) / 100, 1));
	assert_true(NEAR(amounts[1].ns, 80 * (world->book.asleep_work_ns + PRICE), 80 * PRICE));
	assert_true(NEAR(amounts[1].waiting_ns, 80 * (2000000 - world->book.asleep_work_ns), 80 * PRICE));
	/* Who waited for somebody else did nothing meanwhile. */
	assert_true(amounts[2].ns < 20 * 3 * PRICE);
	/* No more than it took, and nothing where nothing is left. */
	world->book.run_ns = UINT64_MAX / 2;
	time_settle(&world->book);
	time_judge(&world->book, &world->tally, world->prices, &result, amounts);
	assert_true(amounts[1].waiting_ns == 0 && NEAR(amounts[1].ns, 80 * (2000000 + PRICE), 80 * PRICE));
	world->book.run_ns = 0;
	time_settle(&world->book);
	assert_true(world->book.asleep_work_ns == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_stop_is_found_among_outliers),
		TEST(few_calls_are_a_guess),
		TEST(nothing_measured_is_no_cost),
		TEST(many_samples_stay_bounded_and_spread),
		TEST(user_time_is_what_stops_leave),
		TEST(user_time_is_never_below_nothing),
		TEST(waiting_is_no_cost),
		TEST(near_the_stop_is_no_waiting),
		TEST(slow_by_nature_is_work),
		TEST(slow_once_among_many_is_nobodys_work),
		TEST(calls_without_an_end_have_no_time),
		TEST(other_tasks_are_not_the_root),
		TEST(huge_durations_do_not_break_anything),
		TEST(times_taken_in_the_kernel),
		TEST(syncs_that_slept_have_worked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
