/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was called in which region.  A region begins with a mark (a look-up
 * of /.syscull/mark/NAME) by any task of the tree, is the whole tree's, and
 * lasts until the next mark; a name that comes again goes on where it was.
 * Regions of programs that run at the same time cannot be told apart.
 */
#ifndef SYSCULL_VERDICT_REGION_H
#define SYSCULL_VERDICT_REGION_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "event/event.h"
#include "verdict/tally.h"
#include "verdict/untraced.h"

#define REGIONS_MAX 10000 /* more share the last one, and that is said */
#define REGION_NAME_MAX 200

struct region {
	char *name; /* "" before the first mark */
	uint64_t marks; /* how often it began */
	uint64_t calls, failed;
	uint64_t wall_ns; /* as traced */
	struct untraced_point took; /* without us */
	VEC(uint64_t) by_row; /* calls by index of the row in the tally that is shown */
};

struct region_book {
	VEC(struct region) regions; /* in the order of their first mark */
	struct map index; /* hash of the name → place in regions */
	size_t present;
	uint64_t since_ns, last_ns;
	struct untraced_point since; /* where who began the present one was then */
	uint64_t refused; /* marks with names beyond the limit */
};

void region_init(struct region_book *book);
void region_done(struct region_book *book);
/* Takes the record of a mark: 0 or -ENOMEM (the present region goes on).
 * One without a readable name is ignored.
 * What was counted before the first one is the region "".  `now`: where its
 * task is, as untraced_now tells it. */
int region_mark(struct region_book *book, const struct event_call *mark, const struct tally *before,
		const struct untraced_point *now);
/* For every call once there are regions: time passes in the present one. */
void region_look(struct region_book *book, const struct event_call *call);
/* For every one that counts. */
int region_add(struct region_book *book, uint32_t row, int err);
/* After the last record; `end`: where the first task ended. */
void region_end(struct region_book *book, const struct untraced_point *end);

#endif
