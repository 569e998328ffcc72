/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull diff: before and after, of reports in JSON, traces and logs of
 * strace's.  All become a report first, so that there is one way to compare.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/replay.h"
#include "cmd/view.h"
#include "report/diff.h"
#include "report/reporter.h"
#include "verdict/baseline.h"

#define EXIT_DIFFERENCES 1
#define EXIT_TROUBLE 2

enum { OPT_FORMAT = 256, OPT_COLOR, OPT_CWD };

static const struct opt diff_options[] = {
	{ OPT_FORMAT, "format", "FORMAT", "text, json or markdown" },
	{ 'o', "output", "FILE", "write to FILE instead of stdout" },
	{ 'v', "verbose", NULL, "what did not change too" },
	{ OPT_CWD, "cwd", "DIR", "for logs of strace's: their programs began in DIR" },
	{ OPT_COLOR, "color", "WHEN", "auto, always or never" },
	{ 'h', "help", NULL, "this text" },
	{ 0, NULL, NULL, NULL },
};

struct diff_settings {
	const struct diff_reporter *reporter;
	const char *output, *cwd;
	enum tty_color color;
	bool all, help;
};

static int set_option(void *data, int letter, const char *value, struct error *err)
{
	struct diff_settings *s = data;
	int when = 0, r;

	switch (letter) {
	case OPT_FORMAT:
		s->reporter = diff_reporter_by_name(value);
		return s->reporter ? 0
				   : error_set(err, EINVAL, "--format wants text, json or markdown, not '%s'", value);
	case 'o':
		s->output = value;
		return 0;
	case 'v':
		s->all = true;
		return 0;
	case OPT_CWD:
		s->cwd = value;
		return *value == '/' ? 0 : error_set(err, EINVAL, "--cwd wants a whole path, not '%s'", value);
	case OPT_COLOR:
		r = command_when("--color", value, &when, err);
		s->color = (enum tty_color)when;
		return r;
	case 'h':
		s->help = true;
		return 0;
	default:
		return error_set(err, EINVAL, "unknown option");
	}
}

/* A trace or a log: analysed, and told in JSON as `report` would. */
static int make_report(struct input *input, const char *cwd, struct buf *ret, struct error *err)
{
	struct replay replay = REPLAY_INIT;
	struct analysis *analysis = NULL;
	struct report_options options = { 0 };
	struct view view = { 0 };
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = NULL;
	int r = input ? replay_open_input(&replay, input, cwd, err) : replay_open(&replay, NULL, cwd, err);

	if (r == 0)
		r = view_analysis(&view, &analysis, err);
	if (r == 0)
		r = replay_analyse(&replay, analysis, err);
	if (r == 0)
		r = analysis_finish(analysis, &replay.facts, err);
	if (r == 0) {
		out = open_memstream(&text, &bytes);
		r = out ? reporter_by_name("json")->write(out, analysis_result(analysis), &options) : -ENOMEM;
		if (out && fclose(out) != 0 && r == 0)
			r = -ENOMEM;
		if (r < 0)
			r = error_errno(err, -r, "%s", replay.name);
	}
	if (r == 0 && buf_add(ret, text, bytes) < 0)
		r = error_errno(err, ENOMEM, "%s", replay.name);
	free(text);
	analysis_free(analysis);
	replay_close(&replay);
	view_done(&view);
	return r;
}

/* A report begins with a brace, what else we read does not. */
static bool is_report(const struct input *input)
{
	int fd = input->fd >= 0 ? input->fd : open(input->name, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	char head[64];
	ssize_t bytes = fd >= 0 ? pread(fd, head, sizeof head, 0) : 0, at = 0;

	if (fd >= 0 && fd != input->fd)
		(void)close(fd);
	while (at < bytes && strchr(" \t\r\n", head[at]))
		at++;
	return at < bytes && head[at] == '{';
}

static int read_report(const struct input *input, struct buf *ret, struct error *err)
{
	int r = input->fd >= 0 ? buf_read_fd(ret, input->fd, BASELINE_BYTES_MAX)
			       : buf_read_file(ret, AT_FDCWD, input->name, BASELINE_BYTES_MAX);

	return r < 0 ? error_errno(err, -r, "%s", input->name) : 0;
}

/* path NULL: the last run. */
static int read_side(const struct diff_settings *s, const char *path, struct snapshot *ret, struct error *err)
{
	struct input input = INPUT_INIT;
	struct buf text = BUF_INIT;
	int r = path ? input_open(&input, path, err) : 0;

	if (r == 0 && path && is_report(&input))
		r = read_report(&input, &text, err);
	else if (r == 0)
		r = make_report(path ? &input : NULL, s->cwd, &text, err);
	if (r == 0)
		r = snapshot_parse(ret, path ? input.name : "the kept run", text.data, text.bytes, err);
	input_close(&input);
	buf_done(&text);
	return r;
}

static int diff(const struct diff_settings *s, const char *a, const char *b, struct error *err)
{
	struct snapshot before = { 0 }, after = { 0 };
	struct output output = OUTPUT_INIT;
	struct compare compare = { 0 };
	int status = EXIT_TROUBLE;
	struct tty tty;
	FILE *out;
	int r = read_side(s, a, &before, err);

	if (r == 0)
		r = read_side(s, b, &after, err);
	if (r == 0)
		r = compare_make(&before, &after, &compare, err);
	if (r == 0)
		r = output_open(&output, s->output, err);
	if (r == 0 && !output.stream)
		r = output_check_stdout(err);
	if (r == 0) {
		out = output.stream ? output.stream : stdout;
		tty = tty_of(fileno(out), s->color);
		r = s->reporter->write(out, &compare, s->all, &tty);
		if (r < 0)
			(void)error_errno(err, -r, "writing the report");
	}
	if (r == 0 && output.stream)
		r = output_close(&output, err);
	else if (r == 0)
		r = command_finish() == 0 ? 0 : -EIO;
	if (r == 0)
		status = compare.changed_calls || compare.changed_findings ? EXIT_DIFFERENCES : 0;
	output_discard(&output);
	compare_done(&compare);
	snapshot_done(&before);
	snapshot_done(&after);
	return status;
}

static int diff_main(const struct command *command, int argc, char **argv)
{
	struct diff_settings s = { .reporter = &diff_reporter_list[0] };
	struct error err = { 0 };
	int first, status = EXIT_TROUBLE;

	if (!command_parse(command, argc, argv, set_option, &s, &s.help, &first, &status))
		return status;
	if (argc - first < 1 || argc - first > 2) {
		replay_complain("diff wants two files, or one to compare with the last run", argc - first,
				argv + first);
		return EXIT_TROUBLE;
	}
	status = diff(&s, argv[first], argc - first == 2 ? argv[first + 1] : NULL, &err);
	if (err.code != 0)
		log_error(&err);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.usage = "diff [options] BEFORE [AFTER]",
	.help = "compare two runs per call and per finding",
	.options = diff_options,
	.operands = COMMAND_OPERANDS_FILES,
	.main = diff_main,
};
