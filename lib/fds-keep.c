/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of numbers in any order, given out in rising order without sorting
 * them or a copy: the 256 lowest at a time, kept as a heap on the stack.
 */
#include "fds-internal.h"

static int list_at(const struct fds_keep_list *list, size_t i)
{
	return list->first[i * list->stride];
}

/* A larger number than those below it is at the top: batch[0]. */
static void sift(int *heap, size_t used, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;
		int value = heap[at];

		if (child >= used)
			return;
		if (child + 1 < used && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= value)
			return;
		heap[at] = heap[child];
		heap[child] = value;
		at = child;
	}
}

static void heap_add(struct fds_keep *keep, int value)
{
	int *heap = keep->batch;
	size_t at = keep->used;

	if (keep->used == FDS_BATCH) {
		keep->ended = false;
		if (value >= heap[0])
			return;
		heap[0] = value;
		sift(heap, keep->used, 0);
		return;
	}
	keep->used++;
	for (; at > 0 && heap[(at - 1) / 2] < value; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = value;
}

static void fill(struct fds_keep *keep, int low)
{
	keep->at = 0;
	keep->used = 0;
	keep->ended = true;
	for (int l = 0; l < 2; l++)
		for (size_t i = 0; i < keep->lists[l].count; i++)
			if (list_at(&keep->lists[l], i) >= low)
				heap_add(keep, list_at(&keep->lists[l], i));
	for (size_t left = keep->used; left > 1;) {
		int highest = keep->batch[0];

		left--;
		keep->batch[0] = keep->batch[left];
		keep->batch[left] = highest;
		sift(keep->batch, left, 0);
	}
}

void syscull__fds_keep_init(struct fds_keep *keep, int from)
{
	const struct fds_keep_list *list = &keep->lists[0];

	keep->sorted = keep->lists[1].count == 0;
	for (size_t i = 1; keep->sorted && i < list->count; i++)
		keep->sorted = list_at(list, i - 1) <= list_at(list, i);
	if (!keep->sorted) {
		fill(keep, from);
		return;
	}
	keep->at = 0;
	while (keep->at < list->count && list_at(list, keep->at) < from)
		keep->at++;
}

int syscull__fds_keep_next(struct fds_keep *keep)
{
	const struct fds_keep_list *list = &keep->lists[0];
	int value;

	if (keep->sorted) {
		if (keep->at >= list->count)
			return -1;
		value = list_at(list, keep->at++);
		while (keep->at < list->count && list_at(list, keep->at) == value)
			keep->at++;
		return value;
	}
	if (keep->at >= keep->used)
		return -1;
	value = keep->batch[keep->at++];
	while (keep->at < keep->used && keep->batch[keep->at] == value)
		keep->at++;
	if (keep->at >= keep->used && !keep->ended && value < INT_MAX)
		fill(keep, value + 1);
	return value;
}

bool syscull__fds_keep_has(const struct fds_keep *keep, int fd)
{
	for (int l = 0; l < 2; l++)
		for (size_t i = 0; i < keep->lists[l].count; i++)
			if (list_at(&keep->lists[l], i) == fd)
				return true;
	return false;
}
