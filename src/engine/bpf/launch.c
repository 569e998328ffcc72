/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts a command under our eyes.  The child is everything that the command
 * is to be (ids, signals, descriptors) before we look at it; it waits on a
 * pipe until it is armed.  Why an execve failed comes back through a second
 * pipe, which a success closes.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
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
	(void)execve(spec->program, spec->argv, environ);
	code = errno;
	/* A script without "#!": the shell runs it, as execvp(3) has it. */
	if (code == ENOEXEC) {
		(void)execve(shell_argv[0], shell_argv, environ);
		code = errno;
	}
	write_all(pipes->why[1], &code, sizeof code);
	_exit(127);
}

/* "sh PROGRAM ARGUMENTS…", made before fork: the child must not allocate. */
static char **make_shell_argv(const struct engine_spec *spec)
{
	size_t count = 0;
	char **argv;

	while (spec->argv[count])
		count++;
	argv = calloc(count + 3, sizeof *argv);
	if (!argv)
		return NULL;
	argv[0] = (char *)(uintptr_t) "/bin/sh";
	argv[1] = (char *)(uintptr_t)spec->program;
	for (size_t i = 1; i < count; i++)
		argv[i + 1] = spec->argv[i];
	return argv;
}

/* What the command will have at its begin: ours of now, before we open any,
 * but for what closes on exec. */
void launch_keep_fds(struct engine_bpf *e)
{
	struct teller teller = bpf_teller(e);
	size_t at = 0;

	tell_fds(&teller, getpid(), getpid());
	while (at < e->out.bytes) {
		const struct event_fd *fd = (const struct event_fd *)(const void *)(e->out.data + at);

		/* The folder that is being read shows itself too. */
		if (!(fd->flags & O_CLOEXEC) && buf_add(&e->fds, fd, fd->head.bytes) != 0)
			e->stats.state_errors++;
		at += fd->head.bytes;
	}
	buf_clear(&e->out);
}

static void own_fds(struct engine_bpf *e, pid_t pid)
{
	for (size_t at = 0; at < e->fds.bytes;) {
		struct event_fd *fd = (struct event_fd *)(void *)(e->fds.data + at);

		fd->head.pid = fd->head.tid = (uint32_t)pid;
		at += fd->head.bytes;
	}
}

/* Somebody killed it before it began: its end is the command's. */
static int died(struct engine_bpf *e, pid_t pid, struct error *err)
{
	int status = 0;

	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	e->root_ended = true;
	if (!WIFSIGNALED(status))
		return error_set(err, ECHILD, "the command ended before it began");
	e->exit = (struct engine_exit){ .known = true, .signal = WTERMSIG(status) };
	follow_remove(e, (uint32_t)pid);
	return 0;
}

static int hold(struct engine_bpf *e, const struct pipes *pipes, pid_t pid, struct error *err)
{
	struct teller teller = bpf_teller(e);
	struct follow *task;
	char byte;
	int r;

	e->root = pid;
	e->root_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (read_all(pipes->ready[0], &byte, 1) != 1)
		return died(e, pid, err);
	r = load_arm(&e->loaded, pid, pid, KERN_TASK_STARTING);
	if (r == -ESRCH)
		return died(e, pid, err);
	if (r < 0)
		return error_set(err, ENOTSUP, "cannot follow the command with the bpf engine: %s", strerror(-r));
	write_all(pipes->go[1], "", 1);
	task = follow_add(e, (uint32_t)pid, (uint32_t)pid, 0);
	if (!task)
		return error_errno(err, ENOMEM, "starting the command");
	tell_task(&teller, pid, pid, true, false);
	tell_dirs(&teller, pid, pid);
	cook_mounts(e, task);
	tell_ids(&teller, pid, pid);
	tell_limits(&teller, pid, pid);
	own_fds(e, pid);
	if (read_all(pipes->ready[0], &byte, 1) != 1)
		return died(e, pid, err);
	return calibrate_take(e, err);
}

/* Waits for the success of the execve, or says why there was none. */
static int await_exec(struct engine_bpf *e, const struct pipes *pipes, const char *program, struct error *err)
{
	int code = 0;

	if (read_all(pipes->why[0], &code, sizeof code) != sizeof code)
		return 0; /* it runs, or was killed: its end will tell */
	(void)waitpid(e->root, NULL, __WALL);
	e->root_ended = true;
	return engine_exec_error(err, code, program);
}

static void close_pipes(struct pipes *pipes)
{
	for (int i = 0; i < 2; i++) {
		if (pipes->ready[i] >= 0)
			(void)close(pipes->ready[i]);
		if (pipes->go[i] >= 0)
			(void)close(pipes->go[i]);
		if (pipes->why[i] >= 0)
			(void)close(pipes->why[i]);
	}
}

static void close_one(int *fd)
{
	(void)close(*fd);
	*fd = -1;
}

int bpf_launch(struct engine_bpf *e, const struct engine_spec *spec, struct error *err)
{
	struct pipes pipes = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	char **shell_argv = make_shell_argv(spec);
	pid_t pid;
	int r;

	if (!shell_argv)
		return error_errno(err, ENOMEM, "starting the command");
	if (pipe2(pipes.ready, O_CLOEXEC) != 0 || pipe2(pipes.go, O_CLOEXEC) != 0 || pipe2(pipes.why, O_CLOEXEC) != 0) {
		r = error_errno(err, errno, "starting the command: pipe");
		goto out;
	}
	pid = fork();
	if (pid < 0) {
		r = error_errno(err, errno, "starting the command: fork");
		goto out;
	}
	if (pid == 0) {
		/* Our ends, or the parent's death would not end the wait. */
		close_one(&pipes.ready[0]);
		close_one(&pipes.go[1]);
		close_one(&pipes.why[0]);
		child_main(spec, shell_argv, &pipes);
	}
	close_one(&pipes.ready[1]);
	close_one(&pipes.why[1]);
	r = hold(e, &pipes, pid, err);
	if (r == 0 && !e->root_ended) {
		e->begin_ns = clock_now_ns();
		write_all(pipes.go[1], "", 1);
		r = await_exec(e, &pipes, spec->program, err);
	}
	if (r < 0 && !e->root_ended) {
		(void)kill(pid, SIGKILL);
		while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
			;
		e->root_ended = true;
	}
out:
	close_pipes(&pipes);
	free(shell_argv);
	return r;
}
