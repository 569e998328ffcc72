/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream of records that has a bit of everything, and files of it, for the
 * tests of trace files.
 */
#ifndef SYSCULL_TESTS_TRACE_RECORDS_H
#define SYSCULL_TESTS_TRACE_RECORDS_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event/trace-code.h"
#include "test.h"

static inline int new_file(void)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* A copy of a stack whose words are mostly what an earlier one had at their addresses. */
static inline void make_stack(struct trace_stack *stack, unsigned n, uint32_t registers, unsigned memory)
{
	uint64_t sp = UINT64_C(0x7ffe00000000) - n % 13 * 56 - n % 29 / 28;

	stack->count = 2 + registers + memory;
	stack->word[0] = sp;
	stack->word[1] = registers;
	for (unsigned i = 0; i < registers; i++)
		stack->word[2 + i] = i * 3 + (i % 4 == 0 ? n : 0);
	for (unsigned i = 0; i < memory; i++) {
		uint64_t at = sp / 8 + i;

		stack->word[2 + registers + i] = at % 5 < 2 ? 0 : at % 97 == n % 97 ? ~at - n : at << 12;
	}
}

/* The n-th record of a stream that has a bit of everything. */
static inline struct event_head *make_record(struct buf *buf, unsigned n)
{
	static const int16_t numbers[] = { 257, 262, 3, 0, 231 };
	struct event_call *call;
	char path[64];
	int32_t nr;

	if (n % 17 == 0) {
		struct event_map *map = event_begin(buf, EVENT_MAP);

		map->start = UINT64_C(0x7f0000000000) + n * 4096;
		map->end = map->start + 4096;
		map->prot = 5;
		map->head.pid = map->head.tid = 100 + n % 3;
		map->head.time_ns = 1000000 + n * 700;
		assert_int_equal(event_item_add(buf, SYS_ITEM_PATH, 0, 0, "/lib/x.so", 9), 0);
		return event_end(buf);
	}
	if (n % 19 == 0) {
		struct event_clock *clock = event_begin(buf, EVENT_CLOCK);

		clock->run_ns = n * UINT64_C(123456789);
		clock->late_ns = UINT64_MAX - n;
		clock->head.pid = clock->head.tid = 100;
		clock->head.time_ns = 900000 + n * 700;
		return event_end(buf);
	}
	call = event_begin(buf, EVENT_CALL);
	call->head.pid = 100;
	call->head.tid = 100 + n % 2;
	call->head.flags = n % 23 == 0 ? EVENT_F_MARK : 0;
	call->head.time_ns = 1000000 + n * 700 - (n % 5) * 100000;
	call->duration_ns = n % 7 == 0 ? UINT64_C(1) << 60 : n;
	call->nr = numbers[n % 5];
	call->arch = SYS_ARCH_X86_64;
	call->ip = n % 11 == 0 ? 0 : UINT64_C(0x55550000) + n % 40;
	call->ret = n % 3 == 0 ? -(int64_t)(n % 100) : (int64_t)n << 20;
	for (unsigned arg = 0; arg < (call->nr == 231 || call->nr == 3 ? 1 : 3); arg++)
		call->args[arg] = n % 2 ? UINT64_MAX - n : n * arg;
	/* Items move the record. */
	nr = call->nr;
	if (nr == 257 || nr == 262) {
		int bytes = snprintf(path, sizeof path, "/usr/share/%u", n % 300);

		assert_int_equal(
			event_item_add(buf, SYS_ITEM_PATH, 1, n % 29 == 0 ? EVENT_ITEM_UNREAD : 0, path, (size_t)bytes),
			0);
	}
	if (nr == 0 && n % 3 != 0) {
		struct item_caller caller = { .word = 0x1000 + n % 6, .code = n % 6 * UINT64_C(0x9e3779b97f4a7c15) };

		assert_int_equal(event_item_add(buf, SYS_ITEM_CALLER, 0, 0, &caller, sizeof caller), 0);
	}
	if (nr == 0 && n % 25 == 13) {
		struct trace_stack stack;

		make_stack(&stack, n, 17, n % 60);
		/* The last bytes of a copy may be no whole word. */
		assert_int_equal(
			event_item_add(buf, SYS_ITEM_STACK, 0, 0, stack.word, stack.count * 8 - (n % 31 == 0 ? 3 : 0)),
			0);
	}
	if (nr == 262) {
		struct item_stat stat = { .dev = 1, .ino = n * 7919, .mode = 0100644, .nlink = 1 + n % 2, .size = n };

		stat.mtime_ns = INT64_C(1700000000000000000) + n;
		assert_int_equal(event_item_add(buf, SYS_ITEM_STAT, 2, 0, &stat, sizeof stat), 0);
	}
	return event_end(buf);
}

static char word_ls[] = "ls", word_l[] = "-l", word_none[] = "";
static const struct trace_start a_start = {
	.version = "1.2",
	.kernel = "6.1",
	.cpus = 2,
	.argv = (char *[]){ word_ls, word_l, word_none, NULL },
	.pids = (int[]){ 7, 70000 },
	.pid_count = 2,
	.items = 0x8000000000000001,
	.env_names = (const char *const[]){ "TZ", "PATH", NULL },
};

/* A whole file of that stream. */
static inline int write_some(unsigned calls, uint64_t most_bytes, bool zstd, int wanted)
{
	struct trace_writer *writer;
	struct buf buf = BUF_INIT;
	int fd = new_file();

	assert_int_equal(trace_writer_new(fd, most_bytes, zstd, &a_start, &writer), 0);
	for (unsigned n = 1; n <= calls; n++)
		(void)trace_write(writer, make_record(&buf, n));
	assert_int_equal(
		trace_writer_end(writer,
				 &(struct trace_end){ .seen = 77, .wall_ns = UINT64_MAX, .abort_reason = "why" }),
		wanted);
	trace_writer_free(writer);
	buf_done(&buf);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static inline struct trace_reader *open_trace(int fd)
{
	struct trace_reader *reader = NULL;
	struct error err = { 0 };

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(trace_reader_new(fd, "a file", &reader, &err), 0);
	return reader;
}

/* How many of the stream's first records come out, as they were. */
static inline unsigned count_right(struct trace_reader *reader)
{
	const struct event_head *record;
	struct error err = { 0 };
	struct buf buf = BUF_INIT;
	unsigned count = 0;
	int r;

	while ((r = trace_read(reader, &record, &err)) > 0) {
		const struct event_head *wanted = make_record(&buf, count + 1);

		assert_true(event_valid(record, record->bytes));
		assert_int_equal(record->bytes, wanted->bytes);
		assert_memory_equal(record, wanted, wanted->bytes);
		count++;
	}
	assert_int_equal(r, 0);
	buf_done(&buf);
	return count;
}

/* Where the blocks begin: the offsets of their heads. */
static unsigned find_blocks(int fd, off_t *ret, unsigned most)
{
	off_t at = TRACE_HEAD_BYTES;
	unsigned count = 0;
	struct trace_block head;

	while (count < most && pread(fd, &head, sizeof head, at) == (ssize_t)sizeof head) {
		ret[count++] = at;
		at += (off_t)sizeof head + head.bytes;
	}
	return count;
}

/* Each byte of the file at its ends, and some between, is wrong once: what is read of it is valid. Closes it. */
static void spoil_each_byte(int fd, off_t first, off_t last, off_t step)
{
	off_t end = lseek(fd, 0, SEEK_END);
	unsigned char byte, was;

	for (off_t at = 0; at < end; at += at < first || at > end - last ? 1 : step) {
		struct trace_reader *reader = NULL;
		const struct event_head *record;
		struct error err = { 0 };

		assert_int_equal(pread(fd, &was, 1, at), 1);
		byte = was ^ 0x41;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		if (trace_reader_new(fd, "a file", &reader, &err) == 0) {
			while (trace_read(reader, &record, &err) > 0)
				assert_true(event_valid(record, record->bytes));
			trace_reader_free(reader);
		}
		assert_int_equal(pwrite(fd, &was, 1, at), 1);
	}
	(void)close(fd);
}

#endif
