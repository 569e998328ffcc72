/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The child that becomes the command.  It is everything that the command is
 * to be (ids, signals, descriptors) before we look at it; it waits on a pipe
 * until it is armed, and once more when it has made the calls by which we find
 * what is ours in the times.  Why an execve failed comes back through another
 * pipe, which a success closes.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/bpf/bpf.h"

extern char **environ;

struct pipes {
	int ready[2], go[2], why[2];
};

static void write_all(int fd, const void *data, size_t bytes)
{
	while (write(fd, data, bytes) < 0 && errno == EINTR)
		;
}

static ssize_t read_all(int fd, void *data, size_t bytes)
{
	ssize_t n;

	do {
		n = read(fd, data, bytes);
	} while (n < 0 && errno == EINTR);
	return n;
}

/* The child's side; never returns. */
static void child_main(const struct engine_spec *spec, char **shell_argv, const struct pipes *pipes)
{
	char byte;
	int code = 0;

	if (spec->prepare_child)
		spec->prepare_child(spec->prepare_data);
	write_all(pipes->ready[1], "", 1);
	if (read_all(pipes->go[0], &byte, 1) != 1)
		_exit(125); /* the parent died or gave up */
	calibrate_calls();
	write_all(pipes->ready[1], "", 1);
	if (read_all(pipes->go[0], &byte, 1) != 1)
		_exit(125);
	code = -engine_become(spec->program, spec->argv, shell_argv);
	write_all(pipes->why[1], &code, sizeof code);
	_exit(127);
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static void close_pipe(int pipe[2])
{
	close_one(&pipe[0]);
	close_one(&pipe[1]);
}

/* Somebody killed it before it began: its end is the command's. */
static int died(struct child *child, struct error *err)
{
	int status = 0;

	while (waitpid(child->pid, &status, __WALL) < 0 && errno == EINTR)
		;
	child->ended = true;
	if (!WIFSIGNALED(status))
		return error_set(err, ECHILD, "the command ended before it began");
	child->exit = (struct engine_exit){ .known = true, .signal = WTERMSIG(status), .core = WCOREDUMP(status) };
	return 0;
}

static int wait_ready(struct child *child, struct error *err)
{
	char byte;

	return read_all(child->ready, &byte, 1) == 1 ? 0 : died(child, err);
}

int child_start(struct child *ret, const struct engine_spec *spec, struct error *err)
{
	struct pipes pipes = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	char **shell_argv = engine_shell_words(spec->program, spec->argv);
	int r = 0;

	*ret = (struct child){ .program = spec->program, .fd = -1, .ready = -1, .go = -1, .why = -1 };
	if (!shell_argv)
		return error_errno(err, ENOMEM, "starting the command");
	if (pipe2(pipes.ready, O_CLOEXEC) != 0 || pipe2(pipes.go, O_CLOEXEC) != 0 || pipe2(pipes.why, O_CLOEXEC) != 0) {
		r = error_errno(err, errno, "starting the command: pipe");
		goto out;
	}
	ret->pid = fork();
	if (ret->pid < 0) {
		r = error_errno(err, errno, "starting the command: fork");
		goto out;
	}
	if (ret->pid == 0) {
		/* Our ends, or the parent's death would not end the wait. */
		close_one(&pipes.ready[0]);
		close_one(&pipes.go[1]);
		close_one(&pipes.why[0]);
		child_main(spec, shell_argv, &pipes);
	}
	ret->ready = pipes.ready[0];
	ret->go = pipes.go[1];
	ret->why = pipes.why[0];
	pipes.ready[0] = pipes.go[1] = pipes.why[0] = -1;
	ret->fd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
out:
	close_pipe(pipes.ready);
	close_pipe(pipes.go);
	close_pipe(pipes.why);
	free(shell_argv);
	return r < 0 ? r : wait_ready(ret, err);
}

int child_died(struct child *child, struct error *err)
{
	return died(child, err);
}

void child_calibrate(struct child *child)
{
	write_all(child->go, "", 1);
}

int child_calibrated(struct child *child, struct error *err)
{
	return wait_ready(child, err);
}

int child_go(struct child *child, struct error *err)
{
	int code = 0;

	write_all(child->go, "", 1);
	if (read_all(child->why, &code, sizeof code) != sizeof code)
		return 0; /* it runs, or was killed: its end will tell */
	(void)waitpid(child->pid, NULL, __WALL);
	child->ended = true;
	return engine_exec_error(err, code, child->program);
}

void child_done(struct child *child, bool kill_it)
{
	if (kill_it && child->pid > 0 && !child->ended) {
		(void)kill(child->pid, SIGKILL);
		while (waitpid(child->pid, NULL, __WALL) < 0 && errno == EINTR)
			;
		child->ended = true;
	}
	close_one(&child->ready);
	close_one(&child->go);
	close_one(&child->why);
}
