/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace files: what is written comes back as it was; what is cut, damaged or
 * newer gives what is whole of it, and says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event/trace-code.h"
#include "test.h"
#include "trace-records.h"

#define CALLS 5000

static int write_file(uint64_t most_bytes, int wanted)
{
	return write_some(CALLS, most_bytes, false, wanted);
}

static void what_is_written_comes_back(void **state)
{
	int fd = write_file(0, 0);
	struct trace_reader *reader = open_trace(fd);
	const struct trace_start *start = trace_reader_start(reader);

	(void)state;
	assert_string_equal(start->version, "1.2");
	assert_string_equal(start->kernel, "6.1");
	assert_null(start->libc);
	assert_int_equal(start->cpus, 2);
	assert_string_equal(start->argv[0], "ls");
	assert_string_equal(start->argv[1], "-l");
	assert_string_equal(start->argv[2], "");
	assert_null(start->argv[3]);
	assert_int_equal(start->pid_count, 2);
	assert_int_equal(start->pids[1], 70000);
	assert_true(start->items == UINT64_C(0x8000000000000001));
	assert_string_equal(start->env_names[1], "PATH");
	assert_null(start->env_names[2]);
	assert_int_equal(count_right(reader), CALLS);
	assert_non_null(trace_reader_end(reader));
	assert_int_equal(trace_reader_end(reader)->seen, 77);
	assert_true(trace_reader_end(reader)->wall_ns == UINT64_MAX);
	assert_int_equal(trace_reader_end(reader)->left_out, 0);
	assert_string_equal(trace_reader_end(reader)->abort_reason, "why");
	assert_null(trace_reader_damage(reader));
	trace_reader_free(reader);
	(void)close(fd);
}

static void stacks_come_back(void **state)
{
	static const struct {
		unsigned n;
		uint32_t registers;
		unsigned memory;
	} rows[] = {
		{ 1, 17, 128 }, { 1, 17, 128 }, { 2, 17, 128 }, { 28, 17, 2048 }, { 3, 40, 2048 }, { 4, 0, 0 },
		{ 5, 0, 7 },	{ 6, 17, 0 },	{ 7, 33, 300 }, { 19, 17, 2048 }, { 7, 17, 1 },
	};
	static struct trace_stack last, stack, got;
	static uint8_t bytes[TRACE_STACK_BYTES_MAX];

	(void)state;
	last.count = 0;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const uint8_t *at = bytes;
		uint8_t *end;

		make_stack(&stack, rows[i].n, rows[i].registers, rows[i].memory);
		/* More registers than there can be, from a file. */
		if (i == 8)
			stack.word[1] = UINT64_MAX;
		end = trace_pack(bytes, &stack, &last);
		assert_true(end - bytes <= 2 + 10 * (ptrdiff_t)stack.count);
		if (i == 1)
			assert_int_equal(end - bytes, 2 + 2);
		assert_true(trace_unpack(&at, end, &last, &got));
		assert_ptr_equal(at, end);
		assert_int_equal(got.count, stack.count);
		assert_memory_equal(got.word, stack.word, 8 * stack.count);
		/* Cut anywhere it is none, and nothing behind is read. */
		for (const uint8_t *cut = bytes; cut < end; cut += 1 + (end - bytes) / 50) {
			at = bytes;
			assert_false(trace_unpack(&at, cut, &last, &got));
			assert_true(at <= cut);
		}
		last = stack;
	}
	/* Whatever the bytes are. */
	for (unsigned n = 0; n < 2000; n++) {
		const uint8_t *at = bytes;
		uint64_t random = n * UINT64_C(0x9e3779b97f4a7c15);

		for (unsigned i = 0; i < 64; i++, random = random * 6364136223846793005u + 1442695040888963407u)
			bytes[i] = (uint8_t)(random >> 57 >> (i % 2 ? 3 : 0));
		if (trace_unpack(&at, bytes + 64, &last, &got))
			last = got;
		assert_true(at <= bytes + 64);
	}
}

static void arguments_that_no_call_has_are_dropped(void **state)
{
	struct trace_writer *writer;
	struct trace_reader *reader;
	const struct event_head *record;
	struct buf buf = BUF_INIT;
	struct error err = { 0 };
	struct event_call *call = event_begin(&buf, EVENT_CALL);
	int fd = new_file();

	(void)state;
	call->arch = SYS_ARCH_X86_64;
	call->nr = 3; /* close */
	for (unsigned i = 0; i < 6; i++)
		call->args[i] = 40 + i;
	assert_int_equal(trace_writer_new(fd, 0, false, &a_start, &writer), 0);
	assert_int_equal(trace_write(writer, event_end(&buf)), 0);
	assert_int_equal(trace_writer_end(writer, &(struct trace_end){ 0 }), 0);
	trace_writer_free(writer);
	reader = open_trace(fd);
	assert_int_equal(trace_read(reader, &record, &err), 1);
	assert_int_equal(((const struct event_call *)record)->args[0], 40);
	assert_int_equal(((const struct event_call *)record)->args[1], 0);
	assert_int_equal(((const struct event_call *)record)->args[5], 0);
	trace_reader_free(reader);
	buf_done(&buf);
	(void)close(fd);
}

/* Records that have no shape of ours: very many items, an unknown type. */
static void odd_records_are_kept_as_they_are(void **state)
{
	struct trace_writer *writer;
	struct trace_reader *reader;
	const struct event_head *record;
	struct event_head newer = { .bytes = sizeof newer, .type = 999 };
	struct buf buf = BUF_INIT;
	struct error err = { 0 };
	struct event_call *call = event_begin(&buf, EVENT_CALL);
	struct event_head *head;
	int fd = new_file();

	(void)state;
	call->head.pid = 5;
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(event_item_add(&buf, SYS_ITEM_NAME, i % 6, 0, "name", i % 5), 0);
	head = event_end(&buf);
	assert_int_equal(trace_writer_new(fd, 0, false, &a_start, &writer), 0);
	assert_int_equal(trace_write(writer, &newer), 0);
	assert_int_equal(trace_write(writer, head), 0);
	assert_int_equal(trace_writer_end(writer, &(struct trace_end){ 0 }), 0);
	trace_writer_free(writer);
	reader = open_trace(fd);
	assert_int_equal(trace_read(reader, &record, &err), 1);
	assert_int_equal(record->bytes, head->bytes);
	assert_memory_equal(record, head, head->bytes);
	assert_int_equal(trace_read(reader, &record, &err), 0);
	assert_string_equal(trace_reader_damage(reader), "1 part of a newer kind skipped");
	trace_reader_free(reader);
	buf_done(&buf);
	(void)close(fd);
}

static void a_limit_leaves_out_and_counts(void **state)
{
	int fd = write_file(100000, -EFBIG);
	struct trace_reader *reader = open_trace(fd);
	const struct event_head *record;
	struct buf buf = BUF_INIT;
	struct error err = { 0 };
	unsigned calls = 0, all = 0;

	(void)state;
	for (unsigned n = 1; n <= CALLS; n++) {
		record = make_record(&buf, n);
		all += record->type == EVENT_CALL && !(record->flags & EVENT_F_MARK);
	}
	while (trace_read(reader, &record, &err) > 0)
		calls += record->type == EVENT_CALL && !(record->flags & EVENT_F_MARK);
	assert_true(lseek(fd, 0, SEEK_END) <= 100000);
	assert_non_null(trace_reader_end(reader));
	assert_true(trace_reader_end(reader)->left_out > 0);
	assert_int_equal(trace_reader_end(reader)->left_out + calls, all);
	assert_null(trace_reader_damage(reader));
	trace_reader_free(reader);
	buf_done(&buf);
	(void)close(fd);
}

static void a_failing_write_is_told_and_the_rest_counted(void **state)
{
	struct trace_writer *writer = NULL;
	struct buf buf = BUF_INIT;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	int r;

	(void)state;
	if (fd < 0)
		skip_part("no /dev/full");
	r = trace_writer_new(fd, 0, false, &a_start, &writer);
	assert_int_equal(r, -ENOSPC);
	assert_null(writer);
	buf_done(&buf);
	(void)close(fd);
}

static void a_cut_file_gives_what_is_whole(void **state)
{
	int fd = write_file(0, 0);
	off_t end = lseek(fd, 0, SEEK_END);
	unsigned last = CALLS + 1;

	(void)state;
	for (off_t at = end - 1; at >= 0; at -= at > end - 200 || at < 400 ? 1 : 997) {
		struct trace_reader *reader = NULL;
		struct error err = { 0 };
		unsigned count;

		assert_int_equal(ftruncate(fd, at), 0);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		if (trace_reader_new(fd, "a file", &reader, &err) < 0) {
			assert_true(at < 400);
			assert_true(err.code != 0 && !strchr(err.text, '\n'));
			continue;
		}
		count = count_right(reader);
		assert_true(count <= last);
		last = count;
		assert_null(trace_reader_end(reader));
		assert_non_null(trace_reader_damage(reader));
		trace_reader_free(reader);
	}
	assert_int_equal(last, 0);
	(void)close(fd);
}

static void a_damaged_block_is_left_out_alone(void **state)
{
	int fd = write_file(0, 0);
	off_t blocks[64];
	unsigned count = find_blocks(fd, blocks, 64), records = 0;
	struct trace_reader *reader;
	const struct event_head *record;
	struct error err = { 0 };
	char byte;

	(void)state;
	/* The start, records, the end. */
	assert_true(count >= 3);
	assert_int_equal(pread(fd, &byte, 1, blocks[1] + 100), 1);
	byte ^= 4;
	assert_int_equal(pwrite(fd, &byte, 1, blocks[1] + 100), 1);
	reader = open_trace(fd);
	while (trace_read(reader, &record, &err) > 0)
		records++;
	assert_true(records < CALLS);
	assert_non_null(trace_reader_end(reader));
	assert_string_equal(trace_reader_damage(reader), "1 damaged block left out");
	trace_reader_free(reader);
	(void)close(fd);
}

static void any_byte_may_be_wrong(void **state)
{
	(void)state;
	/* The minor version, the plain size and two zeros are for newer readers. */
	spoil_each_byte(write_file(0, 0), 1000, 300, 1009);
}

static void foreign_files_are_refused(void **state)
{
	static const char *const texts[] = { "", "x", "SYSCULL\r\n", "execve(\"/bin/ls\") = 0\n",
					     "\177ELF\002\001\001\0\0\0\0\0\0\0\0\0\0\0" };
	static const uint8_t newer[TRACE_HEAD_BYTES + 1] = TRACE_MAGIC "\002\000\000\000";

	(void)state;
	for (size_t i = 0; i <= sizeof texts / sizeof texts[0]; i++) {
		struct trace_reader *reader = NULL;
		struct error err = { 0 };
		const char *text = i < sizeof texts / sizeof texts[0] ? texts[i] : (const char *)newer;
		size_t bytes = i < sizeof texts / sizeof texts[0] ? strlen(text) : TRACE_HEAD_BYTES;
		int fd = new_file();

		assert_int_equal(write(fd, text, bytes), (ssize_t)bytes);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_int_equal(trace_reader_new(fd, "it", &reader, &err), -EINVAL);
		assert_non_null(strstr(err.text, bytes == TRACE_HEAD_BYTES && i == sizeof texts / sizeof texts[0]
							 ? "kind 2"
							 : "no trace"));
		(void)close(fd);
	}
}

/* As the sum is defined: bit by bit. */
static uint32_t slow_check(const uint8_t *data, size_t bytes)
{
	uint32_t sum = ~0u;

	for (size_t i = 0; i < bytes; i++) {
		sum ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
	}
	return ~sum;
}

static void check_sums_are_those_of_others(void **state)
{
	uint8_t data[700];
	uint32_t next = 1;

	assert_int_equal(trace_check("123456789", 9), 0xcbf43926u);
	for (size_t i = 0; i < sizeof data; i++) {
		next = next * 1664525 + 1013904223;
		data[i] = (uint8_t)(next >> 24);
	}
	for (size_t bytes = 0; bytes <= 600; bytes++)
		for (size_t from = 0; from < 17; from += 4)
			assert_int_equal(trace_check(data + from, bytes), slow_check(data + from, bytes));
	assert_int_not_equal(trace_check(data, 600), trace_check(data + 1, 600));
}

/* A file of blocks made by hand. */
static int put_block(int fd, uint8_t type, const void *data, size_t bytes)
{
	struct trace_block head = { .bytes = (uint32_t)bytes, .plain_bytes = (uint32_t)bytes, .type = type };

	head.check = trace_check(data, bytes);
	assert_int_equal(write(fd, &head, sizeof head), (ssize_t)sizeof head);
	assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
	return fd;
}

static void what_is_newer_is_skipped(void **state)
{
	static const uint8_t head[TRACE_HEAD_BYTES + 1] = TRACE_MAGIC "\001\000\007\000";
	/* A field of a number that we do not know; then tag 5 with 3 bytes, a shape of type 200 with
	 * one word and an item of words, a record of it, and a shape of an event_lost with its record. */
	static const uint8_t start[] = { 99, 2, 1, 2, 2, 1, '6' };
	static const uint8_t records[] = {
		5, 3, 1, 2, 3, TRACE_TAG_TASK,	0, 9, 10, TRACE_TAG_DEFINE, 200,	1, 0, 1, 1, 40, 0, 0, 1,
		2, 1, 2, 1, 4, TRACE_TAG_SHAPE, 0, 0, 0,  TRACE_TAG_DEFINE, EVENT_LOST, 0, 1, 0, 2, 1,	6
	};
	struct trace_reader *reader;
	const struct event_head *record;
	struct error err = { 0 };
	int fd = new_file();

	(void)state;
	assert_int_equal(write(fd, head, TRACE_HEAD_BYTES), TRACE_HEAD_BYTES);
	(void)put_block(fd, TRACE_START, start, sizeof start);
	(void)put_block(fd, 77, "whatever", 8);
	(void)put_block(fd, TRACE_RECORDS, records, sizeof records);
	(void)put_block(fd, TRACE_END, "\001\001\003", 3);
	reader = open_trace(fd);
	assert_string_equal(trace_reader_start(reader)->kernel, "6");
	assert_int_equal(trace_read(reader, &record, &err), 1);
	assert_int_equal(record->type, EVENT_LOST);
	assert_int_equal(record->pid, 9);
	assert_int_equal(record->tid, 10);
	assert_int_equal(((const struct event_lost *)record)->count, 3);
	assert_int_equal(trace_read(reader, &record, &err), 0);
	assert_int_equal(trace_reader_end(reader)->seen, 3);
	assert_string_equal(trace_reader_damage(reader), "4 parts of a newer kind skipped");
	trace_reader_free(reader);
	(void)close(fd);
}

static unsigned written(int fd)
{
	struct trace_reader *reader = open_trace(fd);
	unsigned count = count_right(reader);

	assert_null(trace_reader_end(reader));
	trace_reader_free(reader);
	return count;
}

/* Of a writer that was killed: what is old is in the file, by records or by the clock; so are whole blocks. */
static void what_is_old_or_full_is_written(void **state)
{
	uint64_t first_ns = 1000000;
	struct trace_writer *writer;
	struct buf buf = BUF_INIT;
	int fd = new_file();
	unsigned all;

	(void)state;
	assert_int_equal(trace_writer_new(fd, 0, false, &a_start, &writer), 0);
	for (unsigned n = 1; n <= 50; n++)
		assert_int_equal(trace_write(writer, make_record(&buf, n)), 0);
	assert_int_equal(trace_tick(writer, first_ns + TRACE_BLOCK_NS / 2), 0);
	assert_int_equal(written(fd), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), trace_writer_bytes(writer));
	assert_int_equal(trace_tick(writer, first_ns + 2 * (uint64_t)TRACE_BLOCK_NS), 0);
	assert_int_equal(written(fd), 50);
	/* Nothing is no block. */
	assert_int_equal(lseek(fd, 0, SEEK_END), trace_writer_bytes(writer));
	assert_int_equal(trace_tick(writer, first_ns + 9 * (uint64_t)TRACE_BLOCK_NS), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), trace_writer_bytes(writer));
	for (all = 51; trace_writer_bytes(writer) < 4 * TRACE_BLOCK_LEAST; all++)
		assert_int_equal(trace_write(writer, make_record(&buf, all)), 0);
	assert_int_equal(written(fd), all - 1);
	trace_writer_free(writer);
	buf_done(&buf);
	(void)close(fd);
}

static void what_follows_behind_the_end_is_told(void **state)
{
	static const char text[] = "more";
	int fd = write_file(0, 0), other = write_file(0, 0);
	off_t end = lseek(fd, 0, SEEK_END);
	char head[64];

	(void)state;
	assert_int_equal(pread(other, head, sizeof head, 0), sizeof head);
	for (int another = 0; another < 2; another++) {
		struct trace_reader *reader;

		assert_int_equal(pwrite(fd, another ? head : text, another ? sizeof head : 1, end),
				 another ? sizeof head : 1);
		reader = open_trace(fd);
		assert_int_equal(count_right(reader), CALLS);
		assert_non_null(trace_reader_end(reader));
		assert_string_equal(trace_reader_damage(reader),
				    another ? "behind its end comes another trace, which is left out"
					    : "behind its end comes something else, which is left out");
		trace_reader_free(reader);
	}
	(void)close(fd);
	(void)close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_sums_are_those_of_others),
		cmocka_unit_test(what_is_written_comes_back),
		cmocka_unit_test(stacks_come_back),
		cmocka_unit_test(arguments_that_no_call_has_are_dropped),
		cmocka_unit_test(odd_records_are_kept_as_they_are),
		cmocka_unit_test(a_limit_leaves_out_and_counts),
		cmocka_unit_test(a_failing_write_is_told_and_the_rest_counted),
		cmocka_unit_test(a_cut_file_gives_what_is_whole),
		cmocka_unit_test(a_damaged_block_is_left_out_alone),
		cmocka_unit_test(any_byte_may_be_wrong),
		cmocka_unit_test(foreign_files_are_refused),
		cmocka_unit_test(what_is_newer_is_skipped),
		cmocka_unit_test(what_is_old_or_full_is_written),
		cmocka_unit_test(what_follows_behind_the_end_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
