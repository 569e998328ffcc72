/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/exec.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

int exec_program(const char *program, char *const *argv)
{
	size_t count = 0;
	char **words;

	(void)execve(program, argv, environ);
	if (errno != ENOEXEC)
		return -errno;
	while (argv[count])
		count++;
	words = calloc(count + 3, sizeof *words);
	if (!words)
		return -ENOMEM;
	words[0] = (char *)(uintptr_t) "/bin/sh";
	words[1] = (char *)(uintptr_t)program;
	for (size_t i = 1; i < count; i++)
		words[i + 1] = argv[i];
	(void)execve(words[0], words, environ);
	free(words);
	return -errno;
}
