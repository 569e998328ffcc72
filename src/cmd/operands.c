/* SPDX-License-Identifier: BSD-2-Clause */
/* What subcommands whose only option is --help share. */
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

bool command_operands(const struct command *command, int argc, char **argv, int *ret_first, int *ret_status)
{
	struct error err = { 0 };
	bool help = false;

	if (opt_parse(argc, argv, command->options, set_help, &help, ret_first, &err) < 0) {
		log_error(&err);
		*ret_status = EXIT_OURS;
		return false;
	}
	if (help) {
		command_print_help(command);
		*ret_status = command_finish();
		return false;
	}
	return true;
}
