/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collapsed stacks, as viewers of flame graphs read them: frames from the
 * outermost one on, parted by ';', and a number.  Names are foreign: what would
 * end a frame or a line is replaced.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "base/text.h"
#include "report/reporter.h"

struct line {
	char *text;
	double weight;
};

struct lines {
	VEC(struct line) at;
};

static void put_name(struct buf *buf, const char *name)
{
	struct buf escaped = BUF_INIT;

	(void)text_escape(&escaped, name, strlen(name), '\0', true);
	for (const char *at = buf_text(&escaped); *at; at++)
		(void)buf_putc(buf, *at == ';' ? ':' : *at);
	buf_done(&escaped);
}

static void put_frame(struct buf *buf, const struct frame *frame)
{
	struct buf place = BUF_INIT;

	/* Where in a function would make a tower of each of its calls. */
	if (frame->symbol)
		(void)buf_puts(&place, frame->symbol);
	else
		site_put_place(&place, frame, false);
	put_name(buf, buf_text(&place));
	(void)buf_putc(buf, ';');
	if (frame->jumped && frame->jump) {
		put_name(buf, frame->jump);
		(void)buf_putc(buf, ';');
	}
	buf_done(&place);
}

static int add(struct lines *lines, const char *program, const struct finding_site *site, const char *what,
	       double weight)
{
	const struct frame leaf = { .module = site->module, .offset = site->offset };
	const struct frames only = { .at = &leaf, .count = 1 }, *frames = site->frames ? site->frames : &only;
	struct buf buf = BUF_INIT;
	struct line line = { .weight = weight };

	put_name(&buf, rule_base_name(program ? program : "?"));
	(void)buf_putc(&buf, ';');
	if (!frames->whole)
		(void)buf_puts(&buf, "(unknown);");
	for (size_t i = frames->count; i > 0; i--)
		put_frame(&buf, &frames->at[i - 1]);
	put_name(&buf, what);
	line.text = buf_steal(&buf);
	buf_done(&buf);
	if (!line.text || !vec_push(&lines->at, line)) {
		free(line.text);
		return -ENOMEM;
	}
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static int add_calls(struct lines *lines, const struct analysis_result *result)
{
	int r = 0;

	for (size_t i = 0; i < result->site_call_count && r == 0; i++) {
		const struct verdict_site_call *call = &result->site_calls[i];

		r = add(lines, call->program, &call->site, call->call->name, (double)call->site.count);
	}
	return r;
}

static int add_site(struct lines *lines, const struct finding *finding, const struct finding_site *site, double each)
{
	struct finding_site one = *site;
	int r = 0;

	if (site->stacks.used == 0)
		return add(lines, finding->exe, site, finding->rule->id, each * (double)site->count);
	for (size_t i = 0; i < site->stacks.used && r == 0; i++) {
		one.frames = site->stacks.at[i].frames;
		r = add(lines, finding->exe, &one, finding->rule->id, each * (double)site->stacks.at[i].count);
	}
	return r;
}

/* What findings say can be saved, in ns, shared out by calls. */
static int add_savings(struct lines *lines, const struct analysis_result *result)
{
	int r = 0;

	for (size_t n = 0; n < result->finding_count; n++) {
		const struct verdict_finding *verdict = &result->findings[n];
		const struct finding *finding = verdict->finding;
		uint64_t count = 0;

		for (size_t i = 0; i < finding->sites.used; i++)
			count += finding->sites.at[i].count;
		if (finding->information || count == 0 || verdict->saves_ns <= 0)
			continue;
		for (size_t i = 0; i < finding->sites.used && r == 0; i++)
			r = add_site(lines, finding, &finding->sites.at[i], verdict->saves_ns / (double)count);
	}
	return r;
}

static int collapsed_write(FILE *out, const struct analysis_result *result, const struct report_options *options)
{
	struct lines lines = { { 0 } };
	int r = options->weigh_savings ? add_savings(&lines, result) : add_calls(&lines, result);

	if (lines.at.used > 0)
		qsort(lines.at.at, lines.at.used, sizeof lines.at.at[0], by_text);
	for (size_t i = 0; i < lines.at.used && r == 0; i++) {
		double weight = lines.at.at[i].weight;

		while (i + 1 < lines.at.used && strcmp(lines.at.at[i].text, lines.at.at[i + 1].text) == 0)
			weight += lines.at.at[++i].weight;
		if (weight >= 0.5)
			(void)fprintf(out, "%s %.0f\n", lines.at.at[i].text, weight);
	}
	for (size_t i = 0; i < lines.at.used; i++)
		free(lines.at.at[i].text);
	vec_done(&lines.at);
	return r < 0 ? r : stream_flush(out);
}

const struct reporter reporter_collapsed = {
	.name = "collapsed",
	.title = "stacks for viewers of flame graphs",
	.machine = true,
	.write = collapsed_write,
};
