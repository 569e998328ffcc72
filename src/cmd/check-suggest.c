/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull check --suggest: runs the command several times and proposes
 * budgets.  Judges nothing, so that its status is the command's.
 */
#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "cmd/check.h"
#include "report/suggest.h"

/* One run into the proposal; the command's status, or negative with err. */
static int add_run(struct check_settings *s, char *const *argv, struct suggest *suggest, struct check_run *run,
		   struct error *err)
{
	const struct analysis_result *result;
	int r = check_run_once(s, argv, NULL, run, err);

	if (r < 0)
		return r;
	result = analysis_result(run->analysis);
	if (!result->closed || !result->complete)
		return error_set(err, EPROTO, "run %u cannot be counted: the books are not %s: %s", suggest->runs + 1,
				 result->closed ? "complete" : "closed", result->books_why);
	r = suggest_add(suggest, result);
	if (r < 0)
		return error_errno(err, -r, "run %u", suggest->runs + 1);
	if (!run->watch.end.known || run->watch.end.signal != 0)
		return error_set(err, ECANCELED, "run %u did not come to its end", suggest->runs);
	return run->watch.end.status;
}

static int write_proposal(struct check_settings *s, struct suggest *suggest, char *const *argv, struct output *output,
			  struct error *err)
{
	struct tty tty = tty_of(output_fd(output), s->color);
	int r;

	suggest_conclude(suggest);
	r = suggest_write(output_stream(output), &tty, suggest, argv);
	return r < 0 ? error_errno(err, -r, "writing the proposal") : output_close(output, err);
}

int check_suggest(struct check_settings *s, char *const *argv)
{
	long runs = s->runs ? s->runs : SUGGEST_RUNS;
	struct output output = OUTPUT_INIT;
	struct suggest suggest = SUGGEST_INIT;
	struct check_run run = { 0 };
	struct error err = { 0 };
	int status = 0, r = output_open(&output, s->output, &err);

	run.exit = EXIT_OURS;
	for (long i = 0; i < runs && r >= 0; i++) {
		r = add_run(s, argv, &suggest, &run, &err);
		if (r > 0 && !s->expected[r & 0xff]) {
			log_line("run %ld ended with %d", i + 1, r);
			status = r;
		}
	}
	if (r >= 0)
		r = write_proposal(s, &suggest, argv, &output, &err);
	if (r < 0) {
		log_error(&err);
		status = run.exit ? run.exit : EXIT_OURS;
	}
	output_discard(&output);
	suggest_done(&suggest);
	check_run_done(&run);
	return status;
}
