/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: case-json CASE: a golden case as JSON on stdout; with --redacted, as
 * --redact argv,paths,users has it; with --baseline, as a baseline. */
#include <stdio.h>
#include <string.h>

#include "golden-cases.h"
#include "report/redact.h"

int main(int argc, char **argv)
{
	const struct reporter *reporter = reporter_by_name("json");
	unsigned redact = 0;
	struct golden *golden = argc > 1 ? golden_new(argv[argc - 1]) : NULL;
	const struct analysis_result *result = golden ? &golden->result : NULL;
	struct redacted *redacted = NULL;
	int r;

	if (!golden || !reporter) {
		(void)fprintf(stderr, "no such case\n");
		return 1;
	}
	if (argc > 2 && strcmp(argv[1], "--redacted") == 0)
		redact = REDACT_ARGV | REDACT_PATHS | REDACT_USERS;
	else if (argc > 2 && strcmp(argv[1], "--baseline") == 0)
		redact = REDACT_BASELINE;
	if (redact) {
		redacted = redact_result(result, redact);
		if (!redacted)
			return 1;
		result = redacted_result(redacted);
	}
	r = reporter->write(stdout, result, &golden->options);
	redacted_free(redacted);
	golden_free(golden);
	return r < 0 || fflush(stdout) != 0;
}
