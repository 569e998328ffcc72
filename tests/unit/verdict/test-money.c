/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must hold of every run's times, whatever the records say: made-up runs
 * of one task and of several, with prices right and wrong, busy machines and
 * quiet ones.
 */
#include "test.h"

#include <unistd.h>

#include "verdict/analysis.h"

#define ROOT 10
#define RUNS 400
#define STEPS 120

struct body {
	uint64_t run_ns, queue_ns, turns, wall_ns, stops;
};

struct run {
	struct analysis *analysis;
	struct analysis_facts facts;
	struct body bodies[4];
	unsigned tasks;
	uint64_t now, late_ns;
	unsigned random;
	bool clocks;
};

/* The same on every machine. */
static unsigned dice(struct run *run, unsigned below)
{
	run->random = run->random * 1103515245u + 12345u;
	return (run->random >> 16) % below;
}

static void feed(struct run *run, struct buf *buf)
{
	assert_int_equal(analysis_feed(run->analysis, event_end(buf)), 0);
	buf_done(buf);
}

static void tell_clock(struct run *run, unsigned task, enum event_clock_at at)
{
	const struct body *body = &run->bodies[task];
	struct buf buf = BUF_INIT;
	struct event_clock *clock;

	if (!run->clocks)
		return;
	clock = event_begin(&buf, EVENT_CLOCK);
	clock->head.pid = clock->head.tid = ROOT + task;
	clock->head.time_ns = run->now;
	clock->run_ns = body->run_ns;
	clock->queue_ns = body->queue_ns;
	clock->turns = body->turns;
	clock->wall_ns = body->wall_ns;
	clock->stops = body->stops;
	clock->late_ns = run->late_ns;
	clock->at = at;
	feed(run, &buf);
}

/* Runs up to the next stop, and may lose the CPU on the way. */
static uint64_t passes(struct run *run, unsigned task, uint64_t ran_ns)
{
	struct body *body = &run->bodies[task];
	uint64_t queue_ns = dice(run, 8) == 0 ? dice(run, 4000) * UINT64_C(1000) : 0,
		 late_ns = dice(run, 8) == 0 ? dice(run, 4000) * UINT64_C(1000) : 0, stop_ns = 2000 + dice(run, 2000),
		 idle_ns = 2000 + dice(run, 2000) + late_ns;

	body->run_ns += ran_ns + stop_ns;
	body->queue_ns += queue_ns;
	body->turns += 1 + (queue_ns > 0);
	body->wall_ns += ran_ns + stop_ns + queue_ns + idle_ns;
	body->stops++;
	run->late_ns += late_ns;
	run->now += ran_ns + stop_ns + queue_ns + idle_ns;
	return ran_ns + stop_ns + queue_ns + idle_ns;
}

static void make_call(struct run *run, unsigned task, enum sys_call_id id)
{
	bool sampled = dice(run, 4) == 0;
	struct buf buf = BUF_INIT;
	struct event_call *call;
	uint64_t began_ns, took_ns;

	(void)passes(run, task, dice(run, 3000));
	began_ns = run->now;
	if (sampled)
		tell_clock(run, task, EVENT_CLOCK_ENTER);
	took_ns = passes(run, task, 100 + dice(run, 400));
	if (sampled || took_ns > 150000)
		tell_clock(run, task, EVENT_CLOCK_RETURN);
	call = event_begin(&buf, EVENT_CALL);
	call->head.pid = call->head.tid = ROOT + task;
	call->head.time_ns = began_ns;
	call->duration_ns = took_ns;
	call->arch = SYS_ARCH_NATIVE;
	call->nr = sys_call_nr(SYS_ARCH_NATIVE, id);
	feed(run, &buf);
}

static void begins(struct run *run, unsigned task)
{
	struct buf buf = BUF_INIT;
	struct event_fork *fork;

	if (task == 0) {
		struct event_task *first = event_begin(&buf, EVENT_TASK);

		first->head.pid = first->head.tid = ROOT;
		feed(run, &buf);
		return;
	}
	tell_clock(run, 0, EVENT_CLOCK_OTHER);
	fork = event_begin(&buf, EVENT_FORK);
	fork->head.pid = fork->head.tid = ROOT;
	fork->head.time_ns = run->now;
	fork->child_pid = fork->child_tid = ROOT + task;
	fork->followed = 1;
	feed(run, &buf);
}

static void ends(struct run *run, unsigned task, uint64_t user_ns, uint64_t gaps)
{
	struct buf buf = BUF_INIT;
	struct event_exit *end;

	tell_clock(run, task, EVENT_CLOCK_OTHER);
	end = event_begin(&buf, EVENT_EXIT);
	end->head.pid = end->head.tid = ROOT + task;
	end->head.time_ns = run->now;
	end->how = EVENT_EXIT_STATUS;
	end->run_ns = run->bodies[task].run_ns;
	end->user_ns = user_ns;
	end->user_gaps = gaps;
	feed(run, &buf);
}

/* A run out of one number: what its tasks did, and how wrong the prices are. */
static void make_run(struct run *run, unsigned seed)
{
	static const enum sys_call_id ids[] = { CALL_close,  CALL_lseek,     CALL_read,	     CALL_mmap,
						CALL_unlink, CALL_prlimit64, CALL_getrusage, CALL_poll };
	static const double prices_ns[] = { 1, 200, 1000, 50000 };
	struct analysis_spec spec = { 0 };
	struct error err = { 0 };
	unsigned steps;

	*run = (struct run){ .random = seed, .now = 1000000000 };
	run->tasks = seed % 2 ? 1 : 1 + dice(run, 4);
	run->clocks = seed % 8 != 0;
	spec.prices = price_book_new_fixed(NULL, 0, prices_ns[seed / 2 % 4]);
	assert_int_equal(analysis_new(&spec, &run->analysis, &err), 0);
	for (unsigned task = 0; task < run->tasks; task++)
		begins(run, task);
	steps = 1 + dice(run, STEPS);
	for (unsigned step = 0; step < steps; step++)
		make_call(run, dice(run, run->tasks), ids[dice(run, sizeof ids / sizeof ids[0])]);
	for (unsigned task = run->tasks; task-- > 0;)
		ends(run, task, steps * UINT64_C(6000), steps);
	run->facts = (struct analysis_facts){ .seen = steps, .delivered = steps, .wall_ns = run->now - 1000000000 };
	run->facts.children = run->facts.followed = run->tasks - 1;
	assert_int_equal(analysis_finish(run->analysis, &run->facts, &err), 0);
}

static double sum_of(const struct analysis_result *result)
{
	double sum_ns = 0;

	for (size_t i = 0; i < result->by_call_count; i++) {
		const struct verdict_call *call = &result->by_call[i];

		assert_true(call->ns >= 0);
		assert_true(call->low_ns <= call->ns + 1 && call->ns <= call->high_ns + 1);
		sum_ns += call->ns;
	}
	return sum_ns;
}

static void times_fit_into_each_other(void **state)
{
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);

	(void)state;
	for (unsigned seed = 0; seed < RUNS; seed++) {
		const struct analysis_result *result;
		struct run run;
		double sum_ns;

		make_run(&run, seed);
		result = analysis_result(run.analysis);
		sum_ns = sum_of(result);
		assert_true(sum_ns > result->calls_ns - 1 && sum_ns < result->calls_ns + 1);
		assert_true(result->calls_ns > 0 && result->user_ns > 0 && result->waiting_ns >= 0);
		assert_true(result->calls_ns <= result->task_ns);
		assert_true(result->user_ns + result->calls_ns <= result->task_ns + 1);
		assert_true(result->untraced_ns <= (double)run.facts.wall_ns + 1);
		assert_true(result->untraced_ns * cpus >= result->task_ns - 1 ||
			    result->untraced_ns >= (double)run.facts.wall_ns - 1);
		if (run.tasks == 1)
			assert_true(result->calls_ns <= result->untraced_ns);
		analysis_free(run.analysis);
	}
}

/* "679 us untraced, 1.36 ms of it in calls": prices of a busy moment. */
static void prices_give_way_to_the_account(void **state)
{
	struct run run = { .random = 1, .now = 1000000000, .tasks = 1, .clocks = true };
	struct analysis_spec spec = { .prices = price_book_new_fixed(NULL, 0, 600) };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(analysis_new(&spec, &run.analysis, &err), 0);
	begins(&run, 0);
	for (int i = 0; i < 400; i++)
		make_call(&run, 0, CALL_read);
	ends(&run, 0, 1000000, 400);
	run.facts = (struct analysis_facts){ .seen = 400, .delivered = 400, .wall_ns = run.now - 1000000000 };
	assert_int_equal(analysis_finish(run.analysis, &run.facts, &err), 0);
	assert_true(analysis_result(run.analysis)->price_fit <= 1);
	assert_true(analysis_result(run.analysis)->price_fit >= 0.35);
	assert_true(analysis_result(run.analysis)->calls_ns <= 400 * 600);
	assert_true(analysis_result(run.analysis)->calls_ns >= 400 * 300);
	analysis_free(run.analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_fit_into_each_other),
		cmocka_unit_test(prices_give_way_to_the_account),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
