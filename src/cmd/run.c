/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull run: runs or attaches, records, analyses, reports.  stdout belongs
 * to the command; the report goes to stderr or a file.  The exit status is
 * the command's own, and its signal is raised again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/count.h"
#include "cmd/keep.h"
#include "cmd/signals.h"
#include "cmd/view.h"
#include "cmd/watch-options.h"

enum { OPT_NO_KEEP = 256 };

static const struct opt run_options[] = {
	{ 'a', "system", NULL, "count the calls of the whole machine, until INT" },
	{ 'e', "trace", "EXPR", "these calls only: names, %classes, @families, !not" },
	{ 'o', "output", "FILE", "write the report to FILE instead of stderr" },
	WATCH_OPT_ATTACH,
	{ 'P', "path", "PATH", "look at calls on PATH only (repeatable)" },
	{ 'q', "quiet", NULL, "print nothing unless there is something worth fixing" },
	{ 'v', "verbose", NULL, "all findings in full, all calls" },
	{ VIEW_BY, "by", "WHAT", "a table of calls by region, exe or site" },
	COUNT_OPTIONS,
	{ VIEW_COLOR, "color", "WHEN", "auto, always or never" },
	WATCH_OPT_ENGINE,
	{ VIEW_FAILED, "failed", NULL, "look at failed calls only" },
	{ VIEW_FLOOR, "floor", "SHARE,TIME", "what is worth fixing: saves both (1%,100us)" },
	{ VIEW_FORMAT, "format", "FORMAT", "text, json, html, issue, collapsed, prom[=FILE]" },
	{ OPT_NO_KEEP, "no-keep", NULL, "do not keep this run for report and show" },
	WATCH_OPT_PIN,
	{ VIEW_REDACT, "redact", "LIST", "hash what LIST names: argv, paths, users" },
	PROJECT_OPTIONS,
	WATCH_OPT_RING,
	WATCH_OPT_STACKS,
	WATCH_OPT_TASK_LIMIT,
	WATCH_OPT_USER,
	{ VIEW_WEIGHT, "weight", "WHAT", "of collapsed stacks: calls (the default) or saving" },
	{ 'h', "help", NULL, "this text" },
	{ 'V', "version", NULL, "print the version" },
	{ 0, NULL, NULL, NULL },
};

struct run_settings {
	struct watch_options watch;
	bool no_keep, help, version;
	struct count_request count;
	struct view view;
};

static int set_option(void *data, int letter, const char *value, struct error *err)
{
	struct run_settings *s = data;
	int r;

	switch (letter) {
	case 'h':
		s->help = true;
		return 0;
	case 'V':
		s->version = true;
		return 0;
	case OPT_NO_KEEP:
		s->no_keep = true;
		return 0;
	default:
		r = watch_option(&s->watch, letter, value, err);
		if (r > 0)
			r = count_option(&s->count, letter, value, err);
		return r > 0 ? view_option(&s->view, letter, value, err) : r;
	}
}

/* 0 or the command's status; negative errno with err when it did not start. */
static int watch_and_report(struct run_settings *s, struct watch *watch, struct analysis *analysis,
			    const struct error *not_kept, struct error *err)
{
	struct error late = { 0 };
	int r = watch_run(watch, analysis, err);

	if (r < 0)
		return r;
	/* Telling of it is enough: nobody asked for it. */
	if (watch->keep && keep_close(watch->keep, &late) < 0)
		log_error(&late);
	if (not_kept && not_kept->code != 0)
		analysis_add_warning(&watch->facts, not_kept->text);
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
	struct watch watch = watch_as_said(&s->watch, argv);
	const struct stack_options stack_options = { .here = true };
	struct keep keep = KEEP_INIT;
	struct analysis *analysis = NULL;
	struct error err = { 0 }, not_kept = { 0 };
	char *program = NULL;
	int status = EXIT_OURS;
	int r = watch_check(&watch, &err);

	watch.progress = !s->view.quiet;
	watch.duration_ns = s->count.duration_ns;
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
	s->view.stack_options = s->watch.stacks == ENGINE_STACKS_OFF ? NULL : &stack_options;
	if (r == 0)
		r = view_analysis(&s->view, &analysis, &err);
	/* Where no run can be kept none is: nobody asked for it. */
	if (r == 0 && !s->no_keep && keep_open_last(&keep, watch.user ? &watch.who.uid : NULL, &not_kept) == 0)
		watch.keep = &keep;
	if (r == 0) {
		r = watch_and_report(s, &watch, analysis, s->view.verbose ? &not_kept : NULL, &err);
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
	struct run_settings s = { .watch = WATCH_OPTIONS_INIT };
	struct error err = { 0 };
	int first, status = EXIT_OURS;

	if (!command_parse(command, argc, argv, set_option, &s, &s.help, &first, &status)) {
		view_done(&s.view);
		return status;
	}
	if (s.version) {
		printf("syscull %s\n", SYSCULL_VERSION);
		return command_finish();
	}
	if (s.watch.pid_count > 0 && first < argc) {
		log_line("-p attaches to a process: no command can be given with it");
		return EXIT_OURS;
	}
	if (view_check(&s.view, &err) < 0 ||
	    count_check(&s.count, first < argc, s.watch.pid_count, s.watch.engine, &s.view, &err) < 0) {
		log_error(&err);
		view_done(&s.view);
		return EXIT_OURS;
	}
	if (s.watch.pid_count == 0 && !s.count.system && !s.count.cgroup && first >= argc) {
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
