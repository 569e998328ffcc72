/* SPDX-License-Identifier: BSD-2-Clause */
/* Scheduling, seccomp, tracing, 32-bit calls, descriptors. */
#include <dirent.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "behave.h"

static int deadline(int argc, char **argv)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof attr, .policy = 6, .runtime = 1000000, .deadline = 10000000, .period = 10000000 };

	(void)argc;
	(void)argv;
	behave_say("SCHED_DEADLINE", syscall(SYS_sched_setattr, 0, &attr, 0));
	return 0;
}

/* Under FIFO a spinner holds its CPU: a tracer on the same one never runs. */
static int fifo(int argc, char **argv)
{
	struct sched_param param = { .sched_priority = 1 };
	struct timespec begin, now;
	long calls = 0;

	(void)argc;
	(void)argv;
	behave_say("SCHED_FIFO", sched_setscheduler(0, SCHED_FIFO, &param));
	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		calls++;
		(void)syscall(SYS_getppid);
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 100);
	(void)printf("spun: %s\n", calls > 0 ? "yes" : "no");
	return 0;
}

/* The mask is what it was, through every way of asking. */
static int affinity(int argc, char **argv)
{
	cpu_set_t set, one;
	long first = -1;

	(void)argc;
	(void)argv;
	(void)printf("online %ld configured %ld\n", sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_NPROCESSORS_CONF));
	CPU_ZERO(&set);
	behave_say("get", sched_getaffinity(0, sizeof set, &set));
	(void)printf("%d cpus\n", CPU_COUNT(&set));
	for (int i = 0; i < CPU_SETSIZE && first < 0; i++)
		if (CPU_ISSET(i, &set))
			first = i;
	CPU_ZERO(&one);
	CPU_SET((size_t)first, &one);
	behave_say("set", sched_setaffinity(0, sizeof one, &one));
	CPU_ZERO(&set);
	behave_say("get", sched_getaffinity(0, sizeof set, &set));
	(void)printf("%d cpus, equal %d\n", CPU_COUNT(&set), CPU_EQUAL(&set, &one));
	return 0;
}

static void filter(uint32_t action, int nr)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof code / sizeof code[0], .filter = code };

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		exit(77);
}

static int seccomp_kills(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	filter(SECCOMP_RET_KILL_PROCESS, SYS_getppid);
	behave_say("before", 0);
	(void)syscall(SYS_getppid);
	return 1;
}

static int seccomp_refuses(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	filter(SECCOMP_RET_ERRNO | EXDEV, SYS_getppid);
	behave_say("getppid", syscall(SYS_getppid));
	return 0;
}

static int unknown_calls(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	behave_say("1000", syscall(1000));
	behave_say("-1", syscall(-1));
	return 0;
}

static int int80(int argc, char **argv)
{
	long result = getpid();

	(void)argc;
	(void)argv;
#ifdef __x86_64__
	/* getpid is 20 there; a kernel without 32-bit calls faults. */
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
#endif
	(void)printf("equal: %d\n", result == getpid());
	return 0;
}

/* The numbers of the descriptors that we were started with, into a file when
 * stdout may be closed. */
static int fds(int argc, char **argv)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char text[4096];
	size_t used = 0;
	FILE *out;

	if (!dir)
		return 1;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir) && used < sizeof text - 300)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", entry->d_name);
	}
	(void)closedir(dir);
	out = argc > 1 ? fopen(argv[1], "w") : stdout;
	if (!out)
		return 1;
	(void)fwrite(text, 1, used, out);
	return fflush(out) == 0 ? 0 : 1;
}

/* dumpable, no_new_privs, the name, the parent-death signal, the nice value. */
static int attributes(int argc, char **argv)
{
	int death = -1;

	(void)argc;
	(void)argv;
	(void)prctl(PR_GET_PDEATHSIG, &death);
	(void)printf("dumpable %d no_new_privs %d death %d child-subreaper ", prctl(PR_GET_DUMPABLE),
		     prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), death);
	(void)prctl(PR_GET_CHILD_SUBREAPER, &death);
	(void)printf("%d nice %d policy %d leader %d\n", death, nice(0), sched_getscheduler(0), getpgrp() == getpid());
	return 0;
}

const struct behave behave_odd[] = {
	{ "deadline", deadline },
	{ "fifo", fifo },
	{ "affinity", affinity },
	{ "seccomp-kills", seccomp_kills },
	{ "seccomp-refuses", seccomp_refuses },
	{ "unknown-calls", unknown_calls },
	{ "int80", int80 },
	{ "fds", fds },
	{ "attributes", attributes },
	{ NULL, NULL },
};
