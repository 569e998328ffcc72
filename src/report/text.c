/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report for people: what ran, honest time, the verdict, the findings,
 * the calls, the books, what to type next.  The wanted shape is in the
 * manual; what is not known is left out.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/text-parts.h"
#include "report/words.h"

#define WAITING_MATTERS 0.01 /* of the untraced time */

void text_label(struct text *text, const char *label)
{
	term_put(&text->term, TERM_TITLE, label);
	term_to(&text->term, TEXT_LABEL);
}

void text_labelled(struct text *text, const char *label, enum term_style style, const char *format, ...)
{
	struct buf line = BUF_INIT;
	va_list args;

	va_start(args, format);
	(void)buf_vprintf(&line, format, args);
	va_end(args);
	text_label(text, label);
	term_wrap(&text->term, style, buf_text(&line), TEXT_LABEL, text->term.width, 0);
	term_end(&text->term);
	buf_done(&line);
}

static void command_words(struct text *text, struct buf *buf, char *const *argv)
{
	for (size_t i = 0; argv[i]; i++) {
		if (i > 0)
			(void)buf_putc(buf, ' ');
		(void)text_shell_word(buf, argv[i], strlen(argv[i]), text->term.tty.utf8);
		/* Far beyond a line: it is cut there anyway. */
		if (buf->bytes > 4096)
			break;
	}
}

static void outcome(const struct analysis_facts *facts, struct buf *buf)
{
	char name[SYS_NAME_MAX];

	if (!facts->exit_known)
		return;
	if (facts->exit_signal > 0)
		(void)buf_printf(buf, "killed by %s, ", sys_signal_print(facts->exit_signal, name));
	else
		(void)buf_printf(buf, "exit %d, ", facts->exit_status);
}

/* The name that it was started by, where that is a link to its program: redis-server,
 * whose file is redis-check-rdb.  Titles that programs write over their words follow a blank. */
static void put_name(const struct model_process *process, struct buf *buf)
{
	const char *exe = process->exe->path;
	char *word = process->argv ? strndup(process->argv, strcspn(process->argv, " :")) : NULL;
	char *real = word && *word == '/' ? realpath(word, NULL) : NULL;

	(void)buf_printf(buf, " (%s)", rule_base_name(real && strcmp(real, exe) == 0 ? word : exe));
	free(real);
	free(word);
}

/* "attached to 1234 (nginx), 1235 (nginx)". */
static void attached_words(const struct analysis_result *result, struct buf *buf)
{
	(void)buf_puts(buf, "attached");
	for (size_t i = 0; i < result->facts.pid_count && buf->bytes < 400; i++) {
		const struct model_process *process;
		size_t n = 0;

		while ((process = model_process_at(result->model, n)) &&
		       process->pid != (uint32_t)result->facts.pids[i])
			n++;
		(void)buf_printf(buf, "%s %d", i ? "," : " to", (int)result->facts.pids[i]);
		if (process)
			put_name(process, buf);
	}
}

/* The command gives way when the line is too long, the rest never. */
static void head_line(struct text *text)
{
	const struct analysis_result *result = text->result;
	struct term *term = &text->term;
	struct buf command = BUF_INIT, rest = BUF_INIT;
	unsigned columns;

	if (result->facts.argv && result->facts.argv[0])
		command_words(text, &command, result->facts.argv);
	else
		attached_words(result, &command);
	(void)buf_puts(&rest, ": ");
	outcome(&result->facts, &rest);
	word_scale(&rest, result);
	columns = term_columns(term, buf_text(&rest));
	term_cut(term, TERM_TITLE, buf_text(&command), columns < term->width ? term->width - columns : 0, false);
	term_put(term, TERM_PLAIN, buf_text(&rest));
	term_end(term);
	buf_done(&command);
	buf_done(&rest);
}

/* The shares of this report are of the time on CPUs, which is user and in
 * calls together.  With several tasks these are sums over all of them and can
 * be more than the time that passed; then they mostly wait for each other,
 * and how long in sum says nothing. */
static void time_line(struct text *text)
{
	const struct analysis_result *result = text->result;
	double waiting_ns = result->untraced_ns - result->task_ns;
	char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];
	struct buf line = BUF_INIT;

	if (result->facts.calls_only) {
		text_labelled(text, "Time", TERM_PLAIN, "about %s in calls; what else it took is not in the log",
			      text_ns(result->calls_ns, a));
		return;
	}
	(void)buf_printf(&line, "about %s untraced", text_ns(result->untraced_ns, a));
	if (result->tasks > 1)
		(void)buf_printf(&line, "; on CPUs %s", text_ns(result->task_ns, a));
	(void)buf_printf(&line, ": %s user, %s in calls", text_ns(result->user_ns, a), text_ns(result->calls_ns, b));
	if (result->tasks <= 1 && waiting_ns > 0 && waiting_ns >= WAITING_MATTERS * result->untraced_ns)
		(void)buf_printf(&line, ", %s waiting", text_ns(waiting_ns, a));
	(void)buf_printf(&line, " (traced %s%s)", text_ns((double)result->facts.wall_ns, b),
			 result->stop_guessed ? "; rough, too few calls" : "");
	text_labelled(text, "Time", TERM_PLAIN, "%s", buf_text(&line));
	buf_done(&line);
}

static void waste_line(struct text *text)
{
	const struct analysis_result *result = text->result;
	uint64_t findings = result->worth_count + result->below_count;
	char ns[TEXT_NUMBER_MAX], share[TEXT_NUMBER_MAX], below[TEXT_NUMBER_MAX];
	char calls[TEXT_PLURAL_MAX], worth[TEXT_PLURAL_MAX];

	(void)text_ns(result->waste_ns, ns);
	(void)text_share(result->task_ns > 0 ? result->waste_ns / result->task_ns : 0, share);
	(void)text_plural(result->waste_calls, "call", "calls", calls, sizeof calls);
	if (!result->complete)
		text_labelled(text, "Waste", TERM_PLAIN, "not judged, because the books are not complete; %s seen",
			      text_plural(findings, "finding", "findings", worth, sizeof worth));
	else if (findings == 0)
		text_labelled(text, "Waste", TERM_PLAIN, "none worth fixing");
	else if (result->worth_count == 0)
		text_labelled(text, "Waste", TERM_PLAIN, "none worth fixing; %s (%s) in %s, %s below the floor", ns,
			      share, calls,
			      text_plural(result->below_count, "finding", "findings", worth, sizeof worth));
	else
		text_labelled(text, "Waste", TERM_PLAIN, "%s (%s) in %s; %s worth fixing, %s below the floor", ns,
			      share, calls,
			      text_plural(result->worth_count, "finding", "findings", worth, sizeof worth),
			      text_count(result->below_count, below));
}

/* Before anything else: what follows cannot be relied on. */
static void books_warning(struct text *text)
{
	const struct analysis_result *result = text->result;

	if (result->complete)
		return;
	text_labelled(text, "Beware", TERM_ALARM, "the books are not %s: %s", result->closed ? "complete" : "closed",
		      result->books_why[0] ? result->books_why : "reason not known");
}

static void books_line(struct text *text)
{
	const struct analysis_facts *facts = &text->result->facts;
	char number[5][TEXT_NUMBER_MAX], marks[TEXT_PLURAL_MAX];
	const char *state = !text->result->closed     ? "not closed"
			    : !text->result->complete ? "closed, not complete"
						      : "closed";

	text_labelled(text, "Books", TERM_PLAIN, "%s: %s seen %s %s analysed + %s lost + %s in flight%s%s", state,
		      text_count(facts->seen, number[0]), text->result->closed ? "=" : "against",
		      text_count(facts->delivered, number[1]), text_count(facts->lost, number[2]),
		      text_count(facts->in_flight, number[3]), facts->marks ? " + " : "",
		      facts->marks ? text_plural(facts->marks, "mark", "marks", marks, sizeof marks) : "");
}

static void notes(struct text *text)
{
	const struct analysis_result *result = text->result;
	const struct analysis_facts *facts = &result->facts;
	char a[TEXT_PLURAL_MAX], b[TEXT_NUMBER_MAX];

	if (facts->not_followed > 0)
		text_labelled(text, "Note", TERM_PLAIN, "%s of %s ran untraced", text_count(facts->not_followed, b),
			      text_plural(facts->children, "child", "children", a, sizeof a));
	if (facts->let_go > 0)
		text_labelled(text, "Note", TERM_PLAIN, "%s still running, let go",
			      text_plural(facts->let_go, "task was", "tasks were", a, sizeof a));
	for (size_t i = 0; i < sizeof facts->warnings / sizeof facts->warnings[0] && facts->warnings[i]; i++)
		text_labelled(text, "Note", TERM_PLAIN, "%s", facts->warnings[i]);
	if (facts->state_errors > 0)
		text_labelled(text, "Note", TERM_PLAIN, "%s could not be read",
			      text_plural(facts->state_errors, "piece of state", "pieces of state", a, sizeof a));
	if (facts->stacks_left_out > 0)
		text_labelled(text, "Note", TERM_PLAIN, "%s left out, %s were made: there was no room for more",
			      text_plural(facts->stacks_left_out, "copy of a stack was", "copies of stacks were", a,
					  sizeof a),
			      text_count(facts->stacks, b));
	if (facts->stacks_unread > 0)
		text_labelled(text, "Note", TERM_PLAIN, "%s could not be read",
			      text_plural(facts->stacks_unread, "stack", "stacks", a, sizeof a));
	if (facts->callers_unknown > 0)
		text_labelled(text, "Note", TERM_PLAIN, "of %s callers are known as sampled: too many ran at a time",
			      text_plural(facts->callers_unknown, "program", "programs", a, sizeof a));
	if (result->model_losses > 0)
		text_labelled(text, "Note", TERM_PLAIN, "%s could not be kept%s%s",
			      text_plural(result->model_losses, "thing", "things", a, sizeof a),
			      result->model_limit ? ": limit of " : "", result->model_limit ? result->model_limit : "");
	if (result->sites_trouble)
		text_labelled(text, "Note", TERM_PLAIN, "%s", result->sites_trouble);
	if (result->evicted > 0)
		text_labelled(text, "Note", TERM_PLAIN, "rules gave up %s for want of room",
			      text_plural(result->evicted, "key", "keys", a, sizeof a));
	if (text->options->output_note)
		text_labelled(text, "Note", TERM_PLAIN, "%s", text->options->output_note);
}

static void verbose_lines(struct text *text)
{
	const struct analysis_result *result = text->result;
	char ns[TEXT_NUMBER_MAX], least[TEXT_NUMBER_MAX], enough[TEXT_NUMBER_MAX], share[TEXT_NUMBER_MAX];

	if (result->facts.engine && result->in_kernel)
		text_labelled(text, "Engine", TERM_PLAIN, "%s%s%s; times are taken in the kernel", result->facts.engine,
			      result->facts.engine_why ? ": " : "",
			      result->facts.engine_why ? result->facts.engine_why : "");
	else if (result->facts.engine)
		text_labelled(text, "Engine", TERM_PLAIN, "%s%s%s; %s a stop%s%s", result->facts.engine,
			      result->facts.engine_why ? ": " : "",
			      result->facts.engine_why ? result->facts.engine_why : "", text_ns(result->stop_ns, ns),
			      result->stop_guessed ? " (a guess)" : "",
			      result->facts.pinned ? ", pinned to one CPU" : "");
	text_labelled(text, "Floor", TERM_PLAIN,
		      "worth fixing is what saves %s of the task time and at least %s, or %s in all",
		      text_share(result->floor.share, share), text_ns((double)result->floor.least_ns, least),
		      text_ns((double)result->floor.enough_ns, enough));
}

/* A command that does not fit would not be one when it is cut or wrapped. */
static void budget_line(struct text *text, unsigned column)
{
	const struct verdict_budget *budget = &text->result->next_budget;
	struct buf line = BUF_INIT;
	unsigned columns;

	if (budget->what[0] && text->result->facts.argv && !text->result->facts.calls_only) {
		(void)buf_printf(&line, "syscull check --max %s=%" PRIu64 " -- ", budget->what, budget->limit);
		command_words(text, &line, text->result->facts.argv);
		columns = term_columns(&text->term, buf_text(&line));
		if (column + 3 + columns <= text->term.width) {
			term_put(&text->term, TERM_PLAIN, " | ");
			term_put(&text->term, TERM_PLAIN, buf_text(&line));
		} else if (TEXT_LABEL + columns <= text->term.width) {
			term_end(&text->term);
			term_to(&text->term, TEXT_LABEL);
			term_put(&text->term, TERM_PLAIN, buf_text(&line));
		}
	}
	buf_done(&line);
}

static void next_line(struct text *text)
{
	if (text->result->finding_count == 0)
		return;
	text_label(text, "Next");
	term_printf(&text->term, TERM_PLAIN, "syscull explain %s", text->result->findings[0].finding->rule->id);
	budget_line(text, text->term.column);
	term_end(&text->term);
}

static int text_write(FILE *out, const struct analysis_result *result, const struct report_options *options)
{
	struct text text = { .result = result, .options = options };

	if (result->check)
		return text_check(out, result, options);
	if (options->quiet && result->complete && result->worth_count == 0)
		return 0;
	term_init(&text.term, out, &options->tty);
	books_warning(&text);
	head_line(&text);
	time_line(&text);
	waste_line(&text);
	text_suppressed(&text);
	text_findings(&text);
	if (!options->quiet) {
		term_end(&text.term);
		text_calls(&text);
		term_end(&text.term);
		if (options->by_site)
			text_sites(&text);
		if (options->by_exe) {
			text_programs(&text);
			term_end(&text.term);
		}
		if (options->by_region) {
			text_regions(&text);
			term_end(&text.term);
		}
		books_line(&text);
		notes(&text);
		if (options->verbose)
			verbose_lines(&text);
		next_line(&text);
	}
	return term_done(&text.term);
}

const struct reporter reporter_text = {
	.name = "text",
	.title = "for people, on a terminal",
	.write = text_write,
};
