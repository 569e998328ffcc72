/* SPDX-License-Identifier: BSD-2-Clause */
/* syscull doctor: what works here, what does not, and what to change. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "engine/engine.h"

static int doctor_main(const struct command *command, int argc, char **argv)
{
	struct utsname host;
	unsigned bad = 0;
	int first, status;

	if (!command_operands(command, argc, argv, &first, &status))
		return status;
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
	status = command_finish();
	return status == 0 && bad > 0 ? 1 : status;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "doctor",
	.help = "what works here, what does not, and what to change",
	.options = command_help_only,
	.main = doctor_main,
};
