/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of calls: two halves side by side where they fit. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/text-parts.h"

#define SHOWN_CLEAN 3 /* and a row for the rest: a clean report stays below ten lines */
#define SHOWN 5
#define NAME_COLUMNS_MAX 24
#define GAP 2
#define HALVES_GAP 6

/* A row as text. */
struct cells {
	char name[SYS_NAME_MAX];
	char count[TEXT_NUMBER_MAX], failed[TEXT_NUMBER_MAX], time[TEXT_NUMBER_MAX];
};

struct widths {
	unsigned name, count, failed, time;
};

static void fill(struct cells *cells, const char *name, uint64_t count, uint64_t failed, double ns)
{
	(void)snprintf(cells->name, sizeof cells->name, "%s", name);
	(void)text_count(count, cells->count);
	(void)text_count(failed, cells->failed);
	(void)text_ns(ns, cells->time);
}

static void fill_rest(struct cells *cells, const struct verdict_call *calls, size_t count)
{
	uint64_t sum = 0, failed = 0;
	char name[SYS_NAME_MAX];
	double ns = 0;

	for (size_t i = 0; i < count; i++) {
		sum += calls[i].row.count;
		failed += calls[i].row.failed;
		ns += calls[i].ns;
	}
	(void)snprintf(name, sizeof name, "%zu more", count);
	fill(cells, name, sum, failed, ns);
}

static void widen(unsigned *width, const char *text)
{
	unsigned columns = (unsigned)strlen(text);

	*width = columns > *width ? columns : *width;
}

static unsigned width_of(const struct widths *widths)
{
	return widths->name + GAP + widths->count + GAP + widths->failed + GAP + widths->time;
}

/* Of half a table that stands alone; a name gives way to numbers. */
static struct widths measure(const struct term *term, const struct cells *cells, size_t count)
{
	struct widths widths = { 5, 5, 6, 4 };
	unsigned over;

	for (size_t i = 0; i < count; i++) {
		widen(&widths.name, cells[i].name);
		widen(&widths.count, cells[i].count);
		widen(&widths.failed, cells[i].failed);
		widen(&widths.time, cells[i].time);
	}
	if (widths.name > NAME_COLUMNS_MAX)
		widths.name = NAME_COLUMNS_MAX;
	over = width_of(&widths) > term->width ? width_of(&widths) - term->width : 0;
	widths.name -= over < widths.name ? over : widths.name;
	return widths;
}

static void put_cells(struct term *term, enum term_style style, const struct cells *cells, const struct widths *widths,
		      unsigned left)
{
	unsigned column = left + widths->name;

	term_to(term, left);
	term_cut(term, style, cells->name, widths->name, true);
	term_right(term, style, cells->count, column += GAP + widths->count);
	term_right(term, style, cells->failed, column += GAP + widths->failed);
	term_right(term, style, cells->time, column + GAP + widths->time);
}

static void put_table(struct term *term, const struct cells *cells, size_t count, size_t rows)
{
	static const struct cells head = { "Calls", "count", "failed", "time" };
	size_t second = count > rows ? count - rows : 0;
	struct widths left = measure(term, cells, count - second), right = measure(term, cells + rows, second);
	unsigned right_at = width_of(&left) + HALVES_GAP;

	put_cells(term, TERM_TITLE, &head, &left, 0);
	if (second > 0)
		put_cells(term, TERM_TITLE, &head, &right, right_at);
	term_end(term);
	for (size_t i = 0; i < rows; i++) {
		put_cells(term, TERM_PLAIN, &cells[i], &left, 0);
		if (i < second)
			put_cells(term, TERM_PLAIN, &cells[rows + i], &right, right_at);
		term_end(term);
	}
}

static bool halves_fit(const struct term *term, const struct cells *cells, size_t count, size_t rows)
{
	struct widths left = measure(term, cells, rows), right = measure(term, cells + rows, count - rows);

	return width_of(&left) + HALVES_GAP + width_of(&right) <= term->width;
}

void text_calls(struct text *text)
{
	const struct analysis_result *result = text->result;
	size_t most = result->worth_count > 0 ? SHOWN : SHOWN_CLEAN, shown = result->by_call_count, count, rows;
	struct cells *cells;

	if (!text->options->verbose && shown > most + 1)
		shown = most;
	if (shown == 0) {
		text_labelled(text, "Calls", TERM_PLAIN, "%s",
			      result->filter ? "none of those that this report is narrowed to" : "none");
		return;
	}
	count = shown + (shown < result->by_call_count);
	cells = calloc(count ? count : 1, sizeof *cells);
	if (!cells) {
		text->term.line.failed = true;
		return;
	}
	for (size_t i = 0; i < shown; i++)
		fill(&cells[i], result->by_call[i].name, result->by_call[i].row.count, result->by_call[i].row.failed,
		     result->by_call[i].ns);
	if (shown < count)
		fill_rest(&cells[shown], result->by_call + shown, result->by_call_count - shown);
	rows = (count + 1) / 2;
	if (count > 1 && !halves_fit(&text->term, cells, count, rows))
		rows = count;
	put_table(&text->term, cells, count, rows);
	free(cells);
}
