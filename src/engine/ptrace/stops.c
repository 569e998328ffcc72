/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells the stops of a tracee apart and does what each wants.  With
 * PTRACE_SEIZE a stop is a system call, an event, a group stop, or a signal
 * about to be delivered; anything may also be overtaken by SIGKILL, so that
 * every request can fail with ESRCH and then the death follows by itself.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/scope.h"

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

/* How long a child waits for its parent's fork event before it is taken in
 * without one: the parent was killed in between, or does not get a CPU. */
#define HELD_NS UINT64_C(1000000000)

static void emit_fork(struct engine_pt *e, struct task *parent, struct task *child, uint64_t seen_ns)
{
	struct event_fork *fork = event_begin(&e->record, EVENT_FORK);

	if (!fork) {
		e->stats.state_errors++;
		return;
	}
	engine_head(e, &fork->head, parent, seen_ns);
	fork->clone_flags = parent->clone_flags;
	fork->child_tid = (uint32_t)child->tid;
	fork->child_pid = (uint32_t)child->pid;
	fork->followed = !child->refused;
	if (parent->foreign_ns || e->pidns_seen) {
		uint32_t ns_tid = 0, ns_pid = 0;

		state_ns_ids(e, child->tid, &ns_tid, &ns_pid);
		fork->child_ns_tid = ns_tid;
		fork->child_ns_pid = ns_pid;
	}
	(void)engine_emit(e);
}

/* The child is ours from now on; it is stopped and not yet released. */
static void child_ready(struct engine_pt *e, struct task *child)
{
	child->born = false;
	child->held = false;
	pin_child(e, child);
	if (child->refused) {
		e->stats.not_followed++;
		(void)ptrace(PTRACE_DETACH, child->tid, NULL, NULL);
		task_remove(e, child);
		return;
	}
	e->stats.followed++;
	if (child->own_mounts && !e->stats.scoped)
		state_mounts(e, child);
	/* EXITKILL is for the command itself: what it leaves behind must
	 * survive us, and a task in an uninterruptible wait cannot be asked
	 * later.  With a scope all have it: without us their calls fail. */
	if (!e->stats.scoped)
		(void)ptrace(PTRACE_SETOPTIONS, child->tid, NULL, TRACE_OPTIONS);
	engine_release(e, child, 0);
}

/* What an event stop has to tell.  False when the task is no longer in it: a
 * SIGKILL, or an exit of its group, has moved it on to its exit stop, whose
 * message is a status.  That stop comes by itself. */
static bool event_message(pid_t tid, int event, unsigned long *ret)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, ret) != 0)
		return false;
	/* Asked after: while it is still there, the message was its own. */
	return ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && info.si_code == (SIGTRAP | event << 8);
}

/* Was it taken in without its fork event, and is gone? */
static bool was_adopted(struct engine_pt *e, pid_t tid)
{
	for (unsigned i = 0; i < GONE_MAX; i++) {
		if (e->gone[i] == tid) {
			e->gone[i] = 0;
			return true;
		}
	}
	return false;
}

static void fork_event(struct engine_pt *e, struct task *parent, int event, uint64_t seen_ns)
{
	unsigned long message = 0;
	struct task *child;

	if (!event_message(parent->tid, event, &message))
		return;
	parent->fork_event = true;
	parent->made_child = true;
	if (event == PTRACE_EVENT_FORK)
		parent->clone_flags = SIGCHLD;
	else if (event == PTRACE_EVENT_VFORK && parent->clone_flags == 0)
		parent->clone_flags = CLONE_VFORK | CLONE_VM | SIGCHLD;
	if (parent->clone_flags & CLONE_NEWPID)
		e->pidns_seen = true;

	child = task_find(e, (pid_t)message);
	if (child ? child->adopted : was_adopted(e, (pid_t)message)) {
		/* Told of already; the parent's own return will count it. */
		if (child)
			child->adopted = false;
		e->stats.children--;
		engine_release(e, parent, 0);
		return;
	}
	if (!child) {
		child = task_add(e, (pid_t)message);
		if (!child) {
			engine_abort(e, "out of memory for a new task");
			engine_release(e, parent, 0);
			return;
		}
		child->born = true;
	}
	child->announced = true;
	clock_tell(e, parent, EVENT_CLOCK_OTHER, seen_ns);
	child->pid = parent->clone_flags & CLONE_THREAD ? parent->pid : child->tid;
	child->own_filter = parent->own_filter;
	child->foreign_ns = parent->foreign_ns || (parent->clone_flags & CLONE_NEWPID);
	child->own_mounts = parent->clone_flags & CLONE_NEWNS;
	child->refused = e->task_limit > 0 && task_count(e) > e->task_limit;
	pin_fork(e, parent, child);
	code_fork(parent, child);
	emit_fork(e, parent, child, seen_ns);
	/* The parent goes first: a vfork child may need nothing from it, but a
	 * held child must not make calls before its birth is told. */
	engine_release(e, parent, 0);
	if (child->held)
		child_ready(e, child);
}

static void exec_event(struct engine_pt *e, struct task *task, pid_t tid, uint64_t seen_ns)
{
	unsigned long message = 0;
	pid_t former = tid;

	if (event_message(tid, PTRACE_EVENT_EXEC, &message) && message != 0)
		former = (pid_t)message;
	if (former != tid) {
		/* A thread called execve: it takes the leader's tid, and the
		 * leader ends without a word. */
		struct task *caller = task_find(e, former);

		if (caller) {
			if (task) {
				caller->root = task->root;
				engine_task_end(e, task, EVENT_EXIT_REPLACED, 0);
			}
			task_rename(e, caller, tid);
			task = caller;
		}
	}
	if (!task)
		return;
	task->exec_event = true;
	task->starting = false;
	task->image = ++e->images;
	task->stack_end = 0;
	code_exec(e, task);
	state_exec(e, task, former, seen_ns);
	clock_tell(e, task, EVENT_CLOCK_OTHER, seen_ns);
	e->started = true;
	engine_release(e, task, 0);
}

static void exit_event(struct engine_pt *e, struct task *task, uint64_t seen_ns)
{
	task->exiting = true;
	e->exiting++;
	clock_tell(e, task, EVENT_CLOCK_OTHER, seen_ns);
	task->run_ns = state_run_ns(task->tid);
	if (task->root)
		pin_undo(e);
	engine_release(e, task, 0);
}

static void first_stop(struct engine_pt *e, struct task *task)
{
	if (task->announced)
		child_ready(e, task);
	else
		task->held = true;
}

static void event_stop(struct engine_pt *e, struct task *task, int signal)
{
	if (task->born && !task->held) {
		first_stop(e, task);
		return;
	}
	if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
		if (e->letting_go && !e->stats.scoped) {
			engine_release(e, task, 0);
			return;
		}
		/* A group stop: it stays stopped, but hears SIGCONT. */
		if (ptrace(PTRACE_LISTEN, task->tid, NULL, NULL) == 0)
			return; /* released_ns stays 0: no time of its own passes */
	}
	engine_release(e, task, 0);
}

static void death(struct engine_pt *e, struct task *task, const struct stop *stop)
{
	int status = stop->status;
	bool signaled = WIFSIGNALED(status);
	bool root = e->root == stop->tid;

	if (task && task->born && task->announced) {
		/* Killed before its first stop: followed, if only to its end. */
		if (task->refused)
			e->stats.not_followed++;
		else
			e->stats.followed++;
		task->born = false;
	}
	/* What it did after its last stop, its memory given back, is in no clock. */
	if (task && !task->made_child && task->pid == task->tid && stop->run_ns > task->run_ns)
		task->run_ns = stop->run_ns;
	if (task)
		engine_task_end(e, task, signaled ? EVENT_EXIT_SIGNAL : EVENT_EXIT_STATUS,
				(uint32_t)(signaled ? WTERMSIG(status) : WEXITSTATUS(status)));
	if (root) {
		e->root_ended = true;
		e->end_ns = clock_now_ns();
		e->exit.known = true;
		e->exit.status = signaled ? 0 : WEXITSTATUS(status);
		e->exit.signal = signaled ? WTERMSIG(status) : 0;
		e->exit.core = signaled && WCOREDUMP(status);
	}
}

void stop_handle(struct engine_pt *e, const struct stop *stop)
{
	pid_t tid = stop->tid;
	int status = stop->status;
	uint64_t seen_ns = stop->seen_ns;
	struct task *task = task_find(e, tid);
	int signal, event;

	if (!WIFSTOPPED(status)) {
		if (WIFEXITED(status) || WIFSIGNALED(status))
			death(e, task, stop);
		return;
	}
	e->stats.stops++;
	signal = WSTOPSIG(status);
	event = status >> 16;
	if (task)
		task->stops++;
	if (task && task->released_ns != 0 && seen_ns > task->released_ns) {
		uint64_t ran_ns = seen_ns - task->released_ns;

		task->wall_ns += ran_ns;
		if (task->in_call) {
			task->call_ns += ran_ns;
			/* So that enter and duration end at the exit: the
			 * model orders calls of several tasks by them. */
			task->enter_ns = seen_ns - task->call_ns;
		} else {
			task->user_ns += ran_ns;
			task->user_gaps++;
			task->gap_ns = ran_ns;
		}
		task->released_ns = 0;
	}

	if (event == PTRACE_EVENT_EXEC) {
		exec_event(e, task, tid, seen_ns);
		return;
	}
	if (!task) {
		/* A child's first stop that overtook its parent's fork event. */
		task = task_add(e, tid);
		if (!task) {
			engine_disown(e, tid, status);
			e->stats.state_errors++;
			engine_abort(e, "out of memory for a new task");
			return;
		}
		task->pid = tid;
		task->born = true;
		task->stops = 1;
		task->enter_ns = seen_ns;
		first_stop(e, task);
		return;
	}
	if (signal == (SIGTRAP | 0x80)) {
		call_stop(e, task, seen_ns);
		return;
	}
	switch (event) {
	case 0:
		if (task->starting && e->stats.scoped && signal == SIGSTOP) {
			/* The child has no filter; see launch.c. */
			e->no_filter = true;
			signal = 0;
		}
		engine_release(e, task, tracer_is_awaited(task, signal) ? 0 : signal);
		return;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		fork_event(e, task, event, seen_ns);
		return;
	case PTRACE_EVENT_SECCOMP:
		scope_seccomp_stop(e, task, seen_ns);
		return;
	case PTRACE_EVENT_EXIT:
		exit_event(e, task, seen_ns);
		return;
	case PTRACE_EVENT_STOP:
		event_stop(e, task, signal);
		return;
	default:
		engine_release(e, task, 0);
		return;
	}
}

void stop_adopt_held(struct engine_pt *e)
{
	uint64_t now = clock_now_ns();
	size_t iter = 0;
	struct task **slot;

	while ((slot = map_next(&e->tasks, &iter, NULL))) {
		struct task *task = *slot;
		pid_t tgid;

		if (!task->held || (now - task->enter_ns < HELD_NS && !e->letting_go))
			continue;
		task->announced = true;
		task->adopted = true;
		/* What its parent had is not known. */
		task->own_filter = e->stats.scoped;
		e->stats.children++;
		tgid = state_tgid(e, task->tid);
		if (tgid > 0)
			task->pid = tgid;
		state_task(e, task, false);
		child_ready(e, task);
		/* child_ready may have removed the task: begin anew. */
		iter = 0;
	}
}
