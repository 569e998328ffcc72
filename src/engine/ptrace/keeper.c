/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keeper is a process of ours that launches and traces a command with a
 * scope, and hands its records to us through a pipe.  We may end, let go, or be
 * killed: the keeper carries on with what still runs until all of it has
 * ended, because its filter needs a tracer.  Nothing here looks into a record.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/ptrace/scope.h"
#include "syscull/fds.h"

#define PIPE_BYTES (1 << 20)
#define FLUSH_BYTES (64u << 10)
#define TICK_US 100000

/* What comes through the pipe: a frame, then its data. */
enum frame_kind { FRAME_STARTED, FRAME_RECORD, FRAME_END };
struct frame {
	uint32_t kind;
	uint32_t bytes;
};

struct started {
	int result;
	struct error err;
};

struct ended {
	struct engine_stats stats;
	struct engine_exit exit;
	uint64_t left; /* tasks that the keeper carries on with */
};

/* Control bytes: a signal's number to hand on, or this. */
#define LET_GO 0xff

/* Ours, on the reading side. */
struct kept {
	struct engine engine;
	pid_t keeper;
	int data_fd, control_fd;
	struct buf in;
	size_t taken;
	bool over;
	bool told; /* the end came, with the books */
	struct ended end;
};

/* The keeper's side. */
struct keeper {
	struct engine *engine;
	int data_fd, control_fd;
	bool orphaned; /* nobody reads any more */
	size_t used;
	char out[FLUSH_BYTES];
};

static struct kept *self(struct engine *engine)
{
	return (struct kept *)(void *)engine;
}

/* The keeper */

static void write_out(struct keeper *k, const void *data, size_t bytes)
{
	while (!k->orphaned && bytes > 0) {
		ssize_t n = write(k->data_fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			k->orphaned = true;
			return;
		}
		data = (const char *)data + n;
		bytes -= (size_t)n;
	}
}

static void flush(struct keeper *k)
{
	write_out(k, k->out, k->used);
	k->used = 0;
}

static void put(struct keeper *k, const void *data, size_t bytes)
{
	if (bytes > sizeof k->out - k->used)
		flush(k);
	if (bytes > sizeof k->out) {
		write_out(k, data, bytes);
		return;
	}
	memcpy(k->out + k->used, data, bytes);
	k->used += bytes;
}

static void put_frame(struct keeper *k, enum frame_kind kind, const void *data, size_t bytes)
{
	const struct frame frame = { kind, (uint32_t)bytes };

	put(k, &frame, sizeof frame);
	put(k, data, bytes);
}

/* What we are told by our other half; its end counts as a KILL for the
 * command, which would have died with it. */
static void listen_to_control(struct keeper *k)
{
	unsigned char byte;
	ssize_t n;

	while (k->control_fd >= 0) {
		n = read(k->control_fd, &byte, 1);
		if (n < 0)
			return;
		if (n == 0) {
			(void)close(k->control_fd);
			k->control_fd = -1;
			k->orphaned = true;
			k->engine->ops->forward(k->engine, SIGKILL);
		} else if (byte == LET_GO) {
			k->engine->ops->let_go(k->engine);
		} else {
			k->engine->ops->forward(k->engine, byte);
		}
	}
}

static void on_signal(int signal)
{
	(void)signal;
}

/* How signals were before the keeper made them its own: the command's. */
static struct {
	struct sigaction user1, alarm, pipe;
	sigset_t mask;
	void (*prepare_child)(void *data);
	void *prepare_data;
} before;

static void prepare_child(void *unused)
{
	(void)unused;
	(void)sigaction(SIGUSR1, &before.user1, NULL);
	(void)sigaction(SIGALRM, &before.alarm, NULL);
	(void)sigaction(SIGPIPE, &before.pipe, NULL);
	(void)sigprocmask(SIG_SETMASK, &before.mask, NULL);
	if (before.prepare_child)
		before.prepare_child(before.prepare_data);
}

/* A terminal's keys and whoever ends a group of processes mean the command;
 * the keeper ends when it has nothing to keep. */
static void settle_signals(const struct engine_spec *spec)
{
	struct sigaction wake = { .sa_handler = on_signal }, ignore = { .sa_handler = SIG_IGN };
	struct itimerval tick = { { 0, TICK_US }, { 0, TICK_US } };
	sigset_t mask;

	before.prepare_child = spec->prepare_child;
	before.prepare_data = spec->prepare_data;
	(void)sigfillset(&mask);
	(void)sigdelset(&mask, SIGUSR1);
	(void)sigdelset(&mask, SIGALRM);
	(void)sigprocmask(SIG_SETMASK, &mask, &before.mask);
	(void)sigaction(SIGUSR1, &wake, &before.user1);
	(void)sigaction(SIGALRM, &wake, &before.alarm);
	(void)sigaction(SIGPIPE, &ignore, &before.pipe);
	(void)setitimer(ITIMER_REAL, &tick, NULL);
}

/* Whoever reads what the command writes waits for its end, not for ours; a
 * file system that we stand on can be unmounted. */
static void settle_files(const struct keeper *k)
{
	const int keep[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, k->data_fd, k->control_fd };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fd != k->data_fd && fd != k->control_fd && fd != null && (null < 0 || dup2(null, fd) < 0))
			(void)close(fd);
	(void)syscull_fds_close(0, keep, sizeof keep / sizeof keep[0], NULL);
	(void)chdir("/");
}

static _Noreturn void keeper_main(const struct engine_spec *given, int data_fd, int control_fd)
{
	static struct keeper k;
	struct engine_spec spec = *given;
	struct started started = { 0 };
	struct ended end = { 0 };
	struct error err = { 0 };
	const struct event_head *record;
	int r;

	k.data_fd = data_fd;
	k.control_fd = control_fd;
	(void)prctl(PR_SET_NAME, "syscull-keeper");
	settle_signals(given);
	spec.prepare_child = prepare_child;
	started.result = engine_begin(&spec, &k.engine, &started.err);
	put_frame(&k, FRAME_STARTED, &started, sizeof started);
	flush(&k);
	if (started.result < 0)
		_exit(0);
	settle_files(&k);
	do {
		listen_to_control(&k);
		r = k.engine->ops->next(k.engine, &record, &err);
		if (r == ENGINE_RECORD)
			put_frame(&k, FRAME_RECORD, record, record->bytes);
		else if (r == -EAGAIN)
			flush(&k);
	} while (r == ENGINE_RECORD || r == -EAGAIN);
	k.engine->ops->stats(k.engine, &end.stats);
	k.engine->ops->exit_of(k.engine, &end.exit);
	end.left = end.stats.let_go;
	put_frame(&k, FRAME_END, &end, sizeof end);
	flush(&k);
	(void)close(k.data_fd);
	if (k.control_fd >= 0)
		(void)close(k.control_fd);
	k.engine->ops->stop(k.engine);
	scope_carry_on_all();
	_exit(0);
}

/* We */

/* More of the pipe: 1, 0 at its end, -EAGAIN, negative errno. */
static int read_more(struct kept *k, struct error *err)
{
	size_t rest = k->in.bytes - k->taken;
	void *place;
	ssize_t n;

	if (k->taken > 0 && rest > 0)
		memmove(k->in.data, k->in.data + k->taken, rest);
	k->in.bytes = rest;
	k->taken = 0;
	place = buf_reserve(&k->in, FLUSH_BYTES);
	if (!place)
		return error_errno(err, ENOMEM, "reading what the keeper saw");
	n = read(k->data_fd, place, FLUSH_BYTES);
	if (n < 0)
		return errno == EINTR ? -EAGAIN : error_errno(err, errno, "reading what the keeper saw");
	k->in.bytes += (size_t)n;
	return n > 0;
}

/* The next whole frame's data, or NULL: more has to be read. */
static const void *take_frame(struct kept *k, struct frame *ret)
{
	const char *at;

	if (k->in.bytes - k->taken < sizeof *ret)
		return NULL;
	at = k->in.data + k->taken;
	memcpy(ret, at, sizeof *ret);
	if (k->in.bytes - k->taken - sizeof *ret < ret->bytes)
		return NULL;
	k->taken += sizeof *ret + ret->bytes;
	return at + sizeof *ret;
}

static int kept_next(struct engine *engine, const struct event_head **ret_record, struct error *err)
{
	struct kept *k = self(engine);
	const void *data;
	struct frame frame;
	int r;

	while (!k->over) {
		data = take_frame(k, &frame);
		if (!data) {
			r = read_more(k, err);
			if (r < 0)
				return r;
			k->over = r == 0;
		} else if (frame.kind == FRAME_RECORD) {
			*ret_record = data;
			return ENGINE_RECORD;
		} else if (frame.kind == FRAME_END) {
			memcpy(&k->end, data, sizeof k->end);
			k->told = k->over = true;
		}
	}
	return ENGINE_END;
}

static void send_control(struct kept *k, unsigned char byte)
{
	if (k->over || write(k->control_fd, &byte, 1) != 1)
		return;
	/* It may be about to wait and not hear it: then its tick does. */
	(void)kill(k->keeper, SIGUSR1);
}

static void kept_let_go(struct engine *engine)
{
	send_control(self(engine), LET_GO);
}

static void kept_forward(struct engine *engine, int signal)
{
	send_control(self(engine), (unsigned char)signal);
}

static void kept_stats(const struct engine *engine, struct engine_stats *ret)
{
	const struct kept *k = (const struct kept *)(const void *)engine;

	*ret = k->end.stats;
	ret->scoped = true;
	if (k->over && !k->told) {
		/* Somebody killed it, and so all that it kept. */
		ret->aborted = true;
		(void)strcpy(ret->abort_reason, "the process that traces was killed, and the command with it");
	}
}

static void kept_exit_of(const struct engine *engine, struct engine_exit *ret)
{
	const struct kept *k = (const struct kept *)(const void *)engine;

	*ret = k->end.exit;
	if (k->over && !k->told)
		*ret = (struct engine_exit){ .known = true, .signal = SIGKILL };
}

static void kept_stop(struct engine *engine)
{
	struct kept *k;

	if (!engine)
		return;
	k = self(engine);
	if (!k->over)
		kept_let_go(engine);
	(void)close(k->data_fd);
	(void)close(k->control_fd);
	/* One that carries on is not waited for. */
	while (waitpid(k->keeper, NULL, k->told && k->end.left == 0 ? 0 : WNOHANG) < 0 && errno == EINTR)
		;
	buf_done(&k->in);
	free(k);
}

static const struct engine_ops kept_ops = {
	.name = "ptrace",
	.title = "stops at some calls alone",
	.live = true,
	.scopes = true,
	.next = kept_next,
	.let_go = kept_let_go,
	.forward = kept_forward,
	.stats = kept_stats,
	.exit_of = kept_exit_of,
	.stop = kept_stop,
};

/* How the start went, as the keeper tells it. */
static int hear_start(struct kept *k, struct error *err)
{
	struct started started;
	struct frame frame;
	const void *data;
	int r;

	while (!(data = take_frame(k, &frame))) {
		r = read_more(k, err);
		if (r == -EAGAIN)
			continue;
		if (r < 0)
			return r;
		if (r == 0)
			return error_set(err, ECHILD, "starting the command: the process that traces was killed");
	}
	memcpy(&started, data, sizeof started);
	if (started.result < 0 && err && err->code == 0)
		*err = started.err;
	return started.result;
}

int keeper_start(const struct engine_spec *spec, struct engine **ret_engine, struct error *err)
{
	struct kept *k = calloc(1, sizeof *k);
	int data[2] = { -1, -1 }, control[2] = { -1, -1 };
	int r;

	if (!k)
		return error_errno(err, ENOMEM, "starting the ptrace engine");
	k->engine.ops = &kept_ops;
	if (pipe2(data, O_CLOEXEC) != 0 || pipe2(control, O_CLOEXEC | O_NONBLOCK) != 0) {
		r = error_errno(err, errno, "starting the ptrace engine: pipe");
		goto fail;
	}
	(void)fcntl(data[1], F_SETPIPE_SZ, PIPE_BYTES);
	k->keeper = fork();
	if (k->keeper < 0) {
		r = error_errno(err, errno, "starting the ptrace engine: fork");
		goto fail;
	}
	if (k->keeper == 0) {
		(void)close(data[0]);
		(void)close(control[1]);
		keeper_main(spec, data[1], control[0]);
	}
	(void)close(data[1]);
	(void)close(control[0]);
	k->data_fd = data[0];
	k->control_fd = control[1];
	r = hear_start(k, err);
	if (r < 0) {
		k->over = true;
		k->told = true;
		kept_stop(&k->engine);
		return r;
	}
	*ret_engine = &k->engine;
	return 0;
fail:
	for (int i = 0; i < 2; i++) {
		if (data[i] >= 0)
			(void)close(data[i]);
		if (control[i] >= 0)
			(void)close(control[i]);
	}
	free(k);
	return r;
}
