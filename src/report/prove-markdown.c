/* SPDX-License-Identifier: BSD-2-Clause */
/* What a remedy gained, as a table for a commit message or an issue. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/prove.h"

int prove_markdown_write(FILE *out, const struct prove_result *result, const struct analysis_host *host,
			 const struct tty *tty)
{
	const struct prove_times *t = &result->times;
	struct buf command = BUF_INIT;
	char before[TEXT_NUMBER_MAX], after[TEXT_NUMBER_MAX];
	int r = 0;

	(void)tty;
	for (char *const *word = result->argv; *word; word++) {
		(void)buf_puts(&command, word == result->argv ? "" : " ");
		(void)text_shell_word(&command, *word, strlen(*word), true);
	}
	(void)fprintf(out, "    %s\n\n", buf_text(&command));
	if (!result->steady) {
		(void)fprintf(out, "Not measured: two runs without a remedy differ (%s).\n", result->differs);
	} else {
		(void)fprintf(out, "| | without | with %s |\n| --- | ---: | ---: |\n", result->with);
		(void)fprintf(out, "| time (median of %u) | %s | %s |\n", result->runs,
			      text_ns(t->before.median, before), text_ns(t->after.median, after));
		(void)fprintf(out, "| fastest | %s | %s |\n", text_ns(t->before.min, before),
			      text_ns(t->after.min, after));
		(void)fprintf(out, "| user and system time (median) | %s | %s |\n",
			      text_ns(result->cpu.before.median, before), text_ns(result->cpu.after.median, after));
		if (result->counted)
			(void)fprintf(out, "| calls | %s | %s |\n", text_count(result->calls_before, before),
				      text_count(result->calls_after, after));
		for (size_t i = 0; result->counted && i < result->call_count; i++)
			(void)fprintf(out, "| %s | %s | %s |\n", result->calls[i].name,
				      text_count(result->calls[i].before, before),
				      text_count(result->calls[i].after, after));
		(void)fprintf(out, "\n%s, %.2f times as fast (%.2f to %.2f); output %s", prove_word_text(t->word),
			      t->ratio.median, t->ratio.low, t->ratio.high,
			      result->same_output ? "the same" : "NOT the same: ");
		(void)fprintf(out, "%s; Linux %s, %s, %s.\n", result->same_output ? "" : result->differs,
			      host->kernel ? host->kernel : "?", host->arch ? host->arch : "?",
			      host->libc ? host->libc : "?");
	}
	for (unsigned i = 0; i < result->remedy_count; i++) {
		if (result->remedies[i].unsafe)
			(void)fprintf(out, "\n%s: %s.\n", result->remedies[i].name, result->remedies[i].unsafe);
	}
	if (command.failed || ferror(out))
		r = -5;
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
