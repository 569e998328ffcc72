/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull record: runs or attaches and keeps the records, for report and
 * show.  Judges nothing and prints nothing; the exit status is the command's.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/call-sites.h"
#include "cmd/cmd.h"
#include "cmd/keep.h"
#include "cmd/signals.h"
#include "cmd/watch.h"

#define PIDS_MAX 64
#define TASK_LIMIT 4096

enum { OPT_ENGINE = 256, OPT_PIN, OPT_RING, OPT_STACKS, OPT_TASK_LIMIT, OPT_USER };

static const struct opt record_options[] = {
	{ 'o', "output", "FILE", "keep the run in FILE instead of as the last one" },
	{ 'p', "attach", "PID", "watch a running process until INT (repeatable)" },
	{ 'q', "quiet", NULL, "no progress while attached" },
	{ OPT_ENGINE, "engine", "NAME", "auto, bpf or ptrace" },
	{ OPT_PIN, "pin", "WHEN", "share a CPU with the command: auto, always, never" },
	{ OPT_RING, "ring", "SIZE", "bpf engine: room for records that wait (32M); more for many CPUs" },
	{ OPT_STACKS, "stacks", "HOW", "who made the calls: off, sites (the default) or deep" },
	{ OPT_TASK_LIMIT, "task-limit", "N", "follow at most N tasks at a time (4096); more run untraced" },
	{ OPT_USER, "user", "USER", "as root: run the command as this user" },
	{ 'h', "help", NULL, "this text" },
	{ 0, NULL, NULL, NULL },
};

struct record_settings {
	const char *output, *engine;
	enum engine_pin pin;
	enum engine_stacks stacks;
	bool quiet, help;
	uint32_t task_limit;
	uint64_t ring_bytes;
	const char *user;
	pid_t pids[PIDS_MAX];
	size_t pid_count;
};

static int set_option(void *data, int letter, const char *value, struct error *err)
{
	struct record_settings *s = data;
	long number = 0;
	int when = 0, r;

	switch (letter) {
	case 'o':
		s->output = value;
		return 0;
	case 'p':
		if (s->pid_count == PIDS_MAX)
			return error_set(err, E2BIG, "-p: at most %d processes", PIDS_MAX);
		r = command_number("-p", value, 1, INT_MAX, &number, err);
		if (r == 0)
			s->pids[s->pid_count++] = (pid_t)number;
		return r;
	case 'q':
		s->quiet = true;
		return 0;
	case 'h':
		s->help = true;
		return 0;
	case OPT_ENGINE:
		s->engine = value;
		return 0;
	case OPT_PIN:
		r = command_when("--pin", value, &when, err);
		s->pin = (enum engine_pin)when;
		return r;
	case OPT_RING:
		return command_ring(value, &s->ring_bytes, err);
	case OPT_STACKS:
		return call_sites_option(value, &s->stacks, err);
	case OPT_USER:
		s->user = value;
		return 0;
	case OPT_TASK_LIMIT:
		r = command_number("--task-limit", value, 1, 1000000, &number, err);
		s->task_limit = (uint32_t)number;
		return r;
	default:
		return error_set(err, EINVAL, "unknown option");
	}
}

static int open_keep(const struct record_settings *s, struct keep *keep, struct error *err)
{
	int r;

	if (s->output)
		return keep_open_file(keep, s->output, err);
	r = keep_open_last(keep);
	if (r < 0)
		return error_set(err, -r, "no run can be kept in $XDG_STATE_HOME (~/.local/state): %s; give -o FILE",
				 strerror(-r));
	return 0;
}

static int record(struct record_settings *s, char **argv)
{
	struct keep keep = KEEP_INIT;
	struct watch watch = {
		.argv = s->pid_count == 0 ? argv : NULL,
		.pids = s->pids,
		.pid_count = s->pid_count,
		.engine = s->engine,
		.pin = s->pin,
		.stacks = s->stacks,
		.task_limit = s->task_limit,
		.ring_bytes = s->ring_bytes,
		.user = s->user,
		.progress = !s->quiet,
		.keep = &keep,
		.only_keep = true,
	};
	struct analysis *analysis = NULL;
	struct error err = { 0 };
	char *program = NULL;
	int status = EXIT_OURS;
	int r = watch_check(&watch, &err);

	if (r == 0 && watch.argv) {
		r = engine_find_program(argv[0], &program, &err);
		if (r < 0)
			status = command_exit_for(&err);
		watch.program = program;
	}
	if (r == 0)
		r = open_keep(s, &keep, &err);
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
	struct record_settings s = { .task_limit = TASK_LIMIT, .stacks = ENGINE_STACKS_SITES };
	struct error err = { 0 };
	int first;

	if (opt_parse(argc, argv, command->options, set_option, &s, &first, &err) < 0) {
		log_error(&err);
		return EXIT_OURS;
	}
	if (s.help) {
		command_print_help(command);
		return command_finish();
	}
	if (s.pid_count > 0 && first < argc) {
		log_line("-p attaches to a process: no command can be given with it");
		return EXIT_OURS;
	}
	if (s.pid_count == 0 && first >= argc) {
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
