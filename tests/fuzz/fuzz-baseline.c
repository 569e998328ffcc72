/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of baselines on any bytes.  What it takes is in order, and a
 * baseline merged with itself is itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/analysis.h"
#include "verdict/baseline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void same(const struct baseline *a, const struct baseline *b)
{
	must(a->calls.used == b->calls.used && a->findings.used == b->findings.used);
	for (size_t i = 0; i < a->calls.used; i++)
		must(strcmp(a->calls.at[i].name, b->calls.at[i].name) == 0 &&
		     a->calls.at[i].count == b->calls.at[i].count);
	for (size_t i = 0; i < a->findings.used; i++)
		must(strcmp(a->findings.at[i].fingerprint, b->findings.at[i].fingerprint) == 0 &&
		     a->findings.at[i].calls == b->findings.at[i].calls);
}

static void merge(enum baseline_merge how, const struct buf *text, const struct baseline *baseline)
{
	struct buf merged = BUF_INIT;
	struct baseline again;

	must(baseline_merge(how, "old", text, text, &merged, NULL) == 0);
	must(baseline_parse(&again, "merged", merged.data, merged.bytes, NULL) == 0);
	same(baseline, &again);
	baseline_done(&again);
	buf_done(&merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct analysis_result result = { .complete = true };
	struct baseline_changes changes;
	struct buf text = BUF_INIT;
	struct baseline baseline;
	struct error err = { 0 };

	(void)buf_add(&text, data, size);
	if (baseline_parse(&baseline, "f", text.data ? text.data : "", text.bytes, &err) < 0) {
		must(err.code > 0 && *err.text && !strchr(err.text, '\n'));
		buf_done(&text);
		return 0;
	}
	for (size_t i = 1; i < baseline.calls.used; i++)
		must(strcmp(baseline.calls.at[i - 1].name, baseline.calls.at[i].name) < 0);
	for (size_t i = 1; i < baseline.findings.used; i++)
		must(strcmp(baseline.findings.at[i - 1].fingerprint, baseline.findings.at[i].fingerprint) < 0);
	if (baseline_compare(&baseline, &result, &changes, NULL) == 0) {
		must(changes.items.used == 0);
		must(changes.fewer == baseline.calls.used + baseline.findings.used);
		baseline_changes_done(&changes);
	}
	merge(BASELINE_RAISE, &text, &baseline);
	merge(BASELINE_LOWER, &text, &baseline);
	baseline_done(&baseline);
	buf_done(&text);
	return 0;
}
