/* SPDX-License-Identifier: BSD-2-Clause */
/* Prices: what holds on any machine.  No test here knows an amount. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verdict/price-table.h"
#include "verdict/price.h"
#include "verdict/probe.h"

static unsigned open_fds(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++) {
		struct stat unused;

		count += fstat(fd, &unused) == 0;
	}
	return count;
}

static void assert_sane(struct price price)
{
	assert_true(price.ns > 0);
	assert_true(price.low_ns > 0);
	assert_true(price.low_ns <= price.ns);
	assert_true(price.ns <= price.high_ns);
	assert_non_null(price.probe);
	assert_int_equal(price.source, PRICE_CALIBRATED);
}

static void every_call_has_a_price(void **state)
{
	static const int errs[] = { 0, ENOENT, EBADF, EINVAL, ENODATA, EOPNOTSUPP, 600 };
	struct price_book *book = price_book_new();

	assert_non_null(book);
	for (unsigned call = 0; call < CALL_COUNT; call++)
		for (size_t i = 0; i < sizeof errs / sizeof errs[0]; i++) {
			assert_sane(price_of(book, (enum sys_call_id)call, errs[i], 0));
			assert_sane(price_of(book, (enum sys_call_id)call, errs[i], 1));
			assert_sane(price_of(book, (enum sys_call_id)call, errs[i], 40.5));
		}
	price_book_free(book);
}

static void a_price_is_asked_once(void **state)
{
	struct price_book *book = price_book_new();
	struct price first = price_of(book, CALL_newfstatat, 0, 3), again = price_of(book, CALL_newfstatat, 0, 3);

	assert_memory_equal(&first.ns, &again.ns, sizeof first.ns);
	assert_memory_equal(&first.low_ns, &again.low_ns, sizeof first.low_ns);
	assert_ptr_equal(first.probe, again.probe);
	price_book_free(book);
}

static void paths_grow_in_a_line(void **state)
{
	struct price_book *book = price_book_new();
	double two = price_of(book, CALL_newfstatat, ENOENT, 2).ns, six = price_of(book, CALL_newfstatat, ENOENT, 6).ns,
	       ten = price_of(book, CALL_newfstatat, ENOENT, 10).ns, step = six - two;

	assert_true(step >= 0);
	assert_true(ten - six > step - 1 && ten - six < step + 1);
	/* No path, no growth. */
	assert_true(price_of(book, CALL_fstat, 0, 1).ns == price_of(book, CALL_fstat, 0, 30).ns);
	price_book_free(book);
}

static void results_choose_the_loop(void **state)
{
	static const struct {
		enum sys_call_id call;
		int err;
		const char *probe;
	} rows[] = {
		{ CALL_close, EBADF, "close-absent" },
		{ CALL_close, 0, "dup-close" },
		{ CALL_openat, ENOENT, "open-absent" },
		{ CALL_openat, 0, "open" },
		{ CALL_statx, 0, "statx" },
		{ CALL_newfstatat, ENOENT, "stat-absent" },
		{ CALL_readlink, EINVAL, "readlink-no-link" },
		{ CALL_readlink, ENOENT, "stat-absent" },
		{ CALL_lgetxattr, ENODATA, "getxattr-absent" },
		{ CALL_lgetxattr, EOPNOTSUPP, "getxattr-unsupported" },
		{ CALL_fgetxattr, ENODATA, "fgetxattr-absent" },
		{ CALL_llistxattr, 0, "listxattr" },
		{ CALL_chmod, EPERM, "access-absent" },
		{ CALL_chmod, 0, "access" },
		{ CALL_getpid, 0, "null" },
		{ CALL_unknown, ENOSYS, "null" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_string_equal(probe_name(price_table_probe(rows[i].call, rows[i].err)), rows[i].probe);
}

static void every_loop_is_described(void **state)
{
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		unsigned rest;

		assert_non_null(probe_name((enum probe_id)id));
		assert_true(probe_calls((enum probe_id)id) >= 1);
		/* What else a turn makes is measured first, so it must not go in a circle. */
		if (probe_rest((enum probe_id)id, &rest) && rest > 0) {
			unsigned none;

			(void)probe_rest(probe_rest((enum probe_id)id, &rest), &none);
			assert_int_equal(none, 0);
		}
		for (unsigned other = 0; other < id; other++)
			assert_string_not_equal(probe_name((enum probe_id)id), probe_name((enum probe_id)other));
	}
}

static void loops_leave_nothing_behind(void **state)
{
	struct price_book *book = price_book_new();
	unsigned fds = open_fds();
	cpu_set_t before, after;
	sigset_t mask_before, mask_after;
	struct stat gone;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mask_before), 0);
	for (unsigned call = 0; call < CALL_COUNT; call++)
		(void)price_of(book, (enum sys_call_id)call, 0, 1);
	price_book_free(book);
	assert_int_equal(open_fds(), fds);
	assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mask_after), 0);
	for (int sig = 1; sig < NSIG; sig++)
		assert_int_equal(sigismember(&mask_before, sig), sigismember(&mask_after, sig));
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(stat("/usr/.syscull-absent", &gone), -1);
}

static void no_descriptors_left_is_no_reason_to_fail(void **state)
{
	struct price_book *book = price_book_new();
	struct rlimit before, few;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_sane(price_of(book, CALL_getxattr, ENODATA, 3));
	assert_sane(price_of(book, CALL_read, 0, 0));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	price_book_free(book);
}

static void fixed_prices_are_what_they_were_set_to(void **state)
{
	static const struct price_fixed rows[] = {
		{ CALL_getxattr, ENODATA, 1000, 10 },
		{ CALL_getxattr, PRICE_ANY_FAILURE, 2000, 0 },
		{ CALL_getxattr, 0, 3000, 0 },
	};
	struct price_book *book = price_book_new_fixed(rows, 3, 7);

	assert_true(price_of(book, CALL_getxattr, ENODATA, 2).ns == 1020);
	assert_true(price_of(book, CALL_getxattr, EPERM, 2).ns == 2000);
	assert_true(price_of(book, CALL_getxattr, 0, 2).ns == 3000);
	assert_true(price_of(book, CALL_read, 0, 2).ns == 7);
	assert_sane(price_of(book, CALL_read, 0, 0));
	price_book_free(book);
	price_book_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_has_a_price),
		cmocka_unit_test(a_price_is_asked_once),
		cmocka_unit_test(paths_grow_in_a_line),
		cmocka_unit_test(results_choose_the_loop),
		cmocka_unit_test(every_loop_is_described),
		cmocka_unit_test(loops_leave_nothing_behind),
		cmocka_unit_test(no_descriptors_left_is_no_reason_to_fail),
		cmocka_unit_test(fixed_prices_are_what_they_were_set_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
