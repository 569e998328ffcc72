/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/books.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Adds one reason; the first ones are worth most, what does not fit is left out. */
static void why(struct analysis_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void why(struct analysis_result *result, const char *format, ...)
{
	char reason[sizeof result->books_why];
	size_t used = strlen(result->books_why), room = sizeof result->books_why - used;
	va_list args;
	int bytes;

	va_start(args, format);
	bytes = vsnprintf(reason, sizeof reason, format, args);
	va_end(args);
	if (bytes < 0 || (size_t)bytes + 3 > room)
		return;
	(void)snprintf(result->books_why + used, room, "%s%s", used ? "; " : "", reason);
}

void books_judge(struct analysis_result *result, uint64_t analysed, uint64_t unsplit)
{
	const struct analysis_facts *facts = &result->facts;
	uint64_t accounted = facts->delivered + facts->lost + facts->in_flight + facts->marks;
	char a[TEXT_NUMBER_MAX + 24], b[TEXT_NUMBER_MAX];

	result->books_why[0] = '\0';
	result->closed = true;
	if (facts->seen != accounted) {
		result->closed = false;
		why(result, "%s seen, %s accounted for", text_plural(facts->seen, "call", "calls", a, sizeof a),
		    text_count(accounted, b));
	}
	if (facts->delivered != analysed) {
		result->closed = false;
		why(result, "%s delivered, %s analysed", text_plural(facts->delivered, "call", "calls", a, sizeof a),
		    text_count(analysed, b));
	}
	if (facts->children != facts->followed + facts->not_followed) {
		result->closed = false;
		why(result, "%s made, %s accounted for", text_plural(facts->children, "child", "children", a, sizeof a),
		    text_count(facts->followed + facts->not_followed, b));
	}
	result->complete =
		result->closed && facts->lost == 0 && facts->lost_state == 0 && unsplit == 0 && !facts->aborted;
	if (facts->aborted)
		why(result, "%s%s", facts->file_cut ? "" : "let go early: ",
		    facts->abort_reason ? facts->abort_reason : "an error of ours");
	if (facts->lost > 0)
		why(result, "%s lost", text_plural(facts->lost, "call", "calls", a, sizeof a));
	if (facts->lost_state > 0)
		why(result, "%s not told of",
		    text_plural(facts->lost_state, "fork, exec or end", "forks, execs or ends", a, sizeof a));
	if (unsplit > 0)
		why(result, "%s counted in the total only", text_plural(unsplit, "call", "calls", a, sizeof a));
}
