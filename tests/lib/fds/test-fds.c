/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closing, marking and asking, on tables of all shapes, by every way, against
 * a plain model: one F_GETFD for each number there could be.
 */
#include "syscull/fds.h"

#include "table.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

enum { AS_IT_CHOOSES, BY_LIST, BY_LOOP, WITHOUT_RANGE, WAYS };
static const uint32_t way_flags[WAYS] = {
	[AS_IT_CHOOSES] = 0,
	[BY_LIST] = SYSCULL_FDS_NO_RANGE | SYSCULL_FDS_NO_LOOP,
	[BY_LOOP] = SYSCULL_FDS_NO_RANGE | SYSCULL_FDS_NO_PROCFS,
	[WITHOUT_RANGE] = SYSCULL_FDS_NO_RANGE,
};

static int limit;
/* What a case is to do. */
static int way, marks;
static int from;
static const int *keep;
static size_t keep_count;

static char before[TABLE_MOST];

static char state_of(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags < 0 ? 0 : flags & FD_CLOEXEC ? 'c' : 'o';
}

static void sweep_and_compare(void)
{
	struct syscull_fds_options options = SYSCULL_FDS_OPTIONS_INIT;
	static char kept[TABLE_MOST];
	int result;

	for (int fd = 0; fd < limit; fd++)
		before[fd] = state_of(fd);
	memset(kept, 0, sizeof kept);
	for (size_t i = 0; i < keep_count; i++)
		if (keep[i] >= 0 && keep[i] < limit)
			kept[keep[i]] = 1;
	options.flags = way_flags[way];
	errno = 4711;
	result = marks ? syscull_fds_cloexec(from, keep, keep_count, &options)
		       : syscull_fds_close(from, keep, keep_count, &options);
	CHECK_EQUAL(errno, 4711);
	CHECK_EQUAL(result, 0);
	CHECK(options.calls > 0);
	if (way == BY_LIST)
		CHECK_EQUAL(options.method, SYSCULL_FDS_PROCFS);
	if (way == BY_LOOP)
		CHECK_EQUAL(options.method, SYSCULL_FDS_LOOP);
	for (int fd = 0; fd < limit; fd++) {
		char should = before[fd];

		if (fd >= from && !kept[fd] && should != 0)
			should = marks ? 'c' : 0;
		if (state_of(fd) != should) {
			(void)fprintf(stderr, "%s: way %d, %s: descriptor %d\n", check_case, way,
				      marks ? "mark" : "close", fd);
			_exit(1);
		}
	}
}

static void empty(void)
{
	table_clear(3, limit);
	from = 3;
	sweep_and_compare();
}

static void all_closed(void)
{
	/* The list's own number is then 0. */
	table_clear(0, limit);
	table_open(5);
	from = 0;
	sweep_and_compare();
}

static void few(void)
{
	table_clear(3, limit);
	for (int fd = 3; fd < 13; fd += 2)
		table_open(fd);
	from = 4;
	sweep_and_compare();
}

static void dense(void)
{
	for (int fd = 3; fd < 1003 && fd < limit; fd++)
		table_open(fd);
	from = 3;
	sweep_and_compare();
}

static void three_quarters(void)
{
	for (int fd = 3; fd < limit / 4 * 3; fd++)
		table_open(fd);
	from = 10;
	sweep_and_compare();
}

static void full(void)
{
	for (int fd = 3; fd < limit; fd++)
		table_open(fd);
	from = 3;
	/* The list needs a number and marking frees none. */
	if (marks && (way == BY_LIST || table_emulated()))
		return;
	sweep_and_compare();
}

static void sparse(void)
{
	table_clear(3, limit);
	for (int fd = 3; fd < 7; fd++)
		table_open(fd);
	table_open(limit - 1);
	from = 3;
	sweep_and_compare();
}

static void sparse_kept(void)
{
	int numbers[] = { limit - 1, 5, 0, 5, limit + 7 };

	table_clear(3, limit);
	for (int fd = 3; fd < 7; fd++)
		table_open(fd);
	table_open(limit - 1);
	table_open(limit / 2);
	from = 3;
	keep = numbers;
	keep_count = 5;
	sweep_and_compare();
}

static void keep_odd(void)
{
	static const int numbers[] = { INT32_MAX, 7, -1, 900, 3, 7, INT32_MIN, 2, INT32_MAX, 7, 100, 99, 6000, -1 };

	for (int fd = 3; fd < 200; fd++)
		table_open(fd);
	table_open(900);
	from = 3;
	keep = numbers;
	keep_count = sizeof numbers / sizeof numbers[0];
	sweep_and_compare();
}

static void keep_in_order(void)
{
	static const int numbers[] = { -5, -1, 0, 3, 3, 3, 4, 9, 9, 100, INT32_MAX, INT32_MAX };

	for (int fd = 3; fd < 200; fd++)
		table_open(fd);
	from = 1;
	keep = numbers;
	keep_count = sizeof numbers / sizeof numbers[0];
	sweep_and_compare();
}

static uint32_t random_state = 12345;
static int random_below(int most)
{
	random_state = random_state * 1664525U + 1013904223U;
	return (int)((uint64_t)random_state * (uint64_t)most >> 32);
}

static int many[10000];

static void keep_many(void)
{
	for (int i = 0; i < 10000; i++)
		many[i] = i * 2;
	for (int i = 9999; i > 0; i--) {
		int j = random_below(i + 1), swapped = many[i];

		many[i] = many[j];
		many[j] = swapped;
	}
	for (int fd = 3; fd < 3000 && fd < limit; fd++)
		table_open(fd);
	from = 3;
	keep = many;
	keep_count = 10000;
	sweep_and_compare();
}

static void keep_many_times(void)
{
	for (int i = 0; i < 10000; i++)
		many[i] = i % 2 ? 10 : 400 - i % 7;
	for (int fd = 3; fd < 600 && fd < limit; fd++)
		table_open(fd);
	from = 3;
	keep = many;
	keep_count = 10000;
	sweep_and_compare();
}

static void lowered_limit(void)
{
	struct rlimit low = { 64, 64 };

	table_clear(3, limit);
	table_open(900);
	table_open(20);
	CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &low), 0);
	from = 3;
	sweep_and_compare();
}

static void kinds(void)
{
	unsigned char params[256];
	int pair[2], made = 3;

	table_clear(3, limit);
	CHECK(open("/", O_PATH) >= 0);
	CHECK(epoll_create1(0) >= 0);
	CHECK(eventfd(0, 0) >= 0);
	CHECK(timerfd_create(CLOCK_MONOTONIC, 0) >= 0);
	CHECK(inotify_init() >= 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	CHECK(pipe(pair) == 0);
	CHECK(syscall(SYS_memfd_create, "x", 0) >= 0);
	made += 10 - 1;
	if (syscall(434, getpid(), 0) >= 0) /* pidfd_open */
		made++;
	memset(params, 0, sizeof params);
	if (syscall(425, 4, params) >= 0) /* io_uring_setup */
		made++;
	CHECK(made >= 12);
	/* Most of these come marked, which is looked at too. */
	for (int fd = 3; fd < made; fd += 2)
		(void)fcntl(fd, F_SETFD, 0);
	from = 3;
	sweep_and_compare();
}

static void random_tables(void)
{
	static int list[600];

	for (int round = 0; round < 25; round++) {
		int top = 20 + random_below(round % 3 == 0 ? limit - 20 : 700);
		int opened = random_below(60);

		table_clear(3, limit);
		for (int i = 0; i < opened; i++) {
			int fd = 3 + random_below(top - 3);

			table_open(fd);
			if (random_below(2))
				(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
		}
		keep_count = (size_t)random_below(round % 5 == 0 ? 600 : 12);
		for (size_t i = 0; i < keep_count; i++)
			list[i] = random_below(top + 50) - 20;
		keep = list;
		from = random_below(top);
		if (from < 3)
			from = 3;
		sweep_and_compare();
	}
}

static void wrong_arguments(void)
{
	struct syscull_fds_options options = SYSCULL_FDS_OPTIONS_INIT;
	struct {
		struct syscull_fds_options known;
		uint64_t more;
	} newer = { SYSCULL_FDS_OPTIONS_INIT, 0 };
	int fd;

	CHECK_EQUAL(syscull_fds_close(-1, NULL, 0, NULL), -EINVAL);
	CHECK_EQUAL(syscull_fds_cloexec(3, NULL, 1, NULL), -EINVAL);
	CHECK_EQUAL(syscull_fds_walk(0, NULL, NULL, NULL), -EINVAL);
	CHECK_EQUAL(syscull_fds_count(NULL, NULL), -EINVAL);
	CHECK_EQUAL(syscull_fds_highest(NULL, NULL), -EINVAL);
	options.flags = 0x8000;
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), -EINVAL);
	options.flags = 0;
	options.size = 8;
	CHECK_EQUAL(syscull_fds_highest(&options, &fd), -EINVAL);
	newer.known.size = sizeof newer;
	CHECK_EQUAL(syscull_fds_cloexec(3, NULL, 0, &newer.known), 0);
	newer.more = 1;
	CHECK_EQUAL(syscull_fds_cloexec(3, NULL, 0, &newer.known), -E2BIG);
	/* Nothing is allowed. */
	options.size = sizeof options;
	options.flags = SYSCULL_FDS_NO_RANGE | SYSCULL_FDS_NO_PROCFS | SYSCULL_FDS_NO_LOOP;
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), -EOPNOTSUPP);
	CHECK_EQUAL(options.method, 0);
	CHECK_EQUAL(syscull_fds_count(&options, &fd), -EOPNOTSUPP);
	/* A ceiling below the table: nothing is tried. */
	table_open(200);
	options.flags = SYSCULL_FDS_NO_RANGE | SYSCULL_FDS_NO_PROCFS;
	options.ceiling = 100;
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), -EFBIG);
	CHECK(table_is_open(200));
	CHECK(options.calls < 40);
	/* Wrong hints change nothing but the way. */
	options.flags = 0;
	options.hints = ~0U;
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
	CHECK(!table_is_open(200));
}

static void unshared(void)
{
	int numbers[] = { 9, 4 };
	struct syscull_fds_options options = SYSCULL_FDS_OPTIONS_INIT;

	for (int fd = 3; fd < 30; fd++)
		table_open(fd);
	options.flags = SYSCULL_FDS_UNSHARE;
	CHECK_EQUAL(syscull_fds_close(3, numbers, 2, &options), 0);
	for (int fd = 3; fd < 40; fd++)
		CHECK_EQUAL(table_is_open(fd), fd == 4 || fd == 9);
	CHECK_EQUAL(options.calls <= 6, 1);
}

/* Questions against the model. */
static int visited[TABLE_MOST];
static int visits;

static int visit(int fd, void *arg)
{
	visited[visits++] = fd;
	return arg != NULL && visits == *(int *)arg ? 77 : 0;
}

static int visit_and_close(int fd, void *arg)
{
	(void)arg;
	visits++;
	CHECK_EQUAL(close(fd), 0);
	return 0;
}

static void ask_and_compare(void)
{
	struct syscull_fds_options options = SYSCULL_FDS_OPTIONS_INIT;
	int highest = -1, count = 0, answer, at = 0, stop = 2;

	for (int fd = 0; fd < limit; fd++)
		if (table_is_open(fd)) {
			highest = fd;
			count++;
		}
	options.flags = way_flags[way] & ~SYSCULL_FDS_NO_RANGE;
	CHECK_EQUAL(syscull_fds_highest(&options, &answer), 1);
	CHECK_EQUAL(answer, highest);
	CHECK_EQUAL(syscull_fds_count(&options, &answer), 0);
	CHECK_EQUAL(answer, count);
	visits = 0;
	CHECK_EQUAL(syscull_fds_walk(0, visit, NULL, &options), 0);
	CHECK_EQUAL(visits, count);
	for (int fd = 0; fd < limit; fd++)
		if (table_is_open(fd))
			CHECK_EQUAL(visited[at++], fd);
	visits = 0;
	CHECK_EQUAL(syscull_fds_walk(1, visit, &stop, &options), visits >= 2 ? 77 : 0);
	options.flags |= SYSCULL_FDS_BOUND;
	errno = 4711;
	CHECK_EQUAL(syscull_fds_highest(&options, &answer), 0);
	CHECK(answer >= highest);
	CHECK_EQUAL(options.method, SYSCULL_FDS_TABLE);
	CHECK_EQUAL(errno, 4711);
}

static void ask_usual(void)
{
	ask_and_compare();
}

static void ask_none(void)
{
	table_clear(0, limit);
	ask_and_compare();
}

static void ask_dense(void)
{
	for (int fd = 0; fd < 3000 && fd < limit - 1; fd++)
		table_open(fd);
	ask_and_compare();
}

static void ask_full(void)
{
	for (int fd = 3; fd < limit; fd++)
		table_open(fd);
	if (way != BY_LIST)
		ask_and_compare();
}

static void ask_holes(void)
{
	for (int fd = 3; fd < 500; fd++)
		if (random_below(2))
			table_open(fd);
	table_open(limit - 3);
	table_open(limit / 2 + 1);
	ask_and_compare();
	table_clear(limit / 2, limit);
	ask_and_compare();
	CHECK_EQUAL(syscull_fds_walk(3, visit_and_close, NULL, NULL), 0);
	for (int fd = 3; fd < 500; fd++)
		CHECK(!table_is_open(fd));
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} sweeps[] = {
		{ "empty", empty },
		{ "0 to 2 closed", all_closed },
		{ "few", few },
		{ "dense", dense },
		{ "three quarters", three_quarters },
		{ "full", full },
		{ "sparse", sparse },
		{ "sparse, kept", sparse_kept },
		{ "odd list", keep_odd },
		{ "list in order", keep_in_order },
		{ "10,000 kept", keep_many },
		{ "kept many times", keep_many_times },
		{ "lowered limit", lowered_limit },
		{ "kinds", kinds },
		{ "random", random_tables },
	}, questions[] = {
		{ "asked: usual", ask_usual },
		{ "asked: none", ask_none },
		{ "asked: dense", ask_dense },
		{ "asked: full", ask_full },
		{ "asked: holes", ask_holes },
	};

	limit = table_limit();
	if (limit < 1200)
		SKIP("no more than %d descriptors may be open", limit);
	for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; i++)
		for (way = 0; way < WAYS; way++)
			/* Without wide sets nothing but /proc tells the size of a large table. */
			for (marks = 0; marks < 2 && !(way == BY_LOOP && table_emulated()); marks++)
				table_case(sweeps[i].name, sweeps[i].run);
	for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
		for (way = 0; way < WAYS && !table_emulated(); way++)
			table_case(questions[i].name, questions[i].run);
	table_case("arguments", wrong_arguments);
	table_case("unshared", unshared);
	return check_done();
}
