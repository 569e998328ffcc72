/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of the measured times is our own, found by calls that do nothing: a
 * child makes them before its execve, so under the same programs and by the
 * same way as all others.  Middles, since a child that was just made is cold.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/bpf/bpf.h"

#define CALLS 96
#define FIRST 32 /* not looked at */

void calibrate_calls(void)
{
	for (int i = 0; i < CALLS; i++)
		(void)syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
	/* With a name to be copied: behind such a record the stretch begins when it is written. */
	for (int i = 0; i < CALLS; i++)
		(void)syscall(SYS_getxattr, "/", "none.", NULL, 0, 0, 0);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t middle(uint64_t *values, size_t count)
{
	if (count == 0)
		return 0;
	qsort(values, count, sizeof *values, by_value);
	return values[count / 2];
}

/* What was seen of the calls of one kind. */
struct probed {
	uint64_t durations[CALLS], gaps[CALLS];
	size_t count, used, gap_count;
};

static void add(struct probed *probed, const struct event_call *call)
{
	if (probed->count++ < FIRST || probed->used == CALLS)
		return;
	probed->durations[probed->used++] = call->duration_ns;
	probed->gaps[probed->gap_count++] = call->args[KERN_GAP_ARG];
}

int calibrate_take(struct engine_bpf *e, struct error *err)
{
	struct probed plain = { 0 }, named = { 0 };
	struct event_floor *floor;
	const void *raw;
	bool dry;

	(void)err;
	while ((raw = ring_next(&e->loaded.ring, &dry))) {
		const struct event_call *call = raw;

		if (call->head.type != EVENT_CALL || !(call->head.flags & KERN_F_PROBED))
			continue;
		add(call->nr == SYS_getppid ? &plain : &named, call);
	}
	e->loaded.live->floor_ns = middle(plain.durations, plain.used);
	e->gap_ns = (double)middle(plain.gaps, plain.gap_count);
	e->late_gap_ns = (double)middle(named.gaps, named.gap_count);
	floor = event_begin(&e->record, EVENT_FLOOR);
	if (floor) {
		floor->call_ns = e->loaded.live->floor_ns;
		floor->gap_ns = (uint64_t)e->gap_ns;
	}
	(void)bpf_emit(e);
	return 0;
}

int calibrate_child(struct engine_bpf *e, struct error *err)
{
	int go[2];
	pid_t pid;
	char byte;
	int r;

	if (pipe(go) != 0)
		return error_errno(err, errno, "starting the bpf engine: pipe");
	pid = fork();
	if (pid == 0) {
		(void)close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			calibrate_calls();
		_exit(0);
	}
	(void)close(go[0]);
	if (pid < 0) {
		r = error_errno(err, errno, "starting the bpf engine: fork");
		(void)close(go[1]);
		return r;
	}
	r = load_arm(&e->loaded, pid, pid, KERN_TASK_STARTING, 0, code_of_child(&e->loaded));
	if (r == 0 && write(go[1], "", 1) != 1)
		r = -errno;
	(void)close(go[1]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return error_errno(err, -r, "starting the bpf engine");
	return calibrate_take(e, err);
}
