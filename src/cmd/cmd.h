/* SPDX-License-Identifier: BSD-2-Clause */
/* What the subcommands share: one thin file each, the table in main.c. */
#ifndef SYSCULL_CMD_CMD_H
#define SYSCULL_CMD_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/opt.h"

#define EXIT_OURS 125 /* our own failure */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

/* What stands behind the options, for completion. */
enum command_takes {
	COMMAND_OPERANDS_NONE,
	COMMAND_OPERANDS_COMMAND, /* a command with its arguments */
	COMMAND_OPERANDS_FILES,
	COMMAND_OPERANDS_RULE,
	COMMAND_OPERANDS_SHELL,
};

struct command {
	const char *name;
	const char *usage; /* behind "usage: syscull " */
	const char *help; /* one line */
	const struct opt *options; /* NULL none */
	enum command_takes operands;
	int (*main)(const struct command *command, int argc, char **argv);
};

/* For subcommands whose only option is --help. */
extern const struct opt command_help_only[];
/* True to go on with the operands from *ret_first; else end with *ret_status. */
bool command_operands(const struct command *command, int argc, char **argv, int *ret_first, int *ret_status);
/* The same where there are more options, which `set` puts into `settings`; *help is what it makes of --help, and
 * *status beforehand what a line ends with that is not understood. */
bool command_parse(const struct command *command, int argc, char **argv, opt_set *set, void *settings, const bool *help,
		   int *ret_first, int *status);
/* A value of the option `what`: -EINVAL with err. */
/* --ring: "16M", "64K", "4096": a power of two, a page to 256 MiB. */
int command_ring(const char *text, uint64_t *ret, struct error *err);
/* A number of seconds, at least 0.1. */
int command_seconds(const char *what, const char *text, uint64_t *ret_ns, struct error *err);
int command_number(const char *what, const char *text, long least, long most, long *ret, struct error *err);
int command_when(const char *what, const char *text, int *ret, struct error *err); /* auto 0, always 1, never 2 */
/* The status when a command did not start: 127, 126, or else ours. */
int command_exit_for(const struct error *err);
/* Flushes stdout: the exit status. */
int command_finish(void);

extern const struct command command_completion, command_diff, command_record, command_report, command_show;
extern const struct command command_check, command_mark, command_run, command_rules, command_explain, command_doctor,
	command_fix;

/* NULL-ended. */
extern const struct command *const command_list[];

void command_print_help(const struct command *command);

#endif
