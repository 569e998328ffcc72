/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the library and the kernel (-Wl,--wrap=syscall): calls are counted,
 * and some are answered otherwise than the kernel would: lists that break off
 * or hold nonsense, and tables of a size that no machine here has.
 */
#include "syscull/fds.h"

#include "table.h"

#include <stdarg.h>
#include <sys/stat.h>

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static int limit;
static unsigned long counted, lists, closes, ranges;
/* What is answered otherwise. */
static int list_fails_at; /* this getdents64 is refused; 0 none */
static size_t list_room; /* it gives no more bytes than that; 0 all */
static void (*spoil)(unsigned char *bytes, long used);
static bool range_refused, open_refused, huge, old_sizes, foreign_select, silent_select;
static const char *status_text;
static int status_fd = -1;

static long refuse(int error)
{
	errno = error;
	return -1;
}

/* Six arguments are read, however many there are. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	long a[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	counted++;
	lists += number == SYS_getdents64;
	closes += number == SYS_close;
	ranges += number == SYS_close_range;
	if (number == SYS_close_range && range_refused)
		return refuse(ENOSYS);
	if (number == SYS_openat && status_text != NULL && strstr((const char *)a[1], "/status") != NULL) {
		status_fd = (int)__real_syscall(number, a[0], a[1], a[2], a[3]);
		return status_fd;
	}
	if (number == SYS_openat && open_refused)
		return refuse(ENOENT);
	if (number == SYS_newfstatat && open_refused)
		return refuse(ENOENT);
	if (number == SYS_read && status_fd >= 0 && a[0] == status_fd) {
		size_t length = strlen(status_text);

		memcpy((void *)a[1], status_text, length);
		return (long)length;
	}
#ifdef SYS_select
	if (number == SYS_select || number == SYS_pselect6) {
#else
	if (number == SYS_pselect6) {
#endif
		if (foreign_select)
			return refuse(EINVAL);
		if (silent_select)
			return 0;
		if (huge && a[0] < 1 << 30)
			return refuse(EBADF);
	}
	if (number == SYS_prlimit64 && huge) {
		uint64_t *limits = (uint64_t *)a[3];

		limits[0] = limits[1] = 1U << 30;
		return 0;
	}
	if (number == SYS_getdents64) {
		if (list_fails_at > 0 && (int)lists == list_fails_at)
			return refuse(EPERM);
		if (list_room > 0 && (size_t)a[2] > list_room)
			a[2] = (long)list_room;
	}
	result = __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_getdents64 && spoil != NULL && result > 0)
		spoil((unsigned char *)a[1], result);
	if ((number == SYS_newfstatat || number == SYS_fstat) && old_sizes && result == 0)
		((struct stat *)(number == SYS_fstat ? a[1] : a[2]))->st_size = 0;
	return result;
}

static struct syscull_fds_options options;
static unsigned long before;

static void prepare(uint32_t flags)
{
	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	options.flags = flags;
	lists = closes = ranges = 0;
	before = counted;
}

static void check_counted(unsigned long should)
{
	CHECK_EQUAL(counted - before, should);
	CHECK_EQUAL(options.calls, should);
}

static void check_closed(int from)
{
	for (int fd = from; fd < limit; fd++)
		CHECK(!table_is_open(fd));
}

static void open_many(int to)
{
	table_clear(3, limit);
	for (int fd = 3; fd < to; fd++)
		table_open(fd);
}

/* The numbers that the header and the page give. */
static void costs(void)
{
	static const int kept[] = { 7, 5, 9, 6, 7 };
	int answer;

	open_many(13);
	prepare(0);
	CHECK_EQUAL(syscull_fds_cloexec(3, NULL, 0, &options), 0);
	check_counted(1);
	prepare(0);
	CHECK_EQUAL(syscull_fds_cloexec(3, kept, 5, &options), 0);
	/* 3-4, 8, 10 and up */
	check_counted(3);
	prepare(0);
	CHECK_EQUAL(syscull_fds_close(3, kept, 5, &options), 0);
	check_counted(1 + 3);
	CHECK_EQUAL(ranges, 3);
	CHECK(options.hints & SYSCULL_FDS_HINT_SMALL);
	{
		uint32_t hints = options.hints;

		prepare(0);
		options.hints = hints;
	}
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
	check_counted(1);
	prepare(SYSCULL_FDS_UNSHARE);
	CHECK_EQUAL(syscull_fds_cloexec(3, kept, 5, &options), 0);
	check_counted(1 + 3);

	/* Dense and large: also the number of open ones and whether the table is larger still; no list. */
	open_many(1500);
	prepare(0);
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
	CHECK_EQUAL(options.method, SYSCULL_FDS_RANGE);
	CHECK_EQUAL(closes, 1);
	check_counted(1 + 3 + 3 + 1);

	/* Sparse: 7 and one at the limit. */
	if (limit >= 8192) {
		open_many(7);
		table_open(limit - 1);
		prepare(0);
		CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
		CHECK_EQUAL(options.method, SYSCULL_FDS_PROCFS);
		CHECK_EQUAL(closes, 5 + 1);
		CHECK_EQUAL(lists, 2);
		CHECK_EQUAL(ranges, 0);
		/* The size, the list and its count, the size again, checks, reading it, closing. */
		check_counted(1 + 2 + 3 + 2 + 2 + 6);
		check_closed(3);
	}

	open_many(13);
	prepare(0);
	CHECK_EQUAL(syscull_fds_highest(&options, &answer), 1);
	CHECK_EQUAL(answer, 12);
	check_counted(4 + 2 + 1);
	prepare(0);
	CHECK_EQUAL(syscull_fds_count(&options, &answer), 0);
	CHECK_EQUAL(answer, 13);
	check_counted(5);
	prepare(SYSCULL_FDS_BOUND);
	CHECK_EQUAL(syscull_fds_highest(&options, &answer), 0);
	CHECK_EQUAL(options.method, SYSCULL_FDS_TABLE);
	CHECK(options.calls <= 4 + 2 * 10);
	CHECK_EQUAL(counted - before, options.calls);
}

static bool bad_number(int fd)
{
	return fd == 30;
}

static void no_length(unsigned char *record, int fd)
{
	if (bad_number(fd))
		record[16] = record[17] = 0;
}

static void long_length(unsigned char *record, int fd)
{
	if (bad_number(fd))
		record[17] = 0xff;
}

static void letters(unsigned char *record, int fd)
{
	if (bad_number(fd))
		record[20] = 'x';
}

/* Digits to the very end of the record. */
static void no_end(unsigned char *record, int fd)
{
	if (bad_number(fd))
		memset(record + 19, '9', 5);
}

static void (*spoiler)(unsigned char *record, int fd);

static void spoil_each(unsigned char *bytes, long used)
{
	/* A length that was spoiled leads nowhere: read the list as it was. */
	unsigned char copy[4096];

	if (used > (long)sizeof copy)
		_exit(1);
	memcpy(copy, bytes, (size_t)used);
	for (long at = 0; at < used;) {
		unsigned int length = copy[at + 16] | (unsigned int)copy[at + 17] << 8;

		if (copy[at + 19] != '.')
			spoiler(bytes + at, atoi((const char *)copy + at + 19));
		at += length;
	}
}

/* One more than the largest number, in a record long enough for it. */
static void spoil_overflow(unsigned char *bytes, long used)
{
	if (used < 64)
		return;
	memset(bytes, 0, (size_t)used);
	bytes[16] = (unsigned char)used;
	bytes[17] = (unsigned char)(used >> 8);
	memcpy(bytes + 19, "2147483648", 11);
}

static void spoiled_lists(void)
{
	static void (*const spoilers[])(unsigned char *, int) = { no_length, long_length, letters, no_end };

	range_refused = true;
	for (size_t i = 0; i < sizeof spoilers / sizeof spoilers[0]; i++) {
		int count;

		open_many(300);
		spoiler = spoilers[i];
		spoil = spoil_each;
		prepare(0);
		options.flags = SYSCULL_FDS_NO_RANGE | SYSCULL_FDS_NO_LOOP;
		CHECK(syscull_fds_close(3, NULL, 0, &options) < 0);
		CHECK(table_is_open(200));
		prepare(0);
		old_sizes = true;
		CHECK_EQUAL(syscull_fds_count(&options, &count), 0);
		spoil = NULL;
		{
			int should;

			CHECK_EQUAL(syscull_fds_count(NULL, &should), 0);
			CHECK_EQUAL(count, should);
		}
		old_sizes = false;
		spoil = spoil_each;
		prepare(0);
		CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
		check_closed(3);
	}
	open_many(300);
	spoil = spoil_overflow;
	prepare(SYSCULL_FDS_NO_RANGE | SYSCULL_FDS_NO_LOOP);
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), -EOPNOTSUPP);
	CHECK(table_is_open(299));
}

/* The list breaks off at its second or third part. */
static void midway(void)
{
	for (int at = 1; at < 4; at++)
		for (int marks = 0; marks < 2; marks++) {
			int count;

			range_refused = true;
			open_many(1000);
			table_open(limit - 1);
			prepare(SYSCULL_FDS_NO_LOOP);
			list_fails_at = at;
			CHECK(syscull_fds_close(5, NULL, 0, &options) < 0);
			open_many(1000);
			table_open(limit - 1);
			prepare(0);
			old_sizes = true;
			CHECK_EQUAL(syscull_fds_count(&options, &count), 0);
			CHECK_EQUAL(count, 1001);
			prepare(0);
			CHECK_EQUAL(marks ? syscull_fds_cloexec(5, NULL, 0, &options)
					  : syscull_fds_close(5, NULL, 0, &options),
				    0);
			CHECK_EQUAL(options.method, SYSCULL_FDS_LOOP);
			for (int fd = 5; fd < limit; fd++)
				CHECK(!table_is_open(fd) || (fcntl(fd, F_GETFD) & FD_CLOEXEC));
			/* A sparse table whose list breaks off is closed at once. */
			range_refused = false;
			old_sizes = false;
			if (limit >= 8192) {
				open_many(7);
				table_open(limit - 1);
				prepare(0);
				CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
				check_closed(3);
				CHECK_EQUAL(options.method, at <= 2 ? SYSCULL_FDS_RANGE : SYSCULL_FDS_PROCFS);
			}
			list_fails_at = 0;
		}
}

static void one_record(void)
{
	int answer;

	open_many(400);
	list_room = 24;
	prepare(SYSCULL_FDS_NO_RANGE | SYSCULL_FDS_NO_LOOP);
	CHECK_EQUAL(syscull_fds_highest(&options, &answer), 1);
	CHECK_EQUAL(answer, 399);
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
	check_closed(3);
}

/* Before Linux 6.2 a list does not tell how long it is. */
static void old_kernel(void)
{
	int answer;

	old_sizes = true;
	open_many(1200);
	table_open(limit - 1);
	prepare(0);
	CHECK_EQUAL(syscull_fds_count(&options, &answer), 0);
	CHECK_EQUAL(answer, 1201);
	CHECK_EQUAL(syscull_fds_highest(&options, &answer), 1);
	CHECK_EQUAL(answer, limit - 1);
	prepare(0);
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
	CHECK_EQUAL(options.method, SYSCULL_FDS_RANGE);
	open_many(1200);
	table_open(limit - 1);
	range_refused = true;
	prepare(0);
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
	CHECK_EQUAL(options.method, SYSCULL_FDS_PROCFS);
	check_closed(3);
}

/* A table of 2^30 and no way but one by one: an error at once, and nothing tried. */
static void never_spins(void)
{
	int answer = -7;

	open_many(20);
	huge = range_refused = open_refused = true;
	for (int marks = 0; marks < 2; marks++) {
		prepare(0);
		CHECK_EQUAL(marks ? syscull_fds_cloexec(3, NULL, 0, &options) : syscull_fds_close(3, NULL, 0, &options),
			    -EFBIG);
		CHECK(counted - before < 100);
		CHECK_EQUAL(options.calls, counted - before);
		CHECK_EQUAL(closes, 0);
		CHECK(table_is_open(19));
	}
	prepare(0);
	CHECK_EQUAL(syscull_fds_highest(&options, &answer), -EFBIG);
	CHECK_EQUAL(syscull_fds_count(&options, &answer), -EFBIG);
	CHECK_EQUAL(answer, -7);
	CHECK(counted - before < 400);
	/* The same where only limits tell. */
	foreign_select = true;
	prepare(SYSCULL_FDS_NO_PROCFS);
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), -EFBIG);
	CHECK(counted - before < 100);
	/* With a list there is nothing to refuse. */
	open_refused = false;
	prepare(0);
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
	CHECK(counted - before < 100);
	check_closed(3);
}

/* A system whose select(2) says nothing of the table must not be believed. */
static void silent(void)
{
	table_clear(3, limit);
	table_open(500);
	range_refused = open_refused = silent_select = true;
	prepare(0);
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), -ENODATA);
	check_closed(3);
	table_open(500);
	status_text = "Name:\tx\\nFDSize:\t9\nUmask:\t0022\nFDSize:\t512\nGroups:\t\n";
	prepare(0);
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
	CHECK_EQUAL(options.method, SYSCULL_FDS_LOOP);
	check_closed(3);
	{
		static const char *const bad[] = { "",
						   "\nFDSize:",
						   "\nFDSize:\tx\n",
						   "\nFDSize:\t12",
						   "\nFDSize:\t1 2\n",
						   "FDSize:\t512\n",
						   "\nFDSize:\t99999999999999999999\n" };

		for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
			status_text = bad[i];
			prepare(0);
			CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), -ENODATA);
		}
	}
	status_text = "x\nFDSize:\t1073741824\n";
	prepare(0);
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), -EFBIG);
}

int main(void)
{
	limit = table_limit();
	if (limit < 2000)
		SKIP("no more than %d descriptors may be open", limit);
	table_case("costs", costs);
	table_case("spoiled lists", spoiled_lists);
	table_case("midway", midway);
	table_case("one record at a time", one_record);
	table_case("old kernel", old_kernel);
	table_case("never spins", never_spins);
	table_case("silent select", silent);
	return check_done();
}
