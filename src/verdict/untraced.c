/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/untraced.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/untraced-stop.h"

#define FLAGS_WITHOUT_TIME \
	(EVENT_F_UNFINISHED | EVENT_F_KILLED | EVENT_F_NO_ENTER | EVENT_F_BEFORE_ATTACH | EVENT_F_RESTARTED)
#define STOP_SPREAD 0.05
#define SLEEP_LEAST_NS 20000.0
#define NAP_MOST_NS 150000.0
#define NAPS_OFTEN 31 /* of 248: one in eight, or the last */

void untraced_init(struct untraced *book)
{
	memset(book, 0, sizeof *book);
	book->more_ns = UNTRACED_MORE_NS;
	map_init(&book->tasks, sizeof(struct untraced_task), UNTRACED_TASKS_MAX);
	map_init(&book->ended, sizeof(struct untraced_point), UNTRACED_TASKS_MAX);
}

void untraced_done(struct untraced *book)
{
	map_done(&book->tasks);
	map_done(&book->ended);
}

static struct untraced_task *task_get(struct untraced *book, uint32_t tid)
{
	if (!book->last || book->last->tid != tid)
		book->last = map_get(&book->tasks, tid);
	return book->last;
}

static struct untraced_task *task_make(struct untraced *book, uint32_t tid)
{
	struct untraced_task *task = map_put(&book->tasks, tid, NULL);

	if (!task) {
		book->dropped++;
		book->last = NULL;
		return NULL;
	}
	*task = (struct untraced_task){ .tid = tid };
	book->last = task;
	if (book->root_tid == 0)
		book->root_tid = tid;
	return task;
}

static void alive(struct untraced *book, struct untraced_task *task, uint64_t time_ns)
{
	task->end_ns = time_ns;
	if (book->latest[0] != task->tid) {
		book->latest[1] = book->latest[0];
		book->latest_ns[1] = book->latest_ns[0];
		book->latest[0] = task->tid;
	}
	book->latest_ns[0] = time_ns;
}

static struct untraced_stretch between(const struct untraced_account *from, const struct untraced_account *to)
{
	struct untraced_stretch stretch = {
		.run_ns = (double)(to->run_ns - from->run_ns),
		.queue_ns = (double)(to->queue_ns - from->queue_ns),
		.turns = (double)(to->turns - from->turns),
		.stops = (double)(to->stops - from->stops),
		.late_ns = to->late_ns > from->late_ns ? (double)(to->late_ns - from->late_ns) : 0,
	};

	stretch.idle_ns = (double)(to->wall_ns - from->wall_ns) - stretch.run_ns - stretch.queue_ns;
	return stretch;
}

/*
 * What it was idle beyond the stops: it slept, or had stopped and we were
 * late.  Where there is nobody else we were late for it; among several it may
 * have been for others, while this one slept on: then no more is believed
 * than it had to queue itself, on the same machine.  So where lateness is
 * not told.
 */
static double idle_beyond(const struct untraced *book, const struct untraced_stretch *stretch)
{
	double late_ns = stretch->late_ns;

	if (!book->late_told || (book->tasks.used > 1 && late_ns > stretch->queue_ns))
		late_ns = stretch->queue_ns;
	return stretch->idle_ns - stretch->stops * book->idle.value - late_ns;
}

/* What the stretch had that ends with a call's return: from its enter on, or
 * from the last clock before it.  Each stop is one turn: one more, and it
 * slept or was thrown out.  Where we were late, it was ready all the time. */
static void judge_stretch(struct untraced *book, struct untraced_task *task, const struct untraced_account *now)
{
	struct untraced_stretch stretch = between(task->entered ? &task->enter : &task->last, now);
	double idle_ns = idle_beyond(book, &stretch);

	task->call = (struct time_account){
		.known = true,
		.whole = task->entered,
		.ran_ns = stretch.run_ns - stretch.stops * book->run.value,
		.slept_ns = stretch.turns > stretch.stops && idle_ns > 0 ? idle_ns : 0,
		.stop_ns = stretch.stops * (book->run.value + book->idle.value),
		.run_stop_ns = stretch.stops * book->run.value,
	};
	task->stretch_ns = stretch.run_ns + stretch.queue_ns + stretch.idle_ns;
	task->stretch_stops = stretch.stops;
}

static bool ends_by_time(enum sys_call_id id, const struct event_call *call, int err)
{
	uint64_t classes = sys_call(id)->classes;

	if (classes & SYS_FAMILY_sleep)
		return true;
	if (classes & SYS_FAMILY_poll)
		return call->ret == 0;
	return err == ETIMEDOUT || err == EAGAIN;
}

/* Of the stretch, the call.  What else was in it may have run all the time. */
static void judge_call(struct untraced *book, struct untraced_task *task, const struct event_call *call,
		       enum sys_call_id id, int err)
{
	double each_ns = book->run.value + book->idle.value, other_ns;

	book->call = task->call;
	/* We may have been late for others while this one slept, or slept on. */
	if (time_can_block(id) && (book->tasks.used > 1 || ends_by_time(id, call, err)))
		book->call.slept_ns = task->sleep_ns > 0 ? task->sleep_ns : 0;
	else
		task->sleep_ns = task->call.slept_ns;
	if (task->call.whole)
		return;
	other_ns = task->stretch_ns - (double)call->duration_ns - (task->stretch_stops - 1) * each_ns;
	if (other_ns > 0)
		book->call.ran_ns -= other_ns;
	book->call.stop_ns = each_ns;
}

static void clock_feed(struct untraced *book, struct untraced_task *task, const struct event_clock *clock)
{
	const struct untraced_account now = { clock->run_ns,  clock->queue_ns, clock->turns,
					      clock->wall_ns, clock->stops,    clock->late_ns };
	struct untraced_stretch last = between(&task->last, &now);
	double stopped_ns = task->at.stops, work_ns = last.run_ns - untraced_stops_ns(book, last.stops);
	bool whole_call = clock->at == EVENT_CLOCK_RETURN && task->last_at == EVENT_CLOCK_ENTER;

	book->late_told = book->late_told || now.late_ns > 0;
	if (task->clocked && now.run_ns >= task->last.run_ns && now.stops >= task->last.stops) {
		untraced_learn_idle(book, &last);
		task->at = task->base;
		task->at.stops = stopped_ns;
		task->at.ns += work_ns;
		task->own_ns += work_ns;
		book->work_ns += work_ns;
		if (clock->at == EVENT_CLOCK_RETURN) {
			judge_stretch(book, task, &now);
			task->sleep_ns = last.turns > last.stops ? idle_beyond(book, &last) : 0;
			task->returned = true;
			task->sampled = whole_call && last.stops < 1.5 && last.turns < 1.5;
			task->sample_run_ns = last.run_ns;
		}
		if (clock->at == EVENT_CLOCK_ENTER && task->last_at == EVENT_CLOCK_RETURN && last.stops < 1.5 &&
		    last.turns < 1.5)
			book->gap_samples[book->gap_count++ % UNTRACED_RESERVOIR] = (float)last.run_ns;
	}
	if (clock->at == EVENT_CLOCK_ENTER) {
		task->enter = now;
		task->entered = true;
	}
	task->clocked = true;
	task->base = task->at;
	task->last = now;
	task->last_at = (uint8_t)clock->at;
	alive(book, task, clock->head.time_ns);
}

/* Wall times instead, until the next clock puts it right. */
static void guess(struct untraced *book, struct untraced_task *task, const struct event_call *call, enum sys_call_id id)
{
	double stop_ns = book->run.value + book->idle.value, ns = 0, gap_ns = 0,
	       took_ns = (double)call->duration_ns - stop_ns, least_ns = book->in_kernel ? book->gap_ns : stop_ns;
	bool long_call = took_ns > TIME_FAR * stop_ns && took_ns > SLEEP_LEAST_NS;

	/* Between the end of one call and the next there is what we did at both. */
	if (task->end_ns != 0 && call->head.time_ns > task->end_ns)
		gap_ns = (double)(call->head.time_ns - task->end_ns) - least_ns - task->queued_ns;
	task->queued_ns = 0;
	ns = gap_ns > 0 ? gap_ns : 0;
	if (book->in_kernel ? (call->head.flags & EVENT_F_SLEPT) != 0 : long_call)
		task->sleep_ns = took_ns;
	else
		ns += took_ns > 0 ? took_ns : 0;
	(void)id;
	task->at.ns += ns;
	if (!task->clocked) {
		task->spent_ns += ns;
		task->own_ns += ns;
	}
}

/* Where the clock stands of whoever gave a sign of life last while this task
 * was in the call; the end of a task is one too. */
static const struct untraced_point *waker_of(const struct untraced *book, const struct untraced_task *task,
					     const struct event_call *call)
{
	const struct untraced_task *waker;
	unsigned other = book->latest[0] == task->tid;

	if (book->latest[other] == 0 || book->latest_ns[other] < call->head.time_ns)
		return NULL;
	waker = map_get(&book->tasks, book->latest[other]);
	return waker ? &waker->at : map_get(&book->ended, book->latest[other]);
}

static void set_to(struct untraced_task *task, const struct untraced_point *point)
{
	if (point->ns > task->at.ns)
		task->at = *point;
}

static void slept(struct untraced *book, struct untraced_task *task, const struct event_call *call, enum sys_call_id id,
		  int err, double sleep_ns)
{
	const struct untraced_point *waker;
	struct untraced_point limit = task->at;

	if (!time_can_block(id)) {
		task->at.ns += sleep_ns;
		task->at.io_ns += sleep_ns;
		book->io_ns += sleep_ns;
		return;
	}
	limit.ns += sleep_ns;
	limit.wait_ns += sleep_ns;
	waker = ends_by_time(id, call, err) ? NULL : waker_of(book, task, call);
	set_to(task, waker && waker->ns < limit.ns ? waker : &limit);
}

/* An interrupt or a kernel thread takes the CPU for a moment now and then;
 * short sleeps are such when few calls have any. */
static bool has_slept(const struct untraced *book, struct untraced_task *task, double sleep_ns)
{
	bool slept = sleep_ns > SLEEP_LEAST_NS && sleep_ns > 3 * book->idle.value, often = task->naps >= NAPS_OFTEN;

	if (book->in_kernel)
		return sleep_ns > 0;
	if (task->returned)
		task->naps = (uint8_t)(task->naps - task->naps / 8 + (slept ? 31 : 0));
	return slept && (often || sleep_ns >= NAP_MOST_NS);
}

static void call_feed(struct untraced *book, struct untraced_task *task, const struct event_call *call,
		      enum sys_call_id id, int err)
{
	uint64_t end_ns = call->head.time_ns + call->duration_ns;
	const struct untraced_point *reaped;
	double sleep_ns, before_ns;

	task->at.stops++;
	task->own_stops++;
	book->work_stops++;
	task->entered = false;
	if (call->head.flags & FLAGS_WITHOUT_TIME) {
		task->returned = task->sampled = false;
		task->sleep_ns = 0;
		alive(book, task, end_ns > task->end_ns ? end_ns : task->end_ns);
		return;
	}
	if (!task->returned) {
		task->sleep_ns = 0;
		guess(book, task, call, id);
	}
	if (task->sampled)
		untraced_learn(book, task, id, call, err);
	before_ns = task->at.ns;
	if (task->returned)
		judge_call(book, task, call, id, err);
	sleep_ns = task->sleep_ns;
	if (sleep_ns > (double)call->duration_ns)
		sleep_ns = (double)call->duration_ns;
	reaped = (sys_call(id)->classes & SYS_FAMILY_wait) && call->ret > 0 ? map_get(&book->ended, (uint64_t)call->ret)
									    : NULL;
	if (reaped) {
		set_to(task, reaped);
		(void)map_remove(&book->ended, (uint64_t)call->ret);
	} else if (has_slept(book, task, sleep_ns) || (sleep_ns > 0 && ends_by_time(id, call, err))) {
		slept(book, task, call, id, err, sleep_ns);
	}
	if (task->returned) {
		task->base = task->at;
	} else {
		/* The next clock counts from the last one: it must know of the jump. */
		task->base.ns += task->at.ns - before_ns;
		task->base.io_ns = task->at.io_ns;
		task->base.wait_ns = task->at.wait_ns;
	}
	task->returned = false;
	task->sleep_ns = 0;
	alive(book, task, end_ns > task->end_ns ? end_ns : task->end_ns);
}

/* Its program is over. */
static void program_ends(struct untraced *book, struct untraced_task *task)
{
	book->ended_ns = task->own_ns;
	book->ended_stops = task->own_stops;
	task->own_ns = task->own_stops = 0;
}

static void exit_feed(struct untraced *book, struct untraced_task *task, const struct event_exit *end)
{
	double teardown_ns = 0;
	struct untraced_point *point;
	uint32_t tid = task->tid;

	if (task->clocked && end->head.pid == tid && end->how != EVENT_EXIT_LET_GO && end->how != EVENT_EXIT_REPLACED) {
		/* Not known of those that had children: as of the others. */
		teardown_ns = end->run_ns > task->last.run_ns ? (double)(end->run_ns - task->last.run_ns)
							      : book->teardown.value;
		if (end->run_ns > task->last.run_ns)
			untraced_mean_add(&book->teardown, teardown_ns, 0);
		task->at.ns += teardown_ns;
		task->own_ns += teardown_ns;
		book->work_ns += teardown_ns;
	}
	/* The whole life of the task; where an exec was in it is not known. */
	if (book->in_kernel && end->run_ns > 0) {
		double ours_ns = book->gap_ns * task->own_stops;

		task->own_ns = (double)end->run_ns > ours_ns ? (double)end->run_ns - ours_ns : 0;
	}
	program_ends(book, task);
	if (task->clocked) {
		book->clocks++;
	} else {
		book->unclocked++;
		book->work_ns += task->spent_ns;
	}
	if (tid == book->root_tid && !book->root_ended) {
		book->root_ended = true;
		book->root_end = task->at;
	}
	alive(book, task, end->head.time_ns);
	point = map_put(&book->ended, tid, NULL);
	if (point)
		*point = task->at;
	(void)map_remove(&book->tasks, tid);
	book->last = NULL;
}

static void fork_feed(struct untraced *book, const struct event_fork *fork)
{
	struct untraced_task *parent = task_get(book, fork->head.tid), *child;
	struct untraced_point begin = parent ? parent->at : (struct untraced_point){ 0 };
	bool clocked = parent && parent->clocked;

	if (!fork->followed)
		return;
	/* Stops cost more from now on: a tree is not on our CPU alone. */
	if (book->tasks.used == 1) {
		untraced_mean_forget(&book->run);
		untraced_mean_forget(&book->idle);
	}
	/* The parent may move when the table grows. */
	child = task_make(book, fork->child_tid);
	if (!child)
		return;
	child->at = child->base = begin;
	/* A new task's account begins with nothing. */
	child->clocked = clocked;
	child->end_ns = fork->head.time_ns;
	(void)map_remove(&book->ended, fork->child_tid);
}

/* A thread that calls execve takes the leader's place. */
static void exec_feed(struct untraced *book, const struct event_exec *exec)
{
	struct untraced_task *former = task_get(book, exec->former_tid ? exec->former_tid : exec->head.tid), moved,
			     *task;

	if (former && !book->in_kernel)
		program_ends(book, former);
	if (!former || !exec->former_tid || exec->former_tid == exec->head.tid)
		return;
	moved = *former;
	(void)map_remove(&book->tasks, exec->former_tid);
	(void)map_remove(&book->ended, exec->head.tid);
	task = task_make(book, exec->head.tid);
	if (task) {
		moved.tid = exec->head.tid;
		*task = moved;
	}
	if (exec->head.tid == book->root_tid)
		book->root_ended = false;
}

void untraced_feed(struct untraced *book, const struct event_head *head, enum sys_call_id id, int err)
{
	struct untraced_task *task;

	book->call.known = false;
	book->ended_ns = book->ended_stops = 0;
	switch ((int)head->type) {
	case EVENT_FORK:
		fork_feed(book, (const struct event_fork *)(const void *)head);
		return;
	case EVENT_EXEC:
		exec_feed(book, (const struct event_exec *)(const void *)head);
		return;
	case EVENT_FLOOR:
		book->in_kernel = true;
		book->gap_ns = (double)((const struct event_floor *)(const void *)head)->gap_ns;
		return;
	case EVENT_CALL:
	case EVENT_CLOCK:
	case EVENT_QUEUED:
	case EVENT_EXIT:
		break;
	default:
		return;
	}
	task = task_get(book, head->tid);
	if (!task && head->type != EVENT_EXIT)
		task = task_make(book, head->tid);
	if (!task)
		return;
	if (head->type == EVENT_QUEUED)
		task->queued_ns += (double)((const struct event_queued *)(const void *)head)->ns;
	else if (head->type == EVENT_CLOCK)
		clock_feed(book, task, (const struct event_clock *)(const void *)head);
	else if (head->type == EVENT_CALL)
		call_feed(book, task, (const struct event_call *)(const void *)head, id, err);
	else
		exit_feed(book, task, (const struct event_exit *)(const void *)head);
}

struct untraced_point untraced_now(const struct untraced *book, uint32_t tid)
{
	const struct untraced_task *task = map_get(&book->tasks, tid);

	if (!task && !book->root_ended)
		task = map_get(&book->tasks, book->root_tid);
	return task ? task->at : book->root_end;
}

void untraced_judge(const struct untraced *book, struct price_book *prices, struct untraced_result *ret)
{
	const struct untraced_task *root = NULL;
	struct untraced_point end = book->root_end;
	/* What entering and leaving costs is in no duration that is taken inside. */
	double dearer = book->in_kernel ? price_of(prices, CALL_getppid, 0, 0).ns : untraced_dearer_ns(book, prices);
	struct untraced_task *task;
	size_t iter = 0;

	*ret = (struct untraced_result){ .clocked = book->clocks > 0 && book->unclocked == 0,
					 .work_ns = book->work_ns,
					 .dearer_ns = dearer };
	while ((task = map_next(&book->tasks, &iter, NULL))) {
		if (!task->clocked) {
			ret->clocked = false;
			ret->work_ns += task->spent_ns;
		} else if (book->unclocked == 0) {
			ret->clocked = true;
		}
		if (task->tid == book->root_tid)
			root = task;
	}
	if (!book->root_ended && root)
		end = root->at;
	ret->ns = end.ns + end.stops * dearer;
	ret->wait_ns = end.wait_ns;
	ret->ns_spread = STOP_SPREAD * untraced_stops_ns(book, end.stops);
	ret->work_spread = STOP_SPREAD * untraced_stops_ns(book, book->work_stops);
	ret->work_ns += book->work_stops * dearer;
	ret->ns = ret->ns < ret->wait_ns ? ret->wait_ns : ret->ns;
	ret->work_ns = ret->work_ns < 0 ? 0 : ret->work_ns;
}
