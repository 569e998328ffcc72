/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of a long duration is a call's own, by the kernel's account of its
 * task.  Every call costs 200 ns; a stop takes 10,000, of them 3,000 on the CPU.
 */
#include "test.h"

#include <errno.h>

#include "verdict/time.h"

#define PRICE 200.0
#define STOP 10000.0
#define RUN_STOP 3000.0
#define NEAR(a, b, by) ((a) - (b) < (by) && (b) - (a) < (by))

struct world {
	struct time_book book;
	struct tally tally;
	struct price_book *prices;
};

static void add(struct world *world, enum sys_call_id id, double duration_ns, const struct time_account *account,
		unsigned count)
{
	struct event_call call = { .head = { .tid = 7 }, .arch = SYS_ARCH_NATIVE };

	call.nr = sys_call_nr(SYS_ARCH_NATIVE, id);
	call.duration_ns = (uint64_t)duration_ns;
	while (count-- > 0)
		assert_int_equal(time_add_call(&world->book, tally_add(&world->tally, &call, 0, 0), &call, 0, account),
				 0);
}

static struct time_account had(double ran_ns, double slept_ns)
{
	return (struct time_account){ .known = true,
				      .whole = true,
				      .ran_ns = ran_ns,
				      .slept_ns = slept_ns,
				      .stop_ns = STOP,
				      .run_stop_ns = RUN_STOP };
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof *world);

	time_init(&world->book);
	tally_init(&world->tally);
	world->prices = price_book_new_fixed(NULL, 0, PRICE);
	add(world, CALL_close, STOP + PRICE, NULL, 100); /* to know the stop by */
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

static struct time_amount amount_of(struct world *world, enum sys_call_id id)
{
	struct time_amount amount = { .ns = -1 };
	bool guessed;

	for (size_t i = 0; i < world->tally.rows.used; i++)
		if (world->tally.rows.at[i].id == id)
			time_of_row(&world->book, &world->tally, &world->tally.rows.at[i], world->prices,
				    time_stop_ns(&world->book, world->prices, &guessed), &amount);
	assert_true(amount.low_ns <= amount.ns && amount.ns <= amount.high_ns);
	return amount;
}

/* As seen on a busy machine: "prlimit64 1 0 3.04 ms". */
static void what_cannot_work_costs_its_price(void **state)
{
	static const struct {
		enum sys_call_id id;
		double each_ns;
		unsigned count;
	} seen[] = {
		{ CALL_prlimit64, 3.04e6, 1 },	{ CALL_set_robust_list, 97e3, 3001 },
		{ CALL_getrusage, 220e3, 20 },	{ CALL_rt_sigaction, 4e6, 2 },
		{ CALL_arch_prctl, 8e6, 1 },	{ CALL_lseek, 4e6, 3 },
		{ CALL_epoll_create1, 4e6, 1 }, { CALL_sysinfo, 4e6, 1 },
	};

	for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
		struct time_amount amount;

		add(*state, seen[i].id, seen[i].each_ns, NULL, seen[i].count);
		amount = amount_of(*state, seen[i].id);
		assert_true(NEAR(amount.ns, PRICE * seen[i].count, 1));
		assert_true(amount.waiting_ns == 0);
		assert_int_equal(amount.source, PRICE_CALIBRATED);
	}
}

/* A look-up that failed at the first of 2,000 parts, by 25 ns a part: as durations say, and not without. */
static void a_path_costs_no_more_than_was_taken(void **state)
{
	static const struct price_fixed rows[] = { { CALL_access, 0, 175, 25 }, { CALL_access, ENOENT, 175, 25 } };
	struct event_call call = { .head = { .tid = 7 }, .arch = SYS_ARCH_NATIVE };
	struct world *world = *state;

	price_book_free(world->prices);
	world->prices = price_book_new_fixed(rows, 2, PRICE);
	for (unsigned components = 5; components <= 2000; components += 1995) {
		struct time_amount amount;
		double each_ns;

		tally_done(&world->tally);
		time_done(&world->book);
		tally_init(&world->tally);
		time_init(&world->book);
		add(world, CALL_close, STOP + PRICE, NULL, 100);
		call.nr = sys_call_nr(SYS_ARCH_NATIVE, CALL_access);
		call.duration_ns = (uint64_t)(STOP + 175 + 25);
		for (unsigned i = 0; i < 999; i++)
			assert_int_equal(time_add_call(&world->book,
						       tally_add(&world->tally, &call, ENOENT, components), &call,
						       ENOENT, NULL),
					 0);
		amount = amount_of(world, CALL_access);
		each_ns = amount.ns / 999;
		if (components == 5) {
			assert_true(NEAR(each_ns, 300, 1));
			assert_true(amount.most_ns == 0);
		} else {
			/* Of the first part at least, and within half a stop. */
			assert_true(each_ns > 199 && each_ns < 200 + STOP / 10);
			assert_true(amount.most_ns >= each_ns && amount.most_ns <= 200 + STOP);
			assert_int_equal(amount.source, PRICE_MEASURED);
		}
	}
}

static void who_lost_the_cpu_did_not_work(void **state)
{
	static const enum sys_call_id ids[] = {
		CALL_mmap, CALL_munmap, CALL_unlink, CALL_execve, CALL_openat, CALL_read
	};
	struct time_account account = had(PRICE, 0);

	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		add(*state, ids[i], 4e6, &account, 2);
		assert_true(NEAR(amount_of(*state, ids[i]).ns, 2 * PRICE, 1));
		assert_true(amount_of(*state, ids[i]).waiting_ns == 0);
	}
}

static void who_had_the_cpu_worked(void **state)
{
	static const enum sys_call_id ids[] = { CALL_mmap,   CALL_munmap, CALL_unlink,
						CALL_execve, CALL_openat, CALL_write };
	struct time_account account = had(2e6, 0);

	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		add(*state, ids[i], 6e6, &account, 1);
		assert_true(NEAR(amount_of(*state, ids[i]).ns, 2e6, 1000));
		assert_int_equal(amount_of(*state, ids[i]).source, PRICE_MEASURED);
		assert_true(amount_of(*state, ids[i]).low_ns < 2e6 && amount_of(*state, ids[i]).high_ns > 2e6);
	}
}

static void a_call_never_has_more_than_it_took(void **state)
{
	struct time_account account = had(50e6, 50e6);

	add(*state, CALL_mmap, 1e6, &account, 1);
	assert_true(amount_of(*state, CALL_mmap).ns <= 1e6);
	account = had(-5e6, -1);
	add(*state, CALL_munmap, 1e6, &account, 1);
	assert_true(NEAR(amount_of(*state, CALL_munmap).ns, PRICE, 1));
}

static void sleep_is_waiting_and_work_is_not(void **state)
{
	struct time_account account = had(1e6, 5e6);

	add(*state, CALL_read, 20e6, &account, 1);
	assert_true(NEAR(amount_of(*state, CALL_read).waiting_ns, 5e6, 1));
	assert_true(NEAR(amount_of(*state, CALL_read).ns, 1e6, 1000));
}

static void a_slow_file_system_costs_and_a_lock_does_not(void **state)
{
	struct time_account slow = had(PRICE, 300e3), fast = had(PRICE, 0);

	add(*state, CALL_statx, STOP + PRICE + 300e3, &slow, 10);
	assert_true(NEAR(amount_of(*state, CALL_statx).ns, 10 * (300e3 + PRICE), 1000));
	add(*state, CALL_unlink, STOP + PRICE + 300e3, &slow, 7);
	add(*state, CALL_unlink, STOP + PRICE, &fast, 13);
	assert_true(NEAR(amount_of(*state, CALL_unlink).ns, 20 * PRICE, 1));
	assert_true(NEAR(amount_of(*state, CALL_unlink).waiting_ns, 7 * 300e3, 10));
}

static void one_long_sleep_does_not_make_a_slow_file_system_slower(void **state)
{
	struct time_account slow = had(PRICE, 300e3), stuck = had(PRICE, 900e6);

	add(*state, CALL_statx, STOP + PRICE + 300e3, &slow, 9);
	add(*state, CALL_statx, 901e6, &stuck, 1);
	assert_true(amount_of(*state, CALL_statx).ns < 10 * 700e3);
	assert_true(amount_of(*state, CALL_statx).waiting_ns > 890e6);
}

static void samples_are_the_price_when_they_are_clearly_more(void **state)
{
	struct time_account account = had(5000, 0);

	add(*state, CALL_read, STOP + 5000, &account, TIME_MEASURED_LEAST - 1);
	assert_true(NEAR(amount_of(*state, CALL_read).ns, (TIME_MEASURED_LEAST - 1) * PRICE, 1));
	add(*state, CALL_read, STOP + 5000, &account, 1);
	/* Those that were not sampled are like them. */
	add(*state, CALL_read, STOP + 5000, NULL, 92);
	assert_true(NEAR(amount_of(*state, CALL_read).ns, 100 * 5000, 1));
	assert_int_equal(amount_of(*state, CALL_read).source, PRICE_MEASURED);
	/* Within what we may be wrong about the stop it is the price. */
	account = had(PRICE + RUN_STOP / 3, 0);
	add(*state, CALL_write, STOP + PRICE, &account, 100);
	assert_true(NEAR(amount_of(*state, CALL_write).ns, 100 * PRICE, 1));
	assert_int_equal(amount_of(*state, CALL_write).source, PRICE_CALIBRATED);
}

static void what_a_quarter_took_is_usual(void **state)
{
	struct time_account quick = had(PRICE, 0), dear = had(100e3, 0);

	add(*state, CALL_openat, STOP + 100e3, &dear, 70);
	assert_true(NEAR(amount_of(*state, CALL_openat).usual_ns, 100e3, 1));
	add(*state, CALL_openat, STOP + PRICE, &quick, 30);
	assert_true(NEAR(amount_of(*state, CALL_openat).usual_ns, PRICE, 1));
}

static void one_sample_far_off_does_not_stand_for_the_others(void **state)
{
	struct time_account usual = had(PRICE, 0), odd = had(100e3, 0);

	add(*state, CALL_read, STOP + PRICE, &usual, 50);
	add(*state, CALL_read, STOP + 100e3, &odd, 1);
	add(*state, CALL_read, STOP + PRICE, NULL, 1000);
	assert_true(amount_of(*state, CALL_read).ns < 1051 * PRICE + 101e3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_cannot_work_costs_its_price),
		TEST(a_path_costs_no_more_than_was_taken),
		TEST(who_lost_the_cpu_did_not_work),
		TEST(who_had_the_cpu_worked),
		TEST(a_call_never_has_more_than_it_took),
		TEST(sleep_is_waiting_and_work_is_not),
		TEST(a_slow_file_system_costs_and_a_lock_does_not),
		TEST(one_long_sleep_does_not_make_a_slow_file_system_slower),
		TEST(samples_are_the_price_when_they_are_clearly_more),
		TEST(what_a_quarter_took_is_usual),
		TEST(one_sample_far_off_does_not_stand_for_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
