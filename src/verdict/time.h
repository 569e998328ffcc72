/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Honest time.  A tracer that stops the task makes every call and every
 * stretch between two calls longer by the cost of one stop, F:
 *
 *	duration of a call  = time in the kernel (price, work, waiting) + F
 *	stretch before it   = user time + F
 *
 * F is found in the run itself: the trimmed mean of (duration - price) over
 * calls that are cheap and never block.  Then
 *
 *	user    = sum of stretches - number of stretches * F, at least 0
 *	calls   = count * price; a duration far above F (5 times) counts as
 *		  measured work where it is the way of that call (exec, or more
 *		  than a tenth of its calls) and it cannot block
 *	waiting = what calls that can block took beyond F and price, when the
 *		  duration is far above F
 *	task    = user + calls
 *
 * Durations are kept as counts and sums in half-octave classes per tally
 * row, because F is known only at the end: memory does not grow with calls.
 * An engine without stops gives F near 0 by the same arithmetic.
 */
#ifndef SYSCULL_VERDICT_TIME_H
#define SYSCULL_VERDICT_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "event/event.h"
#include "verdict/price.h"
#include "verdict/tally.h"

#define TIME_CLASSES 80
#define TIME_SAMPLES_MAX 4096
#define TIME_SAMPLES_LEAST 20 /* fewer: F is a guess, and said to be one */
#define TIME_FAR 5 /* times F */

struct time_row {
	uint64_t count[TIME_CLASSES];
	uint64_t sum_ns[TIME_CLASSES];
};

struct time_sample {
	uint32_t duration_ns;
	uint16_t call; /* enum sys_call_id */
	uint16_t err;
};

struct time_book {
	VEC(struct time_row) rows; /* by tally_row.index */
	struct time_sample samples[TIME_SAMPLES_MAX];
	uint32_t sample_count, sample_stride, sample_skip;
	uint64_t timed; /* calls with a duration */
	uint64_t user_ns, user_gaps;
	/* The first process: the one whose end is the end of the run. */
	uint32_t root_tid;
	uint64_t root_calls, root_user_ns, root_gaps;
	uint64_t tasks_ended;
};

struct time_result {
	double stop_ns; /* F */
	bool stop_guessed;
	double user_ns, calls_ns, waiting_ns, task_ns;
	double root_ns; /* the first task's own user and call time */
	double stops_ns; /* all stops together */
};

/* Cheap whatever it is asked, and it never sleeps. */
bool time_is_cheap(enum sys_call_id id);
/* May wait for somebody else: what it takes longer is not its price. */
bool time_can_block(enum sys_call_id id);

void time_init(struct time_book *book);
void time_done(struct time_book *book);
/* `row` as tally_add gave it. -ENOMEM: this duration is not known. */
int time_add_call(struct time_book *book, const struct tally_row *row, const struct event_call *call, int err);
void time_add_exit(struct time_book *book, const struct event_exit *end);

/* F, also when there is nothing to find it by. */
double time_stop_ns(const struct time_book *book, struct price_book *prices, bool *ret_guessed);
/* The time of all calls of one row without our stops; waiting is left out and
 * added to *waiting_ns. */
double time_of_row(const struct time_book *book, const struct tally *tally, const struct tally_row *row,
		   struct price_book *prices, double stop_ns, double *waiting_ns);
/* Everything; `row_ns` (may be NULL) gets the time of each row by its index. */
void time_judge(const struct time_book *book, const struct tally *tally, struct price_book *prices,
		struct time_result *ret, double *row_ns);

#endif
