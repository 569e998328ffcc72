/* SPDX-License-Identifier: BSD-2-Clause */
/* How the command lines of subcommands begin, and how they end. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/stream.h"
#include "cmd/cmd.h"
#include "cmd/output.h"

const struct opt command_help_only[] = {
	{ 'h', "help", NULL, "this text" },
	{ 0, NULL, NULL, NULL },
};

static int set_help(void *data, int letter, const char *value, struct error *err)
{
	(void)letter;
	(void)value;
	(void)err;
	*(bool *)data = true;
	return 0;
}

int command_finish(void)
{
	int r = stream_flush(stdout);

	if (r < 0) {
		if (output_was_closed(STDOUT_FILENO))
			log_line("stdout is closed");
		else
			log_line("stdout could not be written: %s", strerror(-r));
		return EXIT_OURS;
	}
	return 0;
}

bool command_parse(const struct command *command, int argc, char **argv, opt_set *set, void *settings, const bool *help,
		   int *ret_first, int *status)
{
	struct error err = { 0 };

	if (opt_parse(argc, argv, command->options, set, settings, ret_first, &err) < 0) {
		log_error(&err);
		return false;
	}
	if (*help) {
		command_print_help(command);
		*status = command_finish();
	}
	return !*help;
}

bool command_operands(const struct command *command, int argc, char **argv, int *ret_first, int *ret_status)
{
	bool help = false;

	*ret_status = EXIT_OURS;
	return command_parse(command, argc, argv, set_help, &help, &help, ret_first, ret_status);
}
