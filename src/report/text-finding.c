/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings: the six questions in full, or one line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/text-parts.h"
#include "report/words.h"
#include "verdict/scale.h"

#define LABEL_AT 3
#define BODY_AT 10 /* behind "   Where  " */
#define LIST_AT 12
#define TEXT_AT 21 /* behind "   Do     upgrade    " */
#define COST_END 66
#define SAVING_END 80
#define SITES_MOST 3
#define STACKS_MOST 8 /* of each */
#define PROGRAM_COLUMNS_LEAST 4
#define NAME_COLUMNS_MAX 20
#define WHERE_LINES 3
#define SITE_LINES 3

/* "costs 2.3 ms (15 %)". */
static void money(const struct analysis_result *result, struct buf *buf, const char *verb, double ns)
{
	char amount[TEXT_NUMBER_MAX], share[TEXT_NUMBER_MAX];

	(void)buf_printf(buf, "%s %s", verb, text_ns(ns, amount));
	if (result->task_ns > 0)
		(void)buf_printf(buf, " (%s)", text_share(ns / result->task_ns, share));
}

/* The money goes to a line of its own where it does not fit. */
static void title_line(struct text *text, size_t number, const struct verdict_finding *verdict, bool with_program)
{
	const char *rule = verdict->finding->rule->id, *tier = word_tier(verdict->finding);
	struct buf costs = BUF_INIT, avoidable = BUF_INIT, program = BUF_INIT;
	struct term *term = &text->term;
	unsigned gap = 4, bare;

	money(text->result, &costs, "costs", verdict->cost_ns);
	if (verdict->saves_ns > 0 && !verdict->finding->information)
		money(text->result, &avoidable, "avoidable", verdict->saves_ns);
	if (with_program && verdict->finding->script_kind == SCRIPT_FILE)
		term_foreign(term, &program, rule_base_name(verdict->finding->script));
	else if (with_program && verdict->finding->exe)
		term_foreign(term, &program, rule_base_name(verdict->finding->exe));
	term_printf(term, TERM_TITLE, "%zu. ", number);
	bare = term->column + (unsigned)(strlen(rule) + strlen(tier) + costs.bytes + avoidable.bytes);
	while (gap > 2 && bare + gap * 3 > term->width)
		gap--;
	term_put(term, TERM_TITLE, rule);
	term_to(term, term->column + gap);
	term_put(term, TERM_TIER, tier);
	if (bare + gap * 3 > term->width) {
		term_end(term);
		term_to(term, LABEL_AT);
	} else {
		term_to(term, term->column + gap);
	}
	term_put(term, TERM_MONEY, buf_text(&costs));
	if (avoidable.bytes > 0) {
		term_to(term, term->column + gap);
		term_put(term, TERM_MONEY, buf_text(&avoidable));
	}
	if (program.bytes > 0 && term->column + gap + PROGRAM_COLUMNS_LEAST <= term->width) {
		term_to(term, term->column + gap);
		term_put(term, TERM_PLAIN, buf_text(&program));
	}
	term_end(term);
	buf_done(&costs);
	buf_done(&avoidable);
	buf_done(&program);
}

static void label(struct term *term, const char *word)
{
	term_to(term, LABEL_AT);
	term_put(term, TERM_TITLE, word);
	term_to(term, BODY_AT);
}

static void section(struct term *term, const char *word, const char *body, unsigned lines)
{
	if (!body || !*body)
		return;
	label(term, word);
	term_wrap(term, TERM_PLAIN, body, BODY_AT, term->width, lines);
	term_end(term);
}

static unsigned wider(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static void what(struct text *text, const struct verdict_finding *verdict)
{
	const struct finding *finding = verdict->finding;
	struct term *term = &text->term;
	unsigned count_columns = 0, name_columns = 0, end = term->width < COST_END ? term->width : COST_END;
	char number[TEXT_NUMBER_MAX], ns[TEXT_NUMBER_MAX];

	section(term, "What", finding->what, 0);
	for (size_t i = 0; i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];

		count_columns = wider(count_columns, (unsigned)strlen(text_count(cost->count, number)));
		name_columns = wider(name_columns, (unsigned)strlen(sys_call(cost->call)->name));
	}
	if (name_columns > NAME_COLUMNS_MAX)
		name_columns = NAME_COLUMNS_MAX;
	for (size_t i = 0; i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];
		unsigned detail_at, detail_end;
		const char *amount;

		amount = word_cost(&verdict->costs[i], ns);
		term_right(term, TERM_PLAIN, text_count(cost->count, number), LIST_AT + count_columns);
		term_to(term, term->column + 2);
		term_cut(term, TERM_PLAIN, sys_call(cost->call)->name, name_columns, true);
		term_to(term, term->column + 2);
		detail_at = term->column;
		detail_end = end - (unsigned)strlen(amount) - 2;
		if (cost->detail && detail_at < detail_end)
			term_cut(term, TERM_PLAIN, cost->detail, detail_end - detail_at, false);
		term_right(term, TERM_MONEY, amount, end);
		term_end(term);
	}
}

/* -v: every frame that is known, and why there are no more. */
static void stack(struct term *term, const struct frames *frames, unsigned at)
{
	for (size_t i = 0; i < frames->count; i++) {
		struct buf place = BUF_INIT, line = BUF_INIT;

		site_put_place(&place, &frames->at[i], true);
		if (!frames->at[i].symbol && frames->at[i].build_id)
			(void)buf_printf(&place, " build-id %.12s", frames->at[i].build_id);
		term_foreign(term, &line, buf_text(&place));
		term_to(term, at);
		term_wrap(term, TERM_PLAIN, buf_text(&line), at, term->width, 0);
		term_end(term);
		buf_done(&place);
		buf_done(&line);
	}
	if (frames->why) {
		term_to(term, at);
		term_printf(term, TERM_PLAIN, "(%s)", frames->why);
		term_end(term);
	}
}

/* Each way in which it was called, with its own calls when there are several. */
static void stacks(struct term *term, const struct finding_site *site, unsigned at)
{
	char number[TEXT_NUMBER_MAX];
	uint64_t others = site->count;

	if (site->stacks.used == 0) {
		stack(term, site->frames, at);
		return;
	}
	for (size_t i = 0; i < site->stacks.used && i < STACKS_MOST; i++) {
		others -= site->stacks.at[i].count;
		term_to(term, at);
		term_printf(term, TERM_PLAIN, "%s of them by", text_count(site->stacks.at[i].count, number));
		term_end(term);
		stack(term, site->stacks.at[i].frames, at + 2);
	}
	if (others > 0) {
		term_to(term, at);
		term_printf(term, TERM_PLAIN, "%s by other stacks", text_count(others, number));
		term_end(term);
	}
}

/* With who called there, in as many lines as it takes. */
static void site_line(struct text *text, const struct finding_site *site, unsigned count_columns)
{
	struct term *term = &text->term;
	struct buf words = BUF_INIT, line = BUF_INIT;
	char number[TEXT_NUMBER_MAX];
	unsigned at = LIST_AT + count_columns + 2;

	site_put(&words, site);
	term_foreign(term, &line, buf_text(&words));
	term_right(term, TERM_PLAIN, text_count(site->count, number), LIST_AT + count_columns);
	term_to(term, at);
	term_wrap(term, TERM_PLAIN, buf_text(&line), at, term->width, SITE_LINES);
	term_end(term);
	if (text->options->verbose)
		stacks(term, site, at + 2);
	buf_done(&words);
	buf_done(&line);
}

static void where(struct text *text, const struct finding *finding)
{
	struct term *term = &text->term;
	unsigned count_columns = 0;
	char number[TEXT_NUMBER_MAX];
	size_t shown = 0;

	section(term, "Where", finding->where, WHERE_LINES);
	if (finding->sites_other > 0)
		count_columns = (unsigned)strlen(text_count(finding->sites_other, number));
	for (size_t i = 0; i < finding->sites.used && i < SITES_MOST; i++)
		if (finding->sites.at[i].module || finding->sites.at[i].frames)
			count_columns =
				wider(count_columns, (unsigned)strlen(text_count(finding->sites.at[i].count, number)));
	for (size_t i = 0; i < finding->sites.used && shown < SITES_MOST; i++) {
		const struct finding_site *site = &finding->sites.at[i];
		char offset[TEXT_NUMBER_MAX];
		struct buf module = BUF_INIT;

		if (!site->module && !site->frames)
			continue;
		if (shown++ == 0 && !finding->where)
			label(term, "Where");
		if (site->frames) {
			site_line(text, site, count_columns);
			continue;
		}
		term_foreign(term, &module, rule_base_name(site->module));
		(void)snprintf(offset, sizeof offset, "+0x%" PRIx64, site->offset);
		term_right(term, TERM_PLAIN, text_count(site->count, number), LIST_AT + count_columns);
		term_to(term, term->column + 2);
		term_cut(term, TERM_PLAIN, buf_text(&module), term->width - term->column - (unsigned)strlen(offset),
			 false);
		term_put(term, TERM_PLAIN, offset);
		term_end(term);
		buf_done(&module);
	}
	if (shown > 0 && finding->sites_other > 0) {
		term_right(term, TERM_PLAIN, text_count(finding->sites_other, number), LIST_AT + count_columns);
		term_to(term, term->column + 2);
		term_put(term, TERM_PLAIN, "not told apart: too many places");
		term_end(term);
	}
}

static void owner_line(struct text *text, const char *word, const char *what, const char *path, const char *package)
{
	struct buf body = BUF_INIT;

	(void)buf_printf(&body, "%s: ", what);
	term_foreign(&text->term, &body, path);
	if (package)
		(void)buf_printf(&body, ", package %s", package);
	section(&text->term, word, buf_text(&body), 2);
	buf_done(&body);
}

static void owner(struct text *text, const struct verdict_finding *verdict)
{
	const char *exe = verdict->finding->exe, *what = word_script(verdict->finding);
	bool known = exe && *exe && strcmp(exe, "?") != 0;

	if (known)
		owner_line(text, "Owner", "application", exe, verdict->package);
	if (known && what && verdict->finding->script)
		owner_line(text, "", what, verdict->finding->script, NULL);
	else if (known && what)
		section(&text->term, "", what, 2);
	if (verdict->library)
		owner_line(text, known ? "" : "Owner", "library", verdict->library, verdict->library_package);
}

static void saving(const struct verdict_remedy *remedy, struct buf *buf)
{
	uint64_t calls = (uint64_t)(remedy->saves_calls < 0 ? -remedy->saves_calls : remedy->saves_calls);
	char number[TEXT_NUMBER_MAX], ns[TEXT_NUMBER_MAX];

	/* Not counted, so nothing is said. */
	if (remedy->remedy->deltas.used == 0)
		return;
	(void)buf_printf(buf, "%s%s %s  %s",
			 remedy->saves_calls > 0   ? "-"
			 : remedy->saves_calls < 0 ? "+"
						   : "",
			 text_count(calls, number), calls == 1 ? "call" : "calls", text_ns(remedy->saves_ns, ns));
}

static unsigned longest_word(const struct term *term, const char *text)
{
	unsigned longest = 0;

	while (*(text += strspn(text, " "))) {
		size_t bytes = strcspn(text, " ");
		char *word = strndup(text, bytes);

		longest = wider(longest, word ? term_columns(term, word) : 0);
		free(word);
		text += bytes;
	}
	return longest;
}

/* A command is to be pasted: on one line, or not at all. */
static void command_line(struct term *term, const char *command)
{
	unsigned columns = term_columns(term, command);

	if (columns > term->width - LABEL_AT)
		return;
	term_to(term, BODY_AT);
	term_put(term, TERM_PLAIN, "try now");
	if (columns > term->width - TEXT_AT) {
		term_end(term);
		term_to(term, LABEL_AT);
	} else {
		term_to(term, TEXT_AT);
	}
	term_put(term, TERM_PLAIN, command);
	term_end(term);
}

/* The saving stands on the first line of the text, what it costs in
 * behaviour and what to type below. */
static void remedy_lines(struct term *term, const struct verdict_remedy *verdict)
{
	const struct finding_remedy *remedy = verdict->remedy;
	const char *said = remedy->text ? remedy->text : "";
	unsigned end = term->width < SAVING_END ? term->width : SAVING_END, beside;
	struct buf amount = BUF_INIT, changes = BUF_INIT;

	saving(verdict, &amount);
	term_to(term, BODY_AT);
	term_put(term, TERM_PLAIN, word_remedy(remedy->kind));
	term_to(term, TEXT_AT);
	beside = end - (unsigned)amount.bytes - 2;
	if (amount.bytes > 0 && longest_word(term, said) <= beside - TEXT_AT) {
		term_aside(term, TERM_MONEY, buf_text(&amount), end);
		term_wrap(term, TERM_PLAIN, said, TEXT_AT, beside, 0);
	} else {
		term_wrap(term, TERM_PLAIN, said, TEXT_AT, term->width, 0);
		if (amount.bytes > 0) {
			term_end(term);
			term_right(term, TERM_MONEY, buf_text(&amount), end);
		}
	}
	term_end(term);
	if (remedy->changes) {
		(void)buf_printf(&changes, "(changes output: %s)", remedy->changes);
		term_to(term, TEXT_AT);
		term_wrap(term, TERM_PLAIN, buf_text(&changes), TEXT_AT, term->width, 0);
		term_end(term);
	}
	if (remedy->command)
		command_line(term, remedy->command);
	buf_done(&amount);
	buf_done(&changes);
}

/* strace's explanation in words goes first, then the end of the arguments;
 * the result stays. */
static void sample_line(struct term *term, const char *sample)
{
	const char *at = NULL, *words;
	struct buf call = BUF_INIT, result = BUF_INIT;
	unsigned columns;

	for (const char *next = sample; (next = strstr(next, ") = ")); next++)
		at = next;
	if (!at || term_columns(term, sample) <= term->width - BODY_AT) {
		term_put(term, TERM_PLAIN, sample);
		term_end(term);
		return;
	}
	words = strstr(at, " (");
	(void)buf_add(&call, sample, (size_t)(at - sample));
	(void)buf_add(&result, at, words ? (size_t)(words - at) : strlen(at));
	columns = term_columns(term, buf_text(&result));
	if (columns > term->width / 2)
		columns = term->width / 2;
	term_cut(term, TERM_PLAIN, buf_text(&call), term->width - BODY_AT - columns, false);
	term_put(term, TERM_PLAIN, buf_text(&result));
	term_end(term);
	buf_done(&call);
	buf_done(&result);
}

static void note(struct term *term, bool first, const char *words)
{
	if (first)
		label(term, "Note");
	term_to(term, BODY_AT);
	term_wrap(term, TERM_PLAIN, words, BODY_AT, term->width, 0);
	term_end(term);
}

static void proof(struct text *text, const struct verdict_finding *verdict)
{
	const struct finding *finding = verdict->finding;
	const struct known_row *fix = verdict->fixed_by;
	struct term *term = &text->term;
	size_t most = text->options->verbose ? finding->samples.used : 1;

	for (size_t i = 0; i < finding->samples.used && i < most; i++) {
		if (i == 0)
			label(term, "Proof");
		term_to(term, BODY_AT);
		sample_line(term, finding->samples.at[i]);
	}
	for (size_t i = 0; i < finding->notes.used; i++)
		note(term, i == 0, finding->notes.at[i]);
	if (fix && text->options->verbose) {
		struct buf words = BUF_INIT;

		(void)buf_printf(&words, "the %s here has what %s changed already: it %s", fix->name, fix->fixed,
				 fix->text);
		note(term, finding->notes.used == 0, buf_text(&words));
		buf_done(&words);
	}
}

/* "each child: 8.2 ms; with a limit of 1,048,576: 430 ms" */
static void scales(struct text *text, const struct verdict_finding *verdict)
{
	const struct finding *finding = verdict->finding;
	struct buf body = BUF_INIT;
	char ns[TEXT_NUMBER_MAX];

	for (size_t i = 0; i < finding->scales.used; i++)
		(void)buf_printf(&body, "%s%s: %s", i > 0 ? "; " : "", finding->scales.at[i].text,
				 text_ns(scale_ns(verdict, i), ns));
	section(&text->term, "Price", buf_text(&body), 0);
	buf_done(&body);
}

/* "the same as 1" */
static void cause(struct text *text, const struct verdict_finding *verdict)
{
	const struct analysis_result *result = text->result;
	char body[64];

	for (size_t i = 0; verdict->cause && i < result->finding_count; i++) {
		if (result->findings[i].finding != verdict->cause)
			continue;
		(void)snprintf(body, sizeof body, "the same as of %zu: one remedy ends both", i + 1);
		section(&text->term, "Cause", body, 0);
	}
}

static void in_full(struct text *text, size_t number, const struct verdict_finding *verdict)
{
	title_line(text, number, verdict, false);
	what(text, verdict);
	scales(text, verdict);
	where(text, verdict->finding);
	owner(text, verdict);
	cause(text, verdict);
	for (size_t i = 0; i < verdict->remedy_count; i++) {
		if (i == 0)
			label(&text->term, "Do");
		remedy_lines(&text->term, &verdict->remedies[i]);
	}
	proof(text, verdict);
}

/* Worth fixing comes first, so the numbers of full and short ones are one row. */
void text_findings(struct text *text)
{
	const struct analysis_result *result = text->result;
	bool in_short = false;

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct verdict_finding *verdict = &result->findings[i];

		if (text->options->verbose || (verdict->worth && i < TEXT_FULL)) {
			term_end(&text->term);
			in_full(text, i + 1, verdict);
			continue;
		}
		if (!in_short)
			term_end(&text->term);
		in_short = true;
		title_line(text, i + 1, verdict, true);
	}
}
