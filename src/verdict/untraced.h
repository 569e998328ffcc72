/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The virtual clock: what time it would be without us.  Every task has a
 * clock that its own work drives on, as the kernel accounts it (EVENT_CLOCK),
 * less the stops; where it waited it is set to what it waited for:
 *
 *	a child that it reaped      the end of the child's clock, if later
 *	time, or a time-out         as long as it really took
 *	a call that blocked while
 *	others of the tree worked   the clock of the one that worked last
 *	(pipe, futex, poll, …)
 *	anything else (disk, net)   as long as it really took
 *
 * A child's clock begins where its parent's stood at the fork.  Where the
 * first task's clock ends is the estimate.  What our stops cost in CPU time
 * is found in the run, in a sample of cheap calls.  Between two EVENT_CLOCKs,
 * and without any, wall times less the stops stand in.
 */
#ifndef SYSCULL_VERDICT_UNTRACED_H
#define SYSCULL_VERDICT_UNTRACED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "event/event.h"
#include "verdict/price.h"
#include "verdict/probe.h"
#include "verdict/time.h"

#define UNTRACED_TASKS_MAX 65536
#define UNTRACED_RESERVOIR 256
#define UNTRACED_FIRST 8
#define UNTRACED_MORE_NS 500.0 /* more_ns, before it is known */

/* A moment, as the sum of the way that led to it. */
struct untraced_point {
	double ns; /* since the begin, waiting included */
	double wait_ns; /* of it: nothing of the tree ran */
	double io_ns; /* of it, and not of wait_ns: in a call that slept for a disk or the like */
	double stops; /* calls whose stop was taken out */
};

/* As EVENT_CLOCK has it. */
struct untraced_account {
	uint64_t run_ns, queue_ns, turns, wall_ns, stops, late_ns;
};

struct untraced_task {
	struct untraced_point at, base; /* now; at the last clock */
	double spent_ns; /* work without a clock */
	double own_ns, own_stops; /* work, and calls in it, of its present program */
	struct untraced_account last, enter; /* of the last clock; of the present call's enter */
	uint64_t end_ns; /* real time of its last sign of life */
	uint64_t enter_ns; /* of the present call, from its clock */
	double queued_ns; /* of the stretch before the call whose record comes next */
	double sleep_ns; /* in the call whose record comes next */
	double sample_run_ns; /* of a sampled call */
	struct time_account call; /* of the call whose record comes next, and what was before it */
	double stretch_ns, stretch_stops; /* of all that */
	uint32_t tid;
	uint8_t last_at; /* enum event_clock_at of the last clock */
	uint8_t naps; /* how often it slept of late: 0 never, 248 always */
	bool clocked, returned, sampled, entered;
};

/* A mean that forgets: what a stop costs changes when a tree is unpinned. */
struct untraced_mean {
	double value;
	uint32_t count;
	float first[UNTRACED_FIRST]; /* a mean of so few is what the worst of them makes it */
};

struct untraced {
	struct map tasks; /* tid → struct untraced_task */
	struct map ended; /* pid or tid → struct untraced_point: not yet reaped */
	struct untraced_task *last;
	uint32_t latest[2]; /* tids: who gave a sign of life last, and before */
	uint64_t latest_ns[2];
	uint32_t root_tid;
	bool root_ended;
	struct untraced_point root_end;
	struct untraced_mean run, idle; /* of the stop in a cheap call: on the CPU, waiting for us */
	struct untraced_mean teardown; /* of processes, after their last clock */
	double more_ns; /* the stop at enter costs more than the one at return */
	float call_samples[UNTRACED_RESERVOIR], gap_samples[UNTRACED_RESERVOIR];
	uint32_t call_count, gap_count, learned;
	uint32_t since_steady; /* samples since that of a call whose cost is known well */
	uint32_t far_off; /* samples in a row that did not fit */
	uint64_t sampled[PROBE_COUNT]; /* which calls the samples are of */
	double work_ns, work_stops; /* all tasks: CPU time and the calls in it */
	double ended_ns, ended_stops; /* of the program that the last record ended: exec or exit */
	double io_ns; /* slow calls that wait for nobody: disk, remote files */
	uint64_t clocks, unclocked; /* tasks that ended with and without one */
	uint64_t dropped; /* tasks beyond the limit */
	struct time_account call; /* of the last call that was fed */
	bool late_told; /* clocks say how long the observer was kept waiting */
	bool in_kernel; /* durations are, and no stop is in them (EVENT_FLOOR) */
	double gap_ns; /* then: what of a stretch between calls is the engine's */
};

struct untraced_result {
	double ns; /* wall time without us; 0 when nothing is known */
	double wait_ns; /* of it: nothing of the tree ran */
	double work_ns; /* CPU time of all tasks without us; valid when clocked */
	bool clocked; /* from the kernel's account */
	double dearer_ns; /* of each call, to be added to work that was counted as it came */
	double ns_spread, work_spread; /* what either may be off by, since a stop's cost is not exact */
};

void untraced_init(struct untraced *book);
void untraced_done(struct untraced *book);
/* Beyond the limit and without memory tasks are left out, and `dropped` grows. */
void untraced_feed(struct untraced *book, const struct event_head *head, enum sys_call_id id, int err);
/* Where a task is; where the first one ended, or is, when there is no such task. */
struct untraced_point untraced_now(const struct untraced *book, uint32_t tid);
/* `prices` turns what cheap calls were taken to cost into what they do cost. */
void untraced_judge(const struct untraced *book, struct price_book *prices, struct untraced_result *ret);

#endif
