/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/untraced.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/price-table.h"
#include "verdict/time.h"

#define FLAGS_WITHOUT_TIME \
	(EVENT_F_UNFINISHED | EVENT_F_KILLED | EVENT_F_NO_ENTER | EVENT_F_BEFORE_ATTACH | EVENT_F_RESTARTED)
#define MEMORY 64 /* samples that a mean remembers */
#define OUTLIER 6 /* times the mean */
#define FAR_OFF_MOST 4 /* in a row */
#define SURE 8 /* samples, for a mean to be held against others */
#define RARE 4 /* times as many samples */
#define SAMPLES_LEAST 32 /* for a quantile */
#define LOW_SHARE 10 /* one tenth from below */
#define SLEEP_LEAST_NS 20000.0
#define SMALL_BYTES 512 /* a read or write of so few bytes is a cheap call */

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

static void mean_add(struct untraced_mean *mean, double value)
{
	if (mean->count < MEMORY)
		mean->count++;
	mean->value += (value - mean->value) / mean->count;
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

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static double low_of(const float *samples, uint32_t count)
{
	float sorted[UNTRACED_RESERVOIR];

	count = count < UNTRACED_RESERVOIR ? count : UNTRACED_RESERVOIR;
	memcpy(sorted, samples, count * sizeof *samples);
	qsort(sorted, count, sizeof *sorted, by_value);
	return (double)sorted[count / LOW_SHARE];
}

/* The kernel does more on the way in than on the way out.  Both are seen at
 * their purest where next to nothing else was done: low in the samples. */
static void judge_more(struct untraced *book)
{
	double more;

	if (book->call_count < SAMPLES_LEAST || book->gap_count < SAMPLES_LEAST)
		return;
	more = low_of(book->gap_samples, book->gap_count) - low_of(book->call_samples, book->call_count);
	/* A program that computes between all its calls has no pure stretch. */
	book->more_ns = more < 0 ? 0 : more > book->run.value / 2 ? book->run.value / 2 : more;
}

static double stops_ns(const struct untraced *book, double stops)
{
	return stops * (book->run.value + book->more_ns / 2);
}

/*
 * The calls whose samples are taken for the stop, with what they cost on a
 * small machine: near enough to go on with, and put right in the end by what
 * they cost here.
 */
static double usual_ns(enum probe_id id)
{
	static const uint16_t usual[PROBE_COUNT] = {
		[PROBE_NULL] = 200,
		[PROBE_CLOSE_ABSENT] = 200,
		[PROBE_DUP_CLOSE] = 250,
		[PROBE_OPEN_ABSENT] = 1000,
		[PROBE_STAT] = 600,
		[PROBE_STAT_ABSENT] = 800,
		[PROBE_STATX] = 700,
		[PROBE_FSTAT] = 300,
		[PROBE_READLINK_NO_LINK] = 700,
		[PROBE_GETXATTR_ABSENT] = 900,
		[PROBE_LSEEK] = 200,

		[PROBE_IOCTL_NO_TTY] = 200,
		[PROBE_FCNTL] = 200,
		[PROBE_SIGACTION] = 200,
		[PROBE_SIGPROCMASK] = 200,
		[PROBE_GETXATTR_UNSUPPORTED] = 700,
		[PROBE_UNAME] = 300,
		[PROBE_FGETXATTR_ABSENT] = 500,
		[PROBE_PRLIMIT] = 250,
	};

	return usual[id];
}

/* Small reads and writes take as long as what is read does: of nothing else
 * there is enough, then as if it were the cheapest, /dev/null. */
static enum probe_id stands_for(const struct untraced *book, enum probe_id probe, const struct event_call *call)
{
	if (probe != PROBE_READ && probe != PROBE_WRITE)
		return probe;
	if (call->ret > SMALL_BYTES || book->steady * RARE > book->gap_count)
		return PROBE_COUNT;
	return PROBE_NULL;
}

/* The sampled call was a cheap one: what it took is the stop. */
static void learn(struct untraced *book, struct untraced_task *task, enum sys_call_id id, const struct event_call *call,
		  int err)
{
	enum probe_id own = price_table_probe(id, err), probe = stands_for(book, own, call);
	double run_ns = task->sample_run_ns, idle_ns = task->sample_idle_ns;

	task->sampled = false;
	/* A call without a loop of its own is priced like a null call, but is none. */
	if (probe == PROBE_COUNT || usual_ns(probe) == 0 || (own == PROBE_NULL && !time_is_cheap(id)))
		return;
	run_ns -= usual_ns(probe);
	/* One that is far off did something else, unless all are from now on. */
	if (book->run.count >= SURE && run_ns > OUTLIER * book->run.value && ++book->far_off < FAR_OFF_MOST)
		return;
	book->far_off = 0;
	book->steady += own == probe;
	book->call_samples[book->call_count++ % UNTRACED_RESERVOIR] = (float)run_ns;
	mean_add(&book->run, run_ns > 0 ? run_ns : 0);
	if (book->idle.count >= SURE && idle_ns > OUTLIER * book->idle.value)
		idle_ns = OUTLIER * book->idle.value;
	mean_add(&book->idle, idle_ns);
	book->sampled[probe]++;
	if (book->call_count % SAMPLES_LEAST == 0)
		judge_more(book);
}

static void clock_feed(struct untraced *book, struct untraced_task *task, const struct event_clock *clock)
{
	double run_ns = (double)(clock->run_ns - task->run_ns), queue_ns = (double)(clock->queue_ns - task->queue_ns),
	       wall_ns = (double)(clock->wall_ns - task->wall_ns), stops = (double)(clock->stops - task->stops),
	       turns = (double)(clock->turns - task->turns), idle_ns = wall_ns - run_ns - queue_ns,
	       work_ns = run_ns - stops_ns(book, stops), stopped_ns = task->at.stops;
	bool whole_call = clock->at == EVENT_CLOCK_RETURN && task->last_at == EVENT_CLOCK_ENTER;

	if (task->clocked && clock->run_ns >= task->run_ns && clock->stops >= task->stops) {
		task->at = task->base;
		task->at.stops = stopped_ns;
		task->at.ns += work_ns;
		book->work_ns += work_ns;
		if (clock->at == EVENT_CLOCK_RETURN) {
			/* Each stop is one turn: one more, and it waited or was thrown
			 * out.  Where it had to queue, so had we. */
			task->sleep_ns = turns > stops ? idle_ns - stops * book->idle.value - queue_ns : 0;
			task->returned = true;
			task->sampled = whole_call && stops < 1.5 && turns < 1.5;
			task->sample_run_ns = run_ns;
			task->sample_idle_ns = idle_ns;
		}
		if (clock->at == EVENT_CLOCK_ENTER && task->last_at == EVENT_CLOCK_RETURN && stops < 1.5 && turns < 1.5)
			book->gap_samples[book->gap_count++ % UNTRACED_RESERVOIR] = (float)run_ns;
	}
	task->clocked = true;
	task->base = task->at;
	task->run_ns = clock->run_ns;
	task->queue_ns = clock->queue_ns;
	task->turns = clock->turns;
	task->wall_ns = clock->wall_ns;
	task->stops = clock->stops;
	task->last_at = (uint8_t)clock->at;
	alive(book, task, clock->head.time_ns);
}

/* Wall times instead, until the next clock puts it right. */
static void guess(struct untraced *book, struct untraced_task *task, const struct event_call *call, enum sys_call_id id)
{
	double stop_ns = book->run.value + book->idle.value, ns = 0, gap_ns = 0,
	       took_ns = (double)call->duration_ns - stop_ns;

	/* Between the end of one call and the next there is what we did at both. */
	if (task->end_ns != 0 && call->head.time_ns > task->end_ns)
		gap_ns = (double)(call->head.time_ns - task->end_ns) - stop_ns;
	ns = gap_ns > 0 ? gap_ns : 0;
	if (took_ns > TIME_FAR * stop_ns && took_ns > SLEEP_LEAST_NS)
		task->sleep_ns = took_ns;
	else
		ns += took_ns > 0 ? took_ns : 0;
	(void)id;
	task->at.ns += ns;
	if (!task->clocked)
		task->spent_ns += ns;
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
		book->io_ns += sleep_ns;
		return;
	}
	limit.ns += sleep_ns;
	limit.wait_ns += sleep_ns;
	waker = ends_by_time(id, call, err) ? NULL : waker_of(book, task, call);
	set_to(task, waker && waker->ns < limit.ns ? waker : &limit);
}

static void call_feed(struct untraced *book, struct untraced_task *task, const struct event_call *call,
		      enum sys_call_id id, int err)
{
	uint64_t end_ns = call->head.time_ns + call->duration_ns;
	const struct untraced_point *reaped;
	double sleep_ns, before_ns;

	task->at.stops++;
	book->work_stops++;
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
		learn(book, task, id, call, err);
	before_ns = task->at.ns;
	sleep_ns = task->sleep_ns;
	if (sleep_ns > (double)call->duration_ns)
		sleep_ns = (double)call->duration_ns;
	reaped = (sys_call(id)->classes & SYS_FAMILY_wait) && call->ret > 0 ? map_get(&book->ended, (uint64_t)call->ret)
									    : NULL;
	if (reaped) {
		set_to(task, reaped);
		(void)map_remove(&book->ended, (uint64_t)call->ret);
	} else if (sleep_ns > SLEEP_LEAST_NS && sleep_ns > 3 * book->idle.value) {
		slept(book, task, call, id, err, sleep_ns);
	}
	if (task->returned) {
		task->base = task->at;
	} else {
		/* The next clock counts from the last one: it must know of the jump. */
		task->base.ns += task->at.ns - before_ns;
		task->base.wait_ns = task->at.wait_ns;
	}
	task->returned = false;
	task->sleep_ns = 0;
	alive(book, task, end_ns > task->end_ns ? end_ns : task->end_ns);
}

static void exit_feed(struct untraced *book, struct untraced_task *task, const struct event_exit *end)
{
	double teardown_ns = 0;
	struct untraced_point *point;
	uint32_t tid = task->tid;

	if (task->clocked && end->head.pid == tid && end->how != EVENT_EXIT_LET_GO && end->how != EVENT_EXIT_REPLACED) {
		/* Not known of those that had children: as of the others. */
		teardown_ns = end->run_ns > task->run_ns ? (double)(end->run_ns - task->run_ns) : book->teardown.value;
		if (end->run_ns > task->run_ns)
			mean_add(&book->teardown, teardown_ns);
		task->at.ns += teardown_ns;
		book->work_ns += teardown_ns;
	}
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
	struct untraced_task *former = task_get(book, exec->former_tid), moved, *task;

	if (!former || exec->former_tid == exec->head.tid)
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

	switch ((int)head->type) {
	case EVENT_FORK:
		fork_feed(book, (const struct event_fork *)(const void *)head);
		return;
	case EVENT_EXEC:
		exec_feed(book, (const struct event_exec *)(const void *)head);
		return;
	case EVENT_CALL:
	case EVENT_CLOCK:
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
	if (head->type == EVENT_CLOCK)
		clock_feed(book, task, (const struct event_clock *)(const void *)head);
	else if (head->type == EVENT_CALL)
		call_feed(book, task, (const struct event_call *)(const void *)head, id, err);
	else
		exit_feed(book, task, (const struct event_exit *)(const void *)head);
}

/* What the sampled calls cost on the average, beyond what was taken for it. */
static double dearer_ns(const struct untraced *book, struct price_book *prices)
{
	uint64_t count = 0;
	double sum_ns = 0;

	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		if (book->sampled[id] == 0)
			continue;
		count += book->sampled[id];
		sum_ns += (double)book->sampled[id] *
			  (price_of_probe(prices, (enum probe_id)id).ns - usual_ns((enum probe_id)id));
	}
	return count ? sum_ns / (double)count : 0;
}

void untraced_judge(const struct untraced *book, struct price_book *prices, struct untraced_result *ret)
{
	const struct untraced_task *root = NULL;
	struct untraced_point end = book->root_end;
	double dearer = dearer_ns(book, prices);
	struct untraced_task *task;
	size_t iter = 0;

	*ret = (struct untraced_result){ .clocked = book->clocks > 0 && book->unclocked == 0,
					 .work_ns = book->work_ns };
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
	ret->work_ns += book->work_stops * dearer;
	ret->ns = ret->ns < ret->wait_ns ? ret->wait_ns : ret->ns;
	ret->work_ns = ret->work_ns < 0 ? 0 : ret->work_ns;
}
