/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts itself twice, and does the work of 40 starts in one. */
#include <sys/wait.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 40);

	if (argc > 2) {
		for (unsigned i = 0; i < times; i++)
			if (write(STDERR_FILENO, "", 0) < 0)
				return 1;
		return 0;
	}
	for (unsigned i = 0; i < 2; i++) {
		pid_t child = fork();
		int status;

		if (child < 0)
			victim_fail("fork");
		if (child == 0) {
			(void)execl("/proc/self/exe", "victim", "20", "all", (char *)NULL);
			_exit(127);
		}
		if (waitpid(child, &status, 0) != child || status != 0)
			victim_fail("/proc/self/exe");
	}
	(void)printf("expect-none rule=exec-startup\n");
	return 0;
}
