/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull fix: a command with the remedies that need no source change, and
 * --prove: what they gain.  Without --prove nothing stands between: we become
 * the command.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "base/tty.h"
#include "cmd/cmd.h"
#include "cmd/exec.h"
#include "cmd/host.h"
#include "cmd/output.h"
#include "cmd/prove.h"
#include "cmd/reach.h"
#include "cmd/remedies.h"
#include "engine/engine.h"
#include "report/prove.h"
#include "report/term.h"

#define RUNS 10

enum { OPT_LIST = 256, OPT_PROVE, OPT_WITH, OPT_PREPARE, OPT_CLEANUP, OPT_WARMUP, OPT_COMPARE, OPT_FORMAT, OPT_COLOR };

static const struct opt fix_options[] = {
	{ OPT_WITH, "with", "LIST", "the remedies: NAME or NAME=VALUE, commas between" },
	{ OPT_LIST, "list", NULL, "what remedies there are, and when they are unsafe" },
	{ OPT_PROVE, "prove", NULL, "run without and with them in turn, and compare" },
	{ 'n', "runs", "RUNS", "--prove: so many timed runs on each side (10)" },
	{ OPT_WARMUP, "warmup", "N", "--prove: so many runs before, not timed (0)" },
	{ OPT_PREPARE, "prepare", "CMD", "--prove: shell command before each run, not timed" },
	{ OPT_CLEANUP, "cleanup", "CMD", "--prove: shell command after each run, not timed" },
	{ OPT_COMPARE, "compare", "FILE", "--prove: a file that has to be the same (repeatable)" },
	{ OPT_FORMAT, "format", "FORMAT", "--prove: text, json or markdown" },
	{ 'o', "output", "FILE", "--prove: write to FILE instead of stdout" },
	{ OPT_COLOR, "color", "WHEN", "auto, always or never" },
	{ 'q', "quiet", NULL, "do not say which remedies are used" },
	{ 'y', "yes", NULL, "--prove: do not ask before the runs" },
	{ 'h', "help", NULL, "this text" },
	{ 0, NULL, NULL, NULL },
};

struct fix_settings {
	struct remedies remedies;
	struct prove_plan plan;
	const struct prove_reporter *reporter;
	const char *output;
	enum tty_color color;
	struct buf why; /* these; empty when they were named */
	const char *of_prove; /* an option that goes with --prove was given */
	bool list, prove, quiet, yes, help;
};

static int number(const char *option, const char *text, long least, unsigned *ret, struct error *err)
{
	long value;
	int r = command_number(option, text, least, PROVE_RUNS_MAX, &value, err);

	if (r == 0)
		*ret = (unsigned)value;
	return r;
}

static int set_option(void *data, int letter, const char *value, struct error *err)
{
	struct fix_settings *s = data;
	int when = 0, r;

	for (const struct opt *opt = fix_options; opt->name; opt++)
		if (opt->letter == letter && strncmp(opt->help, "--prove:", 8) == 0)
			s->of_prove = opt->name;
	switch (letter) {
	case OPT_WITH:
		return remedies_add(&s->remedies, value, err);
	case OPT_LIST:
		s->list = true;
		return 0;
	case OPT_PROVE:
		s->prove = true;
		return 0;
	case 'n':
		return number("-n", value, 1, &s->plan.runs, err);
	case OPT_WARMUP:
		return number("--warmup", value, 0, &s->plan.warmup, err);
	case OPT_PREPARE:
		s->plan.prepare = value;
		return 0;
	case OPT_CLEANUP:
		s->plan.cleanup = value;
		return 0;
	case OPT_COMPARE:
		if (s->plan.compared_count == PROVE_COMPARED_MAX)
			return error_set(err, E2BIG, "--compare: at most %d files", PROVE_COMPARED_MAX);
		s->plan.compared[s->plan.compared_count++] = value;
		return 0;
	case OPT_FORMAT:
		s->reporter = prove_reporter_by_name(value);
		return s->reporter ? 0
				   : error_set(err, EINVAL, "--format wants text, json or markdown, not '%s'", value);
	case 'o':
		s->output = value;
		return 0;
	case OPT_COLOR:
		r = command_when("--color", value, &when, err);
		s->color = (enum tty_color)when;
		return r;
	case 'q':
		s->quiet = true;
		return 0;
	case 'y':
		s->yes = true;
		return 0;
	case 'h':
		s->help = true;
		return 0;
	default:
		return error_set(err, EINVAL, "unknown option");
	}
}

static void print_list(void)
{
	struct tty tty = tty_of(STDOUT_FILENO, TTY_COLOR_AUTO);
	struct buf text = BUF_INIT;
	struct term term;

	term_init(&term, stdout, &tty);
	for (size_t i = 0; remedy_table[i].name; i++) {
		const struct remedy *remedy = &remedy_table[i];

		buf_clear(&text);
		(void)buf_printf(&text, "%s%s%s%s", remedy->name, remedy->value ? "=" : "",
				 remedy->value ? remedy->value : "",
				 !remedy->value && remedy->wants_value ? "=VALUE" : "");
		term_put(&term, TERM_TITLE, buf_text(&text));
		term_put(&term, TERM_PLAIN, remedy->always ? "  (on by default)" : "");
		term_end(&term);
		buf_clear(&text);
		(void)buf_printf(&text, "%s; serves %s", remedy->does, remedy->rules);
		term_to(&term, 4);
		term_wrap(&term, TERM_PLAIN, buf_text(&text), 4, term.width, 0);
		term_end(&term);
		buf_clear(&text);
		(void)buf_printf(&text, "unsafe: %s", remedy->unsafe ? remedy->unsafe : "never");
		if (remedy->output)
			(void)buf_printf(&text, "; output: %s", remedy->output);
		term_to(&term, 4);
		term_wrap(&term, TERM_PLAIN, buf_text(&text), 4, term.width, 0);
		term_end(&term);
	}
	(void)term_done(&term);
	buf_done(&text);
}

static int status_of(const struct error *err)
{
	return err->code == ENOENT || err->code == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* Which remedies, why, and what they do not reach. */
static void tell(struct fix_settings *s, const struct remedies_ready *ready)
{
	const char *obstacle = ready->preload ? reach_obstacle(s->plan.program) : NULL;
	struct buf text = BUF_INIT;

	remedies_print_all(&s->remedies, &text);
	log_line("with %s%s%s%s", buf_text(&text), s->why.bytes ? " (" : "", buf_text(&s->why),
		 s->why.bytes ? ")" : "");
	buf_clear(&text);
	(void)text_escape(&text, s->plan.argv[0], strlen(s->plan.argv[0]), 0, true);
	if (obstacle)
		log_line("%s is %s: it is not reached by a preloaded library, programs that it starts may be",
			 buf_text(&text), obstacle);
	if (remedies_promise(ready))
		log_line("the filter is set without privileges: programs gain none by being started (no_new_privs)");
	buf_done(&text);
}

static int become(struct fix_settings *s, struct error *err)
{
	struct remedies_ready ready;
	int r;

	r = remedies_prepare(&s->remedies, &ready, err);
	if (r == 0)
		r = remedies_environment(&s->remedies, &ready, err);
	if (r < 0)
		return EXIT_OURS;
	if (!s->quiet)
		tell(s, &ready);
	r = remedies_child(&ready);
	if (r < 0) {
		(void)error_errno(err, -r, "the remedies could not be applied");
		return EXIT_OURS;
	}
	r = exec_program(s->plan.program, s->plan.argv);
	(void)engine_exec_error(err, -r, s->plan.program);
	return status_of(err);
}

/* True to go on. */
static bool ask(const struct fix_settings *s)
{
	unsigned total = prove_total(&s->plan);
	char answer[16];

	if (s->quiet && (s->yes || !isatty(STDIN_FILENO)))
		return true;
	log_line("the command will be run %u times: %u timed on each side, the rest to compare and count", total,
		 s->plan.runs);
	if (s->yes || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return true;
	(void)fputs("syscull: go on? [y/N] ", stderr);
	if (!fgets(answer, sizeof answer, stdin))
		return false;
	return answer[0] == 'y' || answer[0] == 'Y';
}

static int prove(struct fix_settings *s, struct error *err)
{
	struct output output = OUTPUT_INIT;
	const struct prove_result *result = NULL;
	struct analysis_host host = host_of_this();
	struct prove *prove = NULL;
	struct tty tty;
	struct remedies_ready ready;
	int r = remedies_prepare(&s->remedies, &ready, err);

	if (r < 0)
		return EXIT_OURS;
	if (!s->quiet)
		tell(s, &ready);
	remedies_ready_done(&ready);
	if (!ask(s))
		return EXIT_OURS;
	if (s->output)
		r = output_open(&output, s->output, err);
	if (r == 0)
		r = prove_run(&s->plan, &prove, &result, err);
	if (r == 0) {
		FILE *out = output.stream ? output.stream : stdout;

		tty = tty_of(fileno(out), s->color);
		r = s->reporter->write(out, result, &host, &tty);
		if (r < 0)
			(void)error_errno(err, -r, "the report");
	}
	if (r == 0)
		r = output.stream ? output_close(&output, err) : -command_finish();
	output_discard(&output);
	if (r == 0)
		r = result->same_output ? 0 : 1;
	prove_free(prove);
	return r < 0 ? EXIT_OURS : r;
}

static int run(struct fix_settings *s, struct error *err)
{
	char *program = NULL;
	int status;

	if (engine_find_program(s->plan.argv[0], &program, err) < 0)
		return status_of(err);
	s->plan.program = program;
	s->plan.remedies = &s->remedies;
	if (s->remedies.count == 0 && remedies_choose(&s->remedies, s->plan.argv, &s->why, err) < 0) {
		free(program);
		return EXIT_OURS;
	}
	status = s->prove ? prove(s, err) : become(s, err);
	free(program);
	return status;
}

/* Nothing that was asked for is passed over in silence. */
static int check_line(const struct fix_settings *s, bool command, struct error *err)
{
	if (s->list && (command || s->prove || s->remedies.count > 0 || s->of_prove))
		return error_set(err, EINVAL, "--list tells all remedies: nothing goes with it");
	if (s->of_prove && !s->prove)
		return error_set(err, EINVAL, "--%s goes with --prove", s->of_prove);
	return 0;
}

static int fix_main(const struct command *command, int argc, char **argv)
{
	struct fix_settings s = { .plan = { .runs = RUNS }, .why = BUF_INIT, .reporter = &prove_reporter_list[0] };
	struct error err = { 0 };
	int first, status;

	if (opt_parse(argc, argv, command->options, set_option, &s, &first, &err) < 0) {
		status = EXIT_OURS;
	} else if (s.help) {
		command_print_help(command);
		status = command_finish();
	} else if (check_line(&s, first < argc, &err) < 0) {
		status = EXIT_OURS;
	} else if (s.list) {
		print_list();
		status = command_finish();
	} else if (first >= argc) {
		status = EXIT_OURS;
		log_line("no command given; try: syscull fix --prove --with TZ -- find . -ls");
	} else {
		s.plan.argv = argv + first;
		status = run(&s, &err);
	}
	if (err.code != 0)
		log_error(&err);
	remedies_done(&s.remedies);
	buf_done(&s.why);
	return status;
}

const struct command command_fix = {
	.name = "fix",
	.usage = "fix [--with LIST] -- COMMAND...\n       syscull fix --prove [--with LIST] [options] -- COMMAND...",
	.help = "run a command with remedies that need no source change",
	.options = fix_options,
	.operands = COMMAND_OPERANDS_COMMAND,
	.main = fix_main,
};
