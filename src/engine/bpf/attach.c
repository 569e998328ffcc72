/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaches to what already runs, which notices nothing of it.  The list of
 * threads is read again until it brings nothing new, because threads are made
 * while we look: those whose maker was armed come by themselves.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/bpf/bpf.h"
#include "engine/whom.h"

#define ROUNDS_MAX 100

/* Arms all threads that are not yet: how many there were. */
static int arm_new(struct engine_bpf *e, pid_t pid, uint32_t code, struct error *err)
{
	char path[PROC_PATH_MAX];
	struct dirent *entry;
	int found = 0, r = 0;
	DIR *dir;

	proc_path(path, pid, "task");
	dir = opendir(path);
	if (!dir)
		return error_errno(err, errno == ENOENT ? ESRCH : errno, "cannot attach to %d", (int)pid);
	while (r >= 0 && (entry = readdir(dir))) {
		long tid = strtol(entry->d_name, NULL, 10);
		struct follow *task;
		uint64_t ran_ns;

		if (tid <= 0 || follow_find(e, (uint32_t)tid))
			continue;
		ran_ns = proc_run_ns((pid_t)tid);
		r = load_arm(&e->loaded, (pid_t)tid, pid, KERN_TASK_ATTACHED, ran_ns, code);
		/* It is followed already: its maker was. */
		if (r == -EEXIST)
			r = 0;
		if (r == -ESRCH && tid != pid) {
			r = 0;
			continue;
		}
		if (r < 0)
			r = error_errno(err, -r, "cannot attach to %d", (int)pid);
		else if (!(task = follow_add(e, (uint32_t)tid, (uint32_t)pid, 0)))
			r = error_errno(err, ENOMEM, "attaching to %d", (int)pid);
		else
			task->ran_before_ns = ran_ns;
		found++;
	}
	(void)closedir(dir);
	return r < 0 ? r : found;
}

static void tell_of(struct engine_bpf *e, pid_t pid, uint32_t code)
{
	struct follow *leader = follow_find(e, (uint32_t)pid), *task;
	struct teller teller = bpf_teller(e);
	uint32_t version = code_version(&e->loaded, code);
	size_t iter = 0, before;

	if (!leader)
		return;
	tell_task(&teller, pid, pid, false, true);
	tell_dirs(&teller, pid, pid);
	cook_mounts(e, leader);
	tell_ids(&teller, pid, pid);
	tell_limits(&teller, pid, pid);
	tell_fds(&teller, pid, pid);
	before = e->out.bytes;
	tell_maps(&teller, pid, pid);
	code_fill(&e->loaded, code, version, &e->out, before);
	while ((task = map_next(&e->tasks, &iter, NULL))) {
		if (task->pid == (uint32_t)pid && task != leader)
			tell_task(&teller, (pid_t)task->tid, pid, false, true);
	}
}

int bpf_attach(struct engine_bpf *e, const struct engine_spec *spec, struct error *err)
{
	struct teller teller = bpf_teller(e);
	int r = calibrate_child(e, err);

	if (r < 0)
		return r;
	if (!proc_usable())
		return error_set(err, ENOENT, "cannot attach: /proc is not mounted here (see: syscull doctor)");
	for (size_t i = 0; i < spec->pid_count; i++) {
		pid_t pid = spec->pids[i];
		pid_t tgid = tell_tgid(&teller, pid);
		uint32_t code;

		/* A thread was named: its process is meant. */
		if (tgid > 0)
			pid = tgid;
		r = whom_check(pid, err);
		if (r < 0)
			return r;
		code = code_of_running(&e->loaded);
		r = 1;
		for (int round = 0; r > 0 && round < ROUNDS_MAX; round++)
			r = arm_new(e, pid, code, err);
		if (r < 0)
			return r;
		tell_of(e, pid, code);
	}
	e->begin_ns = clock_now_ns();
	return 0;
}
