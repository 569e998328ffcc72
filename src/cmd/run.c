/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull run: runs or attaches, records, analyses, reports.  stdout belongs
 * to the command; the report goes to stderr or a file.  The exit status is
 * the command's own, and its signal is raised again.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "base/tty.h"
#include "cmd/cmd.h"
#include "cmd/formats.h"
#include "cmd/keep.h"
#include "cmd/project.h"
#include "cmd/signals.h"
#include "cmd/watch.h"
#include "engine/engine.h"
#include "report/reporter.h"
#include "verdict/analysis.h"
#include "verdict/judge.h"

#define PIDS_MAX 64
#define TASK_LIMIT 4096

enum {
	OPT_BY = 256,
	OPT_FAILED,
	OPT_FLOOR,
	OPT_FORMAT,
	OPT_NO_KEEP,
	OPT_REDACT,
	OPT_ENGINE,
	OPT_PIN,
	OPT_COLOR,
	OPT_TASK_LIMIT
};

static const struct opt run_options[] = {
	{ 'e', "trace", "EXPR", "look at these calls only: names, %classes, @families, !not" },
	{ 'o', "output", "FILE", "write the report to FILE instead of stderr" },
	{ 'p', "attach", "PID", "watch a running process until INT (repeatable)" },
	{ 'P', "path", "PATH", "look at calls on PATH only (repeatable)" },
	{ 'q', "quiet", NULL, "print nothing unless there is something worth fixing" },
	{ 'v', "verbose", NULL, "all findings in full, all calls" },
	{ OPT_BY, "by", "WHAT", "region: a table of what was called between marks" },
	{ OPT_COLOR, "color", "WHEN", "auto, always or never" },
	{ OPT_ENGINE, "engine", "NAME", "auto or ptrace" },
	{ OPT_FAILED, "failed", NULL, "look at failed calls only" },
	{ OPT_FLOOR, "floor", "SHARE,TIME", "worth fixing is what saves both (1%,100us), or 100ms as a third" },
	{ OPT_FORMAT, "format", "FORMAT", "text or json, or FORMAT=FILE (repeatable)" },
	{ OPT_NO_KEEP, "no-keep", NULL, "do not keep this run for report and show" },
	{ OPT_PIN, "pin", "WHEN", "share a CPU with the command: auto, always, never" },
	{ OPT_REDACT, "redact", "LIST", "hash what LIST names: argv, paths, users" },
	PROJECT_OPTIONS,
	{ OPT_TASK_LIMIT, "task-limit", "N", "follow at most N tasks at a time (4096); more run untraced" },
	{ 'h', "help", NULL, "this text" },
	{ 'V', "version", NULL, "print the version" },
	{ 0, NULL, NULL, NULL },
};

struct run_settings {
	const char *output;
	const char *engine;
	enum engine_pin pin;
	enum tty_color color;
	bool by_region, quiet, verbose, no_keep, help, version;
	uint32_t task_limit;
	pid_t pids[PIDS_MAX];
	size_t pid_count;
	struct formats formats;
	struct filter filter;
	struct analysis_floor floor;
	struct project project;
};

static int set_option(void *data, int letter, const char *value, struct error *err)
{
	struct run_settings *s = data;
	long number = 0;
	int when = 0, r;
	struct error why = { 0 };

	switch (letter) {
	case 'e':
		return filter_add_calls(&s->filter, value, err);
	case 'P':
		return filter_add_path(&s->filter, value, err);
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
	case 'v':
		s->verbose = true;
		return 0;
	case 'h':
		s->help = true;
		return 0;
	case 'V':
		s->version = true;
		return 0;
	case OPT_BY:
		if (strcmp(value, "region") != 0)
			return error_set(err, EINVAL, "--by wants region, not '%s'", value);
		s->by_region = true;
		return 0;
	case OPT_COLOR:
		r = command_when("--color", value, &when, err);
		s->color = (enum tty_color)when;
		return r;
	case OPT_PIN:
		r = command_when("--pin", value, &when, err);
		s->pin = (enum engine_pin)when;
		return r;
	case OPT_FAILED:
		return filter_set_failed(&s->filter, err);
	case OPT_FLOOR:
		if (judge_floor_parse(value, &s->floor, &why) < 0)
			return error_set(err, EINVAL, "--floor: %s", why.text);
		return 0;
	case OPT_FORMAT:
		return formats_add(&s->formats, value, err);
	case OPT_NO_KEEP:
		s->no_keep = true;
		return 0;
	case OPT_REDACT:
		return redact_parse(value, &s->formats.redact, err);
	case OPT_ENGINE:
		s->engine = value;
		return 0;
	case OPT_TASK_LIMIT:
		r = command_number("--task-limit", value, 1, 1000000, &number, err);
		s->task_limit = (uint32_t)number;
		return r;
	default:
		r = project_option(&s->project, letter, value, err);
		return r > 0 ? error_set(err, EINVAL, "unknown option") : r;
	}
}

static int report(struct run_settings *s, const struct analysis *analysis, struct error *err)
{
	struct report_options options = { .verbose = s->verbose, .quiet = s->quiet, .by_region = s->by_region };

	return formats_write(&s->formats, analysis_result(analysis), &options, s->color, err);
}

/* What the report leaves out. */
static void add_selection(const struct filter *filter, struct buf *text, struct analysis_facts *facts)
{
	size_t used = 0;

	if (!filter_active(filter))
		return;
	(void)buf_puts(text, "calls and findings are narrowed by");
	for (size_t i = 0; i < filter->said.used; i++)
		(void)buf_printf(text, "%s %s", i ? "," : "", filter->said.at[i]);
	while (facts->warnings[used])
		used++;
	if (used + 1 < sizeof facts->warnings / sizeof facts->warnings[0])
		facts->warnings[used] = buf_text(text);
}

/* 0 or the command's status; negative errno with err when it did not start. */
static int watch_and_report(struct run_settings *s, struct watch *watch, struct analysis *analysis, struct error *err)
{
	struct buf selection = BUF_INIT;
	struct error late = { 0 };
	int r = watch_run(watch, analysis, err);

	if (r < 0)
		return r;
	/* Telling of it is enough: nobody asked for it. */
	if (watch->keep && keep_close(watch->keep, &late) < 0)
		log_error(&late);
	late = (struct error){ 0 };
	add_selection(&s->filter, &selection, &watch->facts);
	project_tell(&s->project, &watch->facts);
	r = analysis_finish(analysis, &watch->facts, &late);
	if (r == 0)
		r = report(s, analysis, &late);
	if (r == 0)
		project_generate(&s->project, analysis_result(analysis));
	/* What cannot be kept is measured again. */
	(void)price_book_save(analysis_result(analysis)->prices);
	buf_done(&selection);
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

static int begin(struct run_settings *s, struct analysis **ret, struct error *err)
{
	struct analysis_spec spec = { .filter = &s->filter, .floor = s->floor };
	int r = project_load(&s->project, true, err);

	if (r < 0)
		return r;
	project_apply(&s->project, &spec);
	spec.prices = price_book_new_kept();
	spec.packages = package_book_new(PACKAGE_DATABASE, package_system_merged());
	return analysis_new(&spec, ret, err);
}

static int run(struct run_settings *s, char **argv)
{
	struct watch watch = {
		.argv = s->pid_count == 0 ? argv : NULL,
		.pids = s->pids,
		.pid_count = s->pid_count,
		.engine = s->engine,
		.pin = s->pin,
		.task_limit = s->task_limit,
		.progress = !s->quiet,
	};
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
	if (r == 0)
		r = formats_open(&s->formats, s->output, true, watch.argv ? rule_base_name(argv[0]) : NULL, &err);
	if (r == 0)
		r = begin(s, &analysis, &err);
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
	formats_discard(&s->formats);
	analysis_free(analysis);
	free(program);
	return status;
}

static int run_main(const struct command *command, int argc, char **argv)
{
	struct run_settings s = { .task_limit = TASK_LIMIT };
	struct error err = { 0 };
	int first, status;

	if (opt_parse(argc, argv, command->options, set_option, &s, &first, &err) < 0) {
		log_error(&err);
		project_done(&s.project);
		filter_done(&s.filter);
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
	if (s.pid_count == 0 && first >= argc) {
		log_line("no command given; try: syscull run -- ls -l");
		return EXIT_OURS;
	}
	status = run(&s, argv + first);
	project_done(&s.project);
	filter_done(&s.filter);
	return status;
}

const struct command command_run = {
	.name = "run",
	.usage = "[run] [options] -- COMMAND...\n       syscull run [options] -p PID",
	.help = "run a command and say which calls it wastes",
	.options = run_options,
	.operands = COMMAND_OPERANDS_COMMAND,
	.main = run_main,
};
