/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine's frame: the loop that waits for stops, the queue of records,
 * the books, and how a run ends.  A run ends when the command's first task
 * has ended (what it leaves behind is let go, it must not hang us), when all
 * attached tasks have, or when we are told to let go.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/scope.h"

/* A task that cannot be stopped (uninterruptible wait, a vfork parent) is
 * given this long when we let go; then the kernel frees it when we exit. */
#define LET_GO_NS UINT64_C(1000000000)
/* Records waiting to be taken beyond this mean that something is wrong. */
#define OUT_BYTES_MAX (256u << 20)

static struct engine_pt *self(struct engine *engine)
{
	return (struct engine_pt *)(void *)engine;
}

void engine_head(struct engine_pt *e, struct event_head *head, const struct task *task, uint64_t time_ns)
{
	(void)e;
	head->pid = (uint32_t)task->pid;
	head->tid = (uint32_t)task->tid;
	head->time_ns = time_ns;
}

struct event_head *engine_emit(struct engine_pt *e)
{
	struct event_head *head = event_end(&e->record);
	size_t at = e->out.bytes;
	bool call;

	if (head && e->out.bytes + head->bytes <= OUT_BYTES_MAX && buf_add(&e->out, head, head->bytes) == 0)
		return (struct event_head *)(void *)(e->out.data + at);
	/* What kind it was to be is known even when it could not be built. */
	call = e->record.room >= sizeof *head && ((struct event_head *)(void *)e->record.data)->type == EVENT_CALL;
	if (call || !head)
		e->stats.lost++;
	else
		e->stats.state_errors++;
	e->out.failed = false;
	engine_abort(e, "out of memory");
	return NULL;
}

void engine_release(struct engine_pt *e, struct task *task, int signal)
{
	if (e->letting_go && !e->stats.scoped) {
		/* A task on its way out is let end: its end is worth telling. */
		if (task->exiting) {
			(void)ptrace(PTRACE_SYSCALL, task->tid, NULL, (void *)(intptr_t)signal);
			return;
		}
		(void)ptrace(PTRACE_DETACH, task->tid, NULL, (void *)(intptr_t)signal);
		engine_task_end(e, task, EVENT_EXIT_LET_GO, 0);
		return;
	}
	task->released_ns = clock_now_ns();
	(void)ptrace(e->stats.scoped ? scope_request(e, task) : PTRACE_SYSCALL, task->tid, NULL,
		     (void *)(intptr_t)signal);
}

void engine_task_end(struct engine_pt *e, struct task *task, uint32_t how, uint32_t status)
{
	struct event_exit *end;

	if (how == EVENT_EXIT_LET_GO || how == EVENT_EXIT_LOST) {
		e->stats.in_flight += task->in_call;
		if ((task->in_call || task->followed_call) && task->fork_event)
			e->stats.children++;
		e->stats.let_go++;
	} else {
		call_unfinished(e, task, how == EVENT_EXIT_SIGNAL || how == EVENT_EXIT_REPLACED);
	}
	if (task->run_ns == 0 && how == EVENT_EXIT_LET_GO)
		task->run_ns = state_run_ns(task->tid);
	e->exiting -= task->exiting;
	end = event_begin(&e->record, EVENT_EXIT);
	if (end) {
		engine_head(e, &end->head, task, clock_now_ns());
		end->how = how;
		end->status = status;
		end->run_ns = task->run_ns;
		end->user_ns = task->user_ns;
		end->user_gaps = task->user_gaps;
	}
	(void)engine_emit(e);
	task_remove(e, task);
}

void engine_disown(struct engine_pt *e, pid_t tid, int status)
{
	if (e->stats.scoped) {
		scope_carry_on(tid, status);
		return;
	}
	pin_free(e, tid);
	(void)ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

void engine_let_go_all(struct engine_pt *e)
{
	size_t iter = 0;
	struct task **slot;

	if (e->letting_go)
		return;
	e->letting_go = true;
	e->letting_go_since = clock_now_ns();
	/* Nothing is stopped and let go of: it runs on, uncounted. */
	if (e->stats.scoped)
		return;
	pin_undo(e);
	while ((slot = map_next(&e->tasks, &iter, NULL)))
		(void)ptrace(PTRACE_INTERRUPT, (*slot)->tid, NULL, NULL);
}

void engine_abort(struct engine_pt *e, const char *why)
{
	if (e->stats.aborted)
		return;
	e->stats.aborted = true;
	(void)snprintf(e->stats.abort_reason, sizeof e->stats.abort_reason, "%s", why);
	e->orphan_wait = true;
	engine_let_go_all(e);
}

pid_t engine_wait(struct engine_pt *e, pid_t pid, int options, struct stop *ret)
{
	struct rusage used = { 0 };

	/* The sum over a process is dear: only where one is about to end. */
	ret->tid = wait4(pid, &ret->status, options, e->exiting > 0 ? &used : NULL);
	ret->seen_ns = clock_now_ns();
	ret->run_ns = 0;
	if (ret->tid > 0 && !WIFSTOPPED(ret->status))
		ret->run_ns = ((uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec) * UINT64_C(1000000000) +
			      ((uint64_t)used.ru_utime.tv_usec + (uint64_t)used.ru_stime.tv_usec) * 1000;
	return ret->tid;
}

/* The next stop: from the queue, else from the kernel.  With several tasks
 * all that have stopped are drawn at once, or one busy task would starve
 * those behind it in the kernel's list. */
static int next_stop(struct engine_pt *e, struct stop *ret)
{
	int options = __WALL;

	if (e->queue_used == 0) {
		e->queue_first = 0;
		do {
			pid_t tid = engine_wait(e, -1, options, &e->queue[e->queue_used]);

			if (tid <= 0) {
				if (e->queue_used > 0)
					break;
				return tid == 0 ? -EAGAIN : errno == EINTR ? -EAGAIN : -errno;
			}
			e->queue_used++;
			options |= WNOHANG;
		} while (e->queue_used < STOP_QUEUE && task_count(e) > 1);
	}
	*ret = e->queue[e->queue_first++];
	if (e->queue_first == e->queue_used)
		e->queue_used = 0;
	return 1;
}

/* Nothing more will come: tasks that could not be stopped are given up. */
static void give_up_rest(struct engine_pt *e)
{
	size_t iter = 0;
	struct task **slot;

	while ((slot = map_next(&e->tasks, &iter, NULL))) {
		if ((*slot)->held)
			(void)ptrace(e->stats.scoped ? PTRACE_CONT : PTRACE_DETACH, (*slot)->tid, NULL, NULL);
		engine_task_end(e, *slot, EVENT_EXIT_LET_GO, 0);
		iter = 0;
	}
}

/* One round while letting go: stops are waited for, but never for long. */
static int let_go_round(struct engine_pt *e)
{
	struct stop stop;
	int r;

	if (task_count(e) == 0)
		return 0;
	if (e->queue_used == 0 && e->stats.scoped) {
		give_up_rest(e);
		return 0;
	}
	if (e->queue_used == 0) {
		pid_t tid = engine_wait(e, -1, __WALL | WNOHANG, &stop);

		if (tid > 0) {
			stop_handle(e, &stop);
			return 1;
		}
		if ((tid < 0 && errno == ECHILD) || clock_now_ns() - e->letting_go_since > LET_GO_NS) {
			give_up_rest(e);
			return 0;
		}
		(void)usleep(500);
		stop_adopt_held(e);
		return 1;
	}
	r = next_stop(e, &stop);
	if (r > 0)
		stop_handle(e, &stop);
	return 1;
}

/* We have let go but the command runs on: its status is still ours to pass. */
static int wait_root(struct engine_pt *e)
{
	struct stop stop;

	if (e->root == 0 || e->root_ended)
		return 0;
	while (engine_wait(e, -1, __WALL, &stop) > 0) {
		if (stop.tid == e->root && !WIFSTOPPED(stop.status)) {
			stop_handle(e, &stop);
			return 0;
		}
		/* A child whose birth we could not note: it must not stay stopped. */
		if (WIFSTOPPED(stop.status))
			engine_disown(e, stop.tid, stop.status);
	}
	return errno == EINTR ? -EAGAIN : 0;
}

static int pt_next(struct engine *engine, const struct event_head **ret_record, struct error *err)
{
	struct engine_pt *e = self(engine);

	if (e->out_taken == e->out.bytes) {
		buf_clear(&e->out);
		e->out_taken = 0;
	}
	while (e->out.bytes == 0) {
		struct stop stop;
		int r;

		if (e->letting_go) {
			r = let_go_round(e);
			if (r > 0)
				continue;
			if (e->out.bytes > 0)
				break;
			r = e->orphan_wait ? wait_root(e) : 0;
			if (r < 0)
				return r;
			return ENGINE_END;
		}
		if (task_count(e) == 0)
			return ENGINE_END;
		r = next_stop(e, &stop);
		if (r == -EAGAIN) {
			stop_adopt_held(e);
			clock_tick(e);
			if (e->out.bytes == 0)
				return -EAGAIN;
			break;
		}
		if (r < 0) {
			give_up_rest(e);
			if (r == -ECHILD)
				continue;
			return error_errno(err, -r, "waiting for the traced tasks");
		}
		stop_handle(e, &stop);
		if (e->root_ended)
			engine_let_go_all(e);
	}
	*ret_record = (const struct event_head *)(const void *)(e->out.data + e->out_taken);
	e->out_taken += (*ret_record)->bytes;
	if ((*ret_record)->type == EVENT_CALL && !((*ret_record)->flags & EVENT_F_MARK))
		e->stats.delivered++;
	return ENGINE_RECORD;
}

int engine_begin(const struct engine_spec *spec, struct engine **ret_engine, struct error *err)
{
	struct engine_pt *e = calloc(1, sizeof *e);
	int r;

	if (!e)
		return error_errno(err, ENOMEM, "starting the ptrace engine");
	e->engine.ops = &engine_ptrace;
	e->items = spec->items;
	e->env_names = spec->env_names;
	e->task_limit = spec->task_limit;
	e->pin.when = spec->pin;
	e->clock_own_fd = -1;
	if (spec->scope) {
		e->stats.scoped = true;
		e->stats.scope = *spec->scope;
		engine_scope_complete(&e->stats.scope);
		/* Nobody can be let go of, so that all are followed; and what
		 * hides the pinning looks at too many calls. */
		e->task_limit = 0;
		e->pin.when = ENGINE_PIN_NEVER;
	}
	map_init(&e->tasks, sizeof(struct task *), 0);
	if (stacks_begin(e, spec->scope ? ENGINE_STACKS_OFF : spec->stacks) < 0) {
		free(e);
		return error_errno(err, ENOMEM, "starting the ptrace engine");
	}
	if (!proc_usable())
		e->stats.met |= ENGINE_MET_NO_PROC;
	r = spec->argv ? launch_command(e, spec, err) : attach_pids(e, spec, err);
	if (r < 0) {
		engine_ptrace.stop(&e->engine);
		return r;
	}
	e->begin_ns = clock_now_ns();
	*ret_engine = &e->engine;
	return 0;
}

static int pt_start(const struct engine_spec *spec, struct engine **ret_engine, struct error *err)
{
	if (!spec->scope)
		return engine_begin(spec, ret_engine, err);
	if (!spec->argv)
		return error_set(err, EINVAL, "what already runs can only be watched whole, not at some calls alone");
	return keeper_start(spec, ret_engine, err);
}

static void pt_let_go(struct engine *engine)
{
	engine_let_go_all(self(engine));
}

static void pt_forward(struct engine *engine, int signal)
{
	struct engine_pt *e = self(engine);

	if (e->root != 0 && !e->root_ended)
		(void)kill(e->root, signal);
}

static void pt_stats(const struct engine *engine, struct engine_stats *ret)
{
	const struct engine_pt *e = (const struct engine_pt *)(const void *)engine;

	*ret = e->stats;
	ret->wall_ns = (e->end_ns ? e->end_ns : clock_now_ns()) - e->begin_ns;
}

static void pt_exit_of(const struct engine *engine, struct engine_exit *ret)
{
	*ret = ((const struct engine_pt *)(const void *)engine)->exit;
}

static void pt_stop(struct engine *engine)
{
	struct engine_pt *e;

	if (!engine)
		return;
	e = self(engine);
	engine_let_go_all(e);
	while (let_go_round(e) > 0)
		;
	task_free_all(e);
	stacks_done(e);
	clock_close_own(e);
	buf_done(&e->out);
	buf_done(&e->record);
	buf_done(&e->scratch);
	buf_done(&e->files);
	free(e);
}

const struct engine_ops engine_ptrace = {
	.name = "ptrace",
	.title = "stops at every call; needs no privileges",
	.live = true,
	.scopes = true,
	.probe = probe_ptrace,
	.start = pt_start,
	.next = pt_next,
	.let_go = pt_let_go,
	.forward = pt_forward,
	.stats = pt_stats,
	.exit_of = pt_exit_of,
	.stop = pt_stop,
};
