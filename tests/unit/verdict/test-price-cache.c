/* SPDX-License-Identifier: BSD-2-Clause */
/* Kept prices: when they are used, when not, and that nothing wrong with them is an error. */
#include "test.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verdict/price-cache.h"
#include "verdict/price.h"

static const struct price_key here = { "0123456789abcdef", "boot-1", "6.1.0" };
static char top[] = "/tmp/syscull-price-cache-XXXXXX";
static char file[PATH_MAX];

static struct price_kept some_prices(void)
{
	struct price_kept kept = { .quick_ns = 200 };

	kept.rows[PROBE_STAT].known = true;
	kept.rows[PROBE_STAT].ns = 900.125;
	kept.rows[PROBE_STAT].low_ns = 800;
	kept.rows[PROBE_STAT].high_ns = 1000;
	kept.rows[PROBE_STAT].components = 7;
	kept.rows[PROBE_PAGE].known = true;
	kept.rows[PROBE_PAGE].ns = kept.rows[PROBE_PAGE].low_ns = kept.rows[PROBE_PAGE].high_ns = 1;
	return kept;
}

static void put_text(const char *text, size_t bytes)
{
	FILE *out = fopen(file, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, bytes, out), bytes);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(file, 0600), 0);
}

static size_t get_text(char *text, size_t room)
{
	FILE *in = fopen(file, "r");
	size_t bytes;

	assert_non_null(in);
	bytes = fread(text, 1, room - 1, in);
	text[bytes] = '\0';
	assert_int_equal(fclose(in), 0);
	return bytes;
}

static int set_up(void **state)
{
	char command[PATH_MAX];

	(void)state;
	(void)snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -rf %s/*", top, top);
	(void)snprintf(file, sizeof file, "%s/syscull/prices", top);
	return system(command);
}

static void assert_empty(const struct price_kept *kept)
{
	for (unsigned id = 0; id < PROBE_COUNT; id++)
		assert_false(kept->rows[id].known);
}

static void what_is_kept_is_found(void **state)
{
	struct price_kept kept = some_prices(), found;

	(void)state;
	assert_int_equal(price_cache_read(&here, &found), -ENOENT);
	assert_int_equal(price_cache_write(&here, &kept), 0);
	assert_int_equal(price_cache_read(&here, &found), 0);
	for (unsigned id = 0; id < PROBE_COUNT; id++)
		assert_int_equal(found.rows[id].known, kept.rows[id].known);
	assert_true(found.quick_ns == 200);
	assert_true(found.rows[PROBE_STAT].ns == 900.125);
	assert_true(found.rows[PROBE_STAT].low_ns == 800);
	assert_true(found.rows[PROBE_STAT].high_ns == 1000);
	assert_int_equal(found.rows[PROBE_STAT].components, 7);
}

static void another_boot_kernel_or_machine_is_another_price(void **state)
{
	const struct price_key others[] = {
		{ "0123456789abcdef", "boot-2", "6.1.0" },
		{ "0123456789abcdef", "boot-1", "6.1.1" },
		{ "0123456789abcdee", "boot-1", "6.1.0" },
	};
	struct price_kept kept = some_prices(), found;

	(void)state;
	assert_int_equal(price_cache_write(&here, &kept), 0);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		assert_int_equal(price_cache_read(&others[i], &found), -ESTALE);
		assert_empty(&found);
	}
	/* And what is written there takes the old one's place. */
	assert_int_equal(price_cache_write(&others[0], &kept), 0);
	assert_int_equal(price_cache_read(&here, &found), -ESTALE);
	assert_int_equal(price_cache_read(&others[0], &found), 0);
}

static void rows_of_two_writers_come_together(void **state)
{
	struct price_kept one = some_prices(), two = { .quick_ns = 210 }, found;

	(void)state;
	two.rows[PROBE_READ].known = true;
	two.rows[PROBE_READ].ns = two.rows[PROBE_READ].low_ns = two.rows[PROBE_READ].high_ns = 400;
	assert_int_equal(price_cache_write(&here, &one), 0);
	assert_int_equal(price_cache_write(&here, &two), 0);
	assert_int_equal(price_cache_read(&here, &found), 0);
	assert_true(found.rows[PROBE_STAT].known && found.rows[PROBE_READ].known);
	/* Not when the machine had another speed then. */
	two.quick_ns = 300;
	assert_int_equal(price_cache_write(&here, &two), 0);
	assert_int_equal(price_cache_read(&here, &found), 0);
	assert_true(!found.rows[PROBE_STAT].known && found.rows[PROBE_READ].known);
}

static void a_quarter_is_drift(void **state)
{
	(void)state;
	assert_false(price_drifted(100, 100));
	assert_false(price_drifted(100, 124));
	assert_false(price_drifted(100, 76));
	assert_true(price_drifted(100, 126));
	assert_true(price_drifted(100, 74));
	assert_true(price_drifted(0, 100));
}

static void garbage_is_no_price(void **state)
{
	static const char *const rows[] = {
		"stat 900000 800000 1000000", /* too short */
		"stat 900000 800000 1000000 1 1",
		"stat 900000 950000 1000000 1", /* low above the price */
		"stat 900000 800000 850000 1", /* high below it */
		"stat -900000 800000 1000000 1",
		"stat 9e5 800000 1000000 1",
		"stat 900000 0 1000000 1",
		"stat 900000 800000 99999999999999999999999999 1",
		"stat 900000 800000 2000000000000000 1",
		"stat 900000 800000 1000000 65",
		"stat  900000 800000 1000000 1",
		"stat",
		"",
	};
	struct price_kept kept = some_prices(), found;
	char text[8192], whole[8192];
	size_t bytes;

	(void)state;
	assert_int_equal(price_cache_write(&here, &kept), 0);
	bytes = get_text(whole, sizeof whole);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int n = snprintf(text, sizeof text, "%s%s\n", whole, rows[i]);

		put_text(text, (size_t)n);
		assert_int_equal(price_cache_read(&here, &found), -EBADMSG);
		assert_empty(&found);
	}
	/* Cut anywhere but at the end of a line. */
	for (size_t cut = 0; cut < bytes; cut++) {
		put_text(whole, cut);
		if (cut > 0 && whole[cut - 1] == '\n' && price_cache_read(&here, &found) == 0)
			continue;
		assert_true(price_cache_read(&here, &found) < 0);
		assert_empty(&found);
	}
	/* Any byte another one: never a price that is none. */
	for (size_t at = 0; at < bytes; at++) {
		memcpy(text, whole, bytes);
		text[at] = (char)(at * 37);
		put_text(text, bytes);
		if (price_cache_read(&here, &found) < 0)
			assert_empty(&found);
		for (unsigned id = 0; id < PROBE_COUNT; id++)
			if (found.rows[id].known)
				assert_true(found.rows[id].low_ns > 0 && found.rows[id].low_ns <= found.rows[id].ns &&
					    found.rows[id].ns <= found.rows[id].high_ns);
	}
	memset(text, 'x', sizeof text);
	put_text(text, sizeof text);
	assert_int_equal(price_cache_read(&here, &found), -EBADMSG);
	/* A loop of another version is not garbage. */
	bytes = (size_t)snprintf(text, sizeof text, "%sfuture-call 900000 800000 1000000 1\n", whole);
	put_text(text, bytes);
	assert_int_equal(price_cache_read(&here, &found), 0);
}

static void links_and_folders_are_no_cache(void **state)
{
	struct price_kept kept = some_prices(), found;

	(void)state;
	assert_int_equal(price_cache_write(&here, &kept), 0);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink("/etc/passwd", file), 0);
	assert_int_equal(price_cache_read(&here, &found), -ELOOP);
	assert_empty(&found);
}

static void writers_at_once_leave_a_file_of_one(void **state)
{
	struct price_kept kept = some_prices(), found;
	int status;

	(void)state;
	for (int child = 0; child < 8; child++) {
		if (fork() == 0) {
			for (int i = 0; i < 30; i++)
				if (price_cache_write(&here, &kept) < 0 || price_cache_read(&here, &found) < 0)
					_exit(1);
			_exit(0);
		}
	}
	for (int child = 0; child < 8; child++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(price_cache_read(&here, &found), 0);
}

static void counts(struct price_book *book, unsigned want_kept, unsigned want_measured)
{
	unsigned kept, measured;

	price_book_count(book, &kept, &measured);
	assert_int_equal(kept, want_kept);
	assert_int_equal(measured, want_measured);
}

static void the_next_run_measures_nothing(void **state)
{
	struct price_book *book = price_book_new_kept(), *next;
	struct price first = price_of(book, CALL_getppid, 0, 0), again = { 0 };
	unsigned kept = 0, measured;

	(void)state;
	assert_int_equal(price_book_save(book), 0);
	/* A machine whose speed has changed between measures again, and is right to. */
	for (unsigned i = 0; i < 20 && kept == 0; i++) {
		next = price_book_new_kept();
		again = price_of(next, CALL_getppid, 0, 0);
		price_book_count(next, &kept, &measured);
		price_book_free(next);
	}
	price_book_free(book);
	if (kept == 0)
		skip_part("the machine has another speed each time");
	assert_int_equal(measured, 0);
	assert_true(first.ns - again.ns < 0.01 && again.ns - first.ns < 0.01);
}

static void prices_of_another_speed_are_not_used(void **state)
{
	struct price_kept kept = some_prices();
	struct price_book *book = price_book_new_kept();
	struct price_key key;

	(void)state;
	assert_int_equal(price_key_read(&key), 0);
	kept.quick_ns = price_quick_ns() * 1000;
	assert_int_equal(price_cache_write(&key, &kept), 0);
	(void)price_of(book, CALL_getppid, 0, 0);
	counts(book, 0, 1);
	price_book_free(book);
}

static void without_a_cache_prices_are_measured(void **state)
{
	struct price_book *book = price_book_new_kept();

	(void)state;
	assert_int_equal(setenv("XDG_CACHE_HOME", "/proc/self/no/such", 1), 0);
	assert_true(price_of(book, CALL_getppid, 0, 0).ns > 0);
	counts(book, 0, 1);
	assert_true(price_book_save(book) < 0);
	/* A book that keeps nothing has nothing to say about it. */
	price_book_free(book);
	book = price_book_new();
	assert_true(price_of(book, CALL_getppid, 0, 0).ns > 0);
	assert_int_equal(price_book_save(book), 0);
	price_book_free(book);
	assert_int_equal(setenv("XDG_CACHE_HOME", top, 1), 0);
}

static void calibration_has_all_loops(void **state)
{
	struct price_book *book = price_book_new_kept();
	struct price_kept found;
	struct price_key key;

	(void)state;
	price_book_calibrate(book, 0);
	counts(book, 0, PROBE_COUNT);
	assert_int_equal(price_book_save(book), 0);
	assert_int_equal(price_key_read(&key), 0);
	assert_int_equal(price_cache_read(&key, &found), 0);
	for (unsigned id = 0; id < PROBE_COUNT; id++)
		assert_true(found.rows[id].known);
	price_book_free(book);
}

static void the_key_is_of_this_machine(void **state)
{
	struct price_key one, two;

	(void)state;
	assert_int_equal(price_key_read(&one), 0);
	assert_int_equal(price_key_read(&two), 0);
	assert_memory_equal(&one, &two, sizeof one);
	assert_int_equal(strlen(one.machine), 16);
	assert_true(one.boot[0] != '\0' && one.kernel[0] != '\0');
	assert_null(strpbrk(one.kernel, " \t\n"));
}

static enum price_state state_now(void)
{
	struct price_book *book = price_book_new_kept();
	enum price_state state = price_book_state(book);

	price_book_free(book);
	return state;
}

static void what_is_there_can_be_asked(void **state)
{
	struct price_kept kept = some_prices();
	struct price_book *book;
	struct price_key key;

	(void)state;
	assert_int_equal(price_key_read(&key), 0);
	assert_int_equal(state_now(), PRICE_STATE_NONE);
	kept.quick_ns = price_quick_ns() * 1000;
	assert_int_equal(price_cache_write(&key, &kept), 0);
	assert_int_equal(state_now(), PRICE_STATE_DRIFTED);
	assert_int_equal(price_cache_write(&here, &kept), 0);
	assert_int_equal(state_now(), PRICE_STATE_STALE);
	put_text("x\n", 2);
	assert_int_equal(state_now(), PRICE_STATE_BROKEN);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink("/etc/passwd", file), 0);
	assert_int_equal(state_now(), PRICE_STATE_REFUSED);
	/* Nothing is kept, nothing is asked for. */
	book = price_book_new();
	assert_int_equal(price_book_state(book), PRICE_STATE_NONE);
	price_book_free(book);
	for (int id = PRICE_STATE_NONE; id <= PRICE_STATE_REFUSED; id++)
		assert_true(price_state_name((enum price_state)id)[0] != '\0');
}

/* Neither reads through a link, nor writes through one. */
static void a_link_is_left_alone(void **state)
{
	struct price_kept kept = some_prices(), found;
	char target[PATH_MAX], text[16];
	FILE *out;

	(void)state;
	assert_int_equal(price_cache_write(&here, &kept), 0);
	assert_int_equal(unlink(file), 0);
	(void)snprintf(target, sizeof target, "%s/target", top);
	out = fopen(target, "w");
	assert_non_null(out);
	assert_true(fputs("untouched", out) >= 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(symlink(target, file), 0);
	(void)price_cache_write(&here, &kept);
	(void)price_cache_read(&here, &found);
	out = fopen(target, "r");
	assert_non_null(out);
	assert_non_null(fgets(text, sizeof text, out));
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "untouched");
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_kept_is_found),
		TEST(another_boot_kernel_or_machine_is_another_price),
		TEST(rows_of_two_writers_come_together),
		TEST(a_quarter_is_drift),
		TEST(garbage_is_no_price),
		TEST(links_and_folders_are_no_cache),
		TEST(writers_at_once_leave_a_file_of_one),
		TEST(the_next_run_measures_nothing),
		TEST(prices_of_another_speed_are_not_used),
		TEST(without_a_cache_prices_are_measured),
		TEST(calibration_has_all_loops),
		TEST(the_key_is_of_this_machine),
		TEST(what_is_there_can_be_asked),
		TEST(a_link_is_left_alone),
	};
	char command[PATH_MAX];
	int failed;

	if (!mkdtemp(top) || setenv("XDG_CACHE_HOME", top, 1) < 0)
		skip_program("no folder can be made in /tmp");
	(void)unsetenv("SUDO_UID");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)snprintf(command, sizeof command, "rm -rf %s", top);
	return system(command) == 0 ? failed : 1;
}
