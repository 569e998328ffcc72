/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/suggest.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/term.h"

#define LABEL 22 /* columns of "  @getdents    1,234 " */

static void numbers(const struct suggest_row *row, struct buf *buf)
{
	char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];

	if (row->min == row->max)
		(void)buf_printf(buf, "%s in each run", text_count(row->max, a));
	else
		(void)buf_printf(buf, "%s to %s", text_count(row->min, a), text_count(row->max, b));
}

static void proposal(struct term *term, const struct suggest_row *row)
{
	char limit[TEXT_NUMBER_MAX], waste[TEXT_NUMBER_MAX];
	struct buf buf = BUF_INIT;

	term_printf(term, TERM_PLAIN, "  %-11s %s", row->name, text_count(row->limit, limit));
	term_to(term, LABEL);
	(void)buf_puts(&buf, " ");
	numbers(row, &buf);
	if (row->waste > 0)
		(void)buf_printf(&buf, "; %s of them waste (%s)", text_count(row->waste, waste), row->rule);
	term_wrap(term, TERM_PLAIN, buf_text(&buf), LABEL, term->width, 0);
	term_end(term);
	buf_done(&buf);
}

static void left_out(struct term *term, const struct suggest *suggest)
{
	size_t few = 0;

	for (size_t i = 0; i < suggest->rows.used; i++)
		few += suggest->rows.at[i].max < SUGGEST_FEW;
	if (few == suggest->rows.used && few == 0)
		return;
	term_put(term, TERM_TITLE, "Left out");
	term_end(term);
	for (size_t i = 0; i < suggest->rows.used; i++) {
		const struct suggest_row *row = &suggest->rows.at[i];
		struct buf buf = BUF_INIT;

		if (row->limit > 0 || row->max < SUGGEST_FEW)
			continue;
		numbers(row, &buf);
		term_printf(term, TERM_PLAIN, "  %-20s %s: %s", row->name, buf_text(&buf), row->why);
		term_end(term);
		buf_done(&buf);
	}
	if (few > 0) {
		term_printf(term, TERM_PLAIN, "  %zu more: fewer than %d calls each", few, SUGGEST_FEW);
		term_end(term);
	}
}

/* A word of the command line, on a new line when it does not fit. */
static void word(struct term *term, const char *text)
{
	if (term->column > 0 && term->column + strlen(text) + 3 > term->width) {
		term_put(term, TERM_PLAIN, " \\");
		term_end(term);
		term_to(term, 4);
	} else if (term->column > 0) {
		term_put(term, TERM_PLAIN, " ");
	}
	term_put(term, TERM_PLAIN, text);
}

/* To be copied: nothing in it may be cut, so words that are too long for a
 * line are for the user to put in again. */
static void command_line(struct term *term, const struct suggest *suggest, char *const *argv)
{
	struct buf buf = BUF_INIT;

	word(term, "syscull check");
	for (size_t i = 0; i < suggest->rows.used; i++) {
		const struct suggest_row *row = &suggest->rows.at[i];

		if (row->limit == 0)
			continue;
		buf_clear(&buf);
		(void)buf_printf(&buf, "--max %s=%" PRIu64, row->name, row->limit);
		word(term, buf_text(&buf));
	}
	if (suggest->canary > 0) {
		buf_clear(&buf);
		(void)buf_printf(&buf, "--canary '%s>=%" PRIu64 "'", suggest->rows.at[suggest->canary - 1].name,
				 suggest->canary_limit);
		word(term, buf_text(&buf));
	}
	word(term, "--");
	for (; *argv; argv++) {
		buf_clear(&buf);
		(void)text_shell_word(&buf, *argv, strlen(*argv), term->tty.utf8);
		word(term, buf.bytes + 8 < term->width ? buf_text(&buf) : "...");
	}
	term_end(term);
	buf_done(&buf);
}

int suggest_write(FILE *out, const struct tty *tty, const struct suggest *suggest, char *const *argv)
{
	size_t proposals = 0;
	struct term term;

	term_init(&term, out, tty);
	for (size_t i = 0; i < suggest->rows.used; i++)
		proposals += suggest->rows.at[i].limit > 0;
	term_printf(&term, TERM_TITLE,
		    proposals ? "Budgets that all of %u runs kept" : "%u runs, and nothing for a budget",
		    suggest->runs);
	term_end(&term);
	for (size_t i = 0; i < suggest->rows.used; i++)
		if (suggest->rows.at[i].limit > 0)
			proposal(&term, &suggest->rows.at[i]);
	left_out(&term, suggest);
	if (proposals > 0)
		command_line(&term, suggest, argv);
	return term_done(&term);
}
