/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace files of any bytes: reading ends, and every record that comes out is
 * well formed.  The first byte chooses what the rest is: a whole file, or the
 * content of one block, whose sum is made right, since no fuzzer would guess
 * it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event/trace-code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void put(int fd, const void *data, size_t bytes)
{
	must(write(fd, data, bytes) == (ssize_t)bytes);
}

static void put_block(int fd, uint8_t type, const void *data, size_t bytes)
{
	struct trace_block head = { .bytes = (uint32_t)bytes, .plain_bytes = (uint32_t)bytes, .type = type };

	head.check = trace_check(data, bytes);
	put(fd, &head, sizeof head);
	put(fd, data, bytes);
}

/* Everything that the reader says is looked at. */
static void read_all(int fd)
{
	struct trace_reader *reader = NULL;
	const struct event_head *record;
	struct error err = { 0 };
	size_t words = 0;
	int r;

	must(lseek(fd, 0, SEEK_SET) == 0);
	if (trace_reader_new(fd, "file", &reader, &err) < 0) {
		must(err.code != 0);
		return;
	}
	for (char *const *word = trace_reader_start(reader)->argv; word && *word; word++)
		words += strlen(*word);
	for (const char *const *word = trace_reader_start(reader)->env_names; word && *word; word++)
		words += strlen(*word);
	for (size_t i = 0; i < trace_reader_start(reader)->pid_count; i++)
		must(trace_reader_start(reader)->pids[i] >= 0);
	while ((r = trace_read(reader, &record, &err)) > 0)
		must(event_valid(record, record->bytes) && event_fixed_bytes(record->type) > 0);
	must(r == 0 && (trace_reader_end(reader) || trace_reader_damage(reader)));
	trace_reader_free(reader);
	must(words <= 1u << 30);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t head[TRACE_HEAD_BYTES + 1] = TRACE_MAGIC "\001\000\000\000";
	int fd;

	if (size < 1)
		return 0;
	fd = memfd_create("trace", MFD_CLOEXEC);
	must(fd >= 0);
	if (data[0] > TRACE_END) {
		put(fd, data + 1, size - 1);
	} else {
		put(fd, head, TRACE_HEAD_BYTES);
		put_block(fd, TRACE_START, data + 1, data[0] == TRACE_START ? size - 1 : 0);
		if (data[0] == TRACE_RECORDS || data[0] == 0)
			put_block(fd, TRACE_RECORDS, data + 1, size - 1);
		if (data[0] != TRACE_RECORDS)
			put_block(fd, TRACE_END, data + 1, data[0] == TRACE_END ? size - 1 : 0);
	}
	read_all(fd);
	(void)close(fd);
	return 0;
}
