/* SPDX-License-Identifier: BSD-2-Clause */
/* syscull doctor: what works here, what does not, and what to change. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "engine/engine.h"
#include "verdict/price.h"

#define CALIBRATION_NS UINT64_C(100000000)

/* Measures all that runs would measure piece by piece. */
static void doctor_prices(void)
{
	struct price_book *book = price_book_new_kept();
	unsigned kept, measured;
	char ns[TEXT_NUMBER_MAX];
	int r;

	if (!book)
		return;
	price_book_calibrate(book, CALIBRATION_NS);
	price_book_count(book, &kept, &measured);
	r = price_book_save(book);
	printf("prices    ok: %u loops measured, a cheap call takes %s; %s%s\n", measured,
	       text_ns(price_of(book, CALL_getppid, 0, 0).ns, ns),
	       r < 0 ? "each run measures what it needs, because they cannot be kept: "
		     : "kept in $XDG_CACHE_HOME/syscull/prices or ~/.cache for this boot and kernel",
	       r < 0 ? strerror(-r) : "");
	price_book_free(book);
}

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
	doctor_prices();
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
