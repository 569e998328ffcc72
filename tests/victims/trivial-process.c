/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts a process for each of 100 lines, to do nothing with it. */
#include <sys/wait.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 100);

	if (access("/bin/true", X_OK) < 0)
		victim_skip("there is no /bin/true");
	for (unsigned i = 0; i < times; i++) {
		pid_t child = fork();
		int status;

		if (child < 0)
			victim_fail("fork");
		if (child == 0) {
			(void)execl("/bin/true", "true", "line", (char *)NULL);
			_exit(127);
		}
		if (waitpid(child, &status, 0) != child || status != 0)
			victim_fail("/bin/true");
	}
	(void)printf("expect rule=trivial-process calls=%u tier=likely\n", times * 4);
	(void)printf("count execve=%u\n", times + 1);
	return 0;
}
