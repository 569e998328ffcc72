/* SPDX-License-Identifier: BSD-2-Clause */
/* One finding as a bug report for the program's authors, in Markdown. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/stream.h"
#include "base/text.h"
#include "report/reporter.h"
#include "report/words.h"
#include "verdict/budget-next.h"

#define SITES_MOST 3
#define FRAMES_MOST 20
#define COMMAND_MOST 400 /* bytes; longer ones are told once */

/* "/usr/bin/ls" without the folder that the reader does not care for. */
static const char *program_of(const struct verdict_finding *verdict)
{
	if (verdict->finding->script_kind == SCRIPT_FILE)
		return rule_base_name(verdict->finding->script);
	return verdict->finding->exe ? rule_base_name(verdict->finding->exe) : "the program";
}

static void command(FILE *out, const struct analysis_result *result)
{
	struct buf text = BUF_INIT;

	word_command(&text, result->facts.argv);
	(void)fprintf(out, "    %s\n", result->facts.argv ? buf_text(&text) : "(attached to a running process)");
	buf_done(&text);
}

static void counts(FILE *out, const struct verdict_finding *verdict)
{
	const struct finding *finding = verdict->finding;
	char count[TEXT_NUMBER_MAX], ns[TEXT_NUMBER_MAX];
	bool details = false, errors = false;

	for (size_t i = 0; i < finding->costs.used; i++) {
		details = details || (finding->costs.at[i].detail && *finding->costs.at[i].detail);
		errors = errors || finding->costs.at[i].err;
	}
	(void)fprintf(out, "| calls | call |%s%s time |\n", details ? " of what |" : "", errors ? " result |" : "");
	(void)fprintf(out, "| ---: | --- |%s%s ---: |\n", details ? " --- |" : "", errors ? " --- |" : "");
	for (size_t i = 0; i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];
		char name[SYS_NAME_MAX];

		(void)fprintf(out, "| %s | %s |", text_count(cost->count, count), sys_call(cost->call)->name);
		if (details) {
			(void)fputc(' ', out);
			word_markdown(out, cost->detail ? cost->detail : "");
			(void)fputs(" |", out);
		}
		if (errors)
			(void)fprintf(out, " %s |", cost->err ? sys_errno_print(cost->err, name) : "0");
		(void)fprintf(out, " %s |\n", word_cost(&verdict->costs[i], ns));
	}
}

/* As code: what a program is stripped of can be looked up by its build id. */
static void stack(FILE *out, const struct frames *frames)
{
	for (size_t i = 0; i < frames->count && i < FRAMES_MOST; i++) {
		struct buf place = BUF_INIT, shown = BUF_INIT;

		site_put_place(&place, &frames->at[i], true);
		if (!frames->at[i].symbol && frames->at[i].build_id)
			(void)buf_printf(&place, " build-id %.40s", frames->at[i].build_id);
		word_harmless(&shown, buf_text(&place));
		(void)fprintf(out, "      %s\n", buf_text(&shown));
		buf_done(&shown);
		buf_done(&place);
	}
	if (frames->count > FRAMES_MOST)
		(void)fprintf(out, "      (%zu more)\n", frames->count - FRAMES_MOST);
	else if (frames->why)
		(void)fprintf(out, "      (%s)\n", frames->why);
}

static void where(FILE *out, const struct finding *finding)
{
	char count[TEXT_NUMBER_MAX];
	size_t shown = 0;

	if (finding->where) {
		(void)fputs("\nWhere: ", out);
		word_markdown(out, finding->where);
		(void)fputs(".\n", out);
	}
	for (size_t i = 0; i < finding->samples.used; i++)
		(void)fprintf(out, "%s    %s\n", i == 0 ? "\n" : "", finding->samples.at[i]);
	for (size_t i = 0; i < finding->sites.used && shown < SITES_MOST; i++) {
		const struct finding_site *site = &finding->sites.at[i];
		struct buf words = BUF_INIT;

		if (!site->module && !site->frames)
			continue;
		if (shown++ == 0)
			(void)fputs("\nCalled from:\n", out);
		site_put(&words, site);
		(void)fprintf(out, "\n- %s times ", text_count(site->count, count));
		word_markdown(out, buf_text(&words));
		(void)fputc('\n', out);
		if (site->frames && site->frames->count > 1) {
			(void)fputc('\n', out);
			if (site->stacks.used > 0)
				(void)fprintf(out, "      %s of them by\n",
					      text_count(site->stacks.at[0].count, count));
			stack(out, site->stacks.used > 0 ? site->stacks.at[0].frames : site->frames);
			if (site->stacks.used > 1)
				(void)fprintf(out, "      (%s by other stacks)\n",
					      text_count(site->count - site->stacks.at[0].count, count));
		}
		buf_done(&words);
	}
	if (shown > 0 && finding->sites_other > 0)
		(void)fprintf(out, "\n%s are not told apart: there are too many places.\n",
			      text_count(finding->sites_other, count));
}

static const char *remedy_words(enum finding_remedy_kind kind)
{
	static const char *const words[REMEDY_KIND_COUNT] = {
		[REMEDY_UPGRADE] = "An upgrade",
		[REMEDY_SOURCE] = "In the source",
		[REMEDY_CONFIGURATION] = "A setting",
		[REMEDY_ENVIRONMENT] = "A variable",
		[REMEDY_PRELOAD] = "A library loaded first",
		[REMEDY_SECCOMP] = "A filter",
	};

	return kind < REMEDY_KIND_COUNT ? words[kind] : "?";
}

static void remedies(FILE *out, const struct verdict_finding *verdict)
{
	char count[TEXT_NUMBER_MAX], ns[TEXT_NUMBER_MAX];

	for (size_t i = 0; i < verdict->remedy_count; i++) {
		const struct verdict_remedy *remedy = &verdict->remedies[i];

		(void)fprintf(out, "- %s: ", remedy_words(remedy->remedy->kind));
		word_markdown(out, remedy->remedy->text ? remedy->remedy->text : "");
		if (remedy->remedy->deltas.used > 0 && remedy->saves_calls >= 0)
			(void)fprintf(out, " (%s calls fewer, about %s)",
				      text_count((uint64_t)remedy->saves_calls, count), text_ns(remedy->saves_ns, ns));
		if (remedy->remedy->changes) {
			(void)fputs("; changes the output: ", out);
			word_markdown(out, remedy->remedy->changes);
		}
		(void)fputc('\n', out);
		if (remedy->remedy->command && strlen(remedy->remedy->command) <= COMMAND_MOST)
			(void)fprintf(out, "\n      %s\n%s", remedy->remedy->command,
				      i + 1 < verdict->remedy_count ? "\n" : "");
	}
}

static void guard(FILE *out, const struct analysis_result *result, size_t number)
{
	struct verdict_budget budget;
	struct buf text = BUF_INIT;

	budget_of_finding(result, number, &budget);
	/* Words of a log may be cut. */
	if (!budget.what[0] || !result->facts.argv || result->facts.calls_only)
		return;
	word_command(&text, result->facts.argv);
	(void)fprintf(out,
		      "\nThis line keeps it fixed, once it is%s:\n\n    syscull check --max %s=%" PRIu64 " -- %s\n",
		      text.bytes > COMMAND_MOST ? " (with the command above at its end)" : "", budget.what,
		      budget.limit, text.bytes > COMMAND_MOST ? "..." : buf_text(&text));
	buf_done(&text);
}

static int one(FILE *out, const struct analysis_result *result, size_t number)
{
	const struct verdict_finding *verdict = &result->findings[number];
	const struct finding *finding = verdict->finding;
	const struct analysis_host *host = &result->facts.host;
	char calls[TEXT_NUMBER_MAX], all[TEXT_NUMBER_MAX], ns[TEXT_NUMBER_MAX], share[TEXT_NUMBER_MAX];

	(void)fputs("# ", out);
	word_markdown(out, program_of(verdict));
	(void)fputs(": ", out);
	word_markdown(out, finding->what ? finding->what : finding->rule->title);
	(void)fprintf(out, " (%s of %s calls)\n\n", text_count(finding->calls, calls), text_count(result->calls, all));
	if (verdict->package) {
		(void)fputs("Seen with ", out);
		word_markdown(out, verdict->package);
		(void)fprintf(out, " on Linux %s, %s, %s:\n\n", host->kernel ? host->kernel : "?",
			      host->arch ? host->arch : "?", host->libc ? host->libc : "?");
	} else {
		(void)fprintf(out, "Seen on Linux %s, %s, %s:\n\n", host->kernel ? host->kernel : "?",
			      host->arch ? host->arch : "?", host->libc ? host->libc : "?");
	}
	command(out, result);
	if (word_script(finding)) {
		(void)fputs("\nThe calls are those of ", out);
		word_markdown(out, finding->exe ? rule_base_name(finding->exe) : "the program");
		(void)fprintf(out, ", which runs %s%s%s", finding->script ? "the " : "", word_script(finding),
			      finding->script ? " " : "");
		word_markdown(out, finding->script ? finding->script : "");
		(void)fputs(".\n", out);
	}
	(void)fprintf(out, "\n%s of its %s system calls are of no use to it (rule %s, %s). They take about %s",
		      text_count(finding->calls, calls), text_count(result->calls, all), finding->rule->id,
		      word_tier(finding), text_ns(verdict->cost_ns, ns));
	if (result->task_ns > 0)
		(void)fprintf(out, ", %s of its time%s", text_share(verdict->cost_ns / result->task_ns, share),
			      result->facts.calls_only ? " in calls" : "");
	(void)fputs(".\n\n", out);
	counts(out, verdict);
	where(out, finding);
	if (verdict->remedy_count > 0)
		(void)fputs("\nWhat would help:\n\n", out);
	remedies(out, verdict);
	for (size_t i = 0; i < finding->notes.used; i++) {
		(void)fputs(i == 0 ? "\nTo be known:\n\n- " : "- ", out);
		word_markdown(out, finding->notes.at[i]);
		(void)fputc('\n', out);
	}
	guard(out, result, number);
	(void)fputs("\nTimes are estimated from the calls' usual prices on the machine above; counts are exact"
		    " (syscull " SYSCULL_VERSION ").\n",
		    out);
	return stream_flush(out);
}

static int issue_write(FILE *out, const struct analysis_result *result, const struct report_options *options)
{
	size_t number = options->finding > 0 ? options->finding - 1 : 0;

	if (number < result->finding_count)
		return one(out, result, number);
	if (result->finding_count == 0)
		(void)fputs("There is no finding to report.\n", out);
	else
		(void)fprintf(out, "There is no finding %zu, the last one is %zu.\n", number + 1,
			      result->finding_count);
	return stream_flush(out);
}

const struct reporter reporter_issue = {
	.name = "issue",
	.title = "one finding as a bug report in Markdown (--finding N)",
	.machine = true,
	.write = issue_write,
};
