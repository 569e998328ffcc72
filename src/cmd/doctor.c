/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull doctor: what works here, what does not and exactly what to change,
 * the calibration, and the files that are read.  Ends with 1 when nothing can
 * be watched here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "engine/engine.h"
#include "report/term.h"
#include "verdict/package.h"
#include "verdict/price.h"

#define CALIBRATION_NS UINT64_C(100000000)
#define TEXT_COLUMN 10

static void line(struct term *term, const char *name, bool ok, const char *text)
{
	term_put(term, TERM_PLAIN, name);
	term_to(term, TEXT_COLUMN);
	term_wrap(term, ok ? TERM_PLAIN : TERM_ALARM, text, TEXT_COLUMN, term->width, 0);
	term_end(term);
}

static void lines(struct term *term, const char *text)
{
	while (*text) {
		size_t bytes = strcspn(text, "\n");
		char one[512];

		(void)snprintf(one, sizeof one, "%.*s", (int)bytes, text);
		line(term, "", true, one);
		text += bytes + (text[bytes] == '\n');
	}
}

/* Measures all that runs would measure piece by piece. */
static void doctor_prices(struct term *term)
{
	struct price_book *book = price_book_new_kept();
	enum price_state before;
	unsigned kept, measured;
	char ns[TEXT_NUMBER_MAX];
	char text[512];
	int r;

	if (!book)
		return;
	before = price_book_state(book);
	price_book_calibrate(book, CALIBRATION_NS);
	price_book_count(book, &kept, &measured);
	r = price_book_save(book);
	(void)snprintf(text, sizeof text, "ok: %u loops measured now (%s), a cheap call takes %s; %s%s", measured,
		       price_state_name(before), text_ns(price_of(book, CALL_getppid, 0, 0).ns, ns),
		       r < 0 ? "they cannot be kept, each run measures what it needs: "
			     : "kept for this boot and kernel",
		       r < 0 ? strerror(-r) : "");
	line(term, "prices", true, text);
	price_book_free(book);
}

static const char *presence(const char *path)
{
	return access(path, R_OK) == 0 ? "read" : errno == ENOENT ? "not there" : strerror(errno);
}

static void doctor_files(struct term *term)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	char text[256];

	(void)snprintf(text, sizeof text, "%s, the prices",
		       cache && cache[0] == '/' ? "$XDG_CACHE_HOME/syscull/prices" : "~/.cache/syscull/prices");
	line(term, "files", true, text);
	(void)snprintf(text, sizeof text, "%s/status and info, packages of programs: %s", PACKAGE_DATABASE,
		       presence(PACKAGE_DATABASE "/status"));
	lines(term, text);
}

/* How many engines can be used. */
static unsigned doctor_engines(struct term *term)
{
	unsigned good = 0;

	for (size_t i = 0; engine_list[i]; i++) {
		struct engine_probe probe;
		char text[256];

		if (!engine_list[i]->live)
			continue;
		engine_list[i]->probe(&probe);
		(void)snprintf(text, sizeof text, "%s: %s", probe.usable ? "ok" : "NOT USABLE", probe.why);
		line(term, engine_list[i]->name, probe.usable, text);
		good += probe.usable;
		if (!probe.usable)
			lines(term, probe.fix);
		for (unsigned part = 0; part < probe.part_count; part++)
			line(term, probe.parts[part].name, probe.parts[part].ok, probe.parts[part].text);
	}
	return good;
}

static int doctor_main(const struct command *command, int argc, char **argv)
{
	struct utsname host;
	struct term term;
	struct tty tty = tty_of(STDOUT_FILENO, TTY_COLOR_AUTO);
	unsigned good;
	int first, status;

	if (!command_operands(command, argc, argv, &first, &status))
		return status;
	if (first < argc) {
		log_line("doctor takes no operand");
		return EXIT_OURS;
	}
	term_init(&term, stdout, &tty);
	if (uname(&host) == 0) {
		char text[256];

		(void)snprintf(text, sizeof text, "%s %s %s", host.sysname, host.release, host.machine);
		line(&term, "system", true, text);
	}
	good = doctor_engines(&term);
	doctor_prices(&term);
	doctor_files(&term);
	if (term_done(&term) < 0) {
		log_line("stdout could not be written");
		return EXIT_OURS;
	}
	status = command_finish();
	return status == 0 && good == 0 ? 1 : status;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "doctor",
	.help = "what works here, what does not, and what to change",
	.options = command_help_only,
	.main = doctor_main,
};
