/* SPDX-License-Identifier: BSD-2-Clause */
/* What a remedy gained, for eyes: five labels in one column, 80 columns. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/prove.h"
#include "report/term.h"

#define LEFT 9
#define CALLS_SHOWN 6

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

static void head(struct term *term, const struct prove_result *result, struct buf *text)
{
	for (char *const *word = result->argv; *word; word++) {
		(void)buf_puts(text, word == result->argv ? "" : " ");
		(void)text_shell_word(text, *word, strlen(*word), term->tty.utf8);
	}
	term_put(term, TERM_TITLE, buf_text(text));
	term_end(term);
	buf_clear(text);
	label(term, "Runs");
	if (result->steady)
		(void)buf_printf(text, "%u without and %u with %s, in turn", result->runs, result->runs, result->with);
	else
		(void)buf_printf(text, "none timed, with %s", result->with);
	wrapped(term, TERM_PLAIN, text);
}

static void output(struct term *term, const struct prove_result *result, struct buf *text)
{
	label(term, "Output");
	if (!result->steady)
		(void)buf_printf(text, "two runs without a remedy differ (%s): there is nothing to compare with",
				 result->differs);
	else if (result->same_output)
		(void)buf_printf(text, "the same on both sides (status %d)", result->status);
	else
		(void)buf_printf(text, "NOT the same: %s", result->differs);
	wrapped(term, result->same_output ? TERM_PLAIN : TERM_ALARM, text);
}

const char *prove_word_text(enum prove_word word)
{
	static const char *const words[] = { "faster", "slower", "no difference shown" };

	return words[word];
}

static void times(struct term *term, const struct prove_result *result, struct buf *text)
{
	const struct prove_times *t = &result->times;
	const struct prove_spread *sides[] = { &t->before, &t->after };
	static const char *const names[] = { "without", "with" };
	char ns[3][TEXT_NUMBER_MAX];

	for (unsigned i = 0; i < 2; i++) {
		if (i == 0)
			label(term, "Time");
		else
			term_to(term, LEFT);
		term_printf(term, TERM_PLAIN, "%-8s %s (median), %s to %s", names[i], text_ns(sides[i]->median, ns[0]),
			    text_ns(sides[i]->min, ns[1]), text_ns(sides[i]->max, ns[2]));
		term_end(term);
	}
	label(term, "Gain");
	switch (t->word) {
	case PROVE_FASTER:
		(void)buf_printf(text, "%.2f times faster (%.2f to %.2f), %s a run", t->ratio.median, t->ratio.low,
				 t->ratio.high, text_ns(t->before.median - t->after.median, ns[0]));
		break;
	case PROVE_SLOWER:
		(void)buf_printf(text, "%.2f times slower (%.2f to %.2f)", 1 / t->ratio.median, 1 / t->ratio.high,
				 1 / t->ratio.low);
		break;
	case PROVE_NO_DIFFERENCE:
		(void)buf_printf(text, "no difference shown: %.2f times as fast (%.2f to %.2f)%s", t->ratio.median,
				 t->ratio.low, t->ratio.high, result->runs < 5 ? ", too few runs" : "");
		break;
	}
	if (t->word == PROVE_FASTER && !result->same_output)
		(void)buf_puts(text, ", but the output is not the same");
	wrapped(term, t->word == PROVE_FASTER && result->same_output ? TERM_MONEY : TERM_PLAIN, text);
	if (t->outliers > 0) {
		term_to(term, LEFT);
		(void)buf_printf(text, "%u of %u runs took far longer or shorter than the others", t->outliers,
				 2 * result->runs);
		wrapped(term, TERM_PLAIN, text);
	}
}

/* User and system time, of which other programs on the machine take little. */
static void cpu(struct term *term, const struct prove_result *result, struct buf *text)
{
	const struct prove_times *t = &result->cpu;
	char ns[2][TEXT_NUMBER_MAX];

	label(term, "CPU");
	(void)buf_printf(text, "without %s, with %s (medians): ", text_ns(t->before.median, ns[0]),
			 text_ns(t->after.median, ns[1]));
	switch (t->word) {
	case PROVE_FASTER:
		(void)buf_printf(text, "%.2f times less (%.2f to %.2f)", t->ratio.median, t->ratio.low, t->ratio.high);
		break;
	case PROVE_SLOWER:
		(void)buf_printf(text, "%.2f times more (%.2f to %.2f)", 1 / t->ratio.median, 1 / t->ratio.high,
				 1 / t->ratio.low);
		break;
	case PROVE_NO_DIFFERENCE:
		(void)buf_puts(text, "no difference shown");
		break;
	}
	wrapped(term, TERM_PLAIN, text);
}

static void change(struct term *term, const char *name, uint64_t before, uint64_t after)
{
	char text[3][TEXT_NUMBER_MAX];

	term_to(term, LEFT);
	term_cut(term, TERM_PLAIN, name, 20, true);
	term_right(term, TERM_PLAIN, text_count(before, text[0]), LEFT + 34);
	term_right(term, TERM_PLAIN, text_count(after, text[1]), LEFT + 48);
	term_right(term, TERM_PLAIN, text_count(before > after ? before - after : after - before, text[2]), LEFT + 62);
	term_end(term);
}

static void calls(struct term *term, const struct prove_result *result, struct buf *text)
{
	size_t shown = result->call_count < CALLS_SHOWN ? result->call_count : CALLS_SHOWN;

	label(term, "Calls");
	if (!result->counted) {
		(void)buf_printf(text, "not counted: %s", result->count_why);
		wrapped(term, TERM_ALARM, text);
		return;
	}
	term_right(term, TERM_TITLE, "without", LEFT + 34);
	term_right(term, TERM_TITLE, "with", LEFT + 48);
	term_right(term, TERM_TITLE, result->calls_before >= result->calls_after ? "fewer" : "more", LEFT + 62);
	term_end(term);
	change(term, "all", result->calls_before, result->calls_after);
	for (size_t i = 0; i < shown; i++)
		change(term, result->calls[i].name, result->calls[i].before, result->calls[i].after);
	if (shown < result->call_count) {
		term_to(term, LEFT);
		term_printf(term, TERM_PLAIN, "%zu more changed", result->call_count - shown);
		term_end(term);
	}
}

static void signed_ns(struct buf *text, double ns)
{
	char number[TEXT_NUMBER_MAX];

	(void)buf_printf(text, "%s%s", ns < 0 ? "-" : "", text_ns(fabs(ns), number));
}

/* What chance alone may have made is no saving. */
static void share(struct buf *text, bool shown, double ns, const char *saved)
{
	if (!shown) {
		(void)buf_puts(text, "no difference shown");
		return;
	}
	signed_ns(text, ns);
	(void)buf_puts(text, saved);
}

static void remedies(struct term *term, const struct prove_result *result, struct buf *text)
{
	for (unsigned i = 0; i < result->remedy_count; i++) {
		const struct prove_remedy *remedy = &result->remedies[i];
		char number[TEXT_NUMBER_MAX + 8];

		if (i == 0)
			label(term, "Share");
		else
			term_to(term, LEFT);
		(void)buf_printf(
			text, "%s%s: %s %s, ", remedy->name, result->remedy_count > 1 ? " alone" : "",
			text_plural((uint64_t)llabs(remedy->saves_calls), "call", "calls", number, sizeof number),
			remedy->saves_calls < 0 ? "more" : "fewer");
		if (!remedy->shown && !remedy->cpu_shown) {
			(void)buf_puts(text, "no difference shown in time or CPU time");
		} else {
			share(text, remedy->shown, remedy->saves_ns, " saved");
			(void)buf_puts(text, ", of CPU time ");
			share(text, remedy->cpu_shown, remedy->saves_cpu_ns, "");
		}
		if (remedy->estimated_ns >= 0) {
			(void)buf_puts(text, "; estimated by run: ");
			signed_ns(text, remedy->estimated_ns);
		} else {
			(void)buf_puts(text, "; run finds nothing that it serves");
		}
		wrapped(term, TERM_PLAIN, text);
	}
}

static void conditions(struct term *term, const struct prove_result *result, struct buf *text)
{
	bool first = true;

	for (unsigned i = 0; i < result->remedy_count; i++) {
		const struct prove_remedy *remedy = &result->remedies[i];
		const char *condition = remedy->output ? remedy->output : remedy->unsafe;

		if (!condition)
			continue;
		if (first)
			label(term, "But");
		else
			term_to(term, LEFT);
		first = false;
		(void)buf_printf(text, "%s: %s", remedy->name, condition);
		wrapped(term, TERM_PLAIN, text);
	}
}

int prove_text_write(FILE *out, const struct prove_result *result, const struct analysis_host *host,
		     const struct tty *tty)
{
	struct buf text = BUF_INIT;
	struct term term;
	int r;

	(void)host;
	term_init(&term, out, tty);
	head(&term, result, &text);
	output(&term, result, &text);
	if (result->steady) {
		times(&term, result, &text);
		cpu(&term, result, &text);
		calls(&term, result, &text);
		remedies(&term, result, &text);
	}
	conditions(&term, result, &text);
	r = text.failed ? -12 : 0;
	buf_done(&text);
	{
		int late = term_done(&term);

		return r < 0 ? r : late;
	}
}
