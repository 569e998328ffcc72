/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A check as workflow commands of GitHub Actions: a line each, which shows as
 * an annotation.  No text of others can end such a line or begin another one.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/stream.h"
#include "report/check-parts.h"
#include "report/words.h"

#define ANNOTATIONS_MAX 10 /* of one level, GitHub shows no more of a step */

struct annotations {
	struct buf text;
	size_t written, left_out;
	size_t most; /* that may be written: one less when some are left out */
};

/* In properties ':' and ',' end what they stand in; '%', CR and LF everywhere. */
static void escape(struct buf *out, const char *text, bool property)
{
	for (const char *p = text; *p; p++) {
		if (*p == '%' || *p == '\r' || *p == '\n' || (property && (*p == ':' || *p == ',')))
			(void)buf_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
		else
			(void)buf_putc(out, *p);
	}
}

static void annotate(struct annotations *all, const char *level, const char *title, const char *message)
{
	if (all->written >= all->most) {
		all->left_out++;
		return;
	}
	all->written++;
	(void)buf_printf(&all->text, "::%s title=", level);
	escape(&all->text, title, true);
	(void)buf_puts(&all->text, "::");
	escape(&all->text, message, false);
	(void)buf_putc(&all->text, '\n');
}

static void reason(struct annotations *all, const char *level, const char *title, const char *text)
{
	struct buf message = BUF_INIT;

	word_harmless(&message, text);
	annotate(all, level, title, buf_text(&message));
	buf_done(&message);
}

static void budget(struct annotations *all, const struct analysis_result *result, const struct budget_verdict *verdict,
		   const char *unjudged)
{
	const struct check *check = result->check;
	struct buf title = BUF_INIT, message = BUF_INIT;
	const char *level = "error";

	(void)buf_puts(&title, "syscull: ");
	check_title(&title, verdict->budget);
	if (verdict->state == BUDGET_BROKEN) {
		check_said(&message, verdict);
		for (size_t i = 0; i < verdict->top_count; i++) {
			(void)buf_putc(&message, '\n');
			check_contributor(&message, verdict, i);
		}
	} else if (verdict->state == BUDGET_CANNOT_JUDGE) {
		level = unjudged;
		(void)buf_puts(&message, "cannot judge: ");
		check_said(&message, verdict);
	} else if (check_idle(check, verdict)) {
		level = "notice";
		(void)buf_printf(&message, "not exercised: %s; a --canary would prove that the work was done",
				 check_idle_why(result, verdict));
	}
	if (message.bytes > 0)
		annotate(all, level, buf_text(&title), buf_text(&message));
	buf_done(&title);
	buf_done(&message);
}

static void collect(struct annotations *all, const struct analysis_result *result)
{
	const struct check *check = result->check;
	const char *unjudged = check_unjudged_fails(check) ? "error" : "warning";

	for (size_t i = 0; i < check->run_count && i < check->reasons.used; i++)
		reason(all, unjudged, "syscull: cannot judge", check->reasons.at[i]);
	/* What is broken first, if not all can be said. */
	for (size_t i = 0; i < check->budget_count; i++)
		if (check->budgets[i].state == BUDGET_BROKEN)
			budget(all, result, &check->budgets[i], unjudged);
	for (size_t i = 0; i < check->beside_count; i++)
		reason(all, "error", "syscull: baseline", check->reasons.at[check->unjudged_count + i]);
	all->left_out += check->reasons_left_out;
	for (size_t i = 0; i < check->budget_count; i++)
		if (check->budgets[i].state != BUDGET_BROKEN)
			budget(all, result, &check->budgets[i], unjudged);
}

static int github_write(FILE *out, const struct analysis_result *result, const struct report_options *options)
{
	struct annotations all = { .most = ANNOTATIONS_MAX };
	int r = 0;

	(void)options;
	if (!result->check)
		return -EINVAL;
	collect(&all, result);
	if (all.left_out > 0) {
		buf_done(&all.text);
		all = (struct annotations){ .most = ANNOTATIONS_MAX - 1 };
		collect(&all, result);
		(void)buf_printf(&all.text, "::notice title=syscull::and %zu more; GitHub shows %d of a step\n",
				 all.left_out, ANNOTATIONS_MAX);
	}
	if (all.text.failed)
		r = -ENOMEM;
	/* At once: other checks of the same step write there too. */
	else if (all.text.bytes > 0 && fwrite(all.text.data, 1, all.text.bytes, out) != all.text.bytes)
		r = stream_flush(out);
	buf_done(&all.text);
	return r;
}

const struct reporter reporter_github = {
	.name = "github",
	.title = "annotations of GitHub Actions, at most ten, and a summary",
	.verdict = true,
	.write = github_write,
};
