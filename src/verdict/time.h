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
 *	calls   = count * price, and what was measured in this run where that
 *		  is surely more: see below
 *	waiting = what calls that can block took beyond F and price, when the
 *		  duration is far above F
 *	task    = user + calls
 *
 * A call that took long has worked, slept, or lost the CPU, it or we; only
 * the first is its own.  Where the kernel's account of the task is at hand
 * (struct time_account) it tells them apart.  Then a kind of call whose
 * samples take clearly more than its price has their mean for a price, and
 * what single ones took far above F (5 times) is added.  Without the account
 * long durations count when they are the way of that call: exec, or more than
 * a tenth of its calls.  Calls that always do the same never take longer.
 *
 * A path has a price by its parts, and a look-up that fails may have ended at the
 * first of them.  So where such a price is clearly more than the calls took,
 * beyond what we may be wrong about F, they have what they took.
 *
 * Durations are kept as counts and sums in half-octave classes per tally
 * row, because F is known only at the end: memory does not grow with calls.
 *
 * An engine that takes its times in the kernel says so (EVENT_FLOOR): F is 0, a
 * call costs what was measured and what entering and leaving cost, and waiting
 * is what calls that slept took beyond the others of their row.  What such a
 * call worked itself is in no duration; all of them together worked for what the
 * tasks had of CPUs beyond their stretches and the calls that did not sleep.
 * Forcing data to the disk is the one kind for which that is worth telling: it
 * gets an equal share for each, which is rather too little.
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

#define TIME_MEASURED_LEAST 8 /* samples of a kind of call, to stand for all */
#define TIME_SAMPLE_MOST_NS 150000 /* longer ones are not sampled, but all known */

/* What a task had of a CPU during one call; NULL or not known: durations only. */
struct time_account {
	bool known;
	bool whole; /* from its enter on: else ran_ns is the least that it can be */
	double ran_ns; /* our stops left out; may come out below 0 */
	double slept_ns; /* neither it nor we were in the queue for a CPU */
	double stop_ns; /* what of the duration is our stop */
	double run_stop_ns; /* of it: on the CPU */
};

struct time_row {
	uint64_t count[TIME_CLASSES];
	uint64_t sum_ns[TIME_CLASSES];
	/* Of these, with an account: a duration is then what the call had itself. */
	uint64_t known[TIME_CLASSES];
	uint64_t known_ns[TIME_CLASSES];
	uint64_t slept_ns[TIME_CLASSES]; /* of known_ns */
	double sample_ns, sample_stop_ns; /* sums: work, and our side of it */
	uint32_t sample_count;
	/* Taken in the kernel: those that did not sleep, and the others. */
	uint64_t awake, awake_ns, slept, asleep_ns;
};

/* The time of all calls of a row, waiting left out. */
struct time_amount {
	double ns, low_ns, high_ns;
	double waiting_ns;
	double usual_ns; /* of one call: what a quarter of them took at most; 0 not known */
	double most_ns; /* of one call, where the price by its path is more than they took; 0 it is not */
	enum price_source source; /* where most of it comes from */
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
	VEC(uint64_t) root_counts; /* by tally_row.index */
	uint64_t root_user_ns, root_gaps;
	uint64_t tasks_ended;
	bool in_kernel; /* durations are */
	uint64_t run_ns; /* on CPUs, of the tasks that have ended */
	double call_floor_ns, gap_floor_ns; /* the engine's own part of a call and of a stretch, taken out before */
	double asleep_work_ns; /* of each call that slept; time_settle() */
};

struct time_result {
	double stop_ns; /* F */
	bool stop_guessed;
	double user_ns, calls_ns, waiting_ns, task_ns;
	double root_ns, root_calls_ns; /* the first task's own user and call time; calls only */
	double stops_ns; /* all stops together */
};

/* Cheap whatever it is asked, and it never sleeps. */
bool time_is_cheap(enum sys_call_id id);
/* May wait for somebody else: what it takes longer is not its price. */
bool time_can_block(enum sys_call_id id);

void time_init(struct time_book *book);
void time_done(struct time_book *book);
/* Does it work in proportion to something?  Others cost the same each time. */
bool time_can_work(enum sys_call_id id);
/* Is its price the same whatever it is asked?  Not of what moves data, makes
 * files or mappings, or waits. */
bool time_is_firm(enum sys_call_id id);

/* `row` as tally_add gave it. -ENOMEM: this duration is not known. */
int time_add_call(struct time_book *book, const struct tally_row *row, const struct event_call *call, int err,
		  const struct time_account *account);
void time_add_exit(struct time_book *book, const struct event_exit *end);
/* From now on durations are taken in the kernel. */
void time_add_floor(struct time_book *book, const struct event_floor *floor);
/* All is added: before anything is asked. */
void time_settle(struct time_book *book);

/* F, also when there is nothing to find it by. */
double time_stop_ns(const struct time_book *book, struct price_book *prices, bool *ret_guessed);
void time_of_row(const struct time_book *book, const struct tally *tally, const struct tally_row *row,
		 struct price_book *prices, double stop_ns, struct time_amount *ret);
/* Everything; `amounts` (may be NULL) gets the time of each row by its index. */
void time_judge(const struct time_book *book, const struct tally *tally, struct price_book *prices,
		struct time_result *ret, struct time_amount *amounts);

#endif
