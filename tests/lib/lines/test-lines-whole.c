/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole files and rereads: one snapshot or an error; and the pool: bounded,
 * shared, flat after a giant.
 */
#include "check.h"
#include "fake-reads.h"
#include "syscull/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char input[1 << 20];
static char other[1 << 20];

static void whole_sizes(void)
{
	static const size_t sizes[] = { 1, 4095, 4096, 32767, 32768, 32769, 460153 };
	static const unsigned long grown[] = { 0, 0, 0, 0, 1, 1, 4 };
	struct syscull_text text;

	check_case = "whole";
	memset(input, 'a', sizeof input);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct syscull_reader reader;

		CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
		fake_reads_reset(input, sizes[i]);
		CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), 1);
		CHECK_EQUAL(text.length, sizes[i]);
		CHECK_EQUAL(text.text[text.length], 0);
		CHECK_EQUAL(fake_reads.reads, 1);
		CHECK_EQUAL(fake_reads.preads, grown[i]);
		/* Again: the buffer is large enough now. */
		fake_reads_reset(input, sizes[i]);
		CHECK_EQUAL(syscull_whole_reread(&reader, FAKE_FD, &text), 1);
		CHECK_EQUAL(text.length, sizes[i]);
		CHECK_EQUAL(fake_reads.calls, 1);
		CHECK_EQUAL(fake_reads.preads, 1);
		syscull_reader_done(&reader);
	}
}

/* The content changes while it is read again in a larger buffer: all of the new one, nothing of the old. */
static void one_snapshot(void)
{
	struct syscull_reader reader;
	struct syscull_text text;

	check_case = "one snapshot";
	memset(input, 'a', sizeof input);
	memset(other, 'b', sizeof other);
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	fake_reads_reset(input, 200000);
	fake_reads.second = other;
	fake_reads.second_size = 150000;
	CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), 1);
	CHECK_EQUAL(text.length, 150000);
	for (size_t i = 0; i < text.length; i++)
		CHECK(text.text[i] == 'b');
	/* It shrinks to nothing. */
	fake_reads_reset(input, 300000);
	fake_reads.preads = 1;
	fake_reads.second = other;
	CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), 0);
	syscull_reader_done(&reader);
}

static void whole_limits(void)
{
	struct syscull_reader_options options = { sizeof options, NULL, 0, NULL, 1000, 0, 0 };
	char buffer[64];
	struct syscull_reader reader;
	struct syscull_text text = { NULL, 55, 0, 0 };
	int ends[2];

	check_case = "whole limits";
	CHECK_EQUAL(syscull_reader_init(&reader, &options), 0);
	fake_reads_reset(input, 1000);
	CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), 1);
	fake_reads_reset(input, 1001);
	CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), SYSCULL_OVER_LIMIT);
	fake_reads_reset(input, 1000000);
	CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), SYSCULL_OVER_LIMIT);
	syscull_reader_done(&reader);

	options.buffer = buffer;
	options.buffer_size = sizeof buffer;
	options.limit = 0;
	CHECK_EQUAL(syscull_reader_init(&reader, &options), 0);
	fake_reads_reset(input, 63);
	CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), 1);
	text.length = 55;
	fake_reads_reset(input, 64);
	CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), SYSCULL_OVER_LIMIT);
	CHECK_EQUAL(text.length, 55);
	fake_reads_reset(input, 0);
	CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), 0);
	CHECK_EQUAL(text.length, 55);
	fake_reads_reset(input, 10);
	fake_reads.error_at = 0;
	fake_reads.error = EIO;
	errno = 4242;
	CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), -EIO);
	CHECK_EQUAL(errno, 4242);
	syscull_reader_done(&reader);

	/* A pipe has no offset 0. */
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	CHECK_EQUAL(pipe(ends), 0);
	CHECK_EQUAL(write(ends[1], input, 40000), 40000);
	CHECK_EQUAL(syscull_whole_read(&reader, ends[0], &text), -ESPIPE);
	CHECK_EQUAL(close(ends[0]), 0);
	CHECK_EQUAL(close(ends[1]), 0);
	CHECK_EQUAL(syscull_whole_file(&reader, AT_FDCWD, "/nonexistent", &text), -ENOENT);
	syscull_reader_done(&reader);
}

/* A file of lines read as if it were one record: with CONFIRM it is found out. */
static void confirmed(void)
{
	struct syscull_reader_options options = { sizeof options, NULL, 0, NULL, 0, SYSCULL_READER_CONFIRM, 0 };
	struct syscull_reader reader;
	struct syscull_text text;

	check_case = "confirm";
	CHECK_EQUAL(syscull_reader_init(&reader, &options), 0);
	fake_reads_reset(input, 9000);
	fake_reads.chunks = (const size_t[]){ 4096, 0 };
	CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), SYSCULL_TORN);
	fake_reads_reset(input, 9000);
	CHECK_EQUAL(syscull_whole_read(&reader, FAKE_FD, &text), 1);
	CHECK_EQUAL(fake_reads.calls, 2);
	syscull_reader_done(&reader);
}

static void rereads(void)
{
	struct syscull_reader reader;
	struct syscull_text text;
	int file = memfd_create("value", 0);

	check_case = "reread";
	fake_reads_reset(NULL, 0);
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	CHECK_EQUAL(pwrite(file, "clear\n", 6, 0), 6);
	CHECK_EQUAL(syscull_whole_reread(&reader, file, &text), 1);
	CHECK(strcmp(text.text, "clear\n") == 0);
	CHECK_EQUAL(pwrite(file, "on\n", 3, 0), 3);
	CHECK_EQUAL(ftruncate(file, 3), 0);
	CHECK_EQUAL(syscull_whole_reread(&reader, file, &text), 1);
	CHECK(strcmp(text.text, "on\n") == 0);
	CHECK_EQUAL(lseek(file, 0, SEEK_CUR), 0);
	CHECK_EQUAL(close(file), 0);
	syscull_reader_done(&reader);
}

static struct syscull_pool *make_pool(size_t bytes, uint32_t keep, uint32_t most)
{
	struct syscull_pool_options options = { sizeof options, bytes, keep, most };

	return syscull_pool_new(&options);
}

static void pools(void)
{
	struct syscull_pool *pool = make_pool(4096, 2, 3);
	struct syscull_reader_options options = { sizeof options, NULL, 0, pool, 0, 0, 0 };
	struct syscull_reader readers[4];
	char *first;

	check_case = "pool";
	fake_reads_reset("x\n", 2);
	CHECK(pool != NULL);
	for (int i = 0; i < 4; i++) {
		CHECK_EQUAL(syscull_reader_init(&readers[i], &options), 0);
		CHECK_EQUAL(syscull_lines_begin(&readers[i], FAKE_FD, '\n'), i < 3 ? 0 : -ENOBUFS);
	}
	first = readers[0].buffer;
	syscull_reader_done(&readers[0]);
	/* The one that was given back is the one that is found. */
	CHECK_EQUAL(syscull_lines_begin(&readers[3], FAKE_FD, '\n'), 0);
	CHECK(readers[3].buffer == first);
	for (int i = 0; i < 4; i++)
		syscull_reader_done(&readers[i]);
	syscull_pool_trim(pool);
	syscull_pool_free(pool);
	syscull_pool_free(NULL);
	CHECK(make_pool(1, 0, 0) == NULL);
	CHECK_EQUAL(errno, EINVAL);
	CHECK(make_pool(0, 2000, 0) == NULL);
	pool = syscull_pool_new(NULL);
	CHECK(pool != NULL);
	syscull_pool_free(pool);
}

/* A giant line leaves with the next file that does without it, and never enters the pool. */
static void flat_after_giant(void)
{
	struct syscull_pool *pool = make_pool(8192, 1, 0);
	struct syscull_reader_options options = { sizeof options, NULL, 0, pool, 0, 0, 0 };
	struct syscull_reader reader;
	struct syscull_text text;

	check_case = "flat";
	memset(input, 'g', sizeof input);
	input[900000] = '\n';
	CHECK_EQUAL(syscull_reader_init(&reader, &options), 0);
	fake_reads_reset(input, 900001);
	CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
	CHECK_EQUAL(syscull_lines_next(&reader, &text), 1);
	CHECK_EQUAL(text.length, 900000);
	CHECK(reader.capacity > 900000);
	for (int i = 0; i < 2; i++) {
		fake_reads_reset("small\n", 6);
		CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
		CHECK_EQUAL(syscull_lines_next(&reader, &text), 1);
	}
	CHECK_EQUAL(reader.capacity, 8192);
	syscull_reader_done(&reader);
	CHECK_EQUAL(syscull_reader_init(&reader, &options), 0);
	CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, '\n'), 0);
	CHECK_EQUAL(reader.capacity, 8192);
	syscull_reader_done(&reader);
	syscull_pool_free(pool);
}

int main(void)
{
	whole_sizes();
	one_snapshot();
	whole_limits();
	confirmed();
	rereads();
	pools();
	flat_after_giant();
	return check_done();
}
