/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of regions (--by region): longest first. */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/text-parts.h"

#define SHOWN 12
#define NAME_END 26
#define CALLS_END 34
#define TIME_END 43
#define WORK_END 52
#define WAITING_END 61
#define MOST_AT 63

/* Who looks for a slow test wants what it took, waiting or not. */
static double whole(const struct verdict_region *region)
{
	return isnan(region->waiting_ns) ? region->calls_ns : region->work_ns + region->waiting_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct verdict_region *x = *(const struct verdict_region *const *)a;
	const struct verdict_region *y = *(const struct verdict_region *const *)b;

	double x_ns = whole(x), y_ns = whole(y);

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return x < y ? -1 : x > y;
}

static void most(const struct verdict_region *region, struct buf *buf)
{
	char number[TEXT_NUMBER_MAX];

	for (size_t i = 0; i < VERDICT_REGION_TOP && region->top[i].call; i++)
		(void)buf_printf(buf, "%s%s %s", i ? ", " : "", region->top[i].call->name,
				 text_count(region->top[i].count, number));
}

static void time_at(struct term *term, double ns, unsigned end)
{
	char number[TEXT_NUMBER_MAX];

	term_right(term, TERM_PLAIN, isnan(ns) ? "-" : text_ns(ns, number), end);
}

static void row(struct term *term, const struct verdict_region *region, const char *name, const char *tail)
{
	char number[TEXT_NUMBER_MAX];

	term_cut(term, TERM_PLAIN, name, NAME_END, true);
	term_right(term, TERM_PLAIN, text_count(region->calls, number), CALLS_END);
	time_at(term, region->calls_ns, TIME_END);
	time_at(term, region->work_ns, WORK_END);
	time_at(term, region->waiting_ns, WAITING_END);
	term_to(term, MOST_AT);
	term_put(term, TERM_PLAIN, tail);
	term_end(term);
}

static void head(struct term *term)
{
	term_put(term, TERM_TITLE, "Regions");
	term_right(term, TERM_PLAIN, "calls", CALLS_END);
	term_right(term, TERM_PLAIN, "in calls", TIME_END);
	term_right(term, TERM_PLAIN, "work", WORK_END);
	term_right(term, TERM_PLAIN, "waiting", WAITING_END);
	term_to(term, MOST_AT);
	term_put(term, TERM_PLAIN, "most of it");
	term_end(term);
}

void text_regions(struct text *text)
{
	const struct analysis_result *result = text->result;
	const struct verdict_region **sorted;
	size_t shown = result->region_count;
	struct verdict_region rest = { 0 };
	char name[TEXT_PLURAL_MAX];

	if (result->region_count == 0) {
		text_labelled(text, "Regions", TERM_PLAIN,
			      "no mark was seen: a region begins with a look-up of /.syscull/mark/NAME");
		return;
	}
	sorted = calloc(result->region_count, sizeof *sorted);
	if (!sorted) {
		text->term.failed = true;
		return;
	}
	for (size_t i = 0; i < result->region_count; i++)
		sorted[i] = &result->regions[i];
	qsort(sorted, result->region_count, sizeof *sorted, by_time);
	if (!text->options->verbose && shown > SHOWN)
		shown = SHOWN;
	head(&text->term);
	for (size_t i = 0; i < shown; i++) {
		struct buf tail = BUF_INIT;

		most(sorted[i], &tail);
		row(&text->term, sorted[i], sorted[i]->name[0] ? sorted[i]->name : "(before the first mark)",
		    buf_text(&tail));
		buf_done(&tail);
	}
	for (size_t i = shown; i < result->region_count; i++) {
		rest.calls += sorted[i]->calls;
		rest.calls_ns += sorted[i]->calls_ns;
		rest.work_ns += sorted[i]->work_ns;
		rest.waiting_ns += sorted[i]->waiting_ns;
	}
	if (shown < result->region_count)
		row(&text->term, &rest,
		    text_plural(result->region_count - shown, "more region", "more regions", name, sizeof name), "");
	free(sorted);
	if (result->regions_refused > 0)
		text_labelled(text, "Note", TERM_PLAIN, "%s had a name beyond the limit and went on in the last region",
			      text_plural(result->regions_refused, "mark", "marks", name, sizeof name));
}
