/* SPDX-License-Identifier: BSD-2-Clause */
/* The virtual clock on made-up records. */
#include "untraced-world.h"

static void stops_are_taken_out(void **state)
{
	struct world *world = *state;
	double before = now_of(world);

	assert_true(NEAR(world->book.run.value, STOP));
	assert_true(NEAR(world->book.idle.value, IDLE));
	calls(world, 1, 5 * MS, 2 * MS, 0, (struct asked){ CALL_getppid, 1, false });
	assert_true(NEAR(now_of(world) - before, 7 * MS));
	assert_true(judged(world).clocked);
	assert_true(judged(world).wait_ns == 0);
	ends(world, 1, MS);
	assert_true(NEAR(now_of(world) - before, 8 * MS));
	assert_true(NEAR(judged(world).work_ns, judged(world).ns));
}

static void many_short_calls_add_up(void **state)
{
	struct world *world = *state;
	double before = now_of(world);

	for (int i = 0; i < 1000; i++)
		calls(world, 1, 300, CHEAP, 0, (struct asked){ CALL_getppid, 1, i % 16 != 0 });
	calls(world, 1, 0, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	assert_true(NEAR(now_of(world) - before, 1000 * 500 + CHEAP));
}

/* A program that computes for as long between all its calls has no gap in
 * which a stop is seen at its purest: it is known by the stop at the return. */
static void what_is_always_between_calls_is_no_stop(void **state)
{
	struct world *world = *state;
	double before, ns;

	for (int i = 0; i < 400; i++)
		calls(world, 1, 700, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	before = now_of(world);
	for (int i = 0; i < 1000; i++)
		calls(world, 1, 700, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	ns = now_of(world) - before;
	assert_true(ns <= 1000 * (700 + CHEAP));
	assert_true(ns >= 1000 * (700 - 0.3 * STOP + CHEAP));
}

/* Calls that look up names cost more than their loop says, each as much; the
 * stop at enter is told by the gaps alone. */
static void dear_look_ups_do_not_raise_the_stop_at_enter(void **state)
{
	struct world *world = *state;
	double before;

	for (int i = 0; i < 400; i++)
		calls(world, 1, GAP, i % 20 == 0 ? CHEAP : 600 + 300, 0,
		      (struct asked){ i % 20 == 0 ? CALL_getppid : CALL_newfstatat, 0, false });
	before = now_of(world);
	for (int i = 0; i < 1000; i++)
		calls(world, 1, GAP, 600 + 300, 0, (struct asked){ CALL_newfstatat, 0, false });
	/* By durations alone the 300 are our side of the call; not of the gap as well. */
	assert_true(now_of(world) - before >= 1000 * (GAP + 600 - 1));
	assert_true(now_of(world) - before <= 1000 * (GAP + 600 + 300));
}

/* What looks like a look-up and is none, as glibc's fstat. */
static void a_status_by_descriptor_is_cheap(void **state)
{
	struct world *world = *state;

	world->flags = 0x1000; /* AT_EMPTY_PATH */
	for (int i = 0; i < 200; i++)
		calls(world, 1, GAP, 300, 0, (struct asked){ CALL_newfstatat, 0, false });
	world->flags = 0;
	assert_true(world->book.run.value > STOP - 1 && world->book.run.value < STOP + 1);
}

static void sleep_takes_as_long_as_it_takes(void **state)
{
	struct world *world = *state;
	double before = now_of(world);

	calls(world, 1, 0, CHEAP, 300 * MS, (struct asked){ CALL_clock_nanosleep, 0, false });
	assert_true(NEAR(now_of(world) - before, 300 * MS + CHEAP));
	assert_true(NEAR(judged(world).wait_ns, 300 * MS));
	/* A time-out, and an answer from outside. */
	calls(world, 1, 0, CHEAP, 10 * MS, (struct asked){ CALL_poll, 0, false });
	calls(world, 1, 0, CHEAP, 20 * MS, (struct asked){ CALL_recvfrom, 5, false });
	assert_true(NEAR(judged(world).wait_ns, 330 * MS));
	/* CPU time it is not. */
	assert_true(judged(world).work_ns < MS);
}

/* On a busy machine: it sleeps, then waits for a CPU for longer than it slept,
 * stops, and then we wait for one.  Only the sleep is its own. */
static void a_sleep_is_as_long_on_a_busy_machine(void **state)
{
	struct world *world = *state;
	struct body *body = body_of(world, 1);
	struct asked asked = { CALL_clock_nanosleep, 0, false };
	double before = now_of(world);
	uint64_t began;

	enters(world, 1, 0, &asked);
	began = world->now;
	body->queue_ns += 380 * MS;
	body->wall_ns += 380 * MS + 5 * MS;
	world->late_ns += 5 * MS;
	world->now += 385 * MS;
	returns(world, 1, began, CHEAP, 300 * MS, &asked);
	assert_true(NEAR(now_of(world) - before, 300 * MS + CHEAP));
	assert_true(NEAR(judged(world).wait_ns, 300 * MS));
}

static void a_slow_disk_is_no_waiting(void **state)
{
	struct world *world = *state;
	double before = now_of(world);

	calls(world, 1, 0, CHEAP, 10 * MS, (struct asked){ CALL_openat, 3, false });
	assert_true(NEAR(now_of(world) - before, 10 * MS + CHEAP));
	assert_true(judged(world).wait_ns == 0);
	assert_true(NEAR(world->book.io_ns, 10 * MS));
}

static void losing_the_cpu_is_no_time(void **state)
{
	struct world *world = *state;
	double before = now_of(world);
	struct body *body = body_of(world, 1);
	struct asked asked = { CALL_read, 4096, false };
	uint64_t began;

	enters(world, 1, 0, &asked);
	began = world->now;
	/* 8 ms in the queue, and as long for us after that. */
	body->queue_ns += 8 * MS;
	body->wall_ns += 15 * MS;
	body->turns++;
	world->now += 15 * MS;
	returns(world, 1, began, CHEAP, 0, &asked);
	assert_true(NEAR(now_of(world) - before, CHEAP));
	/* Once more, without a queue and without a second turn: only we were slow. */
	enters(world, 1, 0, &asked);
	began = world->now;
	body->wall_ns += 15 * MS;
	world->now += 15 * MS;
	returns(world, 1, began, CHEAP, 0, &asked);
	assert_true(NEAR(now_of(world) - before, 2 * CHEAP));
}

static void a_parent_waits_for_its_child(void **state)
{
	struct world *world = *state;
	double before = now_of(world);
	struct asked fork = { CALL_clone, 2, false }, wait = { CALL_wait4, 2, false };
	uint64_t began;

	enters(world, 1, 0, &fork);
	began = world->now;
	passes(world, 1, MS, 0);
	forks(world, 1, 2);
	returns(world, 1, began, 0, 0, &fork);
	enters(world, 1, 0, &wait);
	began = world->now;
	/* The child's world is slowed ten times by its stops: 20 of them a ms. */
	for (int i = 0; i < 100; i++)
		calls(world, 2, 50000, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	tell_clock(world, 2, EVENT_CLOCK_OTHER);
	ends(world, 2, MS);
	returns(world, 1, began, CHEAP, world->now - began, &wait);
	assert_true(NEAR(now_of(world) - before, MS + 100 * (50000 + CHEAP) + MS));
	assert_true(judged(world).wait_ns == 0);
}

static void children_side_by_side_are_not_added(void **state)
{
	struct world *world = *state;
	double before = now_of(world), work = world->book.work_ns;
	struct asked wait2 = { CALL_wait4, 2, false }, wait3 = { CALL_wait4, 3, false };

	forks(world, 1, 2);
	forks(world, 1, 3);
	calls(world, 2, 30 * MS, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	calls(world, 3, 20 * MS, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	ends(world, 3, 0);
	ends(world, 2, 0);
	calls(world, 1, 0, 0, 0, wait3);
	assert_true(NEAR(now_of(world) - before, 20 * MS + CHEAP));
	calls(world, 1, 0, 0, 0, wait2);
	/* What the teardown of the others was is not known: nothing. */
	assert_true(NEAR(now_of(world) - before, 30 * MS + CHEAP));
	assert_true(NEAR(world->book.work_ns - work, 50 * MS + 2 * CHEAP));
}

static void a_child_that_was_ready_costs_no_waiting(void **state)
{
	struct world *world = *state;
	double before = now_of(world);

	forks(world, 1, 2);
	calls(world, 2, 2 * MS, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	ends(world, 2, 0);
	calls(world, 1, 9 * MS, CHEAP, 0, (struct asked){ CALL_wait4, 2, false });
	assert_true(NEAR(now_of(world) - before, 9 * MS + CHEAP));
}

static void a_reader_waits_for_the_writer(void **state)
{
	struct world *world = *state;
	double before = now_of(world);
	struct asked read = { CALL_read, 4096, false };
	uint64_t began;

	forks(world, 1, 2);
	enters(world, 1, 0, &read);
	began = world->now;
	calls(world, 2, 4 * MS, CHEAP, 0, (struct asked){ CALL_write, 4096, false });
	returns(world, 1, began, CHEAP, 50 * MS, &read);
	/* Not 50 ms, which we made of it: where the writer stands. */
	assert_true(NEAR(now_of(world) - before, 4 * MS + CHEAP));
	assert_true(judged(world).wait_ns == 0);
	/* What came before the read began is no waker. */
	calls(world, 1, 0, CHEAP, 5 * MS, read);
	assert_true(NEAR(now_of(world) - before, 9 * MS + 2 * CHEAP));
	assert_true(NEAR(judged(world).wait_ns, 5 * MS));
}

static void threads_join(void **state)
{
	struct world *world = *state;
	double before = now_of(world);
	struct asked futex = { CALL_futex, 0, false };
	uint64_t began;

	forks(world, 1, 2);
	forks(world, 1, 3);
	enters(world, 1, MS, &futex);
	began = world->now;
	calls(world, 2, 7 * MS, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	calls(world, 3, 11 * MS, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	ends(world, 3, 0);
	returns(world, 1, began, CHEAP, 100 * MS, &futex);
	assert_true(NEAR(now_of(world) - before, 11 * MS + CHEAP));
}

static void waiting_of_the_awaited_is_waiting(void **state)
{
	struct world *world = *state;
	double before = now_of(world);

	forks(world, 1, 2);
	calls(world, 2, MS, CHEAP, 200 * MS, (struct asked){ CALL_nanosleep, 0, false });
	ends(world, 2, 0);
	calls(world, 1, 0, CHEAP, 201 * MS, (struct asked){ CALL_wait4, 2, false });
	assert_true(NEAR(now_of(world) - before, 201 * MS + CHEAP));
	assert_true(NEAR(judged(world).wait_ns, 200 * MS));
}

static void a_thread_that_execs_keeps_its_clock(void **state)
{
	struct world *world = *state;
	struct event_exec exec = { .head = { .bytes = sizeof exec, .type = EVENT_EXEC, .pid = 1, .tid = 1 } };
	struct event_exit end = { .head = { .bytes = sizeof end, .type = EVENT_EXIT, .pid = 1, .tid = 1 } };
	double before = now_of(world);

	forks(world, 1, 2);
	calls(world, 2, 6 * MS, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	end.how = EVENT_EXIT_REPLACED;
	end.head.time_ns = world->now;
	feed(world, &end, CALL_unknown, 0);
	exec.former_tid = 2;
	feed(world, &exec, CALL_unknown, 0);
	world->bodies[0] = world->bodies[1];
	world->bodies[0].tid = 1;
	calls(world, 1, 3 * MS, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	assert_true(NEAR(now_of(world) - before, 9 * MS + 2 * CHEAP));
}

static void prices_put_it_right(void **state)
{
	struct world *world = *state;
	double before;

	calls(world, 1, 9 * MS, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
	before = judged(world).ns;
	/* What was taken for 200 ns costs 150: each stop was 50 dearer, and the work less. */
	price_book_free(world->prices);
	world->prices = price_book_new_fixed(NULL, 0, CHEAP - 50);
	assert_true(NEAR(before - judged(world).ns, 65 * 50));
}

static void without_clocks_wall_times_stand_in(void **state)
{
	struct event_call call = { .head = { .bytes = sizeof call, .type = EVENT_CALL, .pid = 1, .tid = 1 } };
	struct event_exit end = { .head = { .bytes = sizeof end, .type = EVENT_EXIT, .pid = 1, .tid = 1 } };
	struct untraced_result result;
	struct untraced book;

	(void)state;
	untraced_init(&book);
	call.arch = SYS_ARCH_NATIVE;
	call.head.time_ns = 5 * MS;
	call.duration_ns = 1000;
	untraced_feed(&book, &call.head, CALL_getppid, 0);
	call.head.time_ns = 6 * MS;
	untraced_feed(&book, &call.head, CALL_getppid, 0);
	call.head.time_ns = 7 * MS;
	call.duration_ns = 100 * MS;
	untraced_feed(&book, &call.head, CALL_nanosleep, 0);
	end.head.time_ns = 107 * MS;
	untraced_feed(&book, &end.head, CALL_unknown, 0);
	untraced_judge(&book, ((struct world *)*state)->prices, &result);
	assert_false(result.clocked);
	assert_true(NEAR(result.ns, 102 * MS));
	assert_true(NEAR(result.wait_ns, 100 * MS));
	untraced_done(&book);
}

static void odd_records_do_no_harm(void **state)
{
	struct world *world = *state;
	struct event_clock clock = { .head = { .bytes = sizeof clock, .type = EVENT_CLOCK, .tid = 1, .pid = 1 } };

	/* Backwards, and beyond all bounds. */
	feed(world, &clock, CALL_unknown, 0);
	memset((char *)&clock + sizeof clock.head, 0xff, sizeof clock - sizeof clock.head);
	feed(world, &clock, CALL_unknown, 0);
	tell_clock(world, 1, EVENT_CLOCK_RETURN);
	ends(world, 77, 5);
	forks(world, 66, 66);
	ends(world, 66, 5);
	calls(world, 1, 5, UINT64_MAX / 4, UINT64_MAX / 4, (struct asked){ CALL_read, -EIO, false });
	(void)judged(world);
}

static void tasks_without_end_are_counted(void **state)
{
	struct world *world = *state;

	for (uint32_t tid = 2; tid < UNTRACED_TASKS_MAX + 10; tid++) {
		struct event_fork fork = { .head = { .bytes = sizeof fork, .type = EVENT_FORK, .pid = 1, .tid = 1 } };

		fork.child_tid = tid;
		fork.followed = 1;
		feed(world, &fork, CALL_unknown, 0);
	}
	assert_true(world->book.dropped > 0);
	assert_int_equal(world->book.tasks.used, UNTRACED_TASKS_MAX);
	assert_true(judged(world).ns >= 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stops_are_taken_out),
		TEST(many_short_calls_add_up),
		TEST(what_is_always_between_calls_is_no_stop),
		TEST(dear_look_ups_do_not_raise_the_stop_at_enter),
		TEST(a_status_by_descriptor_is_cheap),
		TEST(sleep_takes_as_long_as_it_takes),
		TEST(a_sleep_is_as_long_on_a_busy_machine),
		TEST(a_slow_disk_is_no_waiting),
		TEST(losing_the_cpu_is_no_time),
		TEST(a_parent_waits_for_its_child),
		TEST(children_side_by_side_are_not_added),
		TEST(a_child_that_was_ready_costs_no_waiting),
		TEST(a_reader_waits_for_the_writer),
		TEST(threads_join),
		TEST(waiting_of_the_awaited_is_waiting),
		TEST(a_thread_that_execs_keeps_its_clock),
		TEST(prices_put_it_right),
		TEST(without_clocks_wall_times_stand_in),
		TEST(odd_records_do_no_harm),
		TEST(tasks_without_end_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
