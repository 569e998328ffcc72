/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One page that needs nothing: no network, no scripts, no fonts of others.
 * Everything that comes from a program is escaped twice, as for a terminal and
 * as for markup.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/stream.h"
#include "base/text.h"
#include "report/reporter.h"
#include "report/words.h"
#include "verdict/scale.h"

#define PROCESSES_MAX 200
#define SITES_MOST 3

static const char style[] =
	":root{color-scheme:light dark;--ink:#1b1f24;--soft:#59636e;--paper:#fff;--line:#d1d9e0;--money:#0a6b2d;"
	"--alarm:#b3261e;--shade:#f6f8fa}"
	"@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--paper:#0d1117;--line:#3d444d;"
	"--money:#57c785;--alarm:#ff8a80;--shade:#151b23}}"
	"body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:62rem;"
	"margin:2rem auto;padding:0 1rem}"
	"h1{font-size:1.3rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin-top:2rem}"
	"code,pre,td.n{font-family:ui-monospace,monospace;font-size:.92em}"
	"pre{background:var(--shade);border:1px solid var(--line);padding:.5rem;overflow-x:auto}"
	"table{border-collapse:collapse;margin:.5rem 0}th,td{text-align:left;padding:.15rem .9rem .15rem 0;"
	"vertical-align:top;overflow-wrap:anywhere}td:first-child{white-space:nowrap}th{border-bottom:1px solid "
	"var(--line);color:var(--soft);"
	"font-weight:600}td.n,th.n{text-align:right;white-space:nowrap}"
	"section{border:1px solid var(--line);border-radius:6px;padding:.2rem 1rem .8rem;margin:1rem 0}"
	".soft{color:var(--soft)}.money{color:var(--money);font-weight:600}.alarm{color:var(--alarm)}"
	"dl{display:grid;grid-template-columns:6rem 1fr;gap:.2rem .8rem;margin:.4rem 0}"
	"dt{color:var(--soft);font-weight:600}dd{margin:0;overflow-wrap:anywhere;min-width:0}dd>table:first-child{"
	"margin-top:-.15rem}summary{cursor:pointer}"
	"@media(max-width:40rem){dl{display:block}dd{margin:0 0 .5rem}}";

/* Text of ours: names of programs in it were escaped as for a shell or as strace does. */
static void put(FILE *out, const char *text)
{
	word_markup_harmless(out, text);
}

static void line(FILE *out, const char *label, const char *class, const char *text)
{
	(void)fprintf(out, "<dt>%s</dt><dd class=\"%s\">", label, class);
	put(out, text);
	(void)fputs("</dd>\n", out);
}

static void money(FILE *out, const struct analysis_result *result, double ns)
{
	char amount[TEXT_NUMBER_MAX], share[TEXT_NUMBER_MAX];

	(void)fprintf(out, "%s", text_ns(ns, amount));
	if (result->task_ns > 0)
		(void)fprintf(out, " (%s)", text_share(ns / result->task_ns, share));
}

static void head(FILE *out, const struct analysis_result *result)
{
	const struct analysis_facts *facts = &result->facts;
	struct buf command = BUF_INIT, text = BUF_INIT;
	char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX], c[TEXT_NUMBER_MAX], count[TEXT_NUMBER_MAX + 16];

	word_command(&command, facts->argv);
	if (!facts->argv)
		(void)buf_puts(&command, "attached processes");
	(void)fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
		    "'unsafe-inline'\">\n<title>syscull: ",
		    out);
	put(out, buf_text(&command));
	(void)fprintf(out, "</title>\n<style>%s</style></head>\n<body><h1><code>", style);
	put(out, buf_text(&command));
	(void)fputs("</code></h1>\n<dl>\n", out);
	if (facts->exit_known && facts->exit_signal)
		(void)buf_printf(&text, "killed by signal %d", facts->exit_signal);
	else if (facts->exit_known)
		(void)buf_printf(&text, "exit %d", facts->exit_status);
	else
		(void)buf_puts(&text, "its end was not seen");
	(void)buf_puts(&text, ", ");
	word_scale(&text, result);
	line(out, "Run", "", buf_text(&text));
	buf_clear(&text);
	if (facts->calls_only)
		(void)buf_printf(&text, "about %s in calls", text_ns(result->calls_ns, a));
	else
		(void)buf_printf(&text, "about %s untraced: %s user, %s in calls", text_ns(result->untraced_ns, a),
				 text_ns(result->user_ns, b), text_ns(result->calls_ns, c));
	line(out, "Time", "", buf_text(&text));
	(void)fputs("<dt>Waste</dt><dd class=\"money\">", out);
	if (result->finding_count == 0) {
		(void)fputs("none", out);
	} else {
		money(out, result, result->waste_ns);
		(void)fprintf(out, " in %s; %zu worth fixing, %zu below the floor",
			      text_plural(result->waste_calls, "call", "calls", count, sizeof count),
			      result->worth_count, result->below_count);
	}
	(void)fputs("</dd>\n", out);
	buf_clear(&text);
	(void)buf_printf(&text, "%s: %s seen = %s analysed + ",
			 result->complete ? "closed"
			 : result->closed ? "closed, not complete"
					  : "NOT closed",
			 text_count(facts->seen, a), text_count(facts->delivered - facts->marks, b));
	(void)buf_printf(&text, "%s lost + ", text_count(facts->lost, a));
	(void)buf_printf(&text, "%s in flight", text_count(facts->in_flight, a));
	if (facts->marks > 0)
		(void)buf_printf(&text, " + %s marks", text_count(facts->marks, a));
	if (result->books_why[0])
		(void)buf_printf(&text, "; %s", result->books_why);
	line(out, "Books", result->complete ? "" : "alarm", buf_text(&text));
	buf_clear(&text);
	(void)buf_printf(&text, "%s; Linux %s, %s, %s", facts->engine ? facts->engine : "?",
			 facts->host.kernel ? facts->host.kernel : "?", facts->host.arch ? facts->host.arch : "?",
			 facts->host.libc ? facts->host.libc : "?");
	line(out, "Engine", "soft", buf_text(&text));
	for (size_t i = 0; facts->warnings[i]; i++)
		line(out, i == 0 ? "Note" : "", "soft", facts->warnings[i]);
	(void)fputs("</dl>\n", out);
	buf_done(&command);
	buf_done(&text);
}

static void costs(FILE *out, const struct verdict_finding *verdict)
{
	const struct finding *finding = verdict->finding;
	char count[TEXT_NUMBER_MAX], ns[TEXT_NUMBER_MAX];

	(void)fputs("<table>\n", out);
	for (size_t i = 0; i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];

		(void)fprintf(out, "<tr><td class=\"n\">%s</td><td><code>%s</code></td><td>",
			      text_count(cost->count, count), sys_call(cost->call)->name);
		put(out, cost->detail ? cost->detail : "");
		(void)fprintf(out, "</td><td class=\"n money\">%s</td></tr>\n", word_cost(&verdict->costs[i], ns));
	}
	(void)fputs("</table>\n", out);
}

/* Every frame that is known, and why there are no more. */
static void stack(FILE *out, const struct frames *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		struct buf place = BUF_INIT;

		site_put_place(&place, &frames->at[i], true);
		if (!frames->at[i].symbol && frames->at[i].build_id)
			(void)buf_printf(&place, " build-id %.40s", frames->at[i].build_id);
		put(out, buf_text(&place));
		(void)fputc('\n', out);
		buf_done(&place);
	}
	if (frames->why)
		(void)fprintf(out, "(%s)\n", frames->why);
}

static void call_site(FILE *out, const struct finding_site *site)
{
	char count[TEXT_NUMBER_MAX];
	struct buf words = BUF_INIT;

	(void)fprintf(out, "<details><summary><span class=\"soft\">%s</span> <code>", text_count(site->count, count));
	site_put(&words, site);
	put(out, buf_text(&words));
	(void)fputs("</code></summary>", out);
	if (site->frames) {
		(void)fputs("<pre>", out);
		if (site->stacks.used == 0)
			stack(out, site->frames);
		for (size_t i = 0; i < site->stacks.used; i++) {
			(void)fprintf(out, "%s%s of them by\n", i > 0 ? "\n" : "",
				      text_count(site->stacks.at[i].count, count));
			stack(out, site->stacks.at[i].frames);
		}
		(void)fputs("</pre>", out);
	}
	(void)fputs("</details>\n", out);
	buf_done(&words);
}

static void where(FILE *out, const struct finding *finding)
{
	char count[TEXT_NUMBER_MAX];
	size_t shown = 0;

	if (!finding->where && finding->sites.used == 0)
		return;
	(void)fputs("<dt>Where</dt><dd>", out);
	put(out, finding->where ? finding->where : "");
	for (size_t i = 0; i < finding->sites.used && shown < SITES_MOST; i++) {
		if (!finding->sites.at[i].module && !finding->sites.at[i].frames)
			continue;
		call_site(out, &finding->sites.at[i]);
		shown++;
	}
	if (shown > 0 && finding->sites_other > 0)
		(void)fprintf(out, "<span class=\"soft\">%s</span> not told apart: too many places",
			      text_count(finding->sites_other, count));
	(void)fputs("</dd>\n", out);
}

static void remedy(FILE *out, const struct verdict_remedy *verdict)
{
	const struct finding_remedy *one = verdict->remedy;
	char ns[TEXT_NUMBER_MAX], count[TEXT_NUMBER_MAX];

	(void)fprintf(out, "<tr><td>%s</td><td>", word_remedy(one->kind));
	put(out, one->text ? one->text : "");
	if (one->changes) {
		(void)fputs("<br><span class=\"soft\">changes output: ", out);
		put(out, one->changes);
		(void)fputs("</span>", out);
	}
	if (one->command) {
		(void)fputs("<br><code>", out);
		put(out, one->command);
		(void)fputs("</code>", out);
	}
	if (one->deltas.used > 0)
		(void)fprintf(
			out, "</td><td class=\"n\">%s%s calls</td><td class=\"n money\">%s</td></tr>\n",
			verdict->saves_calls > 0   ? "-"
			: verdict->saves_calls < 0 ? "+"
						   : "",
			text_count((uint64_t)(verdict->saves_calls < 0 ? -verdict->saves_calls : verdict->saves_calls),
				   count),
			text_ns(verdict->saves_ns, ns));
	else
		(void)fputs("</td><td></td><td></td></tr>\n", out);
}

static void finding(FILE *out, const struct analysis_result *result, size_t number)
{
	const struct verdict_finding *verdict = &result->findings[number];
	const struct finding *one = verdict->finding;
	char ns[TEXT_NUMBER_MAX];

	(void)fprintf(out, "<section><h2>%zu. %s <span class=\"soft\">%s</span></h2>\n<p>costs <span class=\"money\">",
		      number + 1, one->rule->id, word_tier(one));
	money(out, result, verdict->cost_ns);
	(void)fputs("</span>", out);
	if (verdict->saves_ns > 0 && !one->information) {
		(void)fputs(", avoidable <span class=\"money\">", out);
		money(out, result, verdict->saves_ns);
		(void)fputs("</span>", out);
	}
	(void)fputs(verdict->worth ? "</p>\n" : " <span class=\"soft\">(below the floor)</span></p>\n", out);
	(void)fputs("<dl><dt>What</dt><dd>", out);
	put(out, one->what ? one->what : "");
	costs(out, verdict);
	(void)fputs("</dd>\n", out);
	for (size_t i = 0; i < one->scales.used; i++) {
		(void)fprintf(out, "<dt>%s</dt><dd>", i == 0 ? "Price" : "");
		put(out, one->scales.at[i].text);
		(void)fprintf(out, ": %s</dd>\n", text_ns(scale_ns(verdict, i), ns));
	}
	where(out, one);
	(void)fputs("<dt>Owner</dt><dd>", out);
	put(out, one->exe ? one->exe : "not known");
	if (verdict->package) {
		(void)fputs(", package ", out);
		put(out, verdict->package);
	}
	if (word_script(one)) {
		(void)fprintf(out, "<br>%s%s", word_script(one), one->script ? ": " : "");
		put(out, one->script ? one->script : "");
	}
	if (verdict->library) {
		(void)fputs("<br>", out);
		put(out, verdict->library);
	}
	if (verdict->library_package) {
		(void)fputs(", package ", out);
		put(out, verdict->library_package);
	}
	(void)fputs("</dd>\n", out);
	if (verdict->remedy_count > 0) {
		(void)fputs("<dt>Do</dt><dd><table>\n", out);
		for (size_t i = 0; i < verdict->remedy_count; i++)
			remedy(out, &verdict->remedies[i]);
		(void)fputs("</table></dd>\n", out);
	}
	for (size_t i = 0; i < one->samples.used; i++) {
		(void)fprintf(out, "<dt>%s</dt><dd><code>", i == 0 ? "Proof" : "");
		put(out, one->samples.at[i]);
		(void)fputs("</code></dd>\n", out);
	}
	for (size_t i = 0; i < one->notes.used; i++)
		line(out, i == 0 ? "Note" : "", "soft", one->notes.at[i]);
	(void)fputs("</dl></section>\n", out);
}

static void calls(FILE *out, const struct analysis_result *result)
{
	char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX], c[TEXT_NUMBER_MAX];

	(void)fputs("<h2>Calls</h2>\n<table><tr><th>call</th><th class=\"n\">count</th><th class=\"n\">failed</th>"
		    "<th class=\"n\">time</th></tr>\n",
		    out);
	for (size_t i = 0; i < result->by_call_count; i++) {
		const struct verdict_call *call = &result->by_call[i];

		(void)fputs("<tr><td><code>", out);
		put(out, call->name);
		(void)fprintf(
			out, "</code></td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
			text_count(call->row.count, a), text_count(call->row.failed, b), text_ns(call->ns, c));
	}
	(void)fputs("</table>\n", out);
}

static void regions(FILE *out, const struct analysis_result *result)
{
	char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX], c[TEXT_NUMBER_MAX], d[TEXT_NUMBER_MAX], e[TEXT_NUMBER_MAX];

	if (result->region_count == 0)
		return;
	(void)fputs("<h2>Regions</h2>\n<table><tr><th>region</th><th class=\"n\">calls</th><th class=\"n\">failed</th>"
		    "<th class=\"n\">time in calls</th><th class=\"n\">work</th><th class=\"n\">waiting</th></tr>\n",
		    out);
	for (size_t i = 0; i < result->region_count; i++) {
		const struct verdict_region *region = &result->regions[i];

		(void)fputs("<tr><td>", out);
		word_markup(out, region->name[0] ? region->name : "(before the first mark)");
		(void)fprintf(out,
			      "</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>"
			      "<td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
			      text_count(region->calls, a), text_count(region->failed, b), text_ns(region->calls_ns, c),
			      text_ns(region->work_ns, d), text_ns(region->waiting_ns, e));
	}
	(void)fputs("</table>\n", out);
}

static int html_write(FILE *out, const struct analysis_result *result, const struct report_options *options)
{
	(void)options;
	head(out, result);
	for (size_t i = 0; i < result->finding_count; i++)
		finding(out, result, i);
	calls(out, result);
	regions(out, result);
	(void)fputs("<p class=\"soft\">Made by syscull " SYSCULL_VERSION ".</p>\n</body></html>\n", out);
	return stream_flush(out);
}

const struct reporter reporter_html = {
	.name = "html",
	.title = "one page for a browser, without scripts or network",
	.machine = true,
	.write = html_write,
};
