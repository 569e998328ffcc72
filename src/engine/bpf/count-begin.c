/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose calls are counted: of a command that waits until it is armed, of
 * processes with all their threads, or of everybody.  What is our own part of
 * a call's time is found first, by calls that do nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/bpf/count.h"
#include "engine/whom.h"

#define ROUNDS_MAX 100
#define COST_CALLS 20000
#define COST_ROUNDS 3

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The middle of the later half: who was just made is cold. */
static void take_floor(struct counting *c)
{
	uint64_t probes[COUNT_PROBES];
	uint32_t count = c->live->probe_count, first = count / 3;

	if (count == 0 || count > COUNT_PROBES)
		return;
	memcpy(probes, c->live->probes, sizeof probes);
	qsort(probes + first, count - first, sizeof *probes, by_value);
	c->live->floor_ns = probes[first + (count - first) / 2];
}

/* A child of ours that does nothing but such calls.  It is armed before any
 * program is attached, or it would be one of those that all are counted of. */
struct prober {
	pid_t pid;
	int go;
};

static int prober_start(struct counting *c, struct prober *ret, struct error *err)
{
	int go[2], r;
	char byte;

	*ret = (struct prober){ .go = -1 };
	if (pipe2(go, O_CLOEXEC) != 0)
		return error_errno(err, errno, "counting in the kernel: pipe");
	ret->pid = fork();
	if (ret->pid == 0) {
		(void)close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			calibrate_calls();
		_exit(0);
	}
	r = ret->pid < 0 ? -errno : count_arm(c, ret->pid, ret->pid, COUNT_TASK_STARTING);
	(void)close(go[0]);
	ret->go = go[1];
	return r < 0 ? error_errno(err, -r, "counting in the kernel") : 0;
}

static void prober_run(struct counting *c, struct prober *prober, bool go)
{
	if (go && write(prober->go, "", 1) != 1)
		c->live->probe_count = 0;
	if (prober->go >= 0)
		(void)close(prober->go);
	while (prober->pid > 0 && waitpid(prober->pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (go)
		take_floor(c);
}

static double loop_ns(void)
{
	uint64_t best = UINT64_MAX;

	for (int round = 0; round < COST_ROUNDS; round++) {
		uint64_t begin = clock_now_ns(), took;

		for (int i = 0; i < COST_CALLS; i++)
			(void)syscall(SYS_getppid);
		took = clock_now_ns() - begin;
		best = took < best ? took : best;
	}
	return (double)best / COST_CALLS;
}

static double positive(double value)
{
	return value > 0 ? value : 0;
}

/* What a call costs more: when nobody counts it, when it is counted, and when
 * it is timed as well.  Ours are not counted, so a little is added for that. */
static int find_cost(struct counting *c, struct error *err)
{
	double native = loop_ns(), attached, timed;
	int r = count_attach(c, err);

	if (r < 0)
		return r;
	attached = loop_ns();
	if (c->spec.times != COUNTING_TIMES_NEVER)
		(void)count_time(c, true);
	timed = loop_ns();
	c->other_ns = positive(attached - native);
	c->cost_ns = c->other_ns * 1.5;
	c->timed_ns = positive(timed - attached) * 2.5;
	return 0;
}

static int attach_all(struct counting *c, struct error *err)
{
	int r;

	if (c->spec.overhead > 0)
		return find_cost(c, err);
	r = count_attach(c, err);
	if (r == 0 && c->spec.times != COUNTING_TIMES_NEVER)
		(void)count_time(c, true);
	return r;
}

static int take_died(struct counting *c, const struct child *child)
{
	c->root_ended = c->ended = true;
	c->exit = child->exit;
	return 0;
}

static int hold(struct counting *c, struct child *child, struct error *err)
{
	int r = count_arm(c, child->pid, child->pid, COUNT_TASK_STARTING);

	if (r == -ESRCH) {
		r = child_died(child, err);
		return r < 0 ? r : take_died(c, child);
	}
	if (r < 0)
		return error_set(err, ENOTSUP, "cannot count the command's calls: %s", strerror(-r));
	child_calibrate(child);
	r = child_calibrated(child, err);
	if (r == 0 && child->ended)
		return take_died(c, child);
	take_floor(c);
	return r;
}

static int begin_command(struct counting *c, struct error *err)
{
	const struct engine_spec spec = { .argv = c->spec.argv,
					  .program = c->spec.program,
					  .prepare_child = c->spec.prepare_child,
					  .prepare_data = c->spec.prepare_data };
	struct child child;
	int r = child_start(&child, &spec, err);

	c->root = child.pid > 0 ? child.pid : 0;
	c->root_fd = child.fd;
	if (r == 0)
		r = child.ended ? take_died(c, &child) : hold(c, &child, err);
	if (r == 0 && !c->root_ended) {
		c->begin_ns = clock_now_ns();
		r = child_go(&child, err);
	}
	child_done(&child, r < 0);
	c->root_ended = c->root_ended || child.ended;
	c->first_tasks = c->first_processes = 1;
	return r;
}

/* Arms all threads that are not yet: how many there were. */
static int arm_new(struct counting *c, struct map *known, pid_t pid, struct error *err)
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

		if (tid <= 0 || map_get(known, (uint64_t)tid))
			continue;
		if (!map_put(known, (uint64_t)tid, NULL)) {
			r = error_errno(err, ENOMEM, "attaching to %d", (int)pid);
			break;
		}
		r = count_arm(c, (pid_t)tid, pid, 0);
		/* It has ended, or it is followed already: its maker was. */
		if (r == -EEXIST || (r == -ESRCH && tid != pid))
			r = 0;
		else if (r < 0)
			r = error_errno(err, -r, "cannot attach to %d", (int)pid);
		else
			c->first_tasks++;
		found++;
	}
	(void)closedir(dir);
	return r < 0 ? r : found;
}

static int begin_attached(struct counting *c, struct error *err)
{
	uint64_t errors = 0;
	struct buf files = BUF_INIT;
	struct teller teller = { .files = &files, .errors = &errors };
	struct map known;
	int r = 0;

	if (r == 0 && !proc_usable())
		r = error_set(err, ENOENT, "cannot attach: /proc is not mounted here (see: syscull doctor)");
	map_init(&known, 1, 0);
	for (size_t i = 0; r == 0 && i < c->spec.pid_count; i++) {
		pid_t pid = c->spec.pids[i], tgid = tell_tgid(&teller, pid);
		int found = 1;

		/* A thread was named: its process is meant. */
		if (tgid > 0)
			pid = tgid;
		r = whom_check(pid, err);
		if (r < 0)
			break;
		c->first_processes++;
		for (int round = 0; found > 0 && round < ROUNDS_MAX; round++)
			found = arm_new(c, &known, pid, err);
		r = found < 0 ? found : 0;
	}
	map_done(&known);
	buf_done(&files);
	c->begin_ns = clock_now_ns();
	return r;
}

int count_begin(struct counting *c, struct error *err)
{
	struct prober prober;
	int r;

	if (c->spec.argv) {
		r = attach_all(c, err);
		return r < 0 ? r : begin_command(c, err);
	}
	r = prober_start(c, &prober, err);
	if (r == 0)
		r = attach_all(c, err);
	prober_run(c, &prober, r == 0 && c->timing);
	c->begin_ns = clock_now_ns();
	/* Of the whole machine or a cgroup all are counted by now. */
	return r < 0 || is_wide(c) ? r : begin_attached(c, err);
}
