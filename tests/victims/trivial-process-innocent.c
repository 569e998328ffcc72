/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts one process for 100 lines, and 100 that work on in the same program. */
#include <sys/wait.h>

#include "victim.h"

static void wait_for(pid_t child)
{
	int status;

	if (child < 0)
		victim_fail("fork");
	if (waitpid(child, &status, 0) != child || status != 0)
		victim_fail("a child");
}

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 100);
	char **words = calloc(times + 2, sizeof *words);
	pid_t child;

	if (access("/bin/true", X_OK) < 0)
		victim_skip("there is no /bin/true");
	if (!words)
		victim_fail("calloc");
	words[0] = (char *)"true";
	for (unsigned i = 0; i < times; i++)
		words[i + 1] = (char *)"line";
	child = fork();
	if (child == 0) {
		(void)execv("/bin/true", words);
		_exit(127);
	}
	wait_for(child);
	for (unsigned i = 0; i < times; i++) {
		child = fork();
		if (child == 0)
			_exit(0);
		wait_for(child);
	}
	free(words);
	(void)printf("expect-none rule=trivial-process\n");
	return 0;
}
