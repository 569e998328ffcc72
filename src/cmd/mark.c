/* SPDX-License-Identifier: BSD-2-Clause */
/* syscull mark NAME: a region begins, for scripts. */
#include "syscull/mark.h"
#include "base/log.h"
#include "cmd/cmd.h"

static int mark_main(const struct command *command, int argc, char **argv)
{
	int first, status;

	if (!command_operands(command, argc, argv, &first, &status))
		return status;
	if (first + 1 != argc || syscull_mark(argv[first]) < 0) {
		log_line("mark wants one name that is not empty");
		return EXIT_OURS;
	}
	return 0;
}

const struct command command_mark = {
	.name = "mark",
	.usage = "mark NAME",
	.help = "begin a region of the run that watches this script",
	.options = command_help_only,
	.main = mark_main,
};
