/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull check: runs a command and judges its calls by budgets.  Three words
 * (passed, failed, cannot judge) and a status for each; a check that passed
 * is as silent as the command alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/check.h"
#include "report/reporter.h"

/* What -e of run takes for the calls of a budget. */
static void add_expression(struct buf *more, const struct budget *budget)
{
	struct buf list = BUF_INIT;
	bool failed = true;

	for (size_t i = 0; i < budget->terms.used; i++)
		failed = failed && budget->terms.at[i].err != 0;
	for (const char *at = budget->calls; *at; at++) {
		if (*at == ':')
			at += strcspn(at, "+") - 1;
		else
			(void)buf_putc(&list, (char)(*at == '+' ? ',' : *at));
	}
	if (!budget->total) {
		(void)buf_puts(more, " -e ");
		(void)text_shell_word(more, buf_text(&list), list.bytes, true);
	}
	if (failed)
		(void)buf_puts(more, " --failed");
	buf_done(&list);
}

/* The command that shows more of the first budget that is broken. */
static const char *tell_more(const struct check *check, struct buf *more)
{
	const struct budget *budget = NULL;

	for (size_t i = 0; i < check->budget_count && !budget; i++)
		if (check->budgets[i].state == BUDGET_BROKEN)
			budget = check->budgets[i].budget;
	if (!budget)
		return check->failed_beside ? "syscull run -v" : NULL;
	(void)buf_puts(more, "syscull run");
	if (budget->region || budget->site)
		(void)buf_puts(more, budget->region ? " --by region" : " --by site");
	if (budget->terms.used > 0)
		add_expression(more, budget);
	return more->failed ? NULL : buf_text(more);
}

/* "failed", and why, a line each: for scripts that cannot read JSON. */
static int write_verdict(struct output *file, const struct check *check, struct error *err)
{
	FILE *stream = output_stream(file);

	(void)fprintf(stream, "%s\n", check_state_name(check->state));
	for (size_t i = 0; i < check->reasons.used; i++)
		(void)fprintf(stream, "reason %s\n", check->reasons.at[i]);
	if (check->command_known)
		(void)fprintf(stream, "command %d\n", check->command_status);
	(void)fprintf(stream, "exit %d\n", check->exit_status);
	return output_close(file, err);
}

/*
 * Our status: a mistake of ours, the command's signal, its failure, what
 * cannot be judged, what is broken, in this order.  A command that failed
 * because we were there has not failed.
 */
static int find_status(const struct check_settings *s, const struct check_run *run, const struct check *check)
{
	bool ours = run->analysis && analysis_result(run->analysis)->facts.other_tracer;

	if (run->exit != 0)
		return run->exit;
	if (run->signal != 0)
		return 128 + run->signal;
	if (run->failed && !ours && run->ended)
		/* A status of 0 that was not expected must not look like one that was. */
		return run->status ? run->status : EXIT_OURS;
	if (check->state == CHECK_CANNOT_JUDGE)
		return s->cannot_judge_exit;
	if (check->state == CHECK_FAILED)
		return s->broken_exit;
	return run->ended ? run->status : 0;
}

static bool is_our_number(const struct check_settings *s, int status)
{
	return status == EXIT_OURS || status == EXIT_NOT_EXECUTABLE || status == EXIT_NOT_FOUND ||
	       (status != 0 && (status == s->broken_exit || status == s->cannot_judge_exit));
}

/* A status that could be ours or the command's. */
static void say_whose(const struct check_settings *s, const struct check_run *run, int status)
{
	if (run->exit != 0 || run->signal != 0 || !run->ended)
		return;
	if (run->failed && run->status == 0 && status == EXIT_OURS)
		log_line("the command ended with 0, which --expect-status does not name");
	else if (status == run->status && is_our_number(s, status))
		log_line("the status %d is the command's own", status);
	else if (run->status != 0 && status != run->status)
		log_line("the status %d is ours; the command ended with %d", status, run->status);
}

static int write_reports(struct check_settings *s, struct check_run *run, const struct check *check, struct error *err)
{
	struct report_options options = { .verbose = s->verbose };

	analysis_set_check(run->analysis, check);
	return formats_write(&s->formats, analysis_result(run->analysis), &options, s->color, err);
}

/* The command did not start, or we failed: people know, and what programs read
 * must not be that of an earlier check. */
static int write_failure(struct check_settings *s, struct check_run *run, const struct check *check, char *const *argv,
			 struct error *err)
{
	check_run_done(run);
	if (s->formats.count == 0 || check_run_nothing(s, argv, run) < 0)
		return 0;
	s->formats.told = true;
	return write_reports(s, run, check, err);
}

/* Everything about it is known: says so in every way that was asked for. */
static int conclude(struct check_settings *s, struct check_run *run, struct check *check, struct output *verdict_file,
		    char *const *argv)
{
	struct buf more = BUF_INIT;
	struct error err = { 0 };
	int r = 0, status;

	if (check_baseline_judge(s, run, check) < 0 || budgets_judge(&s->budgets, check) < 0) {
		run->exit = EXIT_OURS;
		log_line("no memory left to judge");
	}
	check_conclude(check);
	if (!run->analysis && run->exit == 0 && check_run_nothing(s, argv, run) < 0)
		run->exit = EXIT_OURS;
	r = check_baseline_write(s, run, check, &err);
	check->more = tell_more(check, &more);
	check->command_known = run->ended;
	check->command_failed = run->failed;
	check->command_status = run->signal ? 128 + run->signal : run->status;
	check->exit_status = find_status(s, run, check);
	if (run->exit == 0) {
		int t = write_reports(s, run, check, r < 0 ? NULL : &err);

		r = r < 0 ? r : t;
		project_generate(&s->project, analysis_result(run->analysis));
	} else if (write_failure(s, run, check, argv, r < 0 ? NULL : &err) < 0) {
		r = -EIO;
	}
	if (s->verdict_file && write_verdict(verdict_file, check, r < 0 ? NULL : &err) < 0)
		r = -EIO;
	buf_done(&more);
	status = check->exit_status;
	if (r < 0) {
		log_error(&err);
		/* It never hides the command's failure. */
		status = run->failed ? status : EXIT_OURS;
	}
	say_whose(s, run, status);
	if (run->signal != 0 && run->exit == 0)
		return watch_pass_on(&run->watch);
	return status;
}

static int open_verdict(struct check_settings *s, const char *name, struct output *verdict_file, struct error *err)
{
	char *path;
	int r;

	if (!s->verdict_file)
		return 0;
	path = formats_expand(s->verdict_file, name, err);
	if (!path)
		return -EINVAL;
	r = output_open(verdict_file, path, err);
	free(path);
	return r;
}

/* What is broken is said in words too, whatever else is written. */
static int open_reports(struct check_settings *s, const char *name, struct error *err)
{
	bool text = false;

	s->formats.verdict = true;
	for (unsigned i = 0; i < s->formats.count; i++) {
		const struct format *format = &s->formats.at[i];

		text = text || !format->target || (!format->reporter->machine && !format->reporter->verdict);
	}
	if (s->formats.count > 0 && !text && formats_add(&s->formats, "text", err) < 0)
		return -EINVAL;
	return formats_open(&s->formats, s->output, true, name, err);
}

/* Reports of a check that never was, for programs. */
static int write_nothing(struct check_settings *s, const char *name, char *const *argv, const struct check *check,
			 struct error *err)
{
	struct check_run run = { 0 };
	int r = 0;

	s->formats.verdict = true;
	formats_open_rest(&s->formats, s->output, name);
	/* They may be half of what was meant. */
	budgets_done(&s->budgets);
	s->budgets = (struct budgets){ 0 };
	if (s->formats.count > 0)
		r = write_failure(s, &run, check, argv, err);
	check_run_done(&run);
	return r;
}

/* A mistake of the caller's or of ours before anything ran.  A verdict of an
 * earlier check must not be taken for that of this one. */
static int give_up(struct check_settings *s, char *const *argv, struct output *verdict_file, const struct error *why)
{
	const char *name = argv[0] ? rule_base_name(argv[0]) : "check";
	struct check check = CHECK_INIT;
	struct error err = { 0 };

	log_error(why);
	(void)check_add_reason(&check, CHECK_CANNOT_JUDGE, "%s", why->text);
	check_conclude(&check);
	check.exit_status = EXIT_OURS;
	if (!verdict_file->stream)
		output_discard(verdict_file);
	if (s->verdict_file && (verdict_file->stream || open_verdict(s, name, verdict_file, &err) == 0) &&
	    write_verdict(verdict_file, &check, &err) < 0)
		log_error(&err);
	err = (struct error){ 0 };
	if (write_nothing(s, name, argv, &check, &err) < 0)
		log_error(&err);
	check_done(&check);
	return EXIT_OURS;
}

/* Nothing passes by a configuration that was not understood. */
static void load_project(struct check_settings *s, struct check *check)
{
	struct error err = { 0 };

	s->project.conf.budget = check_set_budget;
	s->project.conf.data = s;
	if (project_load(&s->project, false, &err) < 0)
		(void)check_add_reason(check, CHECK_CANNOT_JUDGE, "%s", err.text);
}

static int check(struct check_settings *s, char *const *argv)
{
	struct output verdict_file = OUTPUT_INIT;
	struct check_run run = { 0 };
	struct check check = CHECK_INIT;
	struct error err = { 0 };
	const char *name = rule_base_name(argv[0]);
	int status, r;

	r = open_verdict(s, name, &verdict_file, &err);
	load_project(s, &check);
	if (r == 0)
		r = budgets_ready(&s->budgets, &err);
	if (r == 0 && budgets_need_sites(&s->budgets) && s->watch.stacks == ENGINE_STACKS_OFF)
		r = error_set(&err, EINVAL, "a budget 'at site' wants to know who called; leave --stacks off out");
	if (r == 0)
		r = check_baseline_begin(s, &check, &err);
	if (r == 0 && s->budgets.items.used == 0 && !s->baseline.path && !check.unjudged)
		r = error_set(&err, EINVAL,
			      "nothing to check; try: syscull check --max '@xattr=0' -- COMMAND, "
			      "or --suggest");
	if (r == 0)
		r = open_reports(s, name, &err);
	if (r < 0) {
		status = give_up(s, argv, &verdict_file, &err);
		goto out;
	}
	if (watch_check(&(struct watch){ .engine = s->watch.engine }, &err) < 0)
		(void)check_add_reason(&check, CHECK_CANNOT_JUDGE, "%s", err.text);
	else if (check_run_all(s, argv, &run, &check, &err) < 0) {
		log_error(&err);
		(void)check_add_reason(&check, CHECK_CANNOT_JUDGE, "%s", err.text);
	}
	status = conclude(s, &run, &check, &verdict_file, argv);
out:
	output_discard(&verdict_file);
	check_done(&check);
	check_run_done(&run);
	return status;
}

/* What goes together, when all options are known. */
static int check_line(const struct check_settings *s, char *const *argv, struct error *err)
{
	if (!argv[0])
		return error_set(err, EINVAL, "no command given; try: syscull check --max '@xattr=0' -- ls -l");
	if (s->prepare && s->sizes.count == 0)
		return error_set(err, EINVAL, "--prepare goes with --per-item");
	if (s->runs > 0 && !s->suggest)
		return error_set(err, EINVAL, "-n goes with --suggest");
	if (s->suggest && (s->budgets.items.used > 0 || s->budgets.strict || s->baseline.path || s->sizes.count > 0 ||
			   s->formats.count > 0 || s->verdict_file))
		return error_set(err, EINVAL,
				 "--suggest judges nothing: no budget, --strict, --baseline, --per-item, --format or "
				 "--verdict-file goes with it");
	if (s->sizes.count > 0 && !check_has_size(s, argv))
		return error_set(err, EINVAL,
				 "--per-item: neither the command nor --prepare has {%s}: all runs would be the same",
				 s->sizes.name);
	return 0;
}

static int check_main(const struct command *command, int argc, char **argv)
{
	struct check_settings s = CHECK_SETTINGS_INIT;
	struct output verdict_file = OUTPUT_INIT;
	struct error err = { 0 };
	int first, status = EXIT_OURS;

	if (opt_parse(argc, argv, command->options, check_set_option, &s, &first, &err) < 0) {
		formats_discard(&s.formats);
		s.formats = (struct formats){ 0 };
		first = opt_scan(argc, argv, command->options, check_set_place, &s);
		status = give_up(&s, argv + first, &verdict_file, &err);
	} else if (s.help) {
		command_print_help(command);
		status = command_finish();
	} else if (s.version) {
		printf("syscull %s\n", SYSCULL_VERSION);
		status = command_finish();
	} else if (check_line(&s, argv + first, &err) < 0) {
		status = give_up(&s, argv + first, &verdict_file, &err);
	} else {
		status = s.suggest ? check_suggest(&s, argv + first) : check(&s, argv + first);
	}
	output_discard(&verdict_file);
	check_settings_done(&s);
	return status;
}

const struct command command_check = {
	.name = "check",
	.usage = "check [options] -- COMMAND...",
	.help = "run a command and judge its calls by budgets, for CI",
	.options = check_options,
	.operands = COMMAND_OPERANDS_COMMAND,
	.main = check_main,
};
