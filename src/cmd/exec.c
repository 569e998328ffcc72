/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/exec.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/engine.h"

int exec_program(const char *program, char *const *argv)
{
	char **words = engine_shell_words(program, argv);
	int r = words ? engine_become(program, argv, words) : -ENOMEM;

	free(words);
	return r;
}
