/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull record: runs or attaches and keeps the records, for report and
 * show.  Judges nothing and prints nothing; the exit status is the command's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/keep.h"
#include "cmd/signals.h"
#include "cmd/watch-options.h"

static const struct opt record_options[] = {
	{ 'o', "output", "FILE", "keep the run in FILE, not as the last one (.zst: compressed)" },
	WATCH_OPT_ATTACH,
	{ 'q', "quiet", NULL, "no progress while attached" },
	WATCH_OPT_DURATION,
	WATCH_OPT_ENGINE,
	WATCH_OPT_PIN,
	WATCH_OPT_RING,
	WATCH_OPT_STACKS,
	WATCH_OPT_TASK_LIMIT,
	WATCH_OPT_USER,
	{ 'h', "help", NULL, "this text" },
	{ 0, NULL, NULL, NULL },
};

struct record_settings {
	struct watch_options watch;
	const char *output;
	bool quiet, help;
};

static int set_option(void *data, int letter, const char *value, struct error *err)
{
	struct record_settings *s = data;
	int r;

	switch (letter) {
	case 'o':
		s->output = value;
		return 0;
	case 'q':
		s->quiet = true;
		return 0;
	case 'h':
		s->help = true;
		return 0;
	default:
		r = watch_option(&s->watch, letter, value, err);
		return r > 0 ? error_set(err, EINVAL, "unknown option") : r;
	}
}

static int open_keep(const struct record_settings *s, const struct watch *watch, struct keep *keep, struct error *err)
{
	struct error why = { 0 };
	int r;

	if (s->output)
		return keep_open_file(keep, s->output, err);
	r = keep_open_last(keep, watch->user ? &watch->who.uid : NULL, &why);
	return r < 0 ? error_set(err, why.code, "%s; give -o FILE", why.text) : 0;
}

static int record(struct record_settings *s, char **argv)
{
	struct keep keep = KEEP_INIT;
	struct watch watch = watch_as_said(&s->watch, argv);
	struct analysis *analysis = NULL;
	struct error err = { 0 };
	char *program = NULL;
	int status = EXIT_OURS;
	int r = watch_check(&watch, &err);

	watch.progress = !s->quiet;
	watch.keep = &keep;
	watch.only_keep = true;
	if (r == 0 && watch.argv) {
		r = engine_find_program(argv[0], &program, &err);
		if (r < 0)
			status = command_exit_for(&err);
		watch.program = program;
	}
	if (r == 0)
		r = open_keep(s, &watch, &keep, &err);
	if (r == 0)
		r = analysis_new(&(struct analysis_spec){ 0 }, &analysis, &err);
	if (r == 0) {
		r = watch_run(&watch, analysis, &err);
		if (r < 0 && watch.argv)
			status = command_exit_for(&err);
	}
	if (r == 0) {
		struct error late = { 0 };

		if (keep_close(&keep, &late) < 0) {
			log_error(&late);
			if (watch.end.signal == 0 && watch.end.status == 0)
				r = 1;
		}
		signals_give_back();
		status = r > 0 ? EXIT_OURS : watch_pass_on(&watch);
	}
	if (err.code != 0)
		log_error(&err);
	keep_discard(&keep);
	analysis_free(analysis);
	free(program);
	return status;
}

static int record_main(const struct command *command, int argc, char **argv)
{
	struct record_settings s = { .watch = WATCH_OPTIONS_INIT };
	int first, status = EXIT_OURS;

	if (!command_parse(command, argc, argv, set_option, &s, &s.help, &first, &status))
		return status;
	if (s.watch.pid_count > 0 && first < argc) {
		log_line("-p attaches to a process: no command can be given with it");
		return EXIT_OURS;
	}
	if (s.watch.duration_ns && s.watch.pid_count == 0) {
		log_line("--duration is for -p; a command is watched to its end");
		return EXIT_OURS;
	}
	if (s.watch.pid_count == 0 && first >= argc) {
		log_line("no command given; try: syscull record -- ls -l");
		return EXIT_OURS;
	}
	return record(&s, argv + first);
}

const struct command command_record = {
	.name = "record",
	.usage = "record [options] -- COMMAND...\n       syscull record [options] -p PID",
	.help = "run a command and keep its calls for report and show",
	.options = record_options,
	.operands = COMMAND_OPERANDS_COMMAND,
	.main = record_main,
};
