/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * File mappings of address spaces, so that an instruction pointer can be
 * told as module and offset.  Anonymous memory is not kept: allocators map
 * and unmap it all the time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/state.h"

#define PAGE_BYTES UINT64_C(4096)

struct mm *mm_new(void)
{
	struct mm *mm = calloc(1, sizeof(*mm));

	if (mm)
		mm->refs = 1;
	return mm;
}

static void list_unref(struct model_maps *list)
{
	if (!list || --list->refs > 0)
		return;
	free(list->at);
	free(list);
}

struct mm *mm_fork(struct mm *from)
{
	struct mm *mm = mm_new();

	if (mm && from->list) {
		mm->list = from->list;
		mm->list->refs++;
	}
	return mm;
}

void mm_unref(struct mm *mm)
{
	if (!mm || --mm->refs > 0)
		return;
	list_unref(mm->list);
	free(mm);
}

/* The list for writing, with room for so many more; NULL without memory. */
static struct model_maps *list_own(struct model *model, struct mm *mm, uint32_t more)
{
	struct model_maps *list = mm->list;
	uint32_t used = list ? list->used : 0;
	struct model_maps *own;

	if (!list || list->refs > 1) {
		own = calloc(1, sizeof(*own));
		if (!own)
			return NULL;
		own->refs = 1;
		own->stamp = ++model->map_stamp;
		own->room = used + more + 16;
		own->at = malloc(own->room * sizeof(*own->at));
		if (!own->at) {
			free(own);
			return NULL;
		}
		if (list && used > 0)
			memcpy(own->at, list->at, used * sizeof(*own->at));
		own->used = used;
		list_unref(list);
		mm->list = own;
		return own;
	}
	if (used + more > list->room) {
		uint32_t room = list->room * 2 + more;
		struct model_map *at = realloc(list->at, room * sizeof(*at));

		if (!at)
			return NULL;
		list->at = at;
		list->room = room;
	}
	list->stamp = ++model->map_stamp;
	return list;
}

/* The first mapping that ends behind an address. */
static uint32_t list_find(const struct model_maps *list, uint64_t address)
{
	uint32_t low = 0;
	uint32_t high = list->used;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (list->at[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t range_end(uint64_t start, uint64_t bytes)
{
	uint64_t end = start + ((bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1));

	return bytes > UINT64_MAX - PAGE_BYTES || end < start ? UINT64_MAX : end;
}

int mm_remove(struct model *model, struct mm *mm, uint64_t start, uint64_t bytes)
{
	uint64_t end = range_end(start, bytes);
	struct model_maps *list = mm->list;
	uint32_t at;
	uint32_t to;

	if (!list || list->used == 0 || end <= start)
		return 0;
	at = list_find(list, start);
	if (at == list->used || list->at[at].start >= end)
		return 0;
	list = list_own(model, mm, 1);
	if (!list) {
		/* Wrong mappings are worse than none. */
		list_unref(mm->list);
		mm->list = NULL;
		return model_no_memory(model);
	}
	if (list->at[at].start < start && list->at[at].end > end) {
		struct model_map *first = &list->at[at];

		memmove(first + 1, first, (list->used - at) * sizeof(*first));
		list->used++;
		first[0].end = start;
		first[1].offset += end - first[1].start;
		first[1].start = end;
		return 0;
	}
	if (list->at[at].start < start)
		list->at[at++].end = start;
	for (to = at; to < list->used && list->at[to].end <= end; to++)
		;
	if (to < list->used && list->at[to].start < end) {
		list->at[to].offset += end - list->at[to].start;
		list->at[to].start = end;
	}
	memmove(&list->at[at], &list->at[to], (list->used - to) * sizeof(*list->at));
	list->used -= to - at;
	return 0;
}

int mm_add(struct model *model, struct mm *mm, const struct model_map *what, uint64_t bytes)
{
	uint64_t start = what->start;
	uint64_t end = range_end(start, bytes);
	struct model_maps *list;
	uint32_t at;
	int r = mm_remove(model, mm, start, bytes);

	if (r < 0 || end <= start)
		return r;
	if (mm->list && mm->list->used >= model->limits.maps)
		return model_lose(model, "file mappings");
	list = list_own(model, mm, 1);
	if (!list)
		return model_no_memory(model);
	at = list_find(list, start);
	memmove(&list->at[at + 1], &list->at[at], (list->used - at) * sizeof(*list->at));
	list->at[at] = *what;
	list->at[at].end = end;
	list->used++;
	return 0;
}

/* mremap(old_addr, old_size, new_size, flags, new_addr) */
int mm_move(struct model *model, struct mm *mm, const struct event_call *call)
{
	uint64_t from = call->args[0];
	uint64_t to = (uint64_t)call->ret;
	struct model_map old;
	uint32_t at;
	int r;

	if (!mm->list || (at = list_find(mm->list, from)) == mm->list->used || mm->list->at[at].start > from)
		return mm_remove(model, mm, to, call->args[2]);
	old = mm->list->at[at];
	if (!(call->args[3] & MREMAP_DONTUNMAP)) {
		r = mm_remove(model, mm, from, call->args[1]);
		if (r < 0)
			return r;
	}
	old.offset += from - old.start;
	old.start = to;
	return mm_add(model, mm, &old, call->args[2]);
}

struct model_maps *model_maps(struct model *model, const struct model_process *process)
{
	struct mm *mm = model_mm(model, process);

	if (!mm || !mm->list)
		return NULL;
	mm->list->refs++;
	return mm->list;
}

void model_maps_unref(struct model_maps *maps)
{
	list_unref(maps);
}

const struct model_map *model_maps_at(const struct model_maps *maps, size_t n)
{
	return n < maps->used ? &maps->at[n] : NULL;
}

const struct model_map *model_maps_find(const struct model_maps *maps, uint64_t address)
{
	uint32_t at = list_find(maps, address);

	return at < maps->used && maps->at[at].start <= address ? &maps->at[at] : NULL;
}
