/* SPDX-License-Identifier: BSD-2-Clause */
/* syscull doctor: what works here, what does not, and what to change. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "engine/engine.h"

static const struct opt doctor_options[] = {
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

static int doctor_main(const struct command *command, int argc, char **argv)
{
	struct error err = { 0 };
	struct utsname host;
	bool help = false;
	unsigned bad = 0;
	int first;

	if (opt_parse(argc, argv, command->options, set_help, &help, &first, &err) < 0) {
		log_error(&err);
		return EXIT_OURS;
	}
	if (help) {
		command_print_help(command);
		return 0;
	}
	if (first < argc) {
		log_line("doctor takes no operand");
		return EXIT_OURS;
	}
	if (uname(&host) == 0)
		printf("system    %s %s %s\n", host.sysname, host.release, host.machine);
	for (size_t i = 0; engine_list[i]; i++) {
		struct engine_probe probe;

		if (!engine_list[i]->live)
			continue;
		engine_list[i]->probe(&probe);
		printf("%-9s %s: %s\n", engine_list[i]->name, probe.usable ? "ok" : "NOT USABLE", probe.why);
		if (!probe.usable) {
			bad++;
			if (probe.fix[0] != '\0')
				printf("          %s\n", probe.fix);
		}
	}
	if (fflush(stdout) != 0)
		return EXIT_OURS;
	return bad > 0 ? 1 : 0;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "doctor",
	.help = "what works here, what does not, and what to change",
	.options = doctor_options,
	.main = doctor_main,
};
