/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: lines-getline [ROUNDS [SEED]]
 * Random bytes in random chunks through random buffers give the lines that
 * getdelim(3) gives of the same bytes.  The seed is printed when it fails.
 */
#include "check.h"
#include "fake-reads.h"
#include "syscull/lines.h"

#include <stdint.h>
#include <string.h>

#define MOST 20000

static char bytes[MOST];
static char own[MOST + 2];
static size_t chunks[64];
static uint64_t state;

static uint32_t any(uint32_t below)
{
	state = state * 6364136223846793005U + 1442695040888963407U;
	return (uint32_t)((state >> 33) % below);
}

static size_t make_input(char delimiter)
{
	static const uint32_t spreads[] = { 3, 20, 100, 1000, 5000 };
	size_t size = any(5) == 0 ? any(10) : any(MOST);
	uint32_t spread = spreads[any(5)];

	for (size_t i = 0; i < size; i++)
		bytes[i] = any(spread) == 0 ? delimiter : any(10) == 0 ? '\0' : (char)any(256);
	return size;
}

static void make_chunks(void)
{
	size_t count = 1 + any(60);

	for (size_t i = 0; i < count; i++)
		chunks[i] = any(3) == 0 ? 1 + any(3) : 1 + any(6000);
	chunks[count] = 0;
}

static void round_once(void)
{
	struct syscull_reader_options options;
	struct syscull_reader reader;
	struct syscull_text line;
	char delimiter = "\n\0 x"[any(4)];
	size_t size = make_input(delimiter);
	int results[2] = { 0, 0 };
	char *expected = NULL;
	size_t room = 0;
	FILE *file = fmemopen(bytes, size, "r");

	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	if (any(2) == 0) {
		options.buffer = own;
		options.buffer_size = any(2) == 0 ? 1 + any(200) : sizeof own;
	} else if (any(2) == 0) {
		options.limit = 1 + any(2000);
	}
	make_chunks();
	fake_reads_reset(bytes, size);
	fake_reads.chunks = chunks;
	fake_reads.eintr_every = any(4) == 0 ? 2 + any(3) : 0;
	CHECK_EQUAL(syscull_reader_init(&reader, &options), 0);
	CHECK_EQUAL(syscull_lines_begin(&reader, FAKE_FD, delimiter), 0);
	while (size > 0) {
		ssize_t length = getdelim(&expected, &room, (unsigned char)delimiter, file);
		size_t ended;

		if (length < 0)
			break;
		ended = expected[length - 1] == delimiter;
		results[0] = syscull_lines_next(&reader, &line);
		if ((size_t)length - ended > reader.limit) {
			CHECK_EQUAL(results[0], SYSCULL_OVER_LIMIT);
			continue;
		}
		CHECK_EQUAL(results[0], 1);
		CHECK_EQUAL(line.length, (size_t)length - ended);
		CHECK_EQUAL(line.flags, ended ? 0 : SYSCULL_TEXT_UNENDED);
		CHECK(memcmp(line.text, expected, line.length) == 0);
		CHECK_EQUAL(line.text[line.length], 0);
	}
	results[1] = syscull_lines_next(&reader, &line);
	CHECK_EQUAL(results[1], 0);
	CHECK_EQUAL(reader.bytes, size);
	syscull_reader_done(&reader);
	free(expected);
	if (file != NULL)
		(void)fclose(file);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 3000;
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	static char name[64];

	check_case = name;
	for (unsigned long i = 0; i < rounds; i++) {
		(void)snprintf(name, sizeof name, "lines-getline 1 %lu", seed + i);
		state = seed + i;
		round_once();
	}
	return check_done();
}
