/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaches to what already runs.  The list of threads is read again until it
 * brings nothing new, because threads are made while we look.  A process
 * that we attached to must never be harmed: no EXITKILL, and all that was
 * taken is let go when anything fails.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "base/clock.h"
#include "engine/ptrace/proc.h"
#include "engine/whom.h"

#define ROUNDS_MAX 100

/* A thread that ends is refused as if by right until it is gone. */
static bool has_ended(pid_t tid)
{
	unsigned flags;
	char state;

	return !whom_state(tid, &state, &flags) || state == 'Z' || state == 'X';
}

static int seize(struct engine_pt *e, pid_t pid, pid_t tid, struct error *err)
{
	struct task *task;

	if (ptrace(PTRACE_SEIZE, tid, NULL, TRACE_OPTIONS) != 0) {
		int code = errno;

		if (tid != pid && (code == ESRCH || (code == EPERM && has_ended(tid))))
			return 0;
		if (code == EPERM || code == EACCES || code == ENOSYS) {
			struct refusal refusal;

			refusal_find(&refusal, tid, code);
			return error_set(err, code, "cannot attach to %d: %s%s%s", (int)pid, refusal.why,
					 refusal.brief[0] ? "; " : "", refusal.brief);
		}
		return error_errno(err, code, "cannot attach to %d", (int)pid);
	}
	task = task_add(e, tid);
	if (!task) {
		/* The kernel frees it when we exit. */
		return error_errno(err, ENOMEM, "attaching to %d", (int)pid);
	}
	task->pid = pid;
	task->announced = true;
	task->entered_before = true;
	/* A task that sleeps in a call stops inside it. */
	(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 1;
}

/* Takes all threads that are not held yet: how many there were. */
static int seize_new(struct engine_pt *e, pid_t pid, struct error *err)
{
	char path[PROC_PATH_MAX];
	struct dirent *entry;
	int found = 0, r = 0;
	DIR *dir;

	if (!proc_usable())
		return error_set(err, ENOENT, "cannot attach to %d: /proc is not mounted here (see: syscull doctor)",
				 (int)pid);
	proc_path(path, pid, "task");
	dir = opendir(path);
	if (!dir)
		return error_errno(err, errno == ENOENT ? ESRCH : errno, "cannot attach to %d", (int)pid);
	while (r >= 0 && (entry = readdir(dir))) {
		long tid = strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || task_find(e, (pid_t)tid))
			continue;
		r = seize(e, pid, (pid_t)tid, err);
		found += r > 0;
	}
	(void)closedir(dir);
	return r < 0 ? r : found;
}

static void tell_of(struct engine_pt *e, pid_t pid)
{
	struct task *leader = task_find(e, pid);
	size_t iter = 0;
	struct task **slot;

	if (!leader)
		return;
	leader->foreign_ns = state_pidns_differs(pid);
	state_task(e, leader, true);
	state_dirs(e, leader);
	state_mounts(e, leader);
	state_ids(e, leader);
	state_limits(e, leader);
	state_fds(e, leader);
	code_exec(e, leader);
	state_maps(e, leader);
	while ((slot = map_next(&e->tasks, &iter, NULL))) {
		if ((*slot)->pid == pid && *slot != leader) {
			(*slot)->foreign_ns = leader->foreign_ns;
			code_share(leader, *slot);
			state_task(e, *slot, true);
		}
	}
}

int attach_pids(struct engine_pt *e, const struct engine_spec *spec, struct error *err)
{
	for (size_t i = 0; i < spec->pid_count; i++) {
		pid_t pid = spec->pids[i];
		pid_t tgid = state_tgid(e, pid);
		int r = 1;

		/* A thread was named: its process is meant. */
		if (tgid > 0)
			pid = tgid;

		for (int round = 0; r > 0 && round < ROUNDS_MAX; round++)
			r = seize_new(e, pid, err);
		if (r < 0)
			return r;
		tell_of(e, pid);
	}
	e->begin_ns = clock_now_ns();
	return 0;
}
