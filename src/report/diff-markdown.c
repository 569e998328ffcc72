/* SPDX-License-Identifier: BSD-2-Clause */
/* Before and after, for a commit message. */
#include <errno.h>
#include <string.h>

#include "base/stream.h"
#include "base/text.h"
#include "report/diff.h"
#include "report/words.h"

static const char *time_of(double ns, char out[static TEXT_NUMBER_MAX])
{
	return ns < 0 ? "?" : text_ns(ns, out);
}

static void row(FILE *out, const char *name, uint64_t before, uint64_t after, double ns_before, double ns_after)
{
	char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];

	(void)fputs("| ", out);
	word_markdown(out, name);
	(void)fprintf(out, " | %s | %s |", text_count(before, a), text_count(after, b));
	if (before > 0)
		(void)fprintf(out, " %+.0f %% |", 100.0 * ((double)after - (double)before) / (double)before);
	else
		(void)fputs(" new |", out);
	(void)fprintf(out, " %s | %s |\n", time_of(ns_before, a), time_of(ns_after, b));
}

int diff_markdown_write(FILE *out, const struct compare *compare, bool all, const struct tty *tty)
{
	(void)tty;
	(void)fputs("| call | before | after | change | time before | time after |\n"
		    "| --- | ---: | ---: | ---: | ---: | ---: |\n",
		    out);
	for (size_t i = 0; i < compare->calls.used; i++) {
		const struct compare_call *call = &compare->calls.at[i];

		if (all || call->before != call->after || call->failed_before != call->failed_after)
			row(out, call->name, call->before, call->after, call->ns_before, call->ns_after);
	}
	row(out, "all", compare->calls_before, compare->calls_after, compare->ns_before, compare->ns_after);
	for (size_t i = 0; i < compare->findings.used; i++) {
		const struct compare_finding *one = &compare->findings.at[i];
		const struct snapshot_finding *shown = one->after ? one->after : one->before;
		char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];

		if (!all && one->change == COMPARE_SAME)
			continue;
		(void)fprintf(out, "%s- %s: ", i == 0 ? "\n" : "", compare_change_name(one->change));
		word_markdown(out, shown->rule);
		(void)fprintf(out, ", %s to %s calls; ", text_count(one->calls_before, a),
			      text_count(one->calls_after, b));
		word_markdown(out, shown->what);
		(void)fputc('\n', out);
	}
	for (size_t i = 0; i < compare->differences.used; i++) {
		(void)fputs(i == 0 ? "\nNot the same beside: " : "; ", out);
		word_markdown(out, compare->differences.at[i]);
	}
	(void)fputs(compare->differences.used > 0 ? ".\n" : "", out);
	return stream_flush(out);
}

const struct diff_reporter diff_reporter_list[] = {
	{ "text", diff_text_write },
	{ "json", diff_json_write },
	{ "markdown", diff_markdown_write },
	{ 0 },
};

const struct diff_reporter *diff_reporter_by_name(const char *name)
{
	for (size_t i = 0; diff_reporter_list[i].name; i++) {
		if (strcmp(diff_reporter_list[i].name, name) == 0)
			return &diff_reporter_list[i];
	}
	return NULL;
}
