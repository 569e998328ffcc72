/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/region.h"

#include <string.h>

#include "test.h"

static struct untraced_point here; /* where the one task is */

struct maker {
	struct buf buf;
	uint64_t now_ns;
};

static const struct event_call *make(struct maker *maker, const char *path)
{
	struct event_call *call = event_begin(&maker->buf, EVENT_CALL);

	assert_non_null(call);
	call->head.time_ns = maker->now_ns += 1000;
	call->duration_ns = 500;
	if (path)
		assert_int_equal(event_item_add(&maker->buf, SYS_ITEM_PATH, 0, 0, path, strlen(path)), 0);
	return (const struct event_call *)event_end(&maker->buf);
}

static void count(struct region_book *book, struct maker *maker, uint32_t row, int err)
{
	region_look(book, make(maker, NULL));
	assert_int_equal(region_add(book, row, err), 0);
}

static void mark(struct region_book *book, struct maker *maker, const char *path, const struct tally *before)
{
	assert_int_equal(region_mark(book, make(maker, path), before, &here), 0);
}

static void regions_take_turns(void **state)
{
	struct region_book book;
	struct maker maker = { .buf = BUF_INIT };
	struct tally tally;

	(void)state;
	region_init(&book);
	tally_init(&tally);
	for (int i = 0; i < 3; i++)
		assert_non_null(tally_add(&tally, make(&maker, NULL), i == 0 ? 2 : 0, 0));
	mark(&book, &maker, "/.syscull/mark/a", &tally);
	count(&book, &maker, 0, 0);
	count(&book, &maker, 5, 2);
	mark(&book, &maker, "/.syscull/mark/b/c", &tally);
	count(&book, &maker, 5, 0);
	mark(&book, &maker, "/.syscull/mark/a", &tally);
	count(&book, &maker, 5, 0);
	region_end(&book, &here);

	assert_int_equal(book.regions.used, 3);
	assert_string_equal(book.regions.at[0].name, "");
	assert_int_equal(book.regions.at[0].calls, 3);
	assert_int_equal(book.regions.at[0].failed, 1);
	assert_string_equal(book.regions.at[1].name, "a");
	assert_int_equal(book.regions.at[1].marks, 2);
	assert_int_equal(book.regions.at[1].calls, 3);
	assert_int_equal(book.regions.at[1].failed, 1);
	assert_int_equal(book.regions.at[1].by_row.at[0], 1);
	assert_int_equal(book.regions.at[1].by_row.at[5], 2);
	assert_string_equal(book.regions.at[2].name, "b/c");
	assert_int_equal(book.regions.at[2].calls, 1);
	/* From the end of mark b/c to the end of the second mark a. */
	assert_int_equal(book.regions.at[2].wall_ns, 2000);
	tally_done(&tally);
	region_done(&book);
	buf_done(&maker.buf);
}

static void nameless_marks_begin_nothing(void **state)
{
	struct region_book book;
	struct maker maker = { .buf = BUF_INIT };
	struct tally tally = { 0 };

	(void)state;
	region_init(&book);
	mark(&book, &maker, NULL, &tally);
	mark(&book, &maker, "/.syscull/mark/", &tally);
	region_end(&book, &here);
	assert_int_equal(book.regions.used, 0);
	region_done(&book);
	buf_done(&maker.buf);
}

static void names_are_limited(void **state)
{
	struct region_book book;
	struct maker maker = { .buf = BUF_INIT };
	struct tally tally = { 0 };
	char path[64];

	(void)state;
	region_init(&book);
	for (int i = 0; i < REGIONS_MAX + 10; i++) {
		(void)snprintf(path, sizeof path, "/.syscull/mark/%d", i);
		mark(&book, &maker, path, &tally);
		count(&book, &maker, 1, 0);
	}
	region_end(&book, &here);
	assert_int_equal(book.regions.used, REGIONS_MAX);
	/* The region before the first mark takes one place. */
	assert_int_equal(book.refused, 11);
	assert_int_equal(book.regions.at[REGIONS_MAX - 1].calls, 12);
	region_done(&book);
	buf_done(&maker.buf);
}

/* Each region has what passed in it, and all of them together all that passed. */
static void time_without_us_is_told_apart(void **state)
{
	struct region_book book;
	struct maker maker = { .buf = BUF_INIT };
	struct tally tally;

	(void)state;
	region_init(&book);
	tally_init(&tally);
	here = (struct untraced_point){ .ns = 1000, .wait_ns = 100, .stops = 3 };
	mark(&book, &maker, "/.syscull/mark/a", &tally);
	here = (struct untraced_point){ .ns = 5000, .wait_ns = 4000, .stops = 5 };
	mark(&book, &maker, "/.syscull/mark/b", &tally);
	/* A task that is behind the other: nothing passed. */
	here = (struct untraced_point){ .ns = 4500, .wait_ns = 4000, .stops = 4 };
	mark(&book, &maker, "/.syscull/mark/a", &tally);
	here = (struct untraced_point){ .ns = 6500, .wait_ns = 4000, .stops = 4 };
	region_end(&book, &here);
	assert_int_equal(book.regions.used, 3);
	assert_true(book.regions.at[0].took.ns == 1000 && book.regions.at[0].took.wait_ns == 100);
	assert_true(book.regions.at[1].took.ns == 4000 + 2000 && book.regions.at[1].took.wait_ns == 3900);
	assert_true(book.regions.at[1].took.stops == 2);
	assert_true(book.regions.at[2].took.ns == 0 && book.regions.at[2].took.wait_ns == 0);
	region_done(&book);
	tally_done(&tally);
	buf_done(&maker.buf);
	here = (struct untraced_point){ 0 };
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_take_turns),
		cmocka_unit_test(nameless_marks_begin_nothing),
		cmocka_unit_test(names_are_limited),
		cmocka_unit_test(time_without_us_is_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
