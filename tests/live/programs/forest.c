/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forest N: N children one after the other, every third of which makes a
 * child itself and every fourth of which is made by vfork.  Never more than
 * three tasks are alive, whoever kills whom: each waits for its child at once.
 * Prints how many processes it made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A function of its own: what a vfork child does must not touch main's variables. */
static pid_t make_by_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return pid;
}

static pid_t make_by_fork(int with_child)
{
	pid_t pid = fork(), inner;

	if (pid != 0)
		return pid;
	if (with_child) {
		inner = fork();
		if (inner == 0)
			_exit(0);
		if (inner < 0 || waitpid(inner, NULL, 0) != inner)
			_exit(1);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 100, made = 0;

	for (long i = 0; i < count; i++) {
		int by_vfork = i % 4 == 3, with_child = !by_vfork && i % 3 == 0;
		pid_t pid = by_vfork ? make_by_vfork() : make_by_fork(with_child);

		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
		made += 1 + with_child;
	}
	printf("%ld\n", made);
	return 0;
}
