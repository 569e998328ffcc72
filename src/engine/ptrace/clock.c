/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a CPU a task has had, from /proc/TID/schedstat (fs/proc/base.c:
 * time on a CPU, time in the queue, in nanoseconds, exact while it is
 * stopped).  Wall time between our stops is mostly the stops; this is not.
 * A read costs 1 us, so that it is done for a sample of the calls, around
 * those that wait, and after long stretches; the verdict does the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/ptrace/proc.h"

#define LONG_NS 150000 /* several stops: something else happened too */
#define FDS_KEPT 256
#define TICK_TASKS 64 /* looked at, at most */
#define FIRST_SAMPLES 8 /* close together, to know early what a stop costs */

/* Opened once, as long as there are descriptors enough for everything else. */
static int clock_fd(struct engine_pt *e, struct task *task)
{
	struct rlimit limit;

	if (task->clock_fd >= 0)
		return task->clock_fd;
	if (task->clock_fd == -2)
		return -1;
	if (e->clock_fds_max == 0) {
		e->clock_fds_max = FDS_KEPT;
		if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < FDS_KEPT)
			e->clock_fds_max = (unsigned)(limit.rlim_cur / 4) + 1;
	}
	task->clock_fd = proc_open(task->tid, "schedstat", O_RDONLY);
	if (task->clock_fd < 0) {
		task->clock_fd = -2;
		return -1;
	}
	e->clock_fds++;
	return task->clock_fd;
}

void clock_close(struct engine_pt *e, struct task *task)
{
	if (task->clock_fd >= 0) {
		(void)close(task->clock_fd);
		e->clock_fds--;
	}
	task->clock_fd = -1;
}

void clock_close_own(struct engine_pt *e)
{
	if (e->clock_own_fd >= 0)
		(void)close(e->clock_own_fd);
	e->clock_own_fd = -2;
}

/* Time on a CPU, time in the queue, number of times that it was given one. */
static bool read_account(int fd, uint64_t ret[static 3])
{
	char text[64], *end = text;
	ssize_t n = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	for (unsigned i = 0; i < 3; i++)
		ret[i] = strtoull(end, &end, 10);
	return true;
}

/* What a stopped task waits for us while others have our CPU is no work of
 * its, nor is it what a stop costs. */
static uint64_t late_ns(struct engine_pt *e)
{
	uint64_t account[3];

	if (e->clock_own_fd == -1) {
		e->clock_own_fd = proc_open(gettid(), "schedstat", O_RDONLY);
		if (e->clock_own_fd < 0)
			e->clock_own_fd = -2;
	}
	return read_account(e->clock_own_fd, account) ? account[1] : 0;
}

static bool account_of(struct engine_pt *e, struct task *task, uint64_t ret[static 3])
{
	bool known = read_account(clock_fd(e, task), ret);

	if (e->clock_fds > e->clock_fds_max)
		clock_close(e, task);
	if (known)
		pin_account(e, task, ret[0], ret[1]);
	return known;
}

void clock_tell(struct engine_pt *e, struct task *task, enum event_clock_at at, uint64_t seen_ns)
{
	struct event_clock *clock;
	uint64_t account[3];

	if (!account_of(e, task, account))
		return;
	clock = event_begin(&e->record, EVENT_CLOCK);
	if (clock) {
		engine_head(e, &clock->head, task, seen_ns);
		clock->run_ns = account[0];
		clock->queue_ns = account[1];
		clock->turns = account[2];
		clock->late_ns = late_ns(e);
		clock->wall_ns = task->wall_ns;
		clock->stops = task->stops;
		clock->at = at;
	}
	(void)engine_emit(e);
}

void clock_tick(struct engine_pt *e)
{
	uint64_t account[3];
	unsigned left = TICK_TASKS;
	size_t iter = 0;
	struct task **slot;

	while (e->pin.active && left-- > 0 && (slot = map_next(&e->tasks, &iter, NULL)))
		if ((*slot)->released_ns != 0)
			(void)account_of(e, *slot, account);
}

/* Calls that wait for other tasks or for time by their nature. */
static bool waits(enum sys_call_id id)
{
	const uint64_t families = SYS_FAMILY_wait | SYS_FAMILY_poll | SYS_FAMILY_sleep | SYS_FAMILY_futex |
				  SYS_FAMILY_fork | SYS_FAMILY_exec;

	return id != CALL_unknown && (sys_call(id)->classes & families) != 0;
}

static bool was_slow(const struct task *task)
{
	return task->nr >= 0 && task->nr < CLOCK_CALLS && (task->slow_calls[task->nr / 64] >> (task->nr % 64) & 1);
}

void clock_enter(struct engine_pt *e, struct task *task, uint64_t seen_ns)
{
	/* Odd and changing: a loop of calls must not meet the same one always. */
	static const uint8_t steps[] = { 13, 17, 11, 19, 15 };

	if (task->clock_sampling) {
		/* The stretch after the sampled call. */
		task->clock_sampling = false;
		clock_tell(e, task, EVENT_CLOCK_ENTER, seen_ns);
		return;
	}
	if (task->clock_left > 0)
		task->clock_left--;
	if (task->clock_left == 0) {
		task->clock_sampling = true;
		task->clock_left = task->clock_turn < FIRST_SAMPLES ? 3 : steps[task->clock_turn % sizeof steps];
		task->clock_turn++;
		if (task->clock_turn == 255)
			task->clock_turn = FIRST_SAMPLES;
	} else if (task->gap_ns < LONG_NS && !waits(task->id) && !was_slow(task)) {
		return;
	}
	clock_tell(e, task, EVENT_CLOCK_ENTER, seen_ns);
}

void clock_return(struct engine_pt *e, struct task *task, uint64_t seen_ns)
{
	bool slow = task->call_ns >= LONG_NS;

	if (task->clock_sampling || slow || waits(task->id) || was_slow(task))
		clock_tell(e, task, EVENT_CLOCK_RETURN, seen_ns);
	if (task->nr < 0 || task->nr >= CLOCK_CALLS)
		return;
	if (slow)
		task->slow_calls[task->nr / 64] |= UINT64_C(1) << (task->nr % 64);
	else
		task->slow_calls[task->nr / 64] &= ~(UINT64_C(1) << (task->nr % 64));
}
