/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many at a time, and things in the midst of others: each says how many
 * answers were wrong.  Everything here has an end: at most 8 threads, at most
 * 16 children at a time, 240 in all.
 *
 * arguments: a folder without attributes and one whose files have a label.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "programs.h"

#define TURNS 4000
#define ROUNDS 15
#define CHILDREN 16
#define THREADS 8

extern char **environ;
static const char *without, *with;
static char paths[2][40][4096];

static int begin(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	without = argv[1];
	with = argv[2];
	for (unsigned i = 0; i < 40; i++) {
		(void)snprintf(paths[0][i], sizeof paths[0][i], "%s/f%u", without, i);
		(void)snprintf(paths[1][i], sizeof paths[1][i], "%s/f%u", with, i);
	}
	train(without);
	return 0;
}

/* One if the answer is not the only possible one. */
static unsigned wrong(unsigned turn)
{
	unsigned which = turn * 7 % 5 > 2, file = turn * 13 % 40;
	char value[64];
	struct stat st;
	ssize_t result;

	if (turn % 3 && lstat(paths[which][file], &st) != 0)
		return 1;
	result = lgetxattr(paths[which][file], turn % 2 ? "security.selinux" : "security.ima", value, sizeof value);
	if (which == 0)
		return result != -1 || errno != EOPNOTSUPP;
	return turn % 2 ? result != 6 : result != -1 || errno != ENODATA;
}

static unsigned wrongs(unsigned turns, unsigned from)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < turns; i++)
		sum += wrong(i + from);
	return sum;
}

static volatile sig_atomic_t interrupts;
static sigjmp_buf back;
static volatile sig_atomic_t jumps;

static void handler(int signal)
{
	int saved = errno;
	struct stat st;

	(void)signal;
	(void)stat(paths[interrupts % 2][interrupts % 40], &st);
	interrupts = interrupts + 1;
	errno = saved;
	if (jumps && interrupts % 5 == 0)
		siglongjmp(back, 1);
}

/* stat is for handlers; this one comes at any time. */
static int interrupted(bool jump)
{
	struct itimerval timer = { { 0, 150 }, { 0, 150 } };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	static volatile unsigned sum, turn;

	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &timer, NULL);
	jumps = jump;
	/* What a jump leaves undone is no wrong answer. */
	(void)sigsetjmp(back, 1);
	for (; turn < 20 * TURNS && interrupts < 300; turn++)
		sum += wrong(turn);
	jumps = 0;
	timer = (struct itimerval){ 0 };
	(void)setitimer(ITIMER_REAL, &timer, NULL);
	(void)printf("interrupted %d, wrong %u\n", interrupts > 0, sum);
	return 0;
}

static int signals(int argc, char **argv)
{
	return begin(argc, argv) ? 2 : interrupted(false);
}

static int jumping(int argc, char **argv)
{
	return begin(argc, argv) ? 2 : interrupted(true);
}

static void *thread(void *data)
{
	return (void *)(uintptr_t)wrongs(TURNS, (unsigned)(uintptr_t)data);
}

static int threads(int argc, char **argv)
{
	pthread_t all[THREADS];
	uintptr_t sum = 0;

	if (begin(argc, argv) != 0)
		return 2;
	for (unsigned i = 0; i < THREADS; i++) {
		if (pthread_create(&all[i], NULL, thread, (void *)(uintptr_t)(i * 1000)) != 0)
			return 2;
	}
	for (unsigned i = 0; i < THREADS; i++) {
		void *result;

		(void)pthread_join(all[i], &result);
		sum += (uintptr_t)result;
	}
	(void)printf("wrong %lu\n", (unsigned long)sum);
	return 0;
}

static pid_t start_child(unsigned number)
{
	char *const argv[] = { (char *)(uintptr_t) "true", NULL };
	pid_t pid = -1;

	if (number % 3 == 0) {
		pid = fork();
		if (pid == 0)
			_exit(wrongs(20, number) != 0);
	} else if (number % 3 == 1) {
		if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) != 0)
			pid = -1;
	} else {
		pid = vfork();
		if (pid == 0) {
			(void)execv("/bin/true", argv);
			_exit(127);
		}
	}
	return pid;
}

static void *storm_thread(void *data)
{
	uintptr_t bad = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		pid_t children[CHILDREN / 2];

		for (unsigned i = 0; i < CHILDREN / 2; i++) {
			children[i] = start_child(i + (unsigned)(uintptr_t)data);
			bad += wrong(i);
		}
		for (unsigned i = 0; i < CHILDREN / 2; i++) {
			int status = 1;

			bad += children[i] < 0 || waitpid(children[i], &status, 0) < 0 || status != 0;
		}
	}
	return (void *)bad;
}

/* Children of every kind from two threads, while others ask. */
static int storm(int argc, char **argv)
{
	pthread_t second;
	void *a, *b;

	if (begin(argc, argv) != 0 || pthread_create(&second, NULL, storm_thread, (void *)(uintptr_t)1) != 0)
		return 2;
	a = storm_thread(NULL);
	(void)pthread_join(second, &b);
	(void)printf("wrong %lu\n", (unsigned long)((uintptr_t)a + (uintptr_t)b));
	return 0;
}

/* loaded WITHOUT WITH MODULE: one that was not there when we began. */
static int loaded(int argc, char **argv)
{
	if (argc < 4 || begin(argc, argv) != 0)
		return 2;
	(void)printf("dlerror %s\n", dlerror() ? "set" : "none");
	for (unsigned i = 0; i < 20; i++) {
		void *module = dlopen(argv[3], RTLD_NOW | (i % 2 ? RTLD_LOCAL : RTLD_GLOBAL));
		long (*ask)(const char *) = NULL;

		if (!module) {
			(void)printf("%s\n", dlerror());
			return 2;
		}
		*(void **)&ask = dlsym(module, "module_ask");
		say("module", "without", ask(paths[0][i]));
		say("module", "with", ask(paths[1][i]));
		(void)dlclose(module);
	}
	(void)printf("wrong %u\n", wrongs(TURNS, 0));
	return 0;
}

const struct program busy_programs[] = {
	{ "signals", signals }, { "jumping", jumping }, { "threads", threads },
	{ "storm", storm },	{ "loaded", loaded },	{ NULL, NULL },
};
