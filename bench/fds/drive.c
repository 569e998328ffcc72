/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One row of bench/library-fds: the contestants in turn, round after round, in
 * one process, a line of nanoseconds for each round.  One child at a time.
 *
 * usage: drive close|mark DESCRIPTORS HIGHEST ROUNDS
 *	  drive spawn|suite DESCRIPTORS MIB ROUNDS LIMIT PROGRAM
 *
 * HIGHEST: one more descriptor there, 0 for none.  MIB: memory that the parent
 * has touched, in small pages.  LIMIT: the soft limit of descriptors.
 */
#include "syscull/fds.h"
#include "syscull/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define RANGE_CLOEXEC 4
#define MARKS 200
#define MOST_MIB 4096UL
#define SUITE 50

static int limit;
static const char *program;
extern char **environ;

static void __attribute__((noreturn)) fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void open_all(int count, int highest)
{
	for (int fd = 3; fd < 3 + count; fd++)
		if (fcntl(fd, F_GETFD) < 0) {
			int opened = open("/dev/null", O_RDONLY);

			if (opened != fd && (dup2(opened, fd) < 0 || close(opened) < 0))
				fail("open");
		}
	if (highest > 0 && fcntl(highest, F_GETFD) < 0) {
		int opened = open("/dev/null", O_RDONLY);

		if (dup2(opened, highest) < 0 || close(opened) < 0)
			fail("open");
	}
}

static int one(int fd, bool marks)
{
	return marks ? fcntl(fd, F_SETFD, FD_CLOEXEC) : close(fd);
}

static void by_loop(bool marks)
{
	for (int fd = 3; fd < limit; fd++)
		(void)one(fd, marks);
}

static void by_closefrom(bool marks)
{
	(void)marks;
	closefrom(3);
}

static void by_range(bool marks)
{
	if (syscall(SYS_close_range, 3U, ~0U, marks ? RANGE_CLOEXEC : 0) < 0)
		fail("close_range");
}

static void sweep_list(int list, bool marks)
{
	static uint64_t buffer[4096];
	const char *bytes = (const char *)buffer;
	long got;

	while ((got = syscall(SYS_getdents64, list, buffer, sizeof buffer)) > 0)
		for (long at = 0; at < got;) {
			uint16_t length;
			int fd = atoi(bytes + at + 19);

			memcpy(&length, bytes + at + 16, sizeof length);
			if (bytes[at + 19] != '.' && fd > 2 && fd != list)
				(void)one(fd, marks);
			at += length;
		}
	(void)close(list);
}

/* As the usual programs do it, checking nothing. */
static void by_list(bool marks)
{
	sweep_list(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC), marks);
}

/* Not fooled by what is mounted there: procfs, and the list of this very table. */
static void by_checked_list(bool marks)
{
	int list = open("/proc/thread-self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs system;
	struct stat self, entry;
	char name[16];

	(void)snprintf(name, sizeof name, "%d", list);
	if (fstatfs(list, &system) < 0 || system.f_type != 0x9fa0 || fstat(list, &self) < 0 ||
	    fstatat(list, name, &entry, 0) < 0 || self.st_dev != entry.st_dev || self.st_ino != entry.st_ino)
		fail("/proc");
	sweep_list(list, marks);
}

static void by_ours(bool marks)
{
	if ((marks ? syscull_fds_cloexec(3, NULL, 0, NULL) : syscull_fds_close(3, NULL, 0, NULL)) < 0)
		fail("ours");
}

/* With options that are kept between calls. */
static void by_ours_again(bool marks)
{
	static struct syscull_fds_options options = SYSCULL_FDS_OPTIONS_INIT;

	if ((marks ? syscull_fds_cloexec(3, NULL, 0, &options) : syscull_fds_close(3, NULL, 0, &options)) < 0)
		fail("ours");
}

/* Another order in each round: who comes after whom matters. */
static void shuffle(int *order, int count)
{
	static uint32_t state = 1;

	for (int i = 0; i < count; i++)
		order[i] = i;
	for (int i = count - 1; i > 0; i--) {
		int j, swapped = order[i];

		state = state * 1664525U + 1013904223U;
		j = (int)((uint64_t)state * (uint64_t)(i + 1) >> 32);
		order[i] = order[j];
		order[j] = swapped;
	}
}

struct contestant {
	const char *name;
	void (*sweep)(bool marks);
	bool closes_only;
};

static void rows_of_sweeps(bool marks, int count, int highest, int rounds)
{
	static const struct contestant all[] = {
		{ "loop", by_loop, false },
		{ "closefrom", by_closefrom, true },
		{ "close_range", by_range, false },
		{ "/proc", by_list, false },
		{ "/proc, checked", by_checked_list, false },
		{ "ours", by_ours, false },
		{ "ours, kept options", by_ours_again, false },
	};
	enum { contestants = sizeof all / sizeof all[0] };
	int order[contestants];

	for (int round = -2; round < rounds; round++) {
		shuffle(order, contestants);
		for (int i = 0; i < contestants; i++) {
			const struct contestant *c = &all[order[i]];
			/* Marking can be done again at once, and is too short to be timed once. */
			const int times =
				marks && c->sweep != by_loop && c->sweep != by_list && c->sweep != by_checked_list
					? MARKS
					: 1;
			uint64_t begin, took;

			if (marks && c->closes_only)
				continue;
			open_all(count, highest);
			/* The first calls of a kind are dearer. */
			(void)fcntl(0, F_GETFD);
			begin = now();
			for (int n = 0; n < times; n++)
				c->sweep(marks);
			took = (now() - begin) / (uint64_t)times;
			if (round >= 0)
				printf("%d\t%s\t%llu\n", round, c->name, (unsigned long long)took);
			if (marks)
				for (int fd = 3; fd < 3 + count; fd++)
					if (fcntl(fd, F_GETFD) != FD_CLOEXEC || fcntl(fd, F_SETFD, 0) < 0)
						fail(c->name);
			if (!marks && (fcntl(3, F_GETFD) >= 0 || (highest > 0 && fcntl(highest, F_GETFD) >= 0)))
				fail(c->name);
		}
	}
}

static char *child_argv[] = { NULL, NULL };

static pid_t spawn_fork_loop(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		by_loop(false);
		(void)execve(program, child_argv, environ);
		_exit(127);
	}
	return pid;
}

static pid_t spawn_fork_range(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		by_range(true);
		(void)execve(program, child_argv, environ);
		_exit(127);
	}
	return pid;
}

static pid_t spawn_posix(void)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int error;

	if (posix_spawn_file_actions_init(&actions) != 0 || posix_spawn_file_actions_addclosefrom_np(&actions, 3) != 0)
		fail("posix_spawn");
	error = posix_spawn(&pid, program, &actions, NULL, child_argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return error == 0 ? pid : -1;
}

static pid_t spawn_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		(void)syscall(SYS_close_range, 3U, ~0U, RANGE_CLOEXEC);
		(void)execve(program, child_argv, environ);
		_exit(127);
	}
	return pid;
}

static pid_t spawn_ours(void)
{
	return syscull_spawn(program, child_argv, environ, NULL);
}

static void rows_of_spawns(int rounds, int times)
{
	static const struct {
		const char *name;
		pid_t (*spawn)(void);
	} all[] = {
		{ "fork + close loop", spawn_fork_loop },
		{ "fork + close_range", spawn_fork_range },
		{ "posix_spawn", spawn_posix },
		{ "vfork + close_range", spawn_vfork },
		{ "ours", spawn_ours },
	};
	enum { contestants = sizeof all / sizeof all[0] };
	int order[contestants];

	for (int round = -1; round < rounds; round++) {
		shuffle(order, contestants);
		for (int i = 0; i < contestants; i++) {
			int c = order[i];
			uint64_t begin = now();

			for (int n = 0; n < times; n++) {
				pid_t pid = all[c].spawn();
				int status;

				if (pid <= 0 || waitpid(pid, &status, 0) != pid || status != 0)
					fail(all[c].name);
			}
			if (round >= 0)
				printf("%d\t%s\t%llu\n", round, all[c].name, (unsigned long long)(now() - begin));
		}
	}
}

/* Small pages, as a heap of small objects has. */
static void touch(unsigned long mib)
{
	const size_t size = mib << 20;
	char *memory;

	if (mib == 0)
		return;
	if (mib > MOST_MIB)
		fail("too much memory");
	(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail("mmap");
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
}

int main(int argc, char **argv)
{
	struct rlimit files, memory = { 5UL << 30, 5UL << 30 };
	int count, rounds;

	if (argc < 5)
		return 2;
	/* Whatever happens, no more than that, and no longer than that. */
	(void)setrlimit(RLIMIT_AS, &memory);
	(void)alarm(1200);
	count = atoi(argv[2]);
	rounds = atoi(argv[4]);
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		fail("getrlimit");
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur > 1 << 20)
		files.rlim_cur = 1 << 20;
	limit = (int)files.rlim_cur;
	if (strcmp(argv[1], "close") == 0 || strcmp(argv[1], "mark") == 0) {
		rows_of_sweeps(argv[1][0] == 'm', count, atoi(argv[3]), rounds);
		return 0;
	}
	if (argc < 7)
		return 2;
	program = argv[6];
	child_argv[0] = argv[6];
	open_all(count, 0);
	limit = atoi(argv[5]);
	files.rlim_cur = (rlim_t)limit;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		fail("setrlimit");
	touch(strtoul(argv[3], NULL, 10));
	rows_of_spawns(rounds, strcmp(argv[1], "suite") == 0 ? SUITE : 1);
	return 0;
}
