/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a tracer that works by a seccomp filter could break: programs with
 * filters of their own, and such as go on when nobody looks.  Each says on
 * stdout what it met.
 *
 * usage: live-filters CASE [ARGUMENT]
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_UNTRACED
#define CLONE_UNTRACED 0x00800000
#endif

/* Answers getppid so; through seccomp(2) or prctl(2). */
static int filter(uint32_t answer, unsigned flags, int by_prctl)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof code[0], code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	if (by_prctl)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static void ask(int times)
{
	for (int i = 0; i < times; i++) {
		long ret = syscall(SYS_getppid);

		printf("getppid: %s\n", ret < 0 ? strerror(errno) : "ok");
	}
	(void)fflush(stdout);
}

static int asks_tracer(const char *argument)
{
	(void)argument;
	ask(1);
	printf("filter: %d\n", filter(SECCOMP_RET_TRACE, 0, 0));
	ask(2);
	return 0;
}

static int refuses(const char *argument)
{
	pid_t pid;
	int status = 0;

	ask(1);
	printf("filter: %d\n", filter(SECCOMP_RET_ERRNO | EPERM, 0, strcmp(argument, "prctl") == 0));
	ask(3);
	pid = fork();
	if (pid == 0) {
		ask(1);
		_exit(4);
	}
	(void)waitpid(pid, &status, 0);
	printf("child: %d\n", WEXITSTATUS(status));
	return 0;
}

static int get_seccomp(const char *argument)
{
	(void)argument;
	printf("mode: %d\n", prctl(PR_GET_SECCOMP));
	printf("filter: %d\n", filter(SECCOMP_RET_ALLOW, 0, 0));
	printf("mode: %d\n", prctl(PR_GET_SECCOMP));
	return 0;
}

static int strict(const char *argument)
{
	int ret = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	int code = errno;
	char text[64];
	int bytes = snprintf(text, sizeof text, "strict: %d %s\n", ret, ret ? strerrorname_np(code) : "");

	(void)argument;
	(void)!write(STDOUT_FILENO, text, (size_t)bytes);
	(void)syscall(SYS_exit, 0);
	return 0;
}

static pthread_barrier_t barrier;

static void *other(void *unused)
{
	(void)unused;
	(void)pthread_barrier_wait(&barrier);
	/* Something to stop at. */
	(void)close(open("/dev/null", O_RDONLY));
	ask(3);
	return NULL;
}

static int all_threads(const char *argument)
{
	pthread_t thread;

	(void)argument;
	(void)pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, other, NULL) != 0)
		return 1;
	printf("filter: %d\n", filter(SECCOMP_RET_ERRNO | EPERM, SECCOMP_FILTER_FLAG_TSYNC, 0));
	(void)pthread_barrier_wait(&barrier);
	(void)pthread_join(thread, NULL);
	return 0;
}

/* A child that no tracer is to follow makes calls that are watched. */
static int untraced(const char *argument)
{
	uint64_t args[11] = { CLONE_UNTRACED };
	int status = 0;
	long pid;

	args[4] = SIGCHLD;
	if (strcmp(argument, "clone3") == 0)
		pid = syscall(SYS_clone3, args, 64);
	else
		pid = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(open("/dev/null", O_RDONLY) >= 0 ? 0 : errno);
	(void)waitpid((pid_t)pid, &status, __WALL);
	printf("child: %d\n", status);
	return 0;
}

/* A child that waits for its parent to trace it, whatever it is told. */
static int traces(const char *argument)
{
	int status = 0;
	pid_t pid = fork();

	(void)argument;
	if (pid == 0) {
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		(void)raise(SIGSTOP);
		_exit(13);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		(void)ptrace(PTRACE_CONT, pid, NULL, NULL);
	printf("child: %d\n", WEXITSTATUS(status));
	return 0;
}

static int uring(const char *argument)
{
	struct io_uring_params params = { 0 };
	long fd = syscall(SYS_io_uring_setup, 4, &params);

	(void)argument;
	printf("ring: %s\n", fd < 0 ? strerror(errno) : "ok");
	return 0;
}

/* Opens now and then for a second, then tells in the file how often it failed. */
static int opens(const char *argument)
{
	int failed = 0, fd;
	FILE *out;

	printf("%d\n", (int)getpid());
	(void)fflush(stdout);
	/* Whoever waits for the end of our output need not wait for us. */
	(void)close(STDOUT_FILENO);
	(void)close(STDERR_FILENO);
	for (int i = 0; i < 100; i++) {
		fd = open("/dev/null", O_RDONLY);
		failed += fd < 0;
		if (fd >= 0)
			(void)close(fd);
		(void)usleep(10000);
	}
	fd = open(argument, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		return 1;
	fprintf(out, "%d\n", failed);
	return fclose(out) != 0;
}

/* The same by a child that outlives us, after it has begun. */
static int leaves(const char *argument)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)setsid();
		_exit(opens(argument));
	}
	(void)usleep(50000);
	return 6;
}

static const struct {
	const char *name;
	int (*run)(const char *argument);
} cases[] = {
	{ "asks-tracer", asks_tracer }, { "refuses", refuses },	    { "get-seccomp", get_seccomp },
	{ "strict", strict },		{ "threads", all_threads }, { "untraced", untraced },
	{ "traces", traces },		{ "uring", uring },	    { "opens", opens },
	{ "leaves", leaves },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof cases[0]; i++)
		if (strcmp(cases[i].name, argv[1]) == 0)
			return cases[i].run(argc > 2 ? argv[2] : "");
	return 2;
}
