/* SPDX-License-Identifier: BSD-2-Clause */
/* What a remedy gained, as a table for a commit message or an issue. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "base/text.h"
#include "report/prove.h"
#include "report/words.h"

static void spread(FILE *out, const struct prove_spread *spread)
{
	char median[TEXT_NUMBER_MAX], least[TEXT_NUMBER_MAX], most[TEXT_NUMBER_MAX];

	(void)fprintf(out, " %s (%s to %s) |", text_ns(spread->median, median), text_ns(spread->min, least),
		      text_ns(spread->max, most));
}

static void change(FILE *out, const char *name, uint64_t before, uint64_t after)
{
	char without[TEXT_NUMBER_MAX], with[TEXT_NUMBER_MAX];

	(void)fprintf(out, "| %s | %s | %s |\n", name, text_count(before, without), text_count(after, with));
}

static void sides(FILE *out, const struct prove_result *result)
{
	(void)fputs("| | without | with ", out);
	word_code(out, result->with, true);
	(void)fprintf(out, " |\n| --- | ---: | ---: |\n| time, median of %u (least to most) |", result->runs);
	spread(out, &result->times.before);
	spread(out, &result->times.after);
	(void)fputs("\n| user and system time |", out);
	spread(out, &result->cpu.before);
	spread(out, &result->cpu.after);
	(void)fputc('\n', out);
	if (!result->counted)
		return;
	change(out, "calls", result->calls_before, result->calls_after);
	for (size_t i = 0; i < result->call_count; i++)
		change(out, result->calls[i].name, result->calls[i].before, result->calls[i].after);
}

static void words(FILE *out, const struct prove_result *result, const struct analysis_host *host)
{
	const struct prove_times *t = &result->times;

	(void)fprintf(out, "\n%s, %.2f times as fast (%.2f to %.2f); output %s", prove_word_text(t->word),
		      t->ratio.median, t->ratio.low, t->ratio.high,
		      result->same_output ? "the same" : "NOT the same: ");
	if (!result->same_output)
		word_code(out, result->differs, false);
	(void)fprintf(out, "; Linux %s, %s, %s.\n", host->kernel ? host->kernel : "?", host->arch ? host->arch : "?",
		      host->libc ? host->libc : "?");
	if (t->outliers > 0)
		(void)fprintf(out, "%u of %u runs took far longer or shorter than the others.\n", t->outliers,
			      2 * result->runs);
	if (!result->counted)
		(void)fprintf(out, "Calls were not counted: %s.\n", result->count_why);
}

static void gain(FILE *out, double ns)
{
	char text[TEXT_NUMBER_MAX];

	(void)fprintf(out, " %s%s |", ns < 0 ? "-" : "", text_ns(fabs(ns), text));
}

static void share(FILE *out, bool shown, double ns)
{
	if (shown)
		gain(out, ns);
	else
		(void)fputs(" no difference shown |", out);
}

/* Each switched on by itself. */
static void shares(FILE *out, const struct prove_result *result)
{
	char text[TEXT_NUMBER_MAX];

	(void)fprintf(out,
		      "\n| %s | calls fewer | time saved | user and system | estimated by run |\n"
		      "| --- | ---: | ---: | ---: | ---: |\n",
		      result->remedy_count > 1 ? "alone" : "remedy");
	for (unsigned i = 0; i < result->remedy_count; i++) {
		const struct prove_remedy *remedy = &result->remedies[i];

		(void)fputs("| ", out);
		word_code(out, remedy->name, true);
		if (result->counted)
			(void)fprintf(out, " | %s%s |", remedy->saves_calls < 0 ? "-" : "",
				      text_count((uint64_t)llabs(remedy->saves_calls), text));
		else
			(void)fputs(" | not counted |", out);
		share(out, remedy->shown, remedy->saves_ns);
		share(out, remedy->cpu_shown, remedy->saves_cpu_ns);
		if (remedy->estimated_ns >= 0)
			gain(out, remedy->estimated_ns);
		else
			(void)fputs(" finds nothing |", out);
		(void)fputc('\n', out);
	}
}

static void conditions(FILE *out, const struct prove_result *result)
{
	for (unsigned i = 0; i < result->remedy_count; i++) {
		const struct prove_remedy *remedy = &result->remedies[i];

		if (!remedy->unsafe && !remedy->output)
			continue;
		(void)fputc('\n', out);
		word_code(out, remedy->name, false);
		(void)fprintf(out, ": %s%s%s.\n", remedy->unsafe ? remedy->unsafe : "",
			      remedy->unsafe && remedy->output ? "; " : "", remedy->output ? remedy->output : "");
	}
}

int prove_markdown_write(FILE *out, const struct prove_result *result, const struct analysis_host *host,
			 const struct tty *tty)
{
	struct buf command = BUF_INIT;
	int r;

	(void)tty;
	word_command(&command, result->argv);
	(void)fprintf(out, "    %s\n\n", buf_text(&command));
	if (!result->steady) {
		(void)fputs("Not measured: two runs without a remedy differ (", out);
		word_code(out, result->differs, false);
		(void)fputs(").\n", out);
	} else {
		sides(out, result);
		words(out, result, host);
		shares(out, result);
	}
	conditions(out, result);
	r = command.failed ? -ENOMEM : stream_flush(out);
	buf_done(&command);
	return r;
}

const struct prove_reporter prove_reporter_list[] = {
	{ "text", false, prove_text_write },
	{ "json", true, prove_json_write },
	{ "markdown", true, prove_markdown_write },
	{ 0 },
};

const struct prove_reporter *prove_reporter_by_name(const char *name)
{
	for (size_t i = 0; prove_reporter_list[i].name; i++) {
		if (strcmp(prove_reporter_list[i].name, name) == 0)
			return &prove_reporter_list[i];
	}
	return NULL;
}
