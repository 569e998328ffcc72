/* SPDX-License-Identifier: BSD-2-Clause */
/* Becoming a program as execvp(3) would, in two parts: after fork nothing may be allocated. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine.h"

extern char **environ;

char **engine_shell_words(const char *program, char *const *argv)
{
	size_t count = 0;
	char **words;

	while (argv[count])
		count++;
	words = calloc(count + 3, sizeof *words);
	if (!words)
		return NULL;
	words[0] = (char *)(uintptr_t) "/bin/sh";
	words[1] = (char *)(uintptr_t)program;
	for (size_t i = 1; i < count; i++)
		words[i + 1] = argv[i];
	return words;
}

int engine_become(const char *program, char *const *argv, char *const *shell_words)
{
	(void)execve(program, argv, environ);
	if (errno == ENOEXEC)
		(void)execve(shell_words[0], shell_words, environ);
	return -errno;
}
