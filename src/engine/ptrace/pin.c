/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stop costs a tenth when tracer and tracee share a CPU, so a launched
 * tree is pinned to ours as long as its tasks take turns anyway, as those of
 * a script do.  Programs must not notice: sched_getaffinity is answered with
 * the mask that the command had, and the pinning is undone, for good and for
 * the whole tree, before anything whose behaviour depends on the mask: a
 * scheduling call, a look at /proc/…/status, a session or a pid namespace of
 * its own.  It is also undone when tasks wait for each other
 * for longer than stops across CPUs would take.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/ptrace/ptrace.h"

#define CPU_IN(mask, cpu) ((mask)[(cpu) / 8] & (1u << ((cpu) % 8)))

#define PERIOD_NS UINT64_C(20000000)
#define FAR_STOP_NS 50000 /* what a stop costs more across CPUs */
#define LOST_SHARE 4 /* a quarter of the period */
#define BAD_PERIODS 2 /* in a row */

/* The raw calls: glibc's cpu_set_t has a fixed size and its wrapper another
 * return value. */
static long get_mask(pid_t tid, uint8_t *mask, size_t bytes)
{
	return syscall(SYS_sched_getaffinity, tid, bytes, mask);
}

static long set_mask(pid_t tid, const uint8_t *mask, size_t bytes)
{
	return syscall(SYS_sched_setaffinity, tid, bytes, mask);
}

/* Of two tasks on one CPU, one that spins would keep a real-time other from
 * ever running. */
static bool is_real_time(void)
{
	int policy = sched_getscheduler(0);

	return policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE;
}

void pin_start(struct engine_pt *e, struct task *task)
{
	uint8_t one[PIN_MASK_BYTES] = { 0 };
	long bytes;
	int cpu;

	if (e->pin.when == ENGINE_PIN_NEVER)
		return;
	bytes = get_mask(task->tid, e->pin.original, sizeof e->pin.original);
	cpu = sched_getcpu();
	if (bytes <= 0 || cpu < 0 || (size_t)cpu / 8 >= (size_t)bytes || !CPU_IN(e->pin.original, cpu))
		return;
	one[cpu / 8] = (uint8_t)(1u << (cpu % 8));
	if (set_mask(task->tid, one, (size_t)bytes) != 0)
		return;
	if (set_mask(0, one, (size_t)bytes) != 0) {
		(void)set_mask(task->tid, e->pin.original, (size_t)bytes);
		return;
	}
	e->pin.cpu = cpu;
	e->pin.original_bytes = (size_t)bytes;
	e->pin.active = true;
	e->pin.alone = is_real_time();
	task->pinned = true;
	e->stats.pinned = true;
	e->stats.was_pinned = true;
}

void pin_free(struct engine_pt *e, pid_t tid)
{
	uint8_t mask[PIN_MASK_BYTES] = { 0 }, one[PIN_MASK_BYTES] = { 0 };

	if (!e->stats.was_pinned)
		return;
	one[e->pin.cpu / 8] = (uint8_t)(1u << (e->pin.cpu % 8));
	if (get_mask(tid, mask, sizeof mask) > 0 && memcmp(mask, one, sizeof mask) == 0)
		(void)set_mask(tid, e->pin.original, e->pin.original_bytes);
}

void pin_undo(struct engine_pt *e)
{
	size_t iter = 0;
	struct task **slot;

	if (!e->pin.active)
		return;
	e->pin.active = false;
	while ((slot = map_next(&e->tasks, &iter, NULL))) {
		struct task *task = *slot;

		if (!task->pinned)
			continue;
		/* A child that it is just making may have the mask already. */
		task->fork_pinned = task->in_call;
		task->pinned = false;
		(void)set_mask(task->tid, e->pin.original, e->pin.original_bytes);
	}
	(void)set_mask(0, e->pin.original, e->pin.original_bytes);
}

static void undo_for_program(struct engine_pt *e)
{
	if (e->pin.active)
		e->stats.pinned = false;
	pin_undo(e);
}

void pin_enter(struct engine_pt *e, struct task *task)
{
	task->fork_pinned = false;
	if (!e->pin.active)
		return;
	if (task->arch != SYS_ARCH_NATIVE) {
		/* What it asks is not looked at. */
		undo_for_program(e);
		return;
	}
	switch ((int)task->id) {
	case CALL_sched_setaffinity:
	case CALL_sched_setscheduler:
	case CALL_sched_setparam:
	case CALL_sched_setattr:
		/* Undone first: a mask that the program sets stays. */
		undo_for_program(e);
		return;
	case CALL_setsid:
		/* It may outlive us. */
		if (e->pin.when == ENGINE_PIN_AUTO)
			undo_for_program(e);
		return;
	default:
		return;
	}
}

/* Does a look at this file show the mask?  /proc/PID/status, also by a path
 * relative to a folder of procfs; no folder does. */
static bool shows_mask(const char *path, size_t bytes)
{
	static const char proc[] = "/proc/", end[] = "status";
	const size_t last = sizeof end - 1;

	if (bytes < last || memcmp(path + bytes - last, end, last) != 0 ||
	    (bytes > last && path[bytes - last - 1] != '/'))
		return false;
	return path[0] != '/' || (bytes > sizeof proc && memcmp(path, proc, sizeof proc - 1) == 0);
}

static bool opens_folder(const struct task *task)
{
	if (task->id == CALL_openat2)
		return false;
	return (task->args[task->id == CALL_open ? 1 : 2] & O_DIRECTORY) != 0;
}

/* Is it a pinned task of ours that the program asks of? */
static bool is_pinned(struct engine_pt *e, const struct task *task, uint64_t tid)
{
	const struct task *asked = tid == 0 ? task : task_find(e, (pid_t)tid);

	return asked && asked->pinned;
}

void pin_exit(struct engine_pt *e, struct task *task, const struct event_head *call, int64_t ret)
{
	const struct event_item *path;

	if (task->arch != SYS_ARCH_NATIVE)
		return;
	switch ((int)task->id) {
	case CALL_sched_getaffinity:
		if (ret > 0 && is_pinned(e, task, task->args[0])) {
			size_t bytes = (size_t)ret < e->pin.original_bytes ? (size_t)ret : e->pin.original_bytes;

			if (!memory_write(e, task->tid, task->args[2], e->pin.original, bytes))
				undo_for_program(e);
		}
		return;
	case CALL_open:
	case CALL_openat:
	case CALL_openat2:
		if (ret < 0 || opens_folder(task))
			return;
		path = call ? event_item(call, SYS_ITEM_PATH) : NULL;
		if (!path || shows_mask(event_item_data(path), path->bytes))
			undo_for_program(e);
		return;
	default:
		return;
	}
}

void pin_fork(struct engine_pt *e, struct task *parent, struct task *child)
{
	child->pinned = parent->pinned || parent->fork_pinned;
	if (!e->pin.active)
		return;
	/* Task numbers of another namespace say nothing to us. */
	if ((e->pin.when == ENGINE_PIN_AUTO && e->pin.alone) || e->pidns_seen || parent->foreign_ns)
		undo_for_program(e);
}

void pin_child(struct engine_pt *e, struct task *child)
{
	if (child->adopted) {
		pin_free(e, child->tid);
	} else if (child->pinned && (!e->pin.active || child->refused)) {
		child->pinned = false;
		(void)set_mask(child->tid, e->pin.original, e->pin.original_bytes);
	}
}

/* Serial tasks wait for nobody on a CPU; what a task waits while others of
 * the tree run is what they would not wait on two. */
void pin_account(struct engine_pt *e, struct task *task, uint64_t run_ns, uint64_t queue_ns)
{
	struct pin *pin = &e->pin;
	uint64_t now, stops, ran_ns, others_ns;

	if (!pin->active || pin->when != ENGINE_PIN_AUTO)
		return;
	ran_ns = run_ns - task->pin_run_ns;
	others_ns = pin->ran_ns - task->pin_ran_ns;
	task->pin_wait_ns += queue_ns - task->pin_queue_ns;
	if (others_ns > task->pin_wait_ns)
		others_ns = task->pin_wait_ns;
	pin->lost_ns += others_ns;
	/* Others may tell of theirs later; what strangers ran is not waited for. */
	task->pin_wait_ns = (task->pin_wait_ns - others_ns) / 2;
	pin->ran_ns += ran_ns;
	task->pin_ran_ns = pin->ran_ns;
	task->pin_run_ns = run_ns;
	task->pin_queue_ns = queue_ns;

	now = clock_now_ns();
	if (now - pin->since_ns < PERIOD_NS)
		return;
	stops = e->stats.stops - pin->since_stops;
	if (pin->lost_ns > (now - pin->since_ns) / LOST_SHARE && pin->lost_ns > stops * FAR_STOP_NS)
		pin->bad++;
	else
		pin->bad = 0;
	pin->since_ns = now;
	pin->since_stops = e->stats.stops;
	pin->lost_ns = 0;
	if (pin->bad >= BAD_PERIODS)
		undo_for_program(e);
}
