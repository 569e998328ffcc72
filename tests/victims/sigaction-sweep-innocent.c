/* SPDX-License-Identifier: BSD-2-Clause */
/* The same children; each asks for its signals, and sets the one that is ignored. */
#include <signal.h>
#include <sys/wait.h>

#include "victim.h"

static void child(char **argv)
{
	struct sigaction action = { .sa_handler = SIG_DFL }, old;
	char empty[] = "", *words[] = { argv[0], empty, NULL };

	for (int number = 1; number <= SIGRTMAX; number++)
		if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
			(void)sigaction(number, &action, NULL);
	(void)execv("/proc/self/exe", words);
	_exit(1);
}

int main(int argc, char **argv)
{
	unsigned times;

	/* The child's program. */
	if (argc == 2 && !*argv[1])
		return 0;
	times = victim_times(argc, argv, 10);
	(void)signal(SIGPIPE, SIG_IGN);
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
	(void)printf("expect-none rule=sigaction-sweep\n");
	return 0;
}
