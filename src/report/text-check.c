/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A check for people: nothing when it passed, else what is broken, by whom,
 * and what to type next.  -v also tells of what was kept.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/check-parts.h"
#include "report/text-parts.h"
#include "verdict/baseline.h"

#define PREFIX "syscull: "
#define INDENT 4
#define MORE_BYTES_MAX 4096

static void line(struct text *text, enum term_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Wrapped. */
static void line(struct text *text, enum term_style style, const char *format, ...)
{
	struct buf buf = BUF_INIT;
	va_list args;

	va_start(args, format);
	(void)buf_vprintf(&buf, format, args);
	va_end(args);
	term_wrap(&text->term, style, buf_text(&buf), INDENT, text->term.width, 0);
	term_end(&text->term);
	buf_done(&buf);
}

/* "    1,002  getxattr ENODATA    d1k/f0 and others in d1k" */
static void contributor(struct text *text, const struct budget_contributor *top, bool programs)
{
	char count[TEXT_NUMBER_MAX];
	struct buf buf = BUF_INIT;

	(void)buf_printf(&buf, "%9s  %s", text_count(top->count, count), top->name);
	if (programs && top->program)
		(void)buf_printf(&buf, " by %s", top->program);
	if (top->place)
		(void)buf_printf(&buf, "%*s  %s", buf.bytes < 32 ? (int)(32 - buf.bytes) : 0, "", top->place);
	if (top->site)
		(void)buf_printf(&buf, "; %s", top->site);
	term_to(&text->term, INDENT);
	term_cut(&text->term, TERM_PLAIN, buf_text(&buf), text->term.width - INDENT, false);
	term_end(&text->term);
	buf_done(&buf);
}

static void broken(struct text *text, const struct budget_verdict *verdict)
{
	char seen[BUDGET_NUMBER_MAX], limit[BUDGET_NUMBER_MAX + 16];

	line(text, TERM_ALARM, PREFIX "check failed: %s: %s, %s", verdict->budget->what,
	     budget_number(verdict->seen, seen), budget_limit(verdict->budget, limit));
	for (size_t i = 0; i < verdict->top_count; i++)
		contributor(text, &verdict->top[i], !verdict->budget->program && text->result->processes > 1);
}

/* Every reason that is no broken budget, which has lines of its own. */
static void reasons(struct text *text, const struct check *check)
{
	for (size_t i = 0; i < check->unjudged_count; i++)
		line(text, TERM_ALARM, PREFIX "cannot judge: %s", check->reasons.at[i]);
	for (size_t i = 0; i < check->beside_count; i++)
		line(text, TERM_ALARM, PREFIX "check failed: %s", check->reasons.at[check->unjudged_count + i]);
	if (check->reasons_left_out > 0)
		line(text, TERM_PLAIN, PREFIX "and %" PRIu64 " more reasons", check->reasons_left_out);
}

/* Whole and in one line, or not at all: cut or wrapped it would be no command. */
static void more(struct text *text, const char *command)
{
	char *const *argv = text->result->facts.argv;
	struct buf buf = BUF_INIT;

	(void)buf_printf(&buf, PREFIX "more: %s --", command);
	for (size_t i = 0; argv && argv[i] && buf.bytes <= MORE_BYTES_MAX; i++) {
		(void)buf_putc(&buf, ' ');
		(void)text_shell_word(&buf, argv[i], strlen(argv[i]), text->term.tty.utf8);
	}
	if (buf.bytes <= MORE_BYTES_MAX)
		term_whole(&text->term, buf_text(&buf));
	buf_done(&buf);
}

static void kept(struct text *text, const struct budget_verdict *verdict)
{
	const char *word = verdict->state == BUDGET_NOT_EXERCISED ? "not exercised" : "ok";
	char seen[BUDGET_NUMBER_MAX], limit[BUDGET_NUMBER_MAX + 16];

	line(text, TERM_PLAIN, PREFIX "%s: %s%s: %s, %s", word, verdict->budget->kind == BUDGET_CANARY ? "canary " : "",
	     verdict->budget->what, budget_number(verdict->seen, seen), budget_limit(verdict->budget, limit));
}

/* A budget that counted nothing may be about nothing: one line, unless a
 * canary says that the work was done. */
static void not_exercised(struct text *text, const struct check *check)
{
	for (size_t i = 0; i < check->budget_count; i++) {
		const struct budget_verdict *verdict = &check->budgets[i];

		if (verdict->state == BUDGET_NOT_EXERCISED && !text->options->verbose)
			line(text, TERM_PLAIN,
			     PREFIX "not exercised: --max %s: %s; a --canary would prove that the work was done",
			     verdict->budget->what, check_idle_why(text->result, verdict));
	}
}

static void watched(struct text *text)
{
	const struct analysis_facts *facts = &text->result->facts;
	struct buf buf = BUF_INIT;
	char count[TEXT_NUMBER_MAX + 8];

	for (size_t i = 0; facts->scope && facts->scope[i]; i++)
		(void)buf_printf(&buf, "%s%s", i ? ", " : "", facts->scope[i]);
	/* Those are always among them. */
	if (buf.bytes == 0)
		(void)buf_puts(&buf, "calls without a name");
	line(text, TERM_PLAIN, PREFIX "watched: %s (%s seen%s)", facts->scope ? buf_text(&buf) : "all calls",
	     text_plural(facts->seen, "call", "calls", count, sizeof count),
	     facts->scope ? "; others were not counted" : "");
	buf_done(&buf);
}

/* Of a command that did not behave as without us everybody is told, of other blind spots who asks. */
static void warnings(struct text *text)
{
	const struct analysis_facts *facts = &text->result->facts;

	for (size_t i = 0; i < sizeof facts->warnings / sizeof facts->warnings[0] && facts->warnings[i]; i++)
		if (i < facts->altered || text->options->verbose)
			line(text, TERM_PLAIN, PREFIX "note: %s", facts->warnings[i]);
}

/* Where it was made says why counts may differ: when they do, or with -v. */
static void baseline(struct text *text, const struct check *check)
{
	const struct baseline_report *baseline = check->baseline;
	const struct baseline_changes *changes = &baseline->changes;
	bool verbose = text->options->verbose;
	struct buf buf = BUF_INIT;

	for (size_t i = 0; i < changes->differences.used; i++)
		(void)buf_printf(&buf, "%s%s", i ? "; " : "", changes->differences.at[i]);
	if (buf.bytes > 0 && (changes->items.used > 0 || verbose))
		line(text, TERM_PLAIN, PREFIX "the baseline was made elsewhere: %s", buf_text(&buf));
	buf_clear(&buf);
	(void)text_escape(&buf, baseline->file, strlen(baseline->file), '\0', text->term.tty.utf8);
	if (verbose && baseline->read)
		line(text, TERM_PLAIN, PREFIX "baseline %s: %zu new or grown, %" PRIu64 " gone or fewer%s",
		     buf_text(&buf), changes->items.used, changes->fewer,
		     changes->fewer > 0 && !baseline->written ? "; --prune-baseline takes these out" : "");
	if (verbose && baseline->written)
		line(text, TERM_PLAIN, PREFIX "baseline %s written", buf_text(&buf));
	buf_done(&buf);
}

int text_check(FILE *out, const struct analysis_result *result, const struct report_options *options)
{
	struct text text = { .result = result, .options = options };
	const struct check *check = result->check;

	term_init(&text.term, out, &options->tty);
	for (size_t i = 0; i < check->budget_count; i++)
		if (check->budgets[i].state == BUDGET_BROKEN)
			broken(&text, &check->budgets[i]);
	reasons(&text, check);
	if (check->more)
		more(&text, check->more);
	if (check->canary_count == 0)
		not_exercised(&text, check);
	if (check->baseline)
		baseline(&text, check);
	warnings(&text);
	if (options->verbose) {
		for (size_t i = 0; i < check->budget_count; i++)
			if (check->budgets[i].state == BUDGET_OK || check->budgets[i].state == BUDGET_NOT_EXERCISED)
				kept(&text, &check->budgets[i]);
		watched(&text);
		line(&text, TERM_PLAIN, PREFIX "check %s",
		     check->state == CHECK_CANNOT_JUDGE ? "cannot judge" : check_state_name(check->state));
	}
	return term_done(&text.term);
}
