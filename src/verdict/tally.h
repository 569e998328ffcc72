/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact counts of calls, by call and by errno, over the whole tree.  Counts
 * everything that it is given; what is no call (marks) is not given to it.
 */
#ifndef SYSCULL_VERDICT_TALLY_H
#define SYSCULL_VERDICT_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "event/event.h"

#define TALLY_ROWS_MAX 4096 /* a tracee can make up numbers */
#define TALLY_DIRECT 512
#define TALLY_OTHER_NR INT32_MIN /* the row of what found no row of its own */

struct tally_row {
	uint32_t index; /* in order of first sight, below TALLY_ROWS_MAX */
	uint16_t arch;
	int32_t nr;
	enum sys_call_id id; /* CALL_unknown: name by sys_call_print */
	uint64_t count, failed;
	uint64_t duration_ns; /* as seen, stops included */
	uint64_t path_components; /* sum, for pricing */
};

struct tally {
	VEC(struct tally_row) rows; /* in order of first sight */
	uint32_t direct[TALLY_DIRECT]; /* native number → row + 1, 0 none */
	uint32_t other; /* row + 1 of TALLY_OTHER_NR */
	struct map index; /* (arch, nr) of all others → uint32_t row + 1 */
	struct map errors; /* (row, errno) → uint64_t */
	uint64_t total, failed;
	uint64_t lost; /* counts whose call or errno found no room: then the books say so */
};

void tally_init(struct tally *tally);
void tally_done(struct tally *tally);
/* The row that it was counted in, valid until the next call; NULL: only the total grew. */
const struct tally_row *tally_add(struct tally *tally, const struct event_call *call, int err,
				  unsigned path_components);
/* Calls of which nothing more is known: err 0 and `failed`: not with what.
 * They are in the counts alone.  False: only in the total. */
bool tally_add_lost(struct tally *tally, uint16_t arch, int32_t nr, bool failed, int err, uint64_t count);
uint64_t tally_errors(const struct tally *tally, const struct tally_row *row, int err);
/* Walks the failures of a row: *iter starts at 0; false at the end. */
bool tally_next_error(const struct tally *tally, const struct tally_row *row, size_t *iter, int *ret_err,
		      uint64_t *ret_count);
/* The same over all rows: *ret_row is the row's index. */
bool tally_next_error_any(const struct tally *tally, size_t *iter, uint32_t *ret_row, int *ret_err,
			  uint64_t *ret_count);
/* Copies of all rows, largest count first (then by name); caller frees *ret_rows. */
int tally_sorted(const struct tally *tally, struct tally_row **ret_rows, size_t *ret_count);

#endif
