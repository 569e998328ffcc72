/* SPDX-License-Identifier: BSD-2-Clause */
/* What single calls had of a CPU, on busy machines; and what a stop costs there. */
#include "untraced-world.h"

/* One whole call that the machine kept waiting for a CPU, it or us. */
static void disturbed(struct world *world, enum sys_call_id id, uint64_t ran_ns, uint64_t queue_ns, uint64_t late_ns)
{
	struct asked asked = { id, 1, true };
	struct body *body;
	uint64_t began;

	enters(world, 1, 0, &asked);
	tell_clock(world, 1, EVENT_CLOCK_ENTER);
	began = world->now;
	body = body_of(world, 1);
	body->queue_ns += queue_ns;
	body->turns += queue_ns > 0;
	body->wall_ns += queue_ns + late_ns;
	world->now += queue_ns + late_ns;
	world->late_ns += late_ns;
	asked.quiet = false;
	returns(world, 1, began, ran_ns, 0, &asked);
}

static void who_queued_did_not_work_and_did_not_sleep(void **state)
{
	static const enum sys_call_id ids[] = { CALL_mmap, CALL_unlink, CALL_prlimit64, CALL_read, CALL_openat };
	struct world *world = *state;

	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		double before = now_of(world);

		disturbed(world, ids[i], CHEAP, 4 * MS, 0);
		assert_true(world->book.call.known && world->book.call.whole);
		assert_true(NEAR(world->book.call.ran_ns, CHEAP));
		assert_true(world->book.call.slept_ns == 0);
		disturbed(world, ids[i], CHEAP, 0, 4 * MS);
		assert_true(NEAR(world->book.call.ran_ns, CHEAP) && world->book.call.slept_ns == 0);
		disturbed(world, ids[i], CHEAP, 4 * MS, 5 * MS);
		assert_true(NEAR(world->book.call.ran_ns, CHEAP) && world->book.call.slept_ns == 0);
		assert_true(now_of(world) - before < 10000);
	}
	assert_true(NEAR(world->book.run.value, STOP));
	assert_true(NEAR(world->book.idle.value, IDLE));
}

static void who_worked_did_so(void **state)
{
	struct world *world = *state;
	double before = now_of(world);

	disturbed(world, CALL_munmap, 2 * MS, 3 * MS, MS);
	assert_true(NEAR(world->book.call.ran_ns, 2 * MS));
	assert_true(world->book.call.slept_ns == 0);
	assert_true(NEAR(now_of(world) - before, 2 * MS));
}

/* Only its return was told of: what was before it may have run all the time. */
static void what_was_before_is_not_the_calls(void **state)
{
	struct world *world = *state;
	struct asked quiet = { CALL_getppid, 1, true };

	for (int i = 0; i < 5; i++)
		calls(world, 1, 20000, 20000, 0, quiet);
	disturbed(world, CALL_mmap, CHEAP, 4 * MS, 0);
	assert_true(world->book.call.whole);
	for (int i = 0; i < 5; i++)
		calls(world, 1, 20000, 20000, 0, quiet);
	enters(world, 1, 20000, &quiet);
	returns(world, 1, world->now, 3 * MS, 0, &(struct asked){ CALL_mmap, 1, false });
	assert_false(world->book.call.whole);
	assert_true(world->book.call.ran_ns <= 3 * MS && world->book.call.ran_ns > 2.7 * MS);
}

static void a_sleep_is_a_sleep(void **state)
{
	struct world *world = *state;

	calls(world, 1, 0, 1000, 5 * MS, (struct asked){ CALL_read, 1, false });
	assert_true(NEAR(world->book.call.slept_ns, 5 * MS));
	calls(world, 1, 0, 1000, 5 * MS, (struct asked){ CALL_statx, 0, false });
	assert_true(NEAR(world->book.call.slept_ns, 5 * MS));
}

static void rare_naps_are_interrupts(void **state)
{
	struct world *world = *state;
	double before = now_of(world), often;

	for (int i = 0; i < 20; i++) {
		calls(world, 1, 0, CHEAP, 60000, (struct asked){ CALL_read, 1, false });
		teach(world, 1);
	}
	assert_true(now_of(world) - before < 20 * 65 * 1000.0);
	assert_true(judged(world).wait_ns < 60000);
	before = now_of(world);
	for (int i = 0; i < 20; i++)
		calls(world, 1, 0, CHEAP, 60000, (struct asked){ CALL_read, 1, false });
	often = now_of(world) - before;
	assert_true(often > 18 * 60000.0 && often < 21 * 62000.0);
}

/* One that was far off among the first spoilt all that came after. */
static void a_bad_sample_among_the_first_does_no_harm(void **state)
{
	struct world *world = calloc(1, sizeof *world);

	(void)state;
	untraced_init(&world->book);
	world->prices = price_book_new_fixed(NULL, 0, CHEAP);
	world->now = 1000 * MS;
	tell_clock(world, 1, EVENT_CLOCK_ENTER);
	calls(world, 1, 0, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	calls(world, 1, 0, CHEAP + 80000, 0, (struct asked){ CALL_getppid, 1, false });
	assert_true(world->book.run.value < 4000);
	for (int i = 0; i < 8; i++)
		calls(world, 1, 0, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	assert_true(NEAR(world->book.run.value, STOP));
	untraced_done(&world->book);
	price_book_free(world->prices);
	free(world);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_queued_did_not_work_and_did_not_sleep),
		TEST(who_worked_did_so),
		TEST(what_was_before_is_not_the_calls),
		TEST(a_sleep_is_a_sleep),
		TEST(rare_naps_are_interrupts),
		cmocka_unit_test(a_bad_sample_among_the_first_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
