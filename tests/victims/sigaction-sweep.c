/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts itself in ten children, each of which first sets every signal to its default. */
#include <signal.h>
#include <sys/wait.h>

#include "victim.h"

#define SIGNALS 31 /* the old ones; two of them cannot be set */

static void child(char **argv)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	char empty[] = "", *words[] = { argv[0], empty, NULL };

	for (int number = 1; number <= SIGNALS; number++)
		(void)sigaction(number, &action, NULL);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		(void)sigaction(number, &action, NULL);
	(void)execv("/proc/self/exe", words);
	_exit(1);
}

int main(int argc, char **argv)
{
	unsigned times, each = SIGNALS + (unsigned)(SIGRTMAX - SIGRTMIN + 1);

	/* The child's program. */
	if (argc == 2 && !*argv[1])
		return 0;
	times = victim_times(argc, argv, 10);
	for (unsigned i = 0; i < times; i++) {
		pid_t pid = fork();
		int status;

		if (pid < 0)
			victim_fail("fork");
		if (pid == 0)
			child(argv);
		if (waitpid(pid, &status, 0) != pid || status != 0)
			victim_fail("child");
	}
	(void)printf("expect rule=sigaction-sweep calls=%u tier=likely with=ignores without=glibc\n", times * each);
	(void)printf("expect-none rule=sigprocmask-churn\n");
	(void)printf("count rt_sigaction=%u\n", times * each);
	return 0;
}
