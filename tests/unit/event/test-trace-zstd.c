/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compressed trace files: they come back, and what is cut, damaged or stands
 * for far more than it is long gives what is whole of it, and says so.
 */
#include <errno.h>
#include <stdlib.h>

#include "event/trace-stream.h"
#include "trace-records.h"

/* Some blocks. */
#define CALLS 16000

static int write_zstd(void)
{
	if (!trace_has_zstd)
		skip_part("built without libzstd");
	return write_some(CALLS, 0, true, 0);
}

static void compressed_files_come_back(void **state)
{
	int fd = write_zstd(), plain = write_some(CALLS, 0, false, 0);
	struct trace_reader *reader = open_trace(fd);

	(void)state;
	assert_int_equal(count_right(reader), CALLS);
	assert_int_equal(trace_reader_end(reader)->seen, 77);
	assert_null(trace_reader_damage(reader));
	trace_reader_free(reader);
	assert_true(lseek(fd, 0, SEEK_END) < lseek(plain, 0, SEEK_END));
	(void)close(fd);
	(void)close(plain);
}

static void a_cut_compressed_file_gives_what_is_whole(void **state)
{
	int fd = write_zstd(), plain = write_some(CALLS, 0, false, 0);
	off_t end = lseek(fd, 0, SEEK_END), blocks[64];
	unsigned last = CALLS + 1, count = find_blocks(plain, blocks, 64), steps = 0;

	(void)state;
	for (off_t at = end - 1; at >= 0; at -= at > end - 30 || at < 400 ? 1 : 499) {
		struct trace_reader *reader = NULL;
		struct error err = { 0 };
		unsigned right;

		assert_int_equal(ftruncate(fd, at), 0);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		if (trace_reader_new(fd, "a file", &reader, &err) < 0) {
			assert_true(at < 400);
			assert_true(err.code != 0 && !strchr(err.text, '\n'));
			continue;
		}
		right = count_right(reader);
		assert_true(right <= last);
		steps += right != last;
		last = right;
		/* The sum of the frame, which the blocks have their own for, is not missed. */
		assert_true(!trace_reader_end(reader) == !!trace_reader_damage(reader));
		assert_true(trace_reader_damage(reader) || at >= end - 8);
		trace_reader_free(reader);
	}
	assert_int_equal(last, 0);
	/* What one block of records less is, each time: they were flushed. */
	assert_true(count > 3 && steps == count - 1);
	(void)close(fd);
	(void)close(plain);
}

static void any_byte_of_a_compressed_file_may_be_wrong(void **state)
{
	(void)state;
	spoil_each_byte(write_zstd(), 300, 30, 4001);
}

/* As `zstd a; zstd b; cat` makes them; and with nothing but zeros behind, many for a few bytes. */
static void frames_may_follow_each_other(void **state)
{
	static const char zeros[1 << 20];
	int plain = write_some(CALLS, 0, false, 0), fd = new_file(), bomb = new_file();
	off_t end = lseek(plain, 0, SEEK_END), blocks[64];
	struct trace_reader *reader;
	struct trace_out *out;
	char *all = malloc((size_t)end);

	(void)state;
	if (!trace_has_zstd)
		skip_part("built without libzstd");
	assert_non_null(all);
	assert_int_equal(pread(plain, all, (size_t)end, 0), end);
	assert_true(find_blocks(plain, blocks, 64) > 3);
	for (int part = 0; part < 2; part++) {
		assert_int_equal(trace_out_new(fd, true, &out), 0);
		assert_int_equal(trace_out_write(out, part ? all + 5000 : all, part ? (size_t)end - 5000 : 5000), 0);
		assert_int_equal(trace_out_end(out), 0);
		trace_out_free(out);
	}
	reader = open_trace(fd);
	assert_int_equal(count_right(reader), CALLS);
	assert_null(trace_reader_damage(reader));
	trace_reader_free(reader);

	assert_int_equal(trace_out_new(bomb, true, &out), 0);
	assert_int_equal(trace_out_write(out, all, (size_t)blocks[1]), 0);
	for (int i = 0; i < 64; i++)
		assert_int_equal(trace_out_write(out, zeros, sizeof zeros), 0);
	trace_out_free(out);
	assert_true(lseek(bomb, 0, SEEK_END) < 64 << 10);
	reader = open_trace(bomb);
	assert_int_equal(count_right(reader), 0);
	assert_string_equal(trace_reader_damage(reader), "what follows is no block");
	trace_reader_free(reader);
	free(all);
	(void)close(plain);
	(void)close(fd);
	(void)close(bomb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compressed_files_come_back),
		cmocka_unit_test(a_cut_compressed_file_gives_what_is_whole),
		cmocka_unit_test(any_byte_of_a_compressed_file_may_be_wrong),
		cmocka_unit_test(frames_may_follow_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
