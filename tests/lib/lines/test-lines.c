/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines: lengths around every edge, delimiters, limits, short reads, errors in
 * the middle, and which calls were made.
 */
#include "check.h"
#include "fake-reads.h"
#include "syscull/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIG 524288

static char input[BIG * 2];
static char own[BIG * 2];

static struct syscull_reader_options with(void *buffer, size_t size, size_t limit)
{
	struct syscull_reader_options options;

	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	options.buffer = buffer;
	options.buffer_size = size;
	options.limit = limit;
	return options;
}

/* A line of `length` letters, then "next\n", then "last" without an end. */
static size_t make(size_t length, char delimiter)
{
	size_t used = 0;

	for (; used < length; used++)
		input[used] = (char)('a' + used % 26);
	input[used++] = delimiter;
	memcpy(input + used, "next", 4);
	used += 4;
	input[used++] = delimiter;
	memcpy(input + used, "last", 4);
	return used + 4;
}

static void expect(struct syscull_reader *reader, const char *text, size_t length, uint32_t flags)
{
	struct syscull_text line = { NULL, 0, 99, 0 };

	CHECK_EQUAL(syscull_lines_next(reader, &line), 1);
	CHECK_EQUAL(line.length, length);
	CHECK_EQUAL(line.flags, flags);
	CHECK(memcmp(line.text, text, length) == 0);
	CHECK_EQUAL(line.text[length], 0);
}

static void expect_end(struct syscull_reader *reader)
{
	struct syscull_text line = { NULL, 77, 0, 0 };

	CHECK_EQUAL(syscull_lines_next(reader, &line), 0);
	CHECK_EQUAL(syscull_lines_next(reader, &line), 0);
	CHECK_EQUAL(line.length, 77);
}

static void one_length(size_t length, const size_t *chunks, char delimiter)
{
	struct syscull_reader reader;
	size_t size = make(length, delimiter);
	static char copy[BIG * 2];
	unsigned long reads;

	memcpy(copy, input, size);
	fake_reads_reset(copy, size);
	fake_reads.chunks = chunks;
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, delimiter), 0);
	expect(&reader, copy, length, 0);
	expect(&reader, "next", 4, 0);
	expect(&reader, "last", 4, SYSCULL_TEXT_UNENDED);
	expect_end(&reader);
	reads = fake_reads.reads;
	expect_end(&reader);
	CHECK_EQUAL(fake_reads.reads, reads);
	CHECK_EQUAL(reader.bytes, size);
	CHECK(fake_reads.least_asked >= 4096);
	CHECK_EQUAL(fake_reads.calls, reads);
	syscull_reader_done(&reader);
}

static void lengths(void)
{
	static const size_t list[] = { 0, 1, 4095, 4096, 4097, 8192, 32767, 32768, 65536, 458761 };
	static const size_t at_once[] = { BIG, 0 };
	static const size_t pages[] = { 4096, 0 };
	static const size_t odd[] = { 1, 2, 4095, 4097, 7, 0 };
	static const size_t ones[] = { 1, 0 };

	check_case = "lengths";
	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
		one_length(list[i], at_once, '\n');
		one_length(list[i], pages, '\n');
		one_length(list[i], odd, '\n');
		one_length(list[i], pages, '\0');
		one_length(list[i], pages, ' ');
		if (list[i] <= 8192)
			one_length(list[i], ones, '\n');
	}
}

/* A caller's buffer holds lines up to one byte less than itself. */
static void callers_buffer(void)
{
	static const size_t sizes[] = { 1, 2, 3, 5, 16, 4096 };

	check_case = "caller's buffer";
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		for (size_t length = sizes[i] > 2 ? sizes[i] - 2 : 0; length <= sizes[i] + 1; length++) {
			for (int ended = 0; ended < 2; ended++) {
				struct syscull_reader_options options = with(own, sizes[i], 0);
				struct syscull_reader reader;
				struct syscull_text line;
				int fits = length <= sizes[i] - 1;

				memset(own, 'Z', sizeof own);
				memset(input, 'x', length);
				input[length] = '\n';
				fake_reads_reset(input, length + (size_t)ended);
				CHECK_EQUAL(syscull_reader_init(&reader, &options), 0);
				CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
				if (length > 0 || ended) {
					CHECK_EQUAL(syscull_lines_next(&reader, &line), fits ? 1 : SYSCULL_OVER_LIMIT);
					if (fits)
						CHECK_EQUAL(line.length, length);
				}
				expect_end(&reader);
				CHECK_EQUAL(own[sizes[i]], 'Z');
				syscull_reader_done(&reader);
			}
		}
	}
}

/* Over the limit: an error for that line, and the next one is whole. */
static void limits(void)
{
	static const size_t chunks[] = { 50, 0 };
	static const size_t at_once[] = { BIG, 0 };

	check_case = "limits";
	for (int how = 0; how < 4; how++) {
		struct syscull_reader_options options = how < 2 ? with(NULL, 0, 100) : with(own, 101, 0);
		struct syscull_reader reader;
		struct syscull_text line;
		size_t size;

		memset(input, 'a', 100);
		input[100] = '\n';
		memset(input + 101, 'b', 101);
		input[202] = '\n';
		memset(input + 203, 'c', 5000);
		input[5203] = '\n';
		memcpy(input + 5204, "ok\n", 3);
		memset(input + 5207, 'd', 101);
		size = 5308;
		fake_reads_reset(input, size);
		fake_reads.chunks = how % 2 == 0 ? chunks : at_once;
		CHECK_EQUAL(syscull_reader_init(&reader, &options), 0);
		CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
		CHECK_EQUAL(syscull_lines_next(&reader, &line), 1);
		CHECK_EQUAL(line.length, 100);
		CHECK_EQUAL(syscull_lines_next(&reader, &line), SYSCULL_OVER_LIMIT);
		CHECK_EQUAL(syscull_lines_next(&reader, &line), SYSCULL_OVER_LIMIT);
		expect(&reader, "ok", 2, 0);
		CHECK_EQUAL(syscull_lines_next(&reader, &line), SYSCULL_OVER_LIMIT);
		expect_end(&reader);
		CHECK_EQUAL(syscull_lines_trouble(SYSCULL_OVER_LIMIT), SYSCULL_TROUBLE_OVER);
		syscull_reader_done(&reader);
	}
}

static void contents(void)
{
	struct syscull_reader reader;
	static const char nul[] = "a\0b\n\0\n\r\n";
	static const char only[] = "\n\n\n";

	check_case = "contents";
	fake_reads_reset(nul, sizeof nul - 1);
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
	expect(&reader, "a\0b", 3, 0);
	expect(&reader, "\0", 1, 0);
	expect(&reader, "\r", 1, 0);
	expect_end(&reader);

	fake_reads_reset(only, sizeof only - 1);
	CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
	for (int i = 0; i < 3; i++)
		expect(&reader, "", 0, 0);
	expect_end(&reader);

	fake_reads_reset("", 0);
	CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
	expect_end(&reader);
	CHECK_EQUAL(reader.bytes, 0);
	CHECK_EQUAL(fake_reads.reads, 1);

	/* A byte above 127 as delimiter. */
	fake_reads_reset("x\xffy", 3);
	CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\xff'), 0);
	expect(&reader, "x", 1, 0);
	expect(&reader, "y", 1, SYSCULL_TEXT_UNENDED);
	syscull_reader_done(&reader);
	syscull_reader_done(&reader);
}

/* Complete lines come first, then the error with its errno, and the piece apart. */
static void errors(void)
{
	static const int list[] = { ESRCH, EIO, EAGAIN, EACCES, EISDIR };
	struct syscull_reader reader;
	struct syscull_text line;

	check_case = "errors";
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
		fake_reads_reset("one\ntwo\nthree\n", 14);
		fake_reads.error_at = 10;
		fake_reads.error = list[i];
		CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
		errno = 7777;
		expect(&reader, "one", 3, 0);
		expect(&reader, "two", 3, 0);
		CHECK_EQUAL(syscull_lines_rest(&reader, &line), 1);
		CHECK_EQUAL(syscull_lines_next(&reader, &line), -list[i]);
		CHECK_EQUAL(errno, 7777);
		CHECK_EQUAL(syscull_lines_rest(&reader, &line), 1);
		CHECK_EQUAL(line.flags, SYSCULL_TEXT_PARTIAL);
		CHECK(line.length == 2 && strcmp(line.text, "th") == 0);
		expect(&reader, "three", 5, 0);
		expect_end(&reader);
		CHECK_EQUAL(syscull_lines_rest(&reader, &line), 0);
	}
	CHECK_EQUAL(syscull_lines_trouble(-ESRCH), SYSCULL_TROUBLE_GONE);
	CHECK_EQUAL(syscull_lines_trouble(-ENOENT), SYSCULL_TROUBLE_GONE);
	CHECK_EQUAL(syscull_lines_trouble(-EACCES), SYSCULL_TROUBLE_DENIED);
	CHECK_EQUAL(syscull_lines_trouble(-EPERM), SYSCULL_TROUBLE_DENIED);
	CHECK_EQUAL(syscull_lines_trouble(SYSCULL_TORN), SYSCULL_TROUBLE_TORN);
	CHECK_EQUAL(syscull_lines_trouble(-EIO), SYSCULL_TROUBLE_OTHER);
	CHECK_EQUAL(syscull_lines_trouble(1), SYSCULL_TROUBLE_NONE);

	fake_reads_reset("one\ntwo\n", 8);
	fake_reads.eintr_every = 2;
	fake_reads.chunks = (const size_t[]){ 1, 0 };
	CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
	expect(&reader, "one", 3, 0);
	expect(&reader, "two", 3, 0);
	expect_end(&reader);
	CHECK_EQUAL(fake_reads.reads, 17);
	syscull_reader_done(&reader);
}

static void bad_options(void)
{
	struct {
		struct syscull_reader_options options;
		char more[8];
	} newer;
	struct syscull_reader_options options = with(own, 0, 0);
	struct syscull_reader reader;

	check_case = "options";
	CHECK_EQUAL(syscull_reader_init(&reader, &options), -EINVAL);
	options = with(NULL, 5, 0);
	CHECK_EQUAL(syscull_reader_init(&reader, &options), -EINVAL);
	options = with(NULL, 0, 0);
	options.flags = 0x80;
	CHECK_EQUAL(syscull_reader_init(&reader, &options), -EINVAL);
	options = with(NULL, 0, 0);
	options.size = 8;
	CHECK_EQUAL(syscull_reader_init(&reader, &options), -EINVAL);
	memset(&newer, 0, sizeof newer);
	newer.options.size = sizeof newer;
	CHECK_EQUAL(syscull_reader_init(&reader, &newer.options), 0);
	newer.more[7] = 1;
	CHECK_EQUAL(syscull_reader_init(&reader, &newer.options), -E2BIG);
	CHECK_EQUAL(sizeof(struct syscull_reader), 136);
}

/* Real descriptors: a pipe that dribbles, a directory, a closed one. */
static void descriptors(void)
{
	struct syscull_reader reader;
	struct syscull_text line;
	int ends[2];
	int directory = open("/", O_RDONLY | O_DIRECTORY);

	check_case = "descriptors";
	fake_reads_reset(NULL, 0);
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	CHECK_EQUAL(pipe(ends), 0);
	CHECK_EQUAL(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	CHECK_EQUAL(syscull_lines_begin(&reader, ends[0], '\n'), 0);
	CHECK_EQUAL(syscull_lines_next(&reader, &line), -EAGAIN);
	CHECK_EQUAL(write(ends[1], "he", 2), 2);
	CHECK_EQUAL(syscull_lines_next(&reader, &line), -EAGAIN);
	CHECK_EQUAL(write(ends[1], "llo\nx", 5), 5);
	expect(&reader, "hello", 5, 0);
	CHECK_EQUAL(close(ends[1]), 0);
	expect(&reader, "x", 1, SYSCULL_TEXT_UNENDED);
	expect_end(&reader);
	CHECK_EQUAL(syscull_lines_begin(&reader, directory, '\n'), 0);
	CHECK_EQUAL(syscull_lines_next(&reader, &line), -EISDIR);
	CHECK_EQUAL(syscull_whole_read(&reader, directory, &line), -EISDIR);
	CHECK_EQUAL(syscull_lines_begin(&reader, -1, '\n'), 0);
	CHECK_EQUAL(syscull_lines_next(&reader, &line), -EBADF);
	/* Ended: nothing to read, and no call. */
	syscull_lines_end(&reader);
	expect_end(&reader);
	CHECK_EQUAL(close(directory), 0);
	CHECK_EQUAL(close(ends[0]), 0);
	syscull_reader_done(&reader);
}

/* With pages of 64 KiB no read asks for less. */
static void large_pages(void)
{
	struct syscull_reader reader;
	size_t size = make(70000, '\n');

	check_case = "large pages";
	fake_reads_reset(input, size);
	fake_reads.page = 65536;
	fake_reads.chunks = (const size_t[]){ 60000, 5, 0 };
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
	expect(&reader, input, 70000, 0);
	expect(&reader, "next", 4, 0);
	expect(&reader, "last", 4, SYSCULL_TEXT_UNENDED);
	expect_end(&reader);
	CHECK(fake_reads.least_asked >= 65536);
	syscull_reader_done(&reader);
}

/* As procfs: whole records, short of the request.  No read only to fill up. */
static void no_filling_up(void)
{
	static char text[4000 * 101];
	static const size_t page[] = { 4096, 0 };
	struct syscull_reader reader;
	struct syscull_text line;
	size_t lines = 0;
	size_t size = sizeof text;

	check_case = "no filling up";
	for (size_t i = 0; i < size; i++)
		text[i] = i % 101 == 100 ? '\n' : 'a';
	fake_reads_reset(text, size);
	fake_reads.chunks = page;
	fake_reads.whole_lines = 1;
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
	while (syscull_lines_next(&reader, &line) > 0)
		lines++;
	CHECK_EQUAL(lines, 4000);
	/* 40 lines a page, and the read that says 0. */
	CHECK_EQUAL(fake_reads.reads, 101);
	syscull_reader_done(&reader);
}

static volatile int in_handler;

/* All of it in a signal handler, with a buffer on the handler's stack. */
static void handler(int signal)
{
	char buffer[512];
	struct syscull_reader_options options = with(buffer, sizeof buffer, 0);
	struct syscull_reader reader;
	struct syscull_text line;

	(void)signal;
	if (syscull_reader_init(&reader, &options) == 0 && syscull_lines_begin(&reader, FAKE_FD, '\n') == 0 &&
	    syscull_lines_next(&reader, &line) == 1 && line.length == 5 && syscull_lines_next(&reader, &line) == 0)
		in_handler = 1;
	syscull_reader_done(&reader);
}

static void signals(void)
{
	check_case = "signals";
	fake_reads_reset("hello\n", 6);
	CHECK(signal(SIGUSR1, handler) != SIG_ERR);
	CHECK_EQUAL(raise(SIGUSR1), 0);
	CHECK_EQUAL(in_handler, 1);
}

static void texts(void)
{
	struct syscull_text rest = { "a\0\0bc", 5, 0, 0 };
	struct syscull_text part;

	check_case = "texts";
	CHECK_EQUAL(syscull_text_next(&rest, '\0', &part), 1);
	CHECK(part.length == 1 && part.text[0] == 'a' && part.flags == 0);
	CHECK_EQUAL(syscull_text_next(&rest, '\0', &part), 1);
	CHECK_EQUAL(part.length, 0);
	CHECK_EQUAL(syscull_text_next(&rest, '\0', &part), 1);
	CHECK(part.length == 2 && part.flags == SYSCULL_TEXT_UNENDED);
	CHECK_EQUAL(syscull_text_next(&rest, '\0', &part), 0);
}

int main(void)
{
	lengths();
	callers_buffer();
	limits();
	contents();
	errors();
	bad_options();
	descriptors();
	large_pages();
	no_filling_up();
	signals();
	texts();
	return check_done();
}
