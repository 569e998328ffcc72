/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that do what no reasonable one does, each a word of live-hostile.
 * What they print does not differ from run to run, unless told.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ODD "odd\33[31m\33]0;x\a\n\t\302\233\377\376"

static long number(char **argv, long otherwise)
{
	return argv[1] ? atol(argv[1]) : otherwise;
}

/* Closes what is not its own, from the bottom up, then all at once. */
static int close_all(char **argv)
{
	(void)argv;
	for (int fd = 0; fd < 2000; fd++)
		(void)close(fd);
	(void)syscall(SYS_close_range, 0, ~0u, 0);
	/* What it opens now takes the numbers of what everybody takes for granted. */
	for (int fd = 0; fd < 5; fd++)
		(void)open("/dev/null", O_RDWR);
	return write(1, "x", 1) == 1 ? 5 : 6;
}

/* Every process makes others as long as it can: ends by a limit only. */
static int bomb(char **argv)
{
	long deep = number(argv, 1000);
	int refused = 0;

	for (long i = 0; i < deep && refused < 3; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			refused++;
			(void)usleep(1000);
		}
	}
	(void)usleep(20000);
	while (wait(NULL) > 0)
		;
	return 0;
}

/* A chain: each task makes the next before it ends. */
static int chain(char **argv)
{
	for (long left = number(argv, 300); left > 0; left--) {
		pid_t pid = fork();
		int status = 0;

		if (pid > 0) {
			(void)waitpid(pid, &status, 0);
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
		}
		if (pid < 0)
			_exit(98);
	}
	_exit(7);
}

static int exec_self(char **argv)
{
	long left = number(argv, 1000);
	char text[32];

	if (left <= 0) {
		(void)puts("last");
		return 4;
	}
	(void)snprintf(text, sizeof text, "%ld", left - 1);
	(void)execl("/proc/self/exe", "live-hostile", "exec-self", text, NULL);
	return 1;
}

static void *fork_always(void *unused)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			(void)waitpid(pid, NULL, 0);
	}
	return unused;
}

static void *thread_always(void *unused)
{
	for (;;) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, (void *(*)(void *))(void *)getpid, NULL) == 0)
			(void)pthread_join(thread, NULL);
	}
	return unused;
}

static void *exit_soon(void *unused)
{
	(void)usleep(3000);
	_exit(9);
	return unused;
}

/* One thread ends all while others make processes and threads. */
static int exit_race(char **argv)
{
	for (long round = number(argv, 20); round > 0; round--) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0) {
			pthread_t thread;

			(void)pthread_create(&thread, NULL, fork_always, NULL);
			(void)pthread_create(&thread, NULL, thread_always, NULL);
			(void)pthread_create(&thread, NULL, exit_soon, NULL);
			(void)pthread_create(&thread, NULL, exit_soon, NULL);
			(void)fork_always(NULL);
		}
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 9)
			return 1;
	}
	return 0;
}

/* The parent of a vfork dies while it waits for its child. */
static int vfork_killed(char **argv)
{
	int done[2], status = 0;
	pid_t middle;
	char byte;

	(void)argv;
	if (pipe(done) != 0)
		return 1;
	middle = fork();
	if (middle == 0) {
		pid_t self = getpid();
		pid_t pid = vfork();

		if (pid == 0) {
			(void)kill(self, SIGKILL);
			(void)usleep(20000);
			(void)write(done[1], "c", 1);
			(void)execl("/bin/true", "true", NULL);
			_exit(0);
		}
		_exit(1);
	}
	(void)close(done[1]);
	(void)waitpid(middle, &status, 0);
	(void)printf("parent: signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	(void)printf("child: %s\n", read(done[0], &byte, 1) == 1 && byte == 'c' ? "went on" : "gone");
	return 0;
}

static volatile sig_atomic_t ticks;

static void tick(int signal)
{
	(void)signal;
	ticks++;
}

/* A thousand signals a second, none lost, every call right in spite of them. */
static int storm(char **argv)
{
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	int ends[2], wrong = 0;
	pid_t pid;
	char byte;

	(void)argv;
	if (pipe(ends) != 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		(void)close(ends[0]);
		for (int i = 0; i < 100; i++) {
			(void)usleep(1000);
			(void)write(ends[1], "x", 1);
		}
		_exit(0);
	}
	(void)close(ends[1]);
	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < 100; i++)
		wrong += read(ends[0], &byte, 1) != 1;
	for (int i = 0; i < 2000; i++) {
		struct stat st;

		wrong += stat("/", &st) != 0;
	}
	while (ticks < 100)
		(void)getppid();
	(void)memset(&timer, 0, sizeof timer);
	(void)setitimer(ITIMER_REAL, &timer, NULL);
	(void)waitpid(pid, NULL, 0);
	(void)printf("wrong: %d, end of file: %d\n", wrong, read(ends[0], &byte, 1) == 0);
	return 0;
}

static int paths(char **argv)
{
	char path[128];
	struct stat st;

	for (long i = number(argv, 100000); i > 0; i--) {
		(void)snprintf(path, sizeof path, "/nowhere/folder-%ld/a-file-with-a-longer-name-%ld", i % 1000, i);
		(void)stat(path, &st);
		if (i % 4 == 0)
			(void)getxattr(path, "user.none", NULL, 0);
	}
	return 0;
}

/* Names that would steer a terminal, break lines and are no UTF-8: of files,
 * of attributes, of itself. */
static int names(char **argv)
{
	char value[16], path[64];

	(void)argv;
	(void)prctl(PR_SET_NAME, ODD);
	(void)mkdir(ODD ".d", 0700);
	if (chdir(ODD ".d") != 0)
		return 1;
	for (int i = 0; i < 200; i++) {
		struct stat st;
		int fd;

		(void)snprintf(path, sizeof path, "%s-%d", ODD, i);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		(void)stat(path, &st);
		(void)getxattr(path, "user." ODD, value, sizeof value);
		(void)lgetxattr(path, "security." ODD, value, sizeof value);
		(void)fgetxattr(fd, "user." ODD, value, sizeof value);
		(void)close(fd);
		(void)unlink(path);
	}
	(void)chdir("..");
	return rmdir(ODD ".d") == 0 ? 0 : 1;
}

/* Traces a child of its own and reads it, as a debugger does. */
static int tracer(char **argv)
{
	pid_t pid = fork();
	int status = 0;

	(void)argv;
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(errno == EPERM ? 11 : 12);
		(void)raise(SIGSTOP);
		_exit(13);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	if (WIFSTOPPED(status)) {
		(void)ptrace(PTRACE_CONT, pid, NULL, NULL);
		(void)waitpid(pid, &status, 0);
	}
	(void)printf("traced child: %d\n", WEXITSTATUS(status));
	return 0;
}

/* As programs do that do not want a debugger. */
static int wants_tracer(char **argv)
{
	(void)argv;
	(void)printf("traced: %ld\n", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	return 0;
}

/* Stops itself; a child wakes it up, as a job-control test would. */
static int stops_itself(char **argv)
{
	pid_t self = getpid();

	if (argv[1]) {
		(void)raise(SIGSTOP);
		(void)puts("resumed");
		return 3;
	}
	if (fork() == 0) {
		char path[64], text[512];

		/* Until it is stopped: "T", or "t" where it is traced. */
		(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)self);
		for (int i = 0; i < 2000; i++) {
			int fd = open(path, O_RDONLY);
			ssize_t n = read(fd, text, sizeof text - 1);

			(void)close(fd);
			text[n > 0 ? n : 0] = '\0';
			if (strstr(text, ") T") || (i > 200 && strstr(text, ") t")))
				break;
			(void)usleep(1000);
		}
		(void)kill(self, SIGCONT);
		_exit(0);
	}
	(void)raise(SIGSTOP);
	(void)puts("resumed");
	(void)wait(NULL);
	return 3;
}

static void *busy_thread(void *unused)
{
	struct stat st;

	for (;;)
		(void)stat("/nowhere", &st);
	return unused;
}

/* A tree in which something happens all the time, for somebody to shoot at.
 * It ends by itself when its parent's end of the pipe on stdin closes. */
static int busy_tree(char **argv)
{
	long workers = number(argv, 6);
	char byte;

	/* A group of its own: what it ends with must not reach who started it. */
	(void)setpgid(0, 0);
	(void)signal(SIGCHLD, SIG_DFL);
	for (long i = 0; i < workers; i++) {
		if (fork() != 0)
			continue;
		for (int kind = (int)i;; kind++) {
			pthread_t thread;
			pid_t pid = kind % 3 == 0 ? vfork() : fork();

			if (pid == 0) {
				if (kind % 3 == 0) {
					(void)execl("/bin/true", "true", NULL);
					_exit(1);
				}
				if (kind % 3 == 1) {
					(void)pthread_create(&thread, NULL, busy_thread, NULL);
					(void)usleep(5000);
					(void)execl("/bin/sh", "sh", "-c", "test -e /nowhere; :", NULL);
				}
				(void)usleep(3000);
				_exit(0);
			}
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
			(void)usleep(1000);
		}
	}
	(void)puts("ready");
	(void)fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	(void)signal(SIGTERM, SIG_IGN);
	(void)kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	return 6;
}

static const struct {
	const char *name;
	int (*main)(char **argv);
} words[] = {
	{ "close-all", close_all },
	{ "bomb", bomb },
	{ "chain", chain },
	{ "exec-self", exec_self },
	{ "exit-race", exit_race },
	{ "vfork-killed", vfork_killed },
	{ "storm", storm },
	{ "paths", paths },
	{ "names", names },
	{ "tracer", tracer },
	{ "wants-tracer", wants_tracer },
	{ "stops-itself", stops_itself },
	{ "busy-tree", busy_tree },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i].name, argv[1]) == 0)
			return words[i].main(argv + 1);
	(void)fprintf(stderr, "usage: live-hostile WORD [NUMBER]\n");
	return 2;
}
