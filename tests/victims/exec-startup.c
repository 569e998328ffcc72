/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts itself 40 times, each time for one character. */
#include <sys/wait.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = argc > 1 && strcmp(argv[1], "one") == 0 ? 0 : victim_times(argc, argv, 40);

	if (times == 0)
		return write(STDERR_FILENO, "", 0) < 0;
	for (unsigned i = 0; i < times; i++) {
		pid_t child = fork();
		int status;

		if (child < 0)
			victim_fail("fork");
		if (child == 0) {
			(void)execl("/proc/self/exe", "victim", "one", (char *)NULL);
			_exit(127);
		}
		if (waitpid(child, &status, 0) != child || status != 0)
			victim_fail("/proc/self/exe");
	}
	(void)printf("expect rule=exec-startup least=%u tier=likely with=ld.so\n", times * 10);
	(void)printf("count execve=%u\n", times + 1);
	(void)printf("expect-none rule=trivial-process\n");
	return 0;
}
