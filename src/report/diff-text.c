/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before and after, for eyes: a table of the calls that changed, then what
 * became of each finding.
 */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "report/diff.h"
#include "report/term.h"

#define LEFT 9
#define NAME 20
#define NUMBER 10
#define SHOWN 12

static void label(struct term *term, const char *word)
{
	term_put(term, TERM_TITLE, word);
	term_to(term, LEFT);
}

static void wrapped(struct term *term, enum term_style style, struct buf *text)
{
	term_wrap(term, style, buf_text(text), LEFT, term->width, 0);
	term_end(term);
	buf_clear(text);
}

static void head(struct term *term, const char *word, const struct snapshot *side, struct buf *text)
{
	char number[TEXT_NUMBER_MAX + 8];

	label(term, word);
	for (size_t i = 0; i < side->argv.used; i++) {
		(void)buf_puts(text, i ? " " : "");
		(void)text_shell_word(text, side->argv.at[i], strlen(side->argv.at[i]), term->tty.utf8);
	}
	(void)buf_printf(text, "%s%s", side->argv.used ? ": " : "",
			 text_plural(side->seen, "call", "calls", number, sizeof number));
	if (side->untraced_ns >= 0)
		(void)buf_printf(text, ", about %s untraced", text_ns(side->untraced_ns, number));
	if (!side->complete)
		(void)buf_printf(text, "; its books are not %s", side->closed ? "complete" : "closed");
	wrapped(term, side->complete ? TERM_PLAIN : TERM_ALARM, text);
}

/* "-1,001", "+20", "=" */
static const char *change_of(uint64_t before, uint64_t after, char out[static TEXT_NUMBER_MAX + 1])
{
	char number[TEXT_NUMBER_MAX];

	if (before == after)
		return "=";
	(void)snprintf(out, TEXT_NUMBER_MAX + 1, "%c%s", after > before ? '+' : '-',
		       text_count(after > before ? after - before : before - after, number));
	return out;
}

static void row(struct term *term, enum term_style style, const char *name, uint64_t before, uint64_t after,
		uint64_t failed_before, uint64_t failed_after, double ns_before, double ns_after)
{
	char number[TEXT_NUMBER_MAX], change[TEXT_NUMBER_MAX + 1];
	unsigned column = NAME + NUMBER;
	double ns = ns_after - ns_before;

	term_cut(term, style, name, NAME, true);
	term_right(term, style, text_count(before, number), column);
	term_right(term, style, text_count(after, number), column += NUMBER);
	term_right(term, style, change_of(before, after, change), column += NUMBER);
	term_right(term, style, change_of(failed_before, failed_after, change), column += NUMBER);
	if (ns_before >= 0 && ns_after >= 0 && (ns >= 1 || ns <= -1)) {
		(void)snprintf(change, sizeof change, "%c%s", ns > 0 ? '+' : '-', text_ns(ns > 0 ? ns : -ns, number));
		term_right(term, style, change, column + NUMBER + 2);
	}
	term_end(term);
}

static void calls(struct term *term, const struct compare *compare, bool all)
{
	size_t shown = 0, changed = compare->changed_calls;
	unsigned column = NAME + NUMBER;

	if (!all && changed == 0) {
		label(term, "Calls");
		term_put(term, TERM_PLAIN, "the same numbers of each");
		term_end(term);
		return;
	}
	term_cut(term, TERM_TITLE, "Calls", NAME, true);
	term_right(term, TERM_TITLE, "before", column);
	term_right(term, TERM_TITLE, "after", column += NUMBER);
	term_right(term, TERM_TITLE, "change", column += NUMBER);
	term_right(term, TERM_TITLE, "failed", column += NUMBER);
	term_right(term, TERM_TITLE, "time", column + NUMBER + 2);
	term_end(term);
	for (size_t i = 0; i < compare->calls.used; i++) {
		const struct compare_call *call = &compare->calls.at[i];

		if (!all &&
		    ((call->before == call->after && call->failed_before == call->failed_after) || shown == SHOWN))
			continue;
		shown++;
		row(term, TERM_PLAIN, call->name, call->before, call->after, call->failed_before, call->failed_after,
		    call->ns_before, call->ns_after);
	}
	if (!all && shown < changed) {
		term_printf(term, TERM_PLAIN, "%zu more changed (-v)", changed - shown);
		term_end(term);
	}
	row(term, TERM_TITLE, "all", compare->calls_before, compare->calls_after, compare->failed_before,
	    compare->failed_after, compare->ns_before, compare->ns_after);
}

static void finding(struct term *term, const struct compare_finding *row, struct buf *text)
{
	const struct snapshot_finding *one = row->after ? row->after : row->before;
	char a[TEXT_NUMBER_MAX + 8], b[TEXT_NUMBER_MAX];
	double ns = row->ns_after - row->ns_before;
	bool aside = row->change == COMPARE_NOT_JUDGED;
	bool worse = row->change == COMPARE_NEW || row->change == COMPARE_GROWN;

	label(term, aside ? "unjudged" : compare_change_name(row->change));
	term_foreign(term, text, one->rule);
	if (aside)
		(void)buf_printf(
			text, ": %s %s, not judged %s",
			text_plural(row->before ? row->calls_before : row->calls_after, "call", "calls", a, sizeof a),
			row->before ? "before" : "after", row->before ? "after" : "before");
	else
		(void)buf_printf(text, ": %s to %s calls", text_count(row->calls_before, a),
				 text_count(row->calls_after, b));
	if (row->change != COMPARE_SAME && !aside)
		(void)buf_printf(text, ", %s%s", ns > 0 ? "+" : "-", text_ns(ns > 0 ? ns : -ns, a));
	(void)buf_puts(text, "; ");
	term_foreign(term, text, one->what);
	if (one->where) {
		(void)buf_puts(text, "; ");
		term_foreign(term, text, one->where);
	}
	wrapped(term, worse ? TERM_ALARM : row->change == COMPARE_SAME || aside ? TERM_PLAIN : TERM_MONEY, text);
}

int diff_text_write(FILE *out, const struct compare *compare, bool all, const struct tty *tty)
{
	struct buf text = BUF_INIT;
	struct term term;
	bool failed;
	int r;

	term_init(&term, out, tty);
	head(&term, "Before", compare->before, &text);
	head(&term, "After", compare->after, &text);
	for (size_t i = 0; i < compare->differences.used; i++) {
		label(&term, i == 0 ? "Beside" : "");
		(void)buf_puts(&text, compare->differences.at[i]);
		wrapped(&term, TERM_PLAIN, &text);
	}
	term_end(&term);
	calls(&term, compare, all);
	if (compare->findings.used > 0)
		term_end(&term);
	for (size_t i = 0; i < compare->findings.used; i++) {
		if (all || compare->findings.at[i].change != COMPARE_SAME)
			finding(&term, &compare->findings.at[i], &text);
	}
	if (compare->same_findings > 0 && compare->changed_findings == 0 && !all) {
		label(&term, "same");
		(void)buf_printf(&text, "%zu %s", compare->same_findings,
				 compare->same_findings == 1 ? "finding" : "findings");
		wrapped(&term, TERM_PLAIN, &text);
	}
	failed = text.failed;
	buf_done(&text);
	r = term_done(&term);
	return failed ? -ENOMEM : r;
}
