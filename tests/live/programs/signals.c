/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals: what was inherited, what interrupts, what timers do. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "behave.h"

static volatile sig_atomic_t got;

static void on_signal(int signal)
{
	got += signal != 0;
}

static void catch (int signal, int flags)
{
	struct sigaction action = { .sa_flags = flags, .sa_handler = on_signal };

	(void)sigaction(signal, &action, NULL);
}

static void start_timer(long first_us, long every_us)
{
	struct itimerval timer = { { 0, every_us }, { 0, first_us } };

	(void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* The mask and dispositions that we were started with. */
static int inherited(int argc, char **argv)
{
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");

	(void)argc;
	(void)argv;
	if (!status)
		return 1;
	while (fgets(line, sizeof line, status)) {
		if (strncmp(line, "Sig", 3) == 0 && strncmp(line, "SigQ", 4) != 0)
			(void)fputs(line, stdout);
	}
	(void)fclose(status);
	return 0;
}

/* A handler without SA_RESTART ends nanosleep, poll, pause and read. */
static int interrupted(int argc, char **argv)
{
	struct timespec second = { 5, 0 };
	struct pollfd none = { .fd = -1 };
	int fds[2];
	char byte;

	(void)argc;
	(void)argv;
	if (pipe(fds) != 0)
		return 1;
	catch (SIGALRM, 0);
	start_timer(30000, 0);
	behave_say("nanosleep", nanosleep(&second, NULL));
	start_timer(30000, 0);
	behave_say("poll", poll(&none, 1, 5000));
	start_timer(30000, 0);
	behave_say("pause", pause());
	start_timer(30000, 0);
	behave_say("read", read(fds[0], &byte, 1));
	(void)printf("signals: %d\n", (int)got);
	return 0;
}

static int *seen; /* shared with the child, which sends no signal before the last was seen */

static void on_shared(int signal)
{
	*(volatile int *)seen += signal != 0;
}

/* With SA_RESTART a read goes on until there is something to read, and a
 * stop and continue in between is not seen at all. */
static int restarted(int argc, char **argv)
{
	struct sigaction action = { .sa_flags = SA_RESTART, .sa_handler = on_shared };
	int fds[2];
	char byte = 'x';
	pid_t child;
	long n;

	(void)argc;
	(void)argv;
	if (pipe(fds) != 0)
		return 1;
	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED || sigaction(SIGUSR1, &action, NULL) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 3; i++) {
			(void)usleep(20000);
			(void)kill(getppid(), SIGUSR1);
			/* Two that wait are one. */
			for (int turn = 0; turn < 20000 && *(volatile int *)seen <= i; turn++)
				(void)usleep(1000);
		}
		(void)usleep(20000);
		_exit(write(fds[1], &byte, 1) == 1 ? 0 : 1);
	}
	n = read(fds[0], &byte, 1);
	(void)printf("read %ld after %d signals\n", n, *seen);
	return 0;
}

/* Ten ticks of a timer, waited for one by one. */
static int ticks(int argc, char **argv)
{
	sigset_t set, none;

	(void)argc;
	(void)argv;
	(void)sigemptyset(&none);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGALRM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	catch (SIGALRM, 0);
	start_timer(3000, 3000);
	for (int i = 0; i < 10; i++)
		(void)sigsuspend(&none);
	start_timer(0, 0);
	(void)printf("at least ten: %s\n", got >= 10 ? "yes" : "no");
	return 0;
}

/* Who sent a signal and with what value is passed on. */
static int queued(int argc, char **argv)
{
	union sigval value = { .sival_int = 1234 };
	siginfo_t info;
	sigset_t set;

	(void)argc;
	(void)argv;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGRTMIN + 3);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)sigqueue(getpid(), SIGRTMIN + 3, value);
	(void)sigqueue(getpid(), SIGRTMIN + 3, value);
	for (int i = 0; i < 2; i++) {
		if (sigwaitinfo(&set, &info) < 0)
			return 1;
		(void)printf("value %d code %d from myself %d\n", info.si_value.sival_int, info.si_code,
			     info.si_pid == getpid());
	}
	return 0;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	static const char text[] = "caught\n";

	(void)context;
	(void)!write(1, text, sizeof text - 1);
	_exit(info->si_addr == (void *)16 ? signal : 1);
}

/* A real fault and its address. */
static int fault(int argc, char **argv)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO, .sa_sigaction = on_fault };
	volatile int *volatile bad = (volatile int *)16;

	(void)argc;
	(void)argv;
	(void)sigaction(SIGSEGV, &action, NULL);
	return *bad;
}

const struct behave behave_signals[] = {
	{ "inherited", inherited },
	{ "interrupted", interrupted },
	{ "restarted", restarted },
	{ "ticks", ticks },
	{ "queued", queued },
	{ "fault", fault },
	{ NULL, NULL },
};
