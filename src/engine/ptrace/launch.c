/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts a command under our eyes.  The child waits on a pipe until we hold
 * it; what it does before its execve is ours and not recorded.  Why an
 * execve failed comes back through a second pipe, which a success closes.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/ptrace/scope.h"

extern char **environ;

static void write_all(int fd, const void *data, size_t bytes)
{
	while (write(fd, data, bytes) < 0 && errno == EINTR)
		;
}

/* What the child has to tell before its execve, or because there is none. */
enum news_kind { NEWS_NO_EXEC, NEWS_NO_FILTER, NEWS_NO_NEW_PRIVS };
struct news {
	int kind;
	int code;
};

static void tell(int fd, enum news_kind kind, int code)
{
	struct news news = { (int)kind, code };

	write_all(fd, &news, sizeof news);
}

/* The child's side; never returns. */
static void child_main(const struct engine_spec *spec, const struct sock_fprog *filter, char **shell_argv, int go_fd,
		       int why_fd)
{
	char byte;
	int code;
	ssize_t n;

	do {
		n = read(go_fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(125); /* the parent died or gave up */
	if (spec->prepare_child)
		spec->prepare_child(spec->prepare_data);
	if (filter->filter) {
		bool no_new_privs;

		code = scope_filter_install(filter, &no_new_privs);
		if (code < 0) {
			tell(why_fd, NEWS_NO_FILTER, -code);
			/* Without a filter nothing else would stop before execve. */
			(void)raise(SIGSTOP);
		} else if (no_new_privs)
			tell(why_fd, NEWS_NO_NEW_PRIVS, 0);
	}
	code = -engine_become(spec->program, spec->argv, shell_argv);
	tell(why_fd, NEWS_NO_EXEC, code);
	_exit(127);
}

/* Somebody killed it before we had it: its end is the command's. */
static int died(struct engine_pt *e, pid_t pid, int status, struct error *err)
{
	e->root = pid;
	e->root_ended = true;
	if (!WIFSIGNALED(status))
		return error_set(err, ECHILD, "the command ended before it began");
	e->exit = (struct engine_exit){ .known = true, .signal = WTERMSIG(status) };
	return 0;
}

static int hold(struct engine_pt *e, pid_t pid, struct error *err)
{
	struct task *task;
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, e->stats.scoped ? SCOPE_OPTIONS : TRACE_OPTIONS | PTRACE_O_EXITKILL) != 0 ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) != 0) {
		struct refusal refusal;
		int code = errno;

		if (waitpid(pid, &status, __WALL | WNOHANG) == pid && !WIFSTOPPED(status))
			return died(e, pid, status, err);
		refusal_find(&refusal, 0, code);
		/* Not EPERM: that would say that the program cannot be executed. */
		return error_set(err, ENOTSUP, "cannot trace: %s; %s; see also: syscull doctor", refusal.why,
				 refusal.brief);
	}
	while (waitpid(pid, &status, __WALL) < 0) {
		if (errno != EINTR)
			return error_errno(err, errno, "waiting for the command");
	}
	if (!WIFSTOPPED(status))
		return died(e, pid, status, err);
	if (!probe_call_info(pid))
		return error_set(err, ENOTSUP,
				 "cannot trace: the kernel lacks PTRACE_GET_SYSCALL_INFO, "
				 "Linux 5.3 or newer is needed");
	task = task_add(e, pid);
	if (!task)
		return error_errno(err, ENOMEM, "starting the command");
	task->pid = pid;
	task->root = true;
	task->starting = true;
	e->root = pid;
	state_task(e, task, false);
	/* With a scope the calls that change these are not seen: better not
	 * told than told as they were once. */
	if (!e->stats.scoped) {
		state_dirs(e, task);
		state_mounts(e, task);
		state_ids(e, task);
	}
	state_limits(e, task);
	if (e->stats.aborted)
		return error_set(err, ENOMEM, "starting the command: %s", e->stats.abort_reason);
	pin_start(e, task);
	return 0;
}

/* What the child has told; success of its execve closes its end.  The errno
 * of a failed execve, or 0. */
static int hear(struct engine_pt *e, int why_fd)
{
	struct news news;
	ssize_t n;

	for (;;) {
		n = read(why_fd, &news, sizeof news);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof news)
			return 0;
		if (news.kind == NEWS_NO_EXEC)
			return news.code;
		if (news.kind == NEWS_NO_FILTER)
			e->no_filter_code = news.code;
		else
			e->no_new_privs = true;
	}
}

/* Runs the child up to the success of its execve, or to its end. */
static int run_to_exec(struct engine_pt *e, int why_fd, const char *program, struct error *err)
{
	int code;

	while (!e->started && !e->root_ended && !e->stats.aborted) {
		struct stop stop;
		pid_t tid = engine_wait(e, -1, __WALL, &stop);

		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return error_errno(err, errno, "waiting for the command");
		stop_handle(e, &stop);
	}
	/* Where we had to let go of it, it has begun or soon says why not. */
	code = hear(e, why_fd);
	e->no_filter = e->stats.scoped && e->no_filter_code != 0;
	if (e->no_filter)
		e->stats.met |= ENGINE_MET_NO_FILTER;
	if (e->no_new_privs && (e->stats.met & ENGINE_MET_SETUID))
		e->stats.met |= ENGINE_MET_NO_NEW_PRIVS;
	if (e->started)
		return 0;
	if (code != 0)
		return engine_exec_error(err, code, program);
	if (e->stats.aborted || (e->exit.known && e->exit.signal != 0))
		return 0;
	return error_set(err, ECHILD, "%s: ended before it began", program);
}

int launch_command(struct engine_pt *e, const struct engine_spec *spec, struct error *err)
{
	int go[2] = { -1, -1 }, why[2] = { -1, -1 };
	char **shell_argv = engine_shell_words(spec->program, spec->argv);
	struct sock_fprog filter = { 0 };
	pid_t pid;
	int r;

	if (!shell_argv)
		return error_errno(err, ENOMEM, "starting the command");
	r = e->stats.scoped ? scope_filter_make(&e->stats.scope, &filter) : 0;
	if (r < 0) {
		r = error_errno(err, -r, "starting the command: the filter of the calls to watch");
		goto out;
	}
	if (pipe2(go, O_CLOEXEC) != 0 || pipe2(why, O_CLOEXEC) != 0) {
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
		(void)close(go[1]);
		(void)close(why[0]);
		child_main(spec, &filter, shell_argv, go[0], why[1]);
	}
	(void)close(why[1]);
	why[1] = -1;
	r = hold(e, pid, err);
	if (r == 0 && !e->root_ended) {
		struct task *task = task_find(e, pid);

		write_all(go[1], "", 1);
		engine_release(e, task, 0);
		e->begin_ns = clock_now_ns();
		r = run_to_exec(e, why[0], spec->program, err);
	}
	if (r < 0 && !e->root_ended) {
		int status;

		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, &status, __WALL);
		e->root_ended = true;
	}
out:
	for (int i = 0; i < 2; i++) {
		if (go[i] >= 0)
			(void)close(go[i]);
		if (why[i] >= 0)
			(void)close(why[i]);
	}
	scope_filter_done(&filter);
	free(shell_argv);
	return r;
}
