/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where processes have code when the programs in the kernel do not see it come:
 * a child of ours before its execve, and what ran before us.  The slots are
 * shared with the kernel's side, which goes on from what stands here.
 */
#include <string.h>

#include "engine/bpf/bpf.h"

static uint32_t slot_new(const struct loaded *loaded)
{
	uint64_t index;

	if (!loaded->codes || loaded->live->codes >= KERN_CODES - 1)
		return 0;
	index = __atomic_fetch_add(&loaded->live->codes, 1, __ATOMIC_SEQ_CST) + 1;
	if (index >= KERN_CODES)
		return 0;
	loaded->codes[index] = (struct kern_code){ 0 };
	return (uint32_t)index;
}

uint32_t code_of_child(const struct loaded *loaded)
{
	uint32_t index = slot_new(loaded);
	struct kern_code *code = index ? &loaded->codes[index] : NULL;

	/* No sites of its calls are asked for, but they are to take as long as others. */
	if (code) {
		code->range[0].start = (uint64_t)(uintptr_t)code_of_child & ~UINT64_C(0xffff);
		code->range[0].bytes = 0x10000;
		code->used = 1;
	}
	return index;
}

uint32_t code_of_running(const struct loaded *loaded)
{
	uint32_t index = slot_new(loaded);

	if (index)
		loaded->codes[index].filling = 1;
	return index;
}

uint32_t code_version(const struct loaded *loaded, uint32_t index)
{
	return index ? __atomic_load_n(&loaded->codes[index].version, __ATOMIC_SEQ_CST) : 0;
}

static void add(struct kern_code *code, const struct event_map *map)
{
	uint64_t least = map->start, end = map->end;

	if (code->used == KERN_CODE_RANGES) {
		code->full = 1;
		return;
	}
	code->range[code->used].start = map->start;
	code->range[code->used].bytes = map->end - map->start;
	code->used++;
	if (code->used == 1)
		return;
	if (code->span) {
		least = code->least < least ? code->least : least;
		end = code->least + code->span > end ? code->least + code->span : end;
	}
	code->least = least;
	code->span = end - least;
}

void code_fill(const struct loaded *loaded, uint32_t index, uint32_t version, const struct buf *records, size_t from)
{
	struct kern_code *code = index ? &loaded->codes[index] : NULL;

	if (!code)
		return;
	/* The program's own comes first; where no files are may be a stack. */
	for (size_t at = from; at < records->bytes;) {
		const struct event_map *map = (const struct event_map *)(const void *)(records->data + at);
		const struct event_item *path = event_item(&map->head, SYS_ITEM_PATH);

		if (map->head.type == EVENT_MAP && path && path->bytes > 0 &&
		    ((const char *)event_item_data(path))[0] == '/')
			add(code, map);
		at += map->head.bytes;
	}
	/* Something was mapped meanwhile: then nothing is known of it for good. */
	if (code_version(loaded, index) != version)
		code->full = 1;
	__atomic_store_n(&code->filling, 0, __ATOMIC_SEQ_CST);
}
