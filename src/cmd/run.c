/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull run: runs or attaches, records, analyses, reports.  stdout belongs
 * to the command; the report goes to stderr or a file.  The exit status is
 * the command's own, and its signal is raised again.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/count.h"
#include "cmd/keep.h"
#include "cmd/signals.h"
#include "cmd/view.h"
#include "cmd/watch.h"

#define PIDS_MAX 64
#define TASK_LIMIT 4096

enum { OPT_ENGINE = 256, OPT_NO_KEEP, OPT_PIN, OPT_RING, OPT_STACKS, OPT_TASK_LIMIT, OPT_USER };

static const struct opt run_options[] = {
	{ 'a', "system", NULL, "count the calls of the whole machine but ourselves, until INT" },
	{ 'e', "trace", "EXPR", "look at these calls only: names, %classes, @families, !not" },
	{ 'o', "output", "FILE", "write the report to FILE instead of stderr" },
	{ 'p', "attach", "PID", "watch a running process until INT (repeatable)" },
	{ 'P', "path", "PATH", "look at calls on PATH only (repeatable)" },
	{ 'q', "quiet", NULL, "print nothing unless there is something worth fixing" },
	{ 'v', "verbose", NULL, "all findings in full, all calls" },
	{ VIEW_BY, "by", "WHAT", "region, exe or site: a table of calls by mark, program or caller" },
	COUNT_OPTIONS,
	{ VIEW_COLOR, "color", "WHEN", "auto, always or never" },
	{ OPT_ENGINE, "engine", "NAME", "auto, bpf or ptrace" },
	{ VIEW_FAILED, "failed", NULL, "look at failed calls only" },
	{ VIEW_FLOOR, "floor", "SHARE,TIME", "worth fixing is what saves both (1%,100us), or 100ms as a third" },
	{ VIEW_FORMAT, "format", "FORMAT", "text, json, html, issue, collapsed or prom[=FILE] (repeatable)" },
	{ OPT_NO_KEEP, "no-keep", NULL, "do not keep this run for report and show" },
	{ OPT_PIN, "pin", "WHEN", "share a CPU with the command: auto, always, never" },
	{ VIEW_REDACT, "redact", "LIST", "hash what LIST names: argv, paths, users" },
	PROJECT_OPTIONS,
	{ OPT_RING, "ring", "SIZE", "bpf engine: room for records that wait (32M); more for many CPUs" },
	{ OPT_STACKS, "stacks", "HOW", "who made the calls: off, sites (the default) or deep" },
	{ OPT_TASK_LIMIT, "task-limit", "N", "follow at most N tasks at a time (4096); more run untraced" },
	{ OPT_USER, "user", "USER", "as root: run the command as this user" },
	{ VIEW_WEIGHT, "weight", "WHAT", "of collapsed stacks: calls (the default) or saving" },
	{ 'h', "help", NULL, "this text" },
	{ 'V', "version", NULL, "print the version" },
	{ 0, NULL, NULL, NULL },
};

struct run_settings {
	const char *engine;
	enum engine_pin pin;
	enum engine_stacks stacks;
	bool no_keep, help, version;
	uint32_t task_limit;
	uint64_t ring_bytes;
	const char *user;
	pid_t pids[PIDS_MAX];
	size_t pid_count;
	struct count_request count;
	struct view view;
};

static int set_option(void *data, int letter, const char *value, struct error *err)
{
	struct run_settings *s = data;
	long number = 0;
	int when = 0, r;

	switch (letter) {
	case 'p':
		if (s->pid_count == PIDS_MAX)
			return error_set(err, E2BIG, "-p: at most %d processes", PIDS_MAX);
		r = command_number("-p", value, 1, INT_MAX, &number, err);
		if (r == 0)
			s->pids[s->pid_count++] = (pid_t)number;
		return r;
	case 'h':
		s->help = true;
		return 0;
	case 'V':
		s->version = true;
		return 0;
	case OPT_ENGINE:
		s->engine = value;
		return 0;
	case OPT_NO_KEEP:
		s->no_keep = true;
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
		r = count_option(&s->count, letter, value, err);
		return r > 0 ? view_option(&s->view, letter, value, err) : r;
	}
}

/* 0 or the command's status; negative errno with err when it did not start. */
static int watch_and_report(struct run_settings *s, struct watch *watch, struct analysis *analysis, struct error *err)
{
	struct error late = { 0 };
	int r = watch_run(watch, analysis, err);

	if (r < 0)
		return r;
	/* Telling of it is enough: nobody asked for it. */
	if (watch->keep && keep_close(watch->keep, &late) < 0)
		log_error(&late);
	late = (struct error){ 0 };
	r = view_finish(&s->view, analysis, &watch->facts, &late);
	if (r < 0) {
		log_error(&late);
		/* A report that could not be written is our failure, but it
		 * never hides the command's. */
		if (watch->end.signal == 0 && watch->end.status == 0)
			r = EXIT_OURS;
	}
	signals_give_back();
	return r > 0 ? r : watch_pass_on(watch);
}

static int run(struct run_settings *s, char **argv)
{
	struct watch watch = {
		.argv = *argv ? argv : NULL,
		.pids = s->pids,
		.pid_count = s->pid_count,
		.engine = s->engine,
		.pin = s->pin,
		.stacks = s->stacks,
		.task_limit = s->task_limit,
		.ring_bytes = s->ring_bytes,
		.user = s->user,
		.progress = !s->view.quiet,
	};
	const struct stack_options stack_options = { .here = true };
	struct keep keep = KEEP_INIT;
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
	if (r == 0 && s->count.on) {
		status = count_run(&s->count, &watch, &s->view);
		free(program);
		return status;
	}
	if (r == 0)
		r = formats_open(&s->view.formats, s->view.output, true, watch.argv ? rule_base_name(argv[0]) : NULL,
				 &err);
	s->view.stack_options = s->stacks == ENGINE_STACKS_OFF ? NULL : &stack_options;
	if (r == 0)
		r = view_analysis(&s->view, &analysis, &err);
	/* Where no run can be kept none is; report says so. */
	if (r == 0 && !s->no_keep && keep_open_last(&keep) == 0)
		watch.keep = &keep;
	if (r == 0) {
		r = watch_and_report(s, &watch, analysis, &err);
		if (r >= 0)
			status = r;
		else if (watch.argv)
			status = command_exit_for(&err);
	}
	if (err.code != 0)
		log_error(&err);
	keep_discard(&keep);
	formats_discard(&s->view.formats);
	analysis_free(analysis);
	free(program);
	return status;
}

static int run_main(const struct command *command, int argc, char **argv)
{
	struct run_settings s = { .task_limit = TASK_LIMIT, .stacks = ENGINE_STACKS_SITES };
	struct error err = { 0 };
	int first, status;

	if (opt_parse(argc, argv, command->options, set_option, &s, &first, &err) < 0) {
		log_error(&err);
		view_done(&s.view);
		return EXIT_OURS;
	}
	if (s.help) {
		command_print_help(command);
		return command_finish();
	}
	if (s.version) {
		printf("syscull %s\n", SYSCULL_VERSION);
		return command_finish();
	}
	if (s.pid_count > 0 && first < argc) {
		log_line("-p attaches to a process: no command can be given with it");
		return EXIT_OURS;
	}
	if (count_check(&s.count, first < argc, s.pid_count, s.engine, &s.view, &err) < 0) {
		log_error(&err);
		view_done(&s.view);
		return EXIT_OURS;
	}
	if (s.pid_count == 0 && !s.count.system && !s.count.cgroup && first >= argc) {
		log_line("no command given; try: syscull run -- ls -l");
		return EXIT_OURS;
	}
	status = run(&s, argv + first);
	view_done(&s.view);
	return status;
}

const struct command command_run = {
	.name = "run",
	.usage = "[run] [options] -- COMMAND...\n       syscull run [options] -p PID\n"
		 "       syscull run [options] -a | --cgroup PATH",
	.help = "run a command and say which calls it wastes",
	.options = run_options,
	.operands = COMMAND_OPERANDS_COMMAND,
	.main = run_main,
};
