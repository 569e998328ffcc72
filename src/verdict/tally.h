/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact counts of calls: by call, by errno, for the tree and per image. */
#ifndef SYSCULL_VERDICT_TALLY_H
#define SYSCULL_VERDICT_TALLY_H

#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "event/event.h"

struct tally_row {
	uint16_t arch;
	int32_t nr;
	enum sys_call_id id; /* CALL_unknown: name by sys_call_print */
	uint64_t count, failed;
	uint64_t duration_ns; /* as seen, stops included */
	uint64_t path_components; /* sum, for pricing */
};

struct tally {
	struct map rows; /* (arch, nr) → struct tally_row */
	struct map errors; /* (arch, nr, errno) → uint64_t */
	uint64_t total, failed;
	uint64_t lost; /* counts that found no room: then the books say so */
};

void tally_init(struct tally *tally);
void tally_done(struct tally *tally);
void tally_add(struct tally *tally, const struct event_call *call, int err, unsigned path_components);
uint64_t tally_errors(const struct tally *tally, const struct tally_row *row, int err);
/* Copies of all rows, largest count first (then by name); caller frees *ret_rows. */
int tally_sorted(const struct tally *tally, struct tally_row **ret_rows, size_t *ret_count);

#endif
