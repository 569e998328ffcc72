/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine's frame: takes records out of the ring, sleeps when there are
 * none, and ends a run: when the command's first task has ended (what it
 * leaves behind is let go), when all attached tasks have, or when told to.
 * The reader is never woken for a record; a full eighth of the ring does.
 */
#include "engine/bpf/bpf.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define SLEEP_LEAST_MS 1
#define SLEEP_MOST_MS 16
#define QUIET_NS UINT64_C(100000000)
#define OUT_BYTES_MAX (256u << 20)
#define RING_BYTES (32u << 20)
#define HURRY 10 /* "nice" by so much less */

/* Who reads late loses calls: where there are more tasks than CPUs we come
 * before them, if that is allowed.  The command has been made by then. */
static void hurry(struct engine_bpf *e, bool on)
{
	int before;

	if (on == e->hurries)
		return;
	errno = 0;
	before = getpriority(PRIO_PROCESS, 0);
	if (errno == 0 && setpriority(PRIO_PROCESS, 0, on ? before - HURRY : before + HURRY) == 0)
		e->hurries = on;
}

static struct engine_bpf *self(struct engine *engine)
{
	return (struct engine_bpf *)(void *)engine;
}

static const struct engine_bpf *self_const(const struct engine *engine)
{
	return (const struct engine_bpf *)(const void *)engine;
}

struct event_head *bpf_emit(struct engine_bpf *e)
{
	struct event_head *head = event_end(&e->record);
	size_t at = e->out.bytes;

	if (head && at + head->bytes <= OUT_BYTES_MAX && buf_add(&e->out, head, head->bytes) == 0)
		return (struct event_head *)(void *)(e->out.data + at);
	e->out.failed = false;
	e->stats.state_errors++;
	return NULL;
}

static void emit(void *data)
{
	(void)bpf_emit(data);
}

struct teller bpf_teller(struct engine_bpf *e)
{
	return (struct teller){ .record = &e->record,
				.files = &e->files,
				.env_names = e->env_names,
				.errors = &e->stats.state_errors,
				.emit = emit,
				.data = e };
}

struct follow *follow_find(struct engine_bpf *e, uint32_t tid)
{
	return map_get(&e->tasks, tid);
}

struct follow *follow_add(struct engine_bpf *e, uint32_t tid, uint32_t pid, uint32_t parent)
{
	struct follow *task = map_put(&e->tasks, tid, NULL);

	if (!task) {
		e->stats.state_errors++;
		return NULL;
	}
	follow_done(task);
	*task = (struct follow){ .tid = tid, .pid = pid, .parent = parent };
	return task;
}

void follow_done(struct follow *task)
{
	free(task->filename);
	free(task->stack);
	task->filename = NULL;
	task->stack = NULL;
}

void follow_remove(struct engine_bpf *e, uint32_t tid)
{
	struct follow *task = follow_find(e, tid);

	if (!task)
		return;
	follow_done(task);
	(void)map_remove(&e->tasks, tid);
}

/* The command's first task has ended? */
static void look_at_root(struct engine_bpf *e)
{
	int status;

	if (e->root == 0 || e->root_ended || waitpid(e->root, &status, WNOHANG | __WALL) != e->root)
		return;
	e->root_ended = true;
	e->end_ns = clock_now_ns();
	e->exit = (struct engine_exit){ .known = true };
	if (WIFSIGNALED(status)) {
		e->exit.signal = WTERMSIG(status);
		e->exit.core = WCOREDUMP(status);
	} else {
		e->exit.status = WEXITSTATUS(status);
	}
}

static void tell_lost(struct engine_bpf *e)
{
	uint64_t lost = books_lost(&e->loaded);
	struct event_lost *record;

	if (lost == e->lost_told)
		return;
	record = event_begin(&e->record, EVENT_LOST);
	if (record) {
		record->head.time_ns = clock_now_ns();
		record->count = lost - e->lost_told;
	}
	(void)bpf_emit(e);
	e->lost_told = lost;
}

/* The account of a task that runs on: the kernel side has it, but for the stretch that it is in. */
static void tell_times(struct engine_bpf *e, const struct follow *task, struct event_exit *end)
{
	struct kern_exit account = { .run_ns = proc_run_ns((pid_t)task->tid) };
	struct kern_task kept;

	if (account.run_ns == 0 || !load_task(&e->loaded, (pid_t)task->tid, (pid_t)task->pid, &kept))
		return;
	account.user_ns = kept.user_ns;
	account.gaps = kept.gaps;
	account.late_gaps = kept.late_gaps;
	if (kept.flags & KERN_TASK_RETURNED && !(kept.flags & KERN_TASK_IN_CALL) && kept.exit_ns < end->head.time_ns)
		account.user_ns += end->head.time_ns - kept.exit_ns;
	else if (kept.flags & KERN_TASK_ATTACHED && account.run_ns > task->ran_before_ns)
		account.user_ns += account.run_ns - task->ran_before_ns;
	end->run_ns = account.run_ns - (task->ran_before_ns < account.run_ns ? task->ran_before_ns : 0);
	end->user_ns = cook_user_ns(e, task, &account);
	end->user_gaps = account.gaps + account.late_gaps;
}

/* Who still runs is told of as let go; who has gone without a word as lost. */
static void let_go_rest(struct engine_bpf *e)
{
	size_t iter = 0;
	struct follow *task;

	while ((task = map_next(&e->tasks, &iter, NULL))) {
		bool gone = tgkill((pid_t)task->pid, (pid_t)task->tid, 0) != 0 && errno == ESRCH;
		struct event_exit *end = event_begin(&e->record, EVENT_EXIT);

		if (end) {
			end->head.pid = task->pid;
			end->head.tid = task->tid;
			end->head.time_ns = clock_now_ns();
			end->how = gone ? EVENT_EXIT_LOST : EVENT_EXIT_LET_GO;
			if (!gone)
				tell_times(e, task, end);
		}
		e->stats.let_go++;
		(void)bpf_emit(e);
		follow_done(task);
	}
	map_clear(&e->tasks);
}

/* The ring is dry: is this the end?  False to look at the ring once more. */
static bool finish(struct engine_bpf *e)
{
	if (e->finished)
		return true;
	/* A task's last record comes before its parent can wait for it. */
	if (!e->letting_go && (e->root != 0 ? !e->root_ended : e->tasks.used > 0))
		return false;
	if (e->loaded.attached) {
		/* Nobody is left, or somebody may be in the middle of something. */
		load_detach(&e->loaded, e->tasks.used > 0);
		return false;
	}
	if (grow_is_busy(&e->loaded)) {
		grow_settle(&e->loaded);
		return false;
	}
	if (grow_waits(&e->loaded))
		return false;
	hurry(e, false);
	let_go_rest(e);
	if (e->end_ns == 0)
		e->end_ns = clock_now_ns();
	e->finished = true;
	return true;
}

static int sleep_ms(const struct engine_bpf *e)
{
	uint64_t ms = e->quiet_ns / 2000000;

	return ms < SLEEP_LEAST_MS ? SLEEP_LEAST_MS : ms > SLEEP_MOST_MS ? SLEEP_MOST_MS : (int)ms;
}

/* 0, or -EAGAIN when nothing has come for long, or a signal has. */
static int sleep_a_little(struct engine_bpf *e)
{
	struct pollfd fds[2] = { { .fd = e->loaded.ring.fd, .events = POLLIN },
				 { .fd = e->root_fd, .events = POLLIN } };
	uint64_t begin_ns = clock_now_ns();
	int ms = grow_is_busy(&e->loaded) ? SLEEP_LEAST_MS : sleep_ms(e), n;

	__atomic_store_n(&e->loaded.live->asleep, 1, __ATOMIC_SEQ_CST);
	/* What is in the ring now is no news for poll: only a wake-up is waited for. */
	n = grow_waits(&e->loaded) ? 1 : poll(fds + 1, 1, 0);
	if (n == 0)
		n = poll(fds, 2, ms);
	__atomic_store_n(&e->loaded.live->asleep, 0, __ATOMIC_SEQ_CST);
	if (n < 0 && errno == EINTR)
		return -EAGAIN;
	e->quiet_ns += clock_now_ns() - begin_ns;
	look_at_root(e);
	if (e->quiet_ns < QUIET_NS || grow_waits(&e->loaded))
		return 0;
	e->quiet_ns = QUIET_NS / 2;
	return -EAGAIN;
}

static bool take_queued(struct engine_bpf *e, const struct event_head **ret)
{
	if (e->out_taken == e->out.bytes) {
		buf_clear(&e->out);
		e->out_taken = 0;
		return false;
	}
	*ret = (const struct event_head *)(const void *)(e->out.data + e->out_taken);
	e->out_taken += (*ret)->bytes;
	return true;
}

static int bpf_next(struct engine *engine, const struct event_head **ret_record, struct error *err)
{
	struct engine_bpf *e = self(engine);

	(void)err;
	for (;;) {
		const struct event_head *raw;
		bool dry;

		if (take_queued(e, ret_record))
			break;
		raw = grow_next(&e->loaded, &dry);
		if (dry) {
			tell_lost(e);
			grow_look(&e->loaded);
		}
		if (raw) {
			e->quiet_ns = 0;
			raw = cook(e, raw);
			if (raw && e->out.bytes == 0) {
				*ret_record = raw;
				break;
			}
			/* Something is before it. */
			if (raw && buf_add(&e->out, raw, raw->bytes) != 0)
				e->stats.state_errors++;
			continue;
		}
		if (e->out.bytes > 0)
			continue;
		look_at_root(e);
		if (e->finished || finish(e)) {
			if (e->out.bytes > 0)
				continue;
			return ENGINE_END;
		}
		if (e->loaded.attached) {
			int r = sleep_a_little(e);

			if (r < 0)
				return r;
		}
	}
	if ((*ret_record)->type == EVENT_CALL) {
		if ((*ret_record)->flags & EVENT_F_MARK)
			e->stats.marks++;
		else
			e->stats.delivered++;
	}
	return ENGINE_RECORD;
}

static int bpf_start(const struct engine_spec *spec, struct engine **ret_engine, struct error *err)
{
	struct engine_bpf *e = calloc(1, sizeof *e);
	struct load_spec load = { .items = spec->items,
				  .ring_bytes = spec->ring_bytes ? spec->ring_bytes : RING_BYTES,
				  .whole_ring = spec->drops_rights || !spec->argv,
				  .task_limit = spec->task_limit,
				  .stacks = spec->stacks };
	int r;

	if (!e)
		return error_errno(err, ENOMEM, "starting the bpf engine");
	e->engine.ops = &engine_bpf;
	e->items = spec->items;
	e->env_names = spec->env_names;
	e->root_fd = -1;
	map_init(&e->tasks, sizeof(struct follow), 0);
	exec_files_init(&e->images);
	cook_init(e);
	if (!proc_usable())
		e->stats.met |= ENGINE_MET_NO_PROC;
	r = load_open(&e->loaded, &load, err);
	if (r == 0)
		r = load_attach(&e->loaded, err);
	/* Whatever the kernel had against it: another engine may do. */
	if (r < 0) {
		err->code = ENOTSUP;
		r = -ENOTSUP;
	}
	if (r == 0)
		r = spec->argv ? bpf_launch(e, spec, err) : bpf_attach(e, spec, err);
	if (r < 0) {
		engine_bpf.stop(&e->engine);
		return r;
	}
	hurry(e, true);
	*ret_engine = &e->engine;
	return 0;
}

static void bpf_let_go(struct engine *engine)
{
	self(engine)->letting_go = true;
}

static void bpf_forward(struct engine *engine, int signal)
{
	const struct engine_bpf *e = self(engine);

	if (e->root != 0 && !e->root_ended)
		(void)kill(e->root, signal);
}

static void bpf_stats(const struct engine *engine, struct engine_stats *ret)
{
	const struct engine_bpf *e = self_const(engine);

	books_stats(e, ret);
	if (e->end_ns == 0)
		ret->wall_ns = clock_now_ns() - e->begin_ns;
}

static void bpf_exit_of(const struct engine *engine, struct engine_exit *ret)
{
	*ret = self_const(engine)->exit;
}

static size_t bpf_losses(const struct engine *engine, struct engine_loss *ret, size_t most)
{
	return books_losses(self_const(engine), ret, most);
}

static void bpf_stop(struct engine *engine)
{
	struct engine_bpf *e;
	size_t iter = 0;
	struct follow *task;

	if (!engine)
		return;
	e = self(engine);
	hurry(e, false);
	load_detach(&e->loaded, false);
	load_close(&e->loaded);
	while ((task = map_next(&e->tasks, &iter, NULL)))
		follow_done(task);
	map_done(&e->tasks);
	exec_files_done(&e->images);
	if (e->root_fd >= 0)
		(void)close(e->root_fd);
	buf_done(&e->out);
	buf_done(&e->record);
	buf_done(&e->files);
	buf_done(&e->env);
	buf_done(&e->fds);
	free(e);
}

const struct engine_ops engine_bpf = {
	.name = "bpf",
	.title = "programs in the kernel; for root",
	.live = true,
	.probe = probe_bpf,
	.start = bpf_start,
	.next = bpf_next,
	.let_go = bpf_let_go,
	.forward = bpf_forward,
	.stats = bpf_stats,
	.exit_of = bpf_exit_of,
	.losses = bpf_losses,
	.stop = bpf_stop,
};
