/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens 1,000 numbers and closes them one by one, which has to be; and starts
 * itself in five children that close everything with one call.
 */
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "victim.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

int main(int argc, char **argv)
{
	unsigned numbers;
	struct rlimit limit;

	if (argc == 2 && !*argv[1])
		return 0;
	numbers = victim_times(argc, argv, 1000);
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		victim_fail("getrlimit");
	if (limit.rlim_max < numbers + 10)
		victim_skip("the hard limit of open files is too low");
	limit.rlim_cur = numbers + 10;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		victim_fail("setrlimit");
	for (unsigned fd = 3; fd < 3 + numbers; fd++)
		if (dup2(STDOUT_FILENO, (int)fd) < 0)
			victim_fail("dup2");
	for (unsigned fd = 3; fd < 3 + numbers; fd++)
		if (close((int)fd) != 0)
			victim_fail("close");
	for (unsigned i = 0; i < 5; i++) {
		char empty[] = "", *words[] = { argv[0], empty, NULL };
		pid_t pid = fork();
		int status;

		if (pid < 0)
			victim_fail("fork");
		if (pid == 0) {
			if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
				(void)execv("/proc/self/exe", words);
			_exit(errno == ENOSYS ? 77 : 1);
		}
		if (waitpid(pid, &status, 0) != pid)
			victim_fail("waitpid");
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			victim_skip("this kernel has no close_range");
		if (status != 0)
			victim_fail("child");
	}
	(void)printf("expect-none rule=fd-sweep\n");
	(void)printf("expect-none rule=procfs-small-read\n");
	(void)printf("count close_range=5\n");
	(void)printf("count close=0 errno=EBADF\n");
	return 0;
}
