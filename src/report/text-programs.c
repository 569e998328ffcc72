/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of programs (--by exe): how often each started, what it called, how
 * much of that was to start; and of the dearest what a start is made of.
 */
#include "base/text.h"
#include "report/text-parts.h"

#define SHOWN 12
#define TOLD 3 /* whose starts are told in parts */
#define NAME_END 23
#define RUNS_END 30
#define CALLS_END 41
#define START_END 51
#define TIME_END 60
#define START_TIME_END 69
#define WORK_END 79

static void row(struct term *term, const struct verdict_exe *exe, const char *name)
{
	char number[TEXT_NUMBER_MAX];

	term_cut(term, TERM_PLAIN, name, NAME_END, true);
	term_right(term, TERM_PLAIN, text_count(exe->runs, number), RUNS_END);
	term_right(term, TERM_PLAIN, text_count(exe->calls, number), CALLS_END);
	term_right(term, TERM_PLAIN, text_count(exe->startup.calls, number), START_END);
	term_right(term, TERM_PLAIN, text_ns(exe->calls_ns, number), TIME_END);
	term_right(term, TERM_PLAIN, text_ns(exe->startup.ns, number), START_TIME_END);
	term_right(term, TERM_PLAIN, exe->work_ns < 0 ? "" : text_ns(exe->work_ns, number), WORK_END);
	term_end(term);
}

static void head(struct term *term, bool work_known)
{
	term_put(term, TERM_TITLE, "Programs");
	term_right(term, TERM_PLAIN, "runs", RUNS_END);
	term_right(term, TERM_PLAIN, "calls", CALLS_END);
	term_right(term, TERM_PLAIN, "to start", START_END);
	term_right(term, TERM_PLAIN, "in calls", TIME_END);
	term_right(term, TERM_PLAIN, "to start", START_TIME_END);
	if (work_known)
		term_right(term, TERM_PLAIN, "on CPUs", WORK_END);
	term_end(term);
}

/* "ld.so 56 calls (1 in vain) 81 us", of one run. */
static void put_part(struct buf *buf, const char *name, const struct verdict_exe_part *part, uint64_t runs)
{
	uint64_t calls = (part->calls + runs / 2) / runs, failed = (part->failed + runs / 2) / runs;
	char number[TEXT_NUMBER_MAX], plural[TEXT_PLURAL_MAX];

	if (calls == 0)
		return;
	(void)buf_printf(buf, "%s%s %s", buf->bytes ? ", " : "", name,
			 text_plural(calls, "call", "calls", plural, sizeof plural));
	if (failed > 0)
		(void)buf_printf(buf, " (%s in vain)", text_count(failed, number));
	(void)buf_printf(buf, " %s", text_ns(part->ns / (double)runs, number));
}

static void tell_start(struct text *text, const struct verdict_exe *exe, bool first)
{
	static const char *const names[MODEL_PHASES] = {
		[MODEL_PHASE_LOADER] = "ld.so",
		[MODEL_PHASE_LIBRARY] = "libraries",
		[MODEL_PHASE_LOCALE] = "locale",
		[MODEL_PHASE_INTERPRETER] = "interpreter",
	};
	char number[TEXT_NUMBER_MAX];
	struct buf parts = BUF_INIT, foreign = BUF_INIT;

	put_part(&parts, "exec", &exe->parts[MODEL_PHASE_EXEC], exe->runs);
	for (unsigned phase = 0; phase < MODEL_PHASES; phase++)
		if (names[phase])
			put_part(&parts, names[phase], &exe->parts[phase], exe->runs);
	term_foreign(&text->term, &foreign, rule_base_name(exe->exe));
	text_labelled(text, first ? "Start" : "", TERM_PLAIN, "%s, each of %s: %s", buf_text(&foreign),
		      text_count(exe->runs, number), buf_text(&parts));
	buf_done(&foreign);
	buf_done(&parts);
}

static bool any_told(struct text *text)
{
	const struct analysis_result *result = text->result;
	size_t told = 0;

	for (size_t i = 0; i < result->by_exe_count && told < TOLD; i++) {
		const struct verdict_exe *exe = &result->by_exe[i];

		if (exe->runs < 2 || exe->startup.calls < 2 * exe->runs)
			continue;
		tell_start(text, exe, told++ == 0);
	}
	return told > 0;
}

void text_programs(struct text *text)
{
	const struct analysis_result *result = text->result;
	size_t shown = result->by_exe_count;
	struct verdict_exe rest = { 0 };
	char name[TEXT_PLURAL_MAX], number[TEXT_NUMBER_MAX];
	bool locale = false;

	if (shown == 0) {
		text_labelled(text, "Programs", TERM_PLAIN, "none made a call");
		return;
	}
	if (!text->options->verbose && shown > SHOWN + 1)
		shown = SHOWN;
	head(&text->term, result->by_exe[0].work_ns >= 0);
	for (size_t i = 0; i < result->by_exe_count; i++) {
		const struct verdict_exe *exe = &result->by_exe[i];

		locale = locale || (exe->runs > 1 && exe->parts[MODEL_PHASE_LOCALE].calls >= exe->runs);
		if (i < shown) {
			row(&text->term, exe, rule_base_name(exe->exe));
			continue;
		}
		rest.runs += exe->runs;
		rest.calls += exe->calls;
		rest.startup.calls += exe->startup.calls;
		rest.startup.ns += exe->startup.ns;
		rest.calls_ns += exe->calls_ns;
		rest.work_ns += exe->work_ns;
	}
	if (shown < result->by_exe_count)
		row(&text->term, &rest,
		    text_plural(result->by_exe_count - shown, "more program", "more programs", name, sizeof name));
	if (!any_told(text))
		return;
	text_labelled(text, "", TERM_PLAIN, "beside its calls a start of the smallest program takes %s%s",
		      text_ns(price_of_start(result->prices).ns, number),
		      locale ? "; LC_ALL=C leaves the locale out" : "");
}
