/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of any bytes, in any chunks, through any buffer, against splitting the
 * same bytes in memory.  The first four bytes choose: delimiter, buffer, chunk,
 * errors.
 */
#include "fake-reads.h"
#include "syscull/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct syscull_reader_options options = { sizeof options, NULL, 0, NULL, 0, 0, 0 };
	struct syscull_reader reader;
	struct syscull_text rest, expected, line;
	size_t chunks[2] = { 1, 0 };
	char *own = NULL;
	int result;

	if (size < 4)
		return 0;
	if (data[1] != 0) {
		options.buffer_size = data[1];
		options.buffer = own = malloc(data[1]);
	} else {
		options.limit = 64;
	}
	rest = (struct syscull_text){ (const char *)data + 4, size - 4, 0, 0 };
	fake_reads_reset(rest.text, rest.length);
	chunks[0] = 1U + data[2];
	fake_reads.chunks = chunks;
	fake_reads.eintr_every = data[3] & 1 ? 3 : 0;
	if (data[3] & 2) {
		fake_reads.error_at = data[3] >> 2;
		fake_reads.error = EIO;
	}
	must(syscull_reader_init(&reader, &options) == 0);
	must(syscull_lines_begin(&reader, FAKE_FD, (char)data[0]) == 0);
	for (;;) {
		result = syscull_lines_next(&reader, &line);
		if (result == -EIO)
			continue;
		if (!syscull_text_next(&rest, (char)data[0], &expected))
			break;
		if (expected.length > reader.limit) {
			must(result == SYSCULL_OVER_LIMIT);
			continue;
		}
		must(result == 1 && line.length == expected.length && line.flags == expected.flags);
		must(memcmp(line.text, expected.text, line.length) == 0 && line.text[line.length] == '\0');
	}
	must(result == 0);
	syscull_reader_done(&reader);
	free(own);
	return 0;
}
