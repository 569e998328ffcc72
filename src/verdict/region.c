/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/region.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "/.syscull/mark/"

void region_init(struct region_book *book)
{
	memset(book, 0, sizeof *book);
	map_init(&book->index, sizeof(size_t), REGIONS_MAX);
}

void region_done(struct region_book *book)
{
	for (size_t i = 0; i < book->regions.used; i++) {
		free(book->regions.at[i].name);
		vec_done(&book->regions.at[i].by_row);
	}
	vec_done(&book->regions);
	map_done(&book->index);
}

static struct region *region_named(struct region_book *book, const char *name, size_t bytes)
{
	uint64_t hash = map_hash(name, bytes);
	struct region *region;
	size_t *place;
	bool fresh;

	for (;; hash++) {
		place = map_put(&book->index, hash, &fresh);
		if (!place || fresh)
			break;
		region = &book->regions.at[*place];
		if (strlen(region->name) == bytes && memcmp(region->name, name, bytes) == 0)
			return region;
	}
	if (!place) {
		book->refused++;
		return book->regions.used > 0 ? &book->regions.at[book->regions.used - 1] : NULL;
	}
	*place = book->regions.used;
	region = vec_add(&book->regions);
	if (region)
		region->name = strndup(name, bytes);
	if (!region || !region->name) {
		book->regions.used -= region != NULL;
		(void)map_remove(&book->index, hash);
		return NULL;
	}
	return region;
}

static int begin(struct region_book *book, const struct tally *before)
{
	struct region *region = region_named(book, "", 0);

	if (!region)
		return -ENOMEM;
	region->calls = before->total;
	region->failed = before->failed;
	for (size_t i = 0; i < before->rows.used; i++)
		if (!vec_push(&region->by_row, before->rows.at[i].count))
			return -ENOMEM;
	return 0;
}

static double more(double now, double since)
{
	return now > since ? now - since : 0;
}

/* Tasks side by side are at different points: time never goes back. */
static void took(struct region *region, const struct untraced_point *since, const struct untraced_point *now)
{
	region->took.ns += more(now->ns, since->ns);
	region->took.wait_ns += more(now->wait_ns, since->wait_ns);
	region->took.io_ns += more(now->io_ns, since->io_ns);
	region->took.stops += more(now->stops, since->stops);
}

static void close_present(struct region_book *book, const struct untraced_point *now)
{
	if (book->regions.used > 0)
		took(&book->regions.at[book->present], &book->since, now);
	book->since = *now;
	if (book->regions.used > 0 && book->last_ns > book->since_ns)
		book->regions.at[book->present].wall_ns += book->last_ns - book->since_ns;
	book->since_ns = book->last_ns;
}

void region_look(struct region_book *book, const struct event_call *call)
{
	uint64_t end_ns = call->head.time_ns + call->duration_ns;

	if (book->since_ns == 0)
		book->since_ns = call->head.time_ns;
	if (end_ns > book->last_ns)
		book->last_ns = end_ns;
}

int region_mark(struct region_book *book, const struct event_call *mark, const struct tally *before,
		const struct untraced_point *now)
{
	const struct event_item *path = event_item(&mark->head, SYS_ITEM_PATH);
	const char *name = path ? event_item_data(path) : NULL;
	size_t bytes = path ? path->bytes : 0;
	struct region *region;

	/* A mark whose name could not be read begins nothing. */
	if (!name || bytes <= sizeof PREFIX - 1)
		return 0;
	if (book->regions.used == 0 && begin(book, before) < 0)
		return -ENOMEM;
	name += sizeof PREFIX - 1;
	bytes -= sizeof PREFIX - 1;
	if (bytes > REGION_NAME_MAX)
		bytes = REGION_NAME_MAX;
	region_look(book, mark);
	close_present(book, now);
	region = region_named(book, name, bytes);
	if (!region)
		return -ENOMEM;
	region->marks++;
	book->present = (size_t)(region - book->regions.at);
	return 0;
}

int region_add(struct region_book *book, uint32_t row, int err)
{
	struct region *region = &book->regions.at[book->present];

	region->calls++;
	region->failed += err != 0;
	while (region->by_row.used <= row)
		if (!vec_add(&region->by_row))
			return -ENOMEM;
	region->by_row.at[row]++;
	return 0;
}

void region_end(struct region_book *book, const struct untraced_point *end)
{
	close_present(book, end);
}
