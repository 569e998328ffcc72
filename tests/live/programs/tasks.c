/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes and threads: fork, vfork, spawn, exec by a thread, job control. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "behave.h"

extern char **environ;

static char *const hello[] = { (char *)"sh", (char *)"-c", (char *)"echo hello; exit 7", NULL };

static int wait_for(pid_t pid)
{
	int status = -1;

	if (waitpid(pid, &status, 0) != pid)
		return 1;
	(void)printf("child: exit %d signal %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		     WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return 0;
}

static int vforked(int argc, char **argv)
{
	pid_t pid = vfork();

	(void)argc;
	(void)argv;
	if (pid == 0) {
		(void)execv("/bin/sh", hello);
		_exit(127);
	}
	return wait_for(pid);
}

static int spawned(int argc, char **argv)
{
	char *const missing[] = { (char *)"missing", NULL };
	pid_t pid;

	(void)argc;
	(void)argv;
	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, hello, environ) != 0)
		return 1;
	(void)wait_for(pid);
	(void)printf("missing: %s\n", strerrorname_np(posix_spawn(&pid, "/missing", NULL, NULL, missing, environ)));
	return 0;
}

static void *exec_here(void *unused)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"echo from a thread; exit 9", NULL };

	(void)execv("/bin/sh", argv);
	return unused;
}

/* A thread that is not the leader calls execve while others run. */
static void *rest(void *unused)
{
	for (;;)
		(void)pause();
	return unused;
}

static int thread_exec(int argc, char **argv)
{
	pthread_t thread;

	(void)argc;
	(void)argv;
	for (int i = 0; i < 3; i++)
		(void)pthread_create(&thread, NULL, rest, NULL);
	(void)pthread_create(&thread, NULL, exec_here, NULL);
	(void)pthread_join(thread, NULL);
	return 1;
}

static void *leave_last(void *unused)
{
	(void)usleep(200000);
	(void)puts("the leader is gone");
	(void)fflush(stdout);
	exit(5);
	return unused;
}

static int leader_exits(int argc, char **argv)
{
	pthread_t thread;

	(void)argc;
	(void)argv;
	(void)pthread_create(&thread, NULL, leave_last, NULL);
	pthread_exit(NULL);
}

/* The parent sees its child stop and go on, as a shell does. */
static int job(int argc, char **argv)
{
	pid_t pid = fork();
	int status;

	(void)argc;
	(void)argv;
	if (pid == 0) {
		(void)raise(SIGSTOP);
		_exit(3);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid)
		return 1;
	(void)printf("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
	(void)kill(pid, SIGCONT);
	if (waitpid(pid, &status, WCONTINUED) != pid)
		return 1;
	if (WIFCONTINUED(status)) {
		(void)puts("continued");
		return wait_for(pid);
	}
	/* It may have ended before we looked. */
	(void)printf("continued\nchild: exit %d signal 0\n", WEXITSTATUS(status));
	return 0;
}

/* Does SIGCHLD of an untold child come, and is its zombie there? */
static int forks(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 200;
	int sum = 0;

	for (int i = 0; i < count; i++) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0)
			_exit(i & 0x7f);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 1;
		sum += WEXITSTATUS(status);
	}
	(void)printf("sum %d\n", sum);
	return 0;
}

/* A child that is killed while its parent waits, threads and all. */
static int killed_child(int argc, char **argv)
{
	pid_t pid = fork();

	(void)argc;
	(void)argv;
	if (pid == 0) {
		pthread_t thread;

		(void)pthread_create(&thread, NULL, rest, NULL);
		(void)usleep(10000);
		(void)kill(getpid(), SIGKILL);
		(void)pause();
	}
	return wait_for(pid);
}

static void *nothing(void *unused)
{
	return unused;
}

static void *make_threads(void *unused)
{
	for (int i = 0; i < 200; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, nothing, NULL) == 0)
			(void)pthread_join(thread, NULL);
	}
	return unused;
}

static void *make_processes(void *unused)
{
	for (volatile int i = 0; i < 60; i++) {
		pid_t pid = i % 2 ? vfork() : fork();
		int status;

		if (pid == 0) {
			if (i % 3 == 0)
				(void)execl("/bin/true", "true", NULL);
			_exit(0);
		}
		(void)waitpid(pid, &status, 0);
	}
	return unused;
}

/* Four threads that make threads and processes all the time. */
static int churn(int argc, char **argv)
{
	pthread_t thread[4];

	(void)argc;
	(void)argv;
	for (int i = 0; i < 4; i++)
		(void)pthread_create(&thread[i], NULL, i % 2 ? make_threads : make_processes, NULL);
	for (int i = 0; i < 4; i++)
		(void)pthread_join(thread[i], NULL);
	return 0;
}

const struct behave behave_tasks[] = {
	{ "vfork", vforked }, { "spawn", spawned }, { "thread-exec", thread_exec },   { "leader-exits", leader_exits },
	{ "job", job },	      { "forks", forks },   { "killed-child", killed_child }, { "churn", churn },
	{ NULL, NULL },
};
