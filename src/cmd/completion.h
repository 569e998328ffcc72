/* SPDX-License-Identifier: BSD-2-Clause */
/* syscull completion: what its parts for each shell share. */
#ifndef SYSCULL_CMD_COMPLETION_H
#define SYSCULL_CMD_COMPLETION_H

#include "cmd/cmd.h"

/* Print a script for the shell. */
void completion_bash(void);
void completion_zsh(void);
void completion_fish(void);

static inline bool completion_takes_value(const struct opt *option)
{
	return option->argument != NULL;
}

/* Print: a text in single quotes of any of the shells; and all names of a
 * kind with the separator between. */
void completion_put_quoted(const char *text);
void completion_put_subcommands(const char *separator);
void completion_put_rules(const char *separator);
void completion_put_calls(void);
void completion_put_shells(const char *separator);
/* Options of a command that have a value, or all of them, in all their forms. */
void completion_put_options(const struct command *command, bool valued, const char *separator);

#endif
