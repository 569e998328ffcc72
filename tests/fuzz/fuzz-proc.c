/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every parser of proc on any bytes.  The first byte chooses which; texts that
 * come out must lie in what went in, and end with a NUL.
 */
#include "fake-reads.h"
#include "proc-internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *from, *to;

static void must(int condition)
{
	if (!condition)
		abort();
}

static void inside(const struct syscull_text *text)
{
	if (text->text == NULL)
		return;
	must(text->text >= from && text->length <= (size_t)(to - text->text));
	must(text->text[text->length] == '\0');
}

static void smaps(const struct syscull_text *text, uint8_t how)
{
	struct syscull_reader_options options = { sizeof options, NULL, 0, NULL, 0, 0, 0 };
	struct syscull_reader reader;
	struct syscull_smaps record;
	size_t chunks[2] = { 1U + how * 3U, 0 };
	char *own = NULL;

	if (how & 1) {
		options.buffer_size = 1U + how * 5U;
		options.buffer = own = malloc(options.buffer_size);
	}
	fake_reads_reset(text->text, text->length);
	fake_reads.chunks = chunks;
	must(syscull_reader_init(&reader, &options) == 0);
	must(syscull_lines_begin(&reader, FAKE_FD, '\n') == 0);
	for (size_t i = 0; i < 2 * text->length + 2; i++) {
		int result = syscull_proc_smaps_next(&reader, &record);

		if (result == 0)
			break;
		if (result < 0)
			continue;
		from = reader.buffer;
		to = reader.buffer + reader.capacity;
		inside(&record.map.path);
		inside(&record.vm_flags);
	}
	must(syscull_proc_smaps_next(&reader, &record) == 0);
	syscull_reader_done(&reader);
	free(own);
}

static void lists(const struct syscull_text *text)
{
	uint64_t number;

	for (size_t at = 0; at < text->length;) {
		size_t before = at;

		if (syscull__proc_parse_entry(text->text, text->length, &at, &number) < 0)
			break;
		must(at > before && at <= text->length);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	union {
		struct syscull_status status;
		struct syscull_stat stat;
		struct syscull_statm statm;
		struct syscull_map map;
		struct syscull_smaps smaps;
		struct syscull_fdinfo info;
		struct syscull_mount mount;
		struct syscull_cgroup cgroup;
	} into;
	struct syscull_text text = { NULL, 0, 0, 0 };
	bool complete;
	char *copy;

	if (size < 2)
		return 0;
	copy = malloc(size - 1);
	memcpy(copy, data + 2, size - 2);
	copy[size - 2] = '\0';
	text.text = copy;
	text.length = size - 2;
	from = copy;
	to = copy + text.length;
	switch (data[0] % 10) {
	case 0:
		if (data[1] & 1)
			text.flags = SYSCULL_TEXT_PARTIAL;
		if (syscull__proc_parse_status(&text, SYSCULL_STATUS_ALL, &into.status, &complete) == 0) {
			inside(&into.status.name);
			inside(&into.status.groups);
		}
		break;
	case 1:
		if (syscull__proc_parse_stat(&text, &into.stat) == 0)
			inside(&into.stat.comm);
		break;
	case 2:
		(void)syscull__proc_parse_statm(&text, &into.statm);
		break;
	case 3:
		if (syscull__proc_parse_map(&text, &into.map) == 0)
			inside(&into.map.path);
		break;
	case 4:
		smaps(&text, data[1]);
		break;
	case 5:
		if (syscull__proc_parse_rollup(&text, &into.smaps) == 0)
			inside(&into.smaps.map.path);
		break;
	case 6:
		if (syscull__proc_parse_fdinfo(&text, &into.info) == 0)
			inside(&into.info.rest);
		break;
	case 7:
		if (syscull__proc_parse_mount(&text, &into.mount) == 0) {
			inside(&into.mount.root);
			inside(&into.mount.point);
			inside(&into.mount.options);
			inside(&into.mount.type);
			inside(&into.mount.source);
			inside(&into.mount.super_options);
		}
		break;
	case 8:
		if (syscull__proc_parse_cgroup(&text, &into.cgroup) == 0) {
			inside(&into.cgroup.controllers);
			inside(&into.cgroup.path);
		}
		break;
	default:
		lists(&text);
		break;
	}
	free(copy);
	return 0;
}
