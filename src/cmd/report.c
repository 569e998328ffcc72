/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull report: analyses a run that was recorded before.  Works offline:
 * stdout is ours.  0 nothing worth fixing, 1 findings, 2 trouble, and also a
 * run that cannot be judged, since what was lost of it may be the waste.
 */
#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/replay.h"
#include "cmd/view.h"

#define EXIT_FINDINGS 1
#define EXIT_TROUBLE 2

enum { OPT_CWD = 256 };

static const struct opt report_options[] = {
	{ 'e', "trace", "EXPR", "these calls only: names, %classes, @families, !not" },
	{ 'o', "output", "FILE", "write the report to FILE instead of stdout" },
	{ 'P', "path", "PATH", "look at calls on PATH only (repeatable)" },
	{ 'q', "quiet", NULL, "print nothing unless there is something worth fixing" },
	{ 'v', "verbose", NULL, "all findings in full, all calls" },
	{ VIEW_BY, "by", "WHAT", "a table of calls by region, exe or site" },
	{ VIEW_COLOR, "color", "WHEN", "auto, always or never" },
	{ OPT_CWD, "cwd", "DIR", "FILE is a log of strace's: its program began in DIR" },
	{ VIEW_FAILED, "failed", NULL, "look at failed calls only" },
	{ VIEW_FINDING, "finding", "N", "--format issue: of the N-th finding" },
	{ VIEW_FLOOR, "floor", "SHARE,TIME", "what is worth fixing: saves both (1%,100us)" },
	{ VIEW_FORMAT, "format", "FORMAT", "text, json, html, issue, collapsed, prom[=FILE]" },
	{ VIEW_REDACT, "redact", "LIST", "hash what LIST names: argv, paths, users" },
	PROJECT_OPTIONS,
	{ VIEW_WEIGHT, "weight", "WHAT", "of collapsed stacks: calls (the default) or saving" },
	{ 'h', "help", NULL, "this text" },
	{ 0, NULL, NULL, NULL },
};

struct report_settings {
	struct view view;
	const char *cwd; /* --cwd */
	bool help;
};

static int set_option(void *data, int letter, const char *value, struct error *err)
{
	struct report_settings *s = data;

	if (letter == 'h') {
		s->help = true;
		return 0;
	}
	if (letter == OPT_CWD) {
		s->cwd = value;
		return *value == '/' ? 0 : error_set(err, EINVAL, "--cwd wants a whole path, not '%s'", value);
	}
	return view_option(&s->view, letter, value, err);
}

static unsigned worth_fixing(const struct analysis_result *result)
{
	unsigned count = 0;

	for (size_t i = 0; i < result->finding_count; i++)
		count += result->findings[i].worth && !result->findings[i].suppressed_by;
	return count;
}

static int status_of(const struct analysis_result *result)
{
	if (!result->complete)
		return EXIT_TROUBLE;
	return worth_fixing(result) > 0 ? EXIT_FINDINGS : 0;
}

static int report(struct report_settings *s, const char *path)
{
	struct replay replay = REPLAY_INIT;
	struct stack_options stack_options;
	struct analysis *analysis = NULL;
	struct error err = { 0 };
	int status = EXIT_TROUBLE;
	int r = replay_open(&replay, path, s->cwd, &err);

	if (r == 0 && s->cwd && !replay_is_log(&replay))
		r = error_set(&err, EINVAL, "--cwd is for logs of strace's; a trace has the directory");
	if (r == 0) {
		const char *command = replay_command(&replay);

		r = formats_open(&s->view.formats,
				 s->view.output || !formats_bare(&s->view.formats) ? s->view.output : "fd:1", false,
				 command ? rule_base_name(command) : NULL, &err);
	}
	if (r == 0) {
		stack_options = replay_stack_options(&replay);
		s->view.stack_options = &stack_options;
	}
	if (r == 0)
		r = view_analysis(&s->view, &analysis, &err);
	if (r == 0)
		r = replay_analyse(&replay, analysis, &err);
	if (r == 0)
		r = view_finish(&s->view, analysis, &replay.facts, &err);
	if (r == 0)
		status = status_of(analysis_result(analysis));
	if (r < 0 && err.code == 0)
		(void)error_errno(&err, -r, "analysing");
	if (err.code != 0)
		log_error(&err);
	analysis_free(analysis);
	replay_close(&replay);
	return status;
}

static int report_main(const struct command *command, int argc, char **argv)
{
	struct report_settings s = { 0 };
	struct error err = { 0 };
	int first, status = EXIT_TROUBLE;

	if (command_parse(command, argc, argv, set_option, &s, &s.help, &first, &status)) {
		if (argc - first > 1)
			replay_complain("report takes one FILE", argc - first, argv + first);
		else if (view_check(&s.view, &err) < 0)
			log_error(&err);
		else
			status = report(&s, first < argc ? argv[first] : NULL);
	}
	view_done(&s.view);
	return status;
}

const struct command command_report = {
	.name = "report",
	.usage = "report [options] [FILE]",
	.help = "analyse a recorded run again; without FILE the last one",
	.options = report_options,
	.operands = COMMAND_OPERANDS_FILES,
	.main = report_main,
};
