/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts, findings and the verdict in Prometheus' text format, for the
 * textfile collector of node_exporter.  Gauges all: a run replaces the one
 * before it.  Never the command's arguments.  Every sample has the name of
 * the report's file as a label, so that two files have no sample in common.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "base/vec.h"
#include "report/check-parts.h"
#include "report/words.h"

struct prom {
	FILE *out;
	const struct analysis_result *result;
	const char *report; /* report="NAME" */
};

/* A label's value. */
static void value(struct buf *buf, const char *text)
{
	struct buf shown = BUF_INIT;

	word_harmless(&shown, text);
	for (const char *p = buf_text(&shown); *p; p++) {
		if (*p == '\\' || *p == '"')
			(void)buf_putc(buf, '\\');
		(void)buf_putc(buf, *p);
	}
	buf_done(&shown);
}

static void head(const struct prom *prom, const char *name, const char *help)
{
	(void)fprintf(prom->out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* labels: NULL, or more of them, ready. */
static void sample(const struct prom *prom, const char *name, const char *labels, double number)
{
	(void)fprintf(prom->out, "%s{%s%s%s} ", name, prom->report, labels && *labels ? "," : "", labels ? labels : "");
	if (number >= 0 && number == (double)(uint64_t)number)
		(void)fprintf(prom->out, "%" PRIu64 "\n", (uint64_t)number);
	else
		(void)fprintf(prom->out, "%.15g\n", number);
}

static void single(const struct prom *prom, const char *name, const char *help, double number)
{
	head(prom, name, help);
	sample(prom, name, NULL, number);
}

static void states(const struct prom *prom, const struct check *check)
{
	struct buf labels = BUF_INIT;

	head(prom, "syscull_check_state", "The verdict of the check: 1 for the state that it has.");
	for (int state = CHECK_PASSED; state <= CHECK_CANNOT_JUDGE; state++) {
		buf_clear(&labels);
		(void)buf_printf(&labels, "state=\"%s\"", check_state_name((enum check_state)state));
		sample(prom, "syscull_check_state", buf_text(&labels), (int)check->state == state);
	}
	buf_done(&labels);
}

enum budget_metric { BUDGET_METRIC_LIMIT, BUDGET_METRIC_SEEN, BUDGET_METRIC_STATE };

static void budget(const struct prom *prom, const struct budget_verdict *verdict, enum budget_metric metric)
{
	static const char *const names[] = { "syscull_budget_limit", "syscull_budget_seen", "syscull_budget_state" };
	struct buf labels = BUF_INIT;
	size_t bytes;

	(void)buf_printf(&labels, "kind=\"%s\",budget=\"", budget_kind_name(verdict->budget->kind));
	value(&labels, verdict->budget->what);
	(void)buf_putc(&labels, '"');
	bytes = labels.bytes;
	if (metric == BUDGET_METRIC_LIMIT)
		sample(prom, names[metric], buf_text(&labels), verdict->budget->limit);
	else if (metric == BUDGET_METRIC_SEEN && verdict->seen_known)
		sample(prom, names[metric], buf_text(&labels), verdict->seen);
	for (int state = BUDGET_OK; metric == BUDGET_METRIC_STATE && state <= BUDGET_CANNOT_JUDGE; state++) {
		labels.bytes = bytes;
		(void)buf_printf(&labels, ",state=\"%s\"", budget_state_name((enum budget_state)state));
		sample(prom, names[metric], buf_text(&labels), (int)verdict->state == state);
	}
	buf_done(&labels);
}

static void budgets(const struct prom *prom, const struct check *check)
{
	if (check->budget_count == 0)
		return;
	head(prom, "syscull_budget_limit", "What a budget allows (max) or demands (min, canary).");
	for (size_t i = 0; i < check->budget_count; i++)
		budget(prom, &check->budgets[i], BUDGET_METRIC_LIMIT);
	head(prom, "syscull_budget_seen", "What was counted for a budget; absent when it could not be.");
	for (size_t i = 0; i < check->budget_count; i++)
		budget(prom, &check->budgets[i], BUDGET_METRIC_SEEN);
	head(prom, "syscull_budget_state", "The verdict on a budget: 1 for the state that it has.");
	for (size_t i = 0; i < check->budget_count; i++)
		budget(prom, &check->budgets[i], BUDGET_METRIC_STATE);
}

/* Calls of one name may have several rows, of other architectures. */
static void calls(const struct prom *prom, bool failed)
{
	const char *name = failed ? "syscull_calls_failed" : "syscull_calls";
	const struct analysis_result *result = prom->result;
	struct buf labels = BUF_INIT;

	for (size_t i = 0; i < result->by_call_count; i++) {
		const struct verdict_call *call = &result->by_call[i];
		uint64_t sum = 0;
		bool told = false;

		for (size_t k = 0; k < i && !told; k++)
			told = strcmp(result->by_call[k].name, call->name) == 0;
		for (size_t k = i; k < result->by_call_count && !told; k++)
			if (strcmp(result->by_call[k].name, call->name) == 0)
				sum += failed ? result->by_call[k].row.failed : result->by_call[k].row.count;
		if (told)
			continue;
		buf_clear(&labels);
		(void)buf_puts(&labels, "call=\"");
		value(&labels, call->name);
		(void)buf_putc(&labels, '"');
		sample(prom, name, buf_text(&labels), (double)sum);
	}
	buf_done(&labels);
}

/* Findings of one rule and tier, which are few. */
struct prom_rule {
	const struct rule *rule;
	const char *tier;
	double calls, cost_ns;
};

static int sum_findings(const struct analysis_result *result, struct prom_rule **ret, size_t *ret_count)
{
	VEC(struct prom_rule) sums = { 0 };

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct verdict_finding *verdict = &result->findings[i];
		const struct finding *finding = verdict->finding;
		struct prom_rule *sum = NULL;

		for (size_t k = 0; k < sums.used && !sum; k++)
			if (sums.at[k].rule == finding->rule && strcmp(sums.at[k].tier, word_tier(finding)) == 0)
				sum = &sums.at[k];
		if (!sum) {
			if (!vec_push(&sums, ((struct prom_rule){ finding->rule, word_tier(finding), 0, 0 }))) {
				vec_done(&sums);
				return -ENOMEM;
			}
			sum = &sums.at[sums.used - 1];
		}
		sum->calls += (double)finding->calls;
		sum->cost_ns += verdict->cost_ns;
	}
	*ret = sums.at;
	*ret_count = sums.used;
	return 0;
}

static int findings(const struct prom *prom)
{
	struct prom_rule *sums = NULL;
	struct buf labels = BUF_INIT;
	size_t count = 0;

	if (sum_findings(prom->result, &sums, &count) < 0)
		return -ENOMEM;
	single(prom, "syscull_findings_worth", "Findings that are worth fixing.", (double)prom->result->worth_count);
	for (int cost = 0; cost <= 1 && count > 0; cost++) {
		const char *name = cost ? "syscull_finding_cost_seconds" : "syscull_finding_calls";

		head(prom, name, cost ? "What these calls cost, estimated." : "Calls of findings, by rule.");
		for (size_t i = 0; i < count; i++) {
			buf_clear(&labels);
			(void)buf_printf(&labels, "rule=\"%s\",tier=\"%s\"", sums[i].rule->id, sums[i].tier);
			sample(prom, name, buf_text(&labels), cost ? sums[i].cost_ns / 1e9 : sums[i].calls);
		}
	}
	buf_done(&labels);
	free(sums);
	return 0;
}

static void put_check(const struct prom *prom, const struct check *check)
{
	states(prom, check);
	single(prom, "syscull_check_exit_status", "The status that the check ended with.", check->exit_status);
	if (check->command_known)
		single(prom, "syscull_command_status", "The status that the command ended with, 128 and more a signal.",
		       check->command_status);
	budgets(prom, check);
}

static void put_run(const struct prom *prom)
{
	const struct analysis_facts *facts = &prom->result->facts;

	if (facts->exit_known)
		single(prom, "syscull_command_status", "The status that the command ended with, 128 and more a signal.",
		       facts->exit_signal ? 128 + facts->exit_signal : facts->exit_status);
}

static int prom_write(FILE *out, const struct analysis_result *result, const struct report_options *options)
{
	struct prom prom = { .out = out, .result = result };
	struct buf report = BUF_INIT;
	int r = 0;

	(void)buf_puts(&report, "report=\"");
	value(&report, options->name ? options->name : "");
	(void)buf_putc(&report, '"');
	prom.report = buf_text(&report);
	if (result->check)
		put_check(&prom, result->check);
	else
		put_run(&prom);
	single(&prom, "syscull_books_complete", "Whether everything that was watched was counted.", result->complete);
	if (result->by_call_count > 0) {
		head(&prom, "syscull_calls", "Calls that were watched, by name; what was not watched is absent.");
		calls(&prom, false);
		head(&prom, "syscull_calls_failed", "Those of them that failed.");
		calls(&prom, true);
	}
	/* With a scope no rule runs, which is not the same as no finding. */
	if (!result->facts.scope)
		r = findings(&prom);
	buf_done(&report);
	return r < 0 ? r : stream_flush(out);
}

const struct reporter reporter_prom = {
	.name = "prom",
	.title = "counts and verdict for a textfile of Prometheus' node_exporter",
	.machine = true,
	.write = prom_write,
};
