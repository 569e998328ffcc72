/* SPDX-License-Identifier: BSD-2-Clause */
/* A check in Markdown, for the summary of a step of CI or a comment: verdict,
 * budgets, contributors.  Bounded, since such places are. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "base/text.h"
#include "report/check-parts.h"
#include "report/words.h"

#define ROWS_MAX 100
#define COMMAND_BYTES_MAX 1000

static void row(FILE *out, const struct budget_verdict *verdict)
{
	char number[BUDGET_NUMBER_MAX], limit[BUDGET_NUMBER_MAX + 16];

	(void)fprintf(out, "| %s | ",
		      verdict->state == BUDGET_BROKEN ? "**broken**" : budget_state_name(verdict->state));
	if (verdict->budget->kind == BUDGET_CANARY)
		(void)fputs("canary ", out);
	word_code(out, verdict->budget->what, true);
	(void)fprintf(out, " | %s | %s |\n", budget_limit(verdict->budget, limit),
		      verdict->seen_known ? budget_number(verdict->seen, number) : "");
}

static void budgets(FILE *out, const struct check *check)
{
	size_t rows = 0;

	if (check->budget_count == 0)
		return;
	(void)fputs("\n| | budget | limit | counted |\n| --- | --- | --- | ---: |\n", out);
	/* Those that are kept last: they are what is left out. */
	for (int kept = 0; kept <= 1; kept++)
		for (size_t i = 0; i < check->budget_count; i++) {
			enum budget_state state = check->budgets[i].state;

			if ((state == BUDGET_OK || state == BUDGET_NOT_EXERCISED) == kept && rows++ < ROWS_MAX)
				row(out, &check->budgets[i]);
		}
	if (rows > ROWS_MAX)
		(void)fprintf(out, "\nand %zu more budgets\n", rows - ROWS_MAX);
}

static void contributors(FILE *out, const struct check *check)
{
	struct buf line = BUF_INIT;
	size_t told = 0;

	for (size_t i = 0; i < check->budget_count && told < ROWS_MAX; i++) {
		const struct budget_verdict *verdict = &check->budgets[i];

		if (verdict->state != BUDGET_BROKEN || verdict->top_count == 0)
			continue;
		told++;
		(void)fputc('\n', out);
		word_code(out, verdict->budget->what, false);
		(void)fputs(" most of all:\n\n", out);
		for (size_t k = 0; k < verdict->top_count; k++) {
			buf_clear(&line);
			check_contributor(&line, verdict, k);
			(void)fputs("- ", out);
			word_code(out, buf_text(&line), false);
			(void)fputc('\n', out);
		}
	}
	buf_done(&line);
}

static void reasons(FILE *out, const struct check *check)
{
	/* Reasons of broken budgets are in the table. */
	size_t count = check->unjudged_count + check->beside_count;

	for (size_t i = 0; i < count && i < check->reasons.used; i++) {
		(void)fprintf(out, "%s- %s: ", i == 0 ? "\n" : "",
			      i < check->unjudged_count ? "cannot judge" : "failed");
		word_code(out, check->reasons.at[i], false);
		(void)fputc('\n', out);
	}
	if (check->reasons_left_out > 0)
		(void)fprintf(out, "- and %" PRIu64 " more reasons\n", check->reasons_left_out);
}

static void put(FILE *out, const struct analysis_result *result)
{
	const struct check *check = result->check;
	struct buf text = BUF_INIT;
	size_t bytes;

	word_command(&text, result->facts.argv);
	bytes = text.bytes > COMMAND_BYTES_MAX ? COMMAND_BYTES_MAX : text.bytes;
	while (bytes > 0 && bytes < text.bytes && (text.data[bytes] & 0xc0) == 0x80)
		bytes--;
	(void)fprintf(out, "### syscull check: %s\n\n    %.*s%s\n",
		      check->state == CHECK_CANNOT_JUDGE ? "cannot judge" : check_state_name(check->state), (int)bytes,
		      buf_text(&text), bytes < text.bytes ? "..." : "");
	if (check->command_failed && check->command_known)
		(void)fprintf(out, "\nThe command ended with %d.\n", check->command_status);
	budgets(out, check);
	reasons(out, check);
	contributors(out, check);
	if (check->more) {
		(void)fputs("\nMore: ", out);
		buf_clear(&text);
		(void)buf_printf(&text, "%s -- ...", check->more);
		word_code(out, buf_text(&text), false);
		(void)fputc('\n', out);
	}
	(void)fputc('\n', out);
	buf_done(&text);
}

static int markdown_write(FILE *out, const struct analysis_result *result, const struct report_options *options)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream;
	int r = 0;

	(void)options;
	if (!result->check)
		return -EINVAL;
	stream = open_memstream(&text, &bytes);
	if (!stream)
		return -ENOMEM;
	put(stream, result);
	if (ferror(stream))
		r = -ENOMEM;
	if (fclose(stream) != 0 && r == 0)
		r = -ENOMEM;
	/* At once: other checks of the same step append there too. */
	if (r == 0 && fwrite(text, 1, bytes, out) != bytes)
		r = stream_flush(out);
	free(text);
	return r;
}

const struct reporter reporter_markdown = {
	.name = "markdown",
	.title = "the verdict and its budgets in Markdown",
	.machine = true,
	.verdict = true,
	.write = markdown_write,
};
