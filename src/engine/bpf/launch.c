/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts a command under our eyes: it is told of and armed while it waits, as
 * child.c has it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/bpf/bpf.h"

/* What the command will have at its begin: what the child that waits has, which
 * may be other than ours, but for what closes on exec. */
static void keep_fds(struct engine_bpf *e, pid_t pid)
{
	struct teller teller = bpf_teller(e);
	size_t begin = e->out.bytes;

	tell_fds(&teller, pid, pid);
	for (size_t at = begin; at < e->out.bytes;) {
		const struct event_fd *fd = (const struct event_fd *)(const void *)(e->out.data + at);

		if (!(fd->flags & O_CLOEXEC) && buf_add(&e->fds, fd, fd->head.bytes) != 0)
			e->stats.state_errors++;
		at += fd->head.bytes;
	}
	e->out.bytes = begin;
}

static int take_died(struct engine_bpf *e, const struct child *child)
{
	e->root_ended = true;
	e->exit = child->exit;
	follow_remove(e, (uint32_t)child->pid);
	return 0;
}

static int hold(struct engine_bpf *e, struct child *child, struct error *err)
{
	struct teller teller = bpf_teller(e);
	pid_t pid = child->pid;
	struct follow *task;
	int r = load_arm(&e->loaded, pid, pid, KERN_TASK_STARTING, 0, code_of_child(&e->loaded));

	if (r == -ESRCH) {
		r = child_died(child, err);
		return r < 0 ? r : take_died(e, child);
	}
	if (r < 0)
		return error_set(err, ENOTSUP, "cannot follow the command with the bpf engine: %s", strerror(-r));
	child_calibrate(child);
	task = follow_add(e, (uint32_t)pid, (uint32_t)pid, 0);
	if (!task)
		return error_errno(err, ENOMEM, "starting the command");
	tell_task(&teller, pid, pid, true, false);
	tell_dirs(&teller, pid, pid);
	cook_mounts(e, task);
	tell_ids(&teller, pid, pid);
	tell_limits(&teller, pid, pid);
	keep_fds(e, pid);
	r = child_calibrated(child, err);
	if (r == 0 && child->ended)
		return take_died(e, child);
	return r < 0 ? r : calibrate_take(e, err);
}

int bpf_launch(struct engine_bpf *e, const struct engine_spec *spec, struct error *err)
{
	struct child child;
	int r = child_start(&child, spec, err);

	e->root = child.pid > 0 ? child.pid : 0;
	e->root_fd = child.fd;
	if (r == 0)
		r = child.ended ? take_died(e, &child) : hold(e, &child, err);
	if (r == 0 && !e->root_ended) {
		e->begin_ns = clock_now_ns();
		r = child_go(&child, err);
	}
	child_done(&child, r < 0);
	e->root_ended = e->root_ended || child.ended;
	return r;
}
