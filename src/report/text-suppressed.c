/* SPDX-License-Identifier: BSD-2-Clause */
/* What is not told because somebody said so: how much, and by which entries. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/text-parts.h"

#define LINES_MAX 5 /* without -v */

static void one(struct text *text, const struct verdict_suppression *suppression)
{
	const struct suppress_entry *entry = suppression->entry;
	char count[TEXT_PLURAL_MAX];
	struct buf buf = BUF_INIT;

	if (suppression->findings > 0)
		(void)buf_printf(&buf, "%s by ", text_plural(suppression->calls, "call", "calls", count, sizeof count));
	else
		(void)buf_puts(&buf, "unused: ");
	(void)text_escape(&buf, entry->file, strlen(entry->file), '\0', text->term.tty.utf8);
	(void)buf_printf(&buf, ":%u (%s): ", entry->line, entry->rule->id);
	(void)text_escape(&buf, entry->reason, strlen(entry->reason), '\0', text->term.tty.utf8);
	term_to(&text->term, TEXT_LABEL);
	if (text->options->verbose)
		term_wrap(&text->term, TERM_PLAIN, buf_text(&buf), TEXT_LABEL + 2, text->term.width, 0);
	else
		term_cut(&text->term, TERM_PLAIN, buf_text(&buf), text->term.width - TEXT_LABEL, false);
	term_end(&text->term);
	buf_done(&buf);
}

void text_suppressed(struct text *text)
{
	const struct analysis_result *result = text->result;
	size_t most = text->options->verbose ? result->suppression_count : LINES_MAX, used = 0;
	char findings[TEXT_PLURAL_MAX], calls[TEXT_PLURAL_MAX];
	uint64_t sum = 0;

	if (result->suppression_count == 0 || (text->options->quiet && result->suppressed_count == 0))
		return;
	for (size_t i = 0; i < result->suppression_count; i++) {
		used += result->suppressions[i].findings > 0;
		sum += result->suppressions[i].calls;
	}
	text_labelled(text, "Hidden", TERM_PLAIN, "%s in %s, by %zu of %zu suppressions",
		      text_plural(result->suppressed_count, "finding", "findings", findings, sizeof findings),
		      text_plural(sum, "call", "calls", calls, sizeof calls), used, result->suppression_count);
	for (size_t i = 0; i < result->suppression_count && i < most; i++)
		one(text, &result->suppressions[i]);
	if (result->suppression_count > most) {
		term_to(&text->term, TEXT_LABEL);
		term_put(&text->term, TERM_PLAIN, "-v lists them all");
		term_end(&text->term);
	}
}
