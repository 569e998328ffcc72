/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of call sites (--by site): dearest first. */
#include "base/text.h"
#include "report/text-parts.h"
#include "report/words.h"

#define SHOWN 20
#define CALLS_END 11
#define FAILED_END 20
#define TIME_END 31
#define SAVED_END 42
#define MOST_AT 45
#define SITE_AT 5

static void row(struct term *term, uint64_t calls, uint64_t failed, double ns, double waste_ns)
{
	char number[TEXT_NUMBER_MAX];

	term_right(term, TERM_PLAIN, text_count(calls, number), CALLS_END);
	term_right(term, TERM_PLAIN, text_count(failed, number), FAILED_END);
	term_right(term, TERM_PLAIN, text_ns(ns, number), TIME_END);
	term_right(term, TERM_MONEY, waste_ns > 0 ? text_ns(waste_ns, number) : "-", SAVED_END);
}

static void head(struct term *term)
{
	term_right(term, TERM_TITLE, "calls", CALLS_END);
	term_right(term, TERM_PLAIN, "failed", FAILED_END);
	term_right(term, TERM_PLAIN, "time", TIME_END);
	term_right(term, TERM_PLAIN, "avoidable", SAVED_END);
	term_to(term, MOST_AT);
	term_put(term, TERM_PLAIN, "most of it");
	term_end(term);
}

static void one(struct text *text, const struct verdict_site *site)
{
	struct term *term = &text->term;
	struct buf words = BUF_INIT, line = BUF_INIT;
	char number[TEXT_NUMBER_MAX];

	site_put(&words, &site->site);
	term_foreign(term, &line, buf_text(&words));
	row(term, site->calls, site->failed, site->ns, site->waste_ns);
	term_to(term, MOST_AT);
	term_printf(term, TERM_PLAIN, "%s %s", site->most->name, text_count(site->most_count, number));
	term_end(term);
	term_to(term, SITE_AT);
	term_wrap(term, TERM_TITLE, buf_text(&line), SITE_AT, term->width, 2);
	term_end(term);
	buf_done(&words);
	buf_done(&line);
}

void text_sites(struct text *text)
{
	const struct analysis_result *result = text->result;
	size_t shown = result->site_count;
	struct verdict_site rest = { 0 };
	char name[TEXT_PLURAL_MAX], number[TEXT_NUMBER_MAX];

	if (!text->options->verbose && shown > SHOWN)
		shown = SHOWN;
	text_labelled(text, "Sites", TERM_PLAIN,
		      "by the first frame outside the C library, and the first in the program");
	head(&text->term);
	for (size_t i = 0; i < shown; i++)
		one(text, &result->sites[i]);
	for (size_t i = shown; i < result->site_count; i++) {
		rest.calls += result->sites[i].calls;
		rest.failed += result->sites[i].failed;
		rest.ns += result->sites[i].ns;
		rest.waste_ns += result->sites[i].waste_ns;
	}
	if (shown < result->site_count) {
		row(&text->term, rest.calls, rest.failed, rest.ns, rest.waste_ns);
		term_to(&text->term, MOST_AT);
		term_put(&text->term, TERM_PLAIN,
			 text_plural(result->site_count - shown, "more site", "more sites", name, sizeof name));
		term_end(&text->term);
	}
	if (result->sites_waste_ns >= 1000)
		text_labelled(text, "Note", TERM_PLAIN, "%s more can be saved at sites that are not certain",
			      text_ns(result->sites_waste_ns, number));
	if (result->sites_unknown > 0)
		text_labelled(text, "Note", TERM_PLAIN, "where %s came from is not known",
			      text_plural(result->sites_unknown, "call", "calls", name, sizeof name));
}
