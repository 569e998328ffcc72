/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts itself in five children, each of which first closes every number up
 * to the soft limit of open files.  Nothing but 0, 1 and 2 is open.
 */
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "victim.h"

#define CHILDREN 5

static void child(unsigned numbers, char **argv)
{
	char empty[] = "", *words[] = { argv[0], empty, NULL };

	for (unsigned fd = 3; fd < 3 + numbers; fd++)
		(void)close((int)fd);
	(void)execv("/proc/self/exe", words);
	_exit(1);
}

int main(int argc, char **argv)
{
	unsigned numbers;
	struct rlimit limit;

	/* The child's program. */
	if (argc == 2 && !*argv[1])
		return 0;
	numbers = victim_times(argc, argv, 1500);
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		victim_fail("getrlimit");
	if (limit.rlim_max < numbers + 3)
		victim_skip("the hard limit of open files is too low");
	limit.rlim_cur = numbers + 3;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		victim_fail("setrlimit");
	for (unsigned fd = 3; fd < 3 + numbers; fd++)
		if (fcntl((int)fd, F_GETFL) >= 0)
			victim_skip("more than 0, 1 and 2 was open at the start");
	for (unsigned i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();
		int status;

		if (pid < 0)
			victim_fail("fork");
		if (pid == 0)
			child(numbers, argv);
		if (waitpid(pid, &status, 0) != pid || status != 0)
			victim_fail("child");
	}
	(void)printf("expect rule=fd-sweep calls=%u errno=EBADF tier=certain\n", CHILDREN * numbers);
	(void)printf("expect-none rule=procfs-small-read\n");
	(void)printf("expect-none rule=xattr-probe\n");
	(void)printf("count close=%u errno=EBADF\n", CHILDREN * numbers);
	return 0;
}
