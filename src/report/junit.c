/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A check as JUnit XML: a test case for each budget, for the counting itself,
 * for the baseline and for the command.  CI systems publish it, so the
 * command's arguments are not in it.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/stream.h"
#include "report/check-parts.h"
#include "report/words.h"
#include "verdict/baseline.h"

struct sums {
	size_t tests, failures, errors, skipped;
};

static bool has_baseline(const struct check *check)
{
	return check->baseline || check->beside_count > 0;
}

/* It was to be compared with and could not be. */
static bool baseline_unread(const struct check *check)
{
	return check->baseline && !check->baseline->read && !check->baseline->written;
}

static struct sums add_up(const struct check *check)
{
	struct sums sums = { .tests = check->budget_count + 2, .failures = check->broken_count };
	size_t unjudged = check->run_count > 0;

	for (size_t i = 0; i < check->budget_count; i++) {
		unjudged += check->budgets[i].state == BUDGET_CANNOT_JUDGE;
		sums.skipped += check_idle(check, &check->budgets[i]);
	}
	if (has_baseline(check)) {
		sums.tests++;
		sums.failures += check->beside_count > 0;
		unjudged += check->beside_count == 0 && baseline_unread(check);
	}
	sums.failures += check->command_failed;
	unjudged += !check->command_failed && !check->command_known;
	*(check_unjudged_fails(check) ? &sums.errors : &sums.skipped) += unjudged;
	return sums;
}

static void begin_case(FILE *out, const char *suite, const char *name)
{
	(void)fputs("    <testcase classname=\"", out);
	word_markup(out, suite);
	(void)fputs("\" name=\"", out);
	word_markup_harmless(out, name);
	(void)fputs("\">\n", out);
}

static void end_case(FILE *out)
{
	(void)fputs("    </testcase>\n", out);
}

/* An element without a text, or the beginning of one with lines. */
static void begin_result(FILE *out, const char *element, const char *type, const char *message)
{
	(void)fprintf(out, "      <%s type=\"%s\" message=\"", element, type);
	word_markup_harmless(out, message);
	(void)fputs("\">", out);
}

static void unjudged(FILE *out, const struct check *check, const char *message)
{
	if (check_unjudged_fails(check)) {
		begin_result(out, "error", "cannot-judge", message);
		(void)fputs("</error>\n", out);
	} else {
		(void)fputs("      <skipped message=\"cannot judge: ", out);
		word_markup_harmless(out, message);
		(void)fputs("\"/>\n", out);
	}
}

static void broken(FILE *out, const struct check *check, const struct budget_verdict *verdict, const char *message)
{
	struct buf line = BUF_INIT;

	begin_result(out, "failure", "budget", message);
	word_markup_harmless(out, message);
	(void)fputc('\n', out);
	for (size_t i = 0; i < verdict->top_count; i++) {
		buf_clear(&line);
		check_contributor(&line, verdict, i);
		(void)fputs("  ", out);
		word_markup_harmless(out, buf_text(&line));
		(void)fputc('\n', out);
	}
	if (check->more) {
		(void)fputs("more: ", out);
		word_markup_harmless(out, check->more);
		(void)fputs(" -- ...\n", out);
	}
	(void)fputs("</failure>\n", out);
	buf_done(&line);
}

static void budget(FILE *out, const struct analysis_result *result, const struct budget_verdict *verdict,
		   const char *suite)
{
	const struct check *check = result->check;
	struct buf title = BUF_INIT, said = BUF_INIT;

	check_title(&title, verdict->budget);
	check_said(&said, verdict);
	begin_case(out, suite, buf_text(&title));
	if (verdict->state == BUDGET_BROKEN)
		broken(out, check, verdict, buf_text(&said));
	else if (verdict->state == BUDGET_CANNOT_JUDGE)
		unjudged(out, check, buf_text(&said));
	else if (check_idle(check, verdict))
		(void)fprintf(
			out,
			"      <skipped message=\"not exercised: %s, and no canary says that the work was done\"/>\n",
			check_idle_why(result, verdict));
	end_case(out);
	buf_done(&title);
	buf_done(&said);
}

static void counting(FILE *out, const struct check *check, const char *suite)
{
	begin_case(out, suite, "counting");
	if (check->run_count > 0)
		unjudged(out, check, check->reasons.used > 0 ? check->reasons.at[0] : "it cannot be judged");
	end_case(out);
}

static void baseline(FILE *out, const struct check *check, const char *suite)
{
	size_t first = check->unjudged_count;

	begin_case(out, suite, "baseline");
	if (check->beside_count > 0) {
		begin_result(out, "failure", "baseline", check->reasons.at[first]);
		for (size_t i = 0; i < check->beside_count; i++) {
			word_markup_harmless(out, check->reasons.at[first + i]);
			(void)fputc('\n', out);
		}
		if (check->reasons_left_out > 0)
			(void)fprintf(out, "and %" PRIu64 " more\n", check->reasons_left_out);
		(void)fputs("</failure>\n", out);
	} else if (baseline_unread(check)) {
		unjudged(out, check, "the baseline was not compared with");
	}
	end_case(out);
}

static void command(FILE *out, const struct check *check, const char *suite)
{
	struct buf said = BUF_INIT;

	if (check->command_known)
		(void)buf_printf(&said, "the command ended with %d", check->command_status);
	else
		(void)buf_puts(&said, "the command's end was not seen");
	begin_case(out, suite, "command");
	if (check->command_failed) {
		begin_result(out, "failure", "command", buf_text(&said));
		(void)fputs("</failure>\n", out);
	} else if (!check->command_known) {
		unjudged(out, check, buf_text(&said));
	}
	end_case(out);
	buf_done(&said);
}

static int junit_write(FILE *out, const struct analysis_result *result, const struct report_options *options)
{
	const char *suite = options->name && options->name[0] ? options->name : "syscull";
	const struct check *check = result->check;
	struct sums sums;

	if (!check)
		return -EINVAL;
	sums = add_up(check);
	(void)fprintf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<testsuites name=\"syscull check\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n"
		      "  <testsuite name=\"",
		      sums.tests, sums.failures, sums.errors);
	word_markup(out, suite);
	(void)fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", sums.tests,
		      sums.failures, sums.errors, sums.skipped);
	counting(out, check, suite);
	for (size_t i = 0; i < check->budget_count; i++)
		budget(out, result, &check->budgets[i], suite);
	if (has_baseline(check))
		baseline(out, check, suite);
	command(out, check, suite);
	(void)fputs("  </testsuite>\n</testsuites>\n", out);
	return stream_flush(out);
}

const struct reporter reporter_junit = {
	.name = "junit",
	.title = "JUnit XML: a test case for each budget",
	.machine = true,
	.verdict = true,
	.write = junit_write,
};
