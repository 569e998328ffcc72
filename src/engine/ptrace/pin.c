/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stop costs a tenth when tracer and tracee share a CPU, so a launched
 * tree of one task is pinned to ours.  The program must not notice: its
 * sched_getaffinity is answered with the mask it had, and the pinning is
 * undone, for good, before anything whose behaviour depends on the mask: a
 * second task, a scheduling call, a look at /proc/…/status.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/ptrace/ptrace.h"

#define CPU_IN(mask, cpu) ((mask)[(cpu) / 8] & (1u << ((cpu) % 8)))

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

void pin_start(struct engine_pt *e, pid_t tid)
{
	uint8_t one[PIN_MASK_BYTES] = { 0 };
	long bytes;
	int cpu;

	if (e->pin.when == ENGINE_PIN_NEVER)
		return;
	bytes = get_mask(tid, e->pin.original, sizeof e->pin.original);
	cpu = sched_getcpu();
	if (bytes <= 0 || cpu < 0 || (size_t)cpu / 8 >= (size_t)bytes || !CPU_IN(e->pin.original, cpu))
		return;
	one[cpu / 8] = (uint8_t)(1u << (cpu % 8));
	if (set_mask(tid, one, (size_t)bytes) != 0)
		return;
	if (set_mask(0, one, (size_t)bytes) != 0) {
		(void)set_mask(tid, e->pin.original, (size_t)bytes);
		return;
	}
	e->pin.cpu = cpu;
	e->pin.original_bytes = (size_t)bytes;
	e->pin.active = true;
	e->stats.pinned = true;
	e->stats.was_pinned = true;
}

void pin_undo(struct engine_pt *e, pid_t tid)
{
	if (!e->pin.active)
		return;
	e->pin.active = false;
	(void)set_mask(tid, e->pin.original, e->pin.original_bytes);
	(void)set_mask(0, e->pin.original, e->pin.original_bytes);
}

static bool is_self(const struct task *task, uint64_t pid)
{
	return (pid_t)pid == 0 || (pid_t)pid == task->tid || (pid_t)pid == task->pid;
}

static void undo_for_program(struct engine_pt *e, struct task *task)
{
	e->stats.pinned = false;
	pin_undo(e, task->tid);
}

void pin_enter(struct engine_pt *e, struct task *task)
{
	if (!e->pin.active)
		return;
	switch ((int)task->id) {
	case CALL_sched_setaffinity:
	case CALL_sched_setscheduler:
	case CALL_sched_setparam:
	case CALL_sched_setattr:
		/* Undone first: a mask that the program sets stays. */
		undo_for_program(e, task);
		return;
	default:
		return;
	}
}

/* Does a look at this file show the mask?  /proc/PID/status, also by a path
 * relative to a folder of procfs. */
static bool shows_mask(const char *path, size_t bytes)
{
	static const char proc[] = "/proc/", end[] = "status";

	if (bytes < sizeof end - 1 || memcmp(path + bytes - (sizeof end - 1), end, sizeof end - 1) != 0)
		return false;
	return path[0] != '/' || (bytes > sizeof proc && memcmp(path, proc, sizeof proc - 1) == 0);
}

void pin_exit(struct engine_pt *e, struct task *task, const struct event_head *call, int64_t ret)
{
	const struct event_item *path;

	if (task->arch != SYS_ARCH_NATIVE)
		return;
	switch ((int)task->id) {
	case CALL_sched_getaffinity:
		if (ret > 0 && is_self(task, task->args[0])) {
			size_t bytes = (size_t)ret < e->pin.original_bytes ? (size_t)ret : e->pin.original_bytes;

			if (!memory_write(e, task->tid, task->args[2], e->pin.original, bytes))
				undo_for_program(e, task);
		}
		return;
	case CALL_open:
	case CALL_openat:
	case CALL_openat2:
		if (ret < 0)
			return;
		path = call ? event_item(call, SYS_ITEM_PATH) : NULL;
		if (!path || shows_mask(event_item_data(path), path->bytes))
			undo_for_program(e, task);
		return;
	default:
		return;
	}
}

void pin_fork(struct engine_pt *e, struct task *parent)
{
	if (!e->pin.active || e->pin.when == ENGINE_PIN_ALWAYS)
		return;
	e->pin.fix_child = true;
	undo_for_program(e, parent);
}

void pin_child(struct engine_pt *e, pid_t tid)
{
	if (!e->pin.fix_child)
		return;
	e->pin.fix_child = false;
	(void)set_mask(tid, e->pin.original, e->pin.original_bytes);
}

void pin_let_go(struct engine_pt *e, pid_t tid)
{
	if (e->pin.when == ENGINE_PIN_ALWAYS && e->stats.was_pinned)
		(void)set_mask(tid, e->pin.original, e->pin.original_bytes);
}
