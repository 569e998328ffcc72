/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report of counted calls for people: what was watched, the calls with
 * their times, programs and cgroups, the books.
 */
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "report/counted.h"
#include "report/term.h"

#define LABEL 8
#define NAME_COLUMNS 18
#define COLUMN_COLUMNS 10
#define FAILED_COLUMNS 9
#define CALLS_SHOWN 10
#define PARTS_SHOWN 8
#define INTERVAL_CALLS 5
#define ERRORS_INDENT 2

static void labelled(struct term *term, const char *label, enum term_style style, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void labelled(struct term *term, const char *label, enum term_style style, const char *format, ...)
{
	struct buf line = BUF_INIT;
	va_list args;

	va_start(args, format);
	(void)buf_vprintf(&line, format, args);
	va_end(args);
	term_put(term, TERM_TITLE, label);
	term_to(term, LABEL);
	term_wrap(term, style, buf_text(&line), LABEL, term->width, 0);
	term_end(term);
	buf_done(&line);
}

static void what_was_watched(const struct term *term, const struct counted_facts *facts, struct buf *buf)
{
	switch (facts->what) {
	case COUNTED_COMMAND:
		for (size_t i = 0; facts->argv[i] && buf->bytes < 4096; i++) {
			if (i > 0)
				(void)buf_putc(buf, ' ');
			(void)text_shell_word(buf, facts->argv[i], strlen(facts->argv[i]), term->tty.utf8);
		}
		break;
	case COUNTED_PROCESSES:
		(void)buf_puts(buf, "attached to");
		for (size_t i = 0; i < facts->pid_count && buf->bytes < 400; i++)
			(void)buf_printf(buf, "%s %d", i ? "," : "", facts->pids[i]);
		break;
	case COUNTED_CGROUP:
		(void)buf_puts(buf, "cgroup ");
		term_foreign(term, buf, facts->cgroup);
		break;
	case COUNTED_SYSTEM:
		(void)buf_puts(buf, "the whole machine but ourselves");
		break;
	}
}

/* What was watched gives way when the line is too long, the rest never. */
static void head_line(struct term *term, const struct counted *counted, const struct counted_facts *facts)
{
	struct buf what = BUF_INIT, rest = BUF_INIT;
	char number[TEXT_NUMBER_MAX + 16], name[SYS_NAME_MAX];
	unsigned columns;

	what_was_watched(term, facts, &what);
	(void)buf_puts(&rest, ": ");
	if (facts->exit_known && facts->exit_signal > 0)
		(void)buf_printf(&rest, "killed by %s, ", sys_signal_print(facts->exit_signal, name));
	else if (facts->exit_known)
		(void)buf_printf(&rest, "exit %d, ", facts->exit_status);
	if (facts->what == COUNTED_COMMAND || facts->what == COUNTED_PROCESSES)
		(void)buf_printf(&rest, "%s, ",
				 text_plural(facts->processes, "process", "processes", number, sizeof number));
	(void)buf_puts(&rest, text_plural(counted->all.count, "call", "calls", number, sizeof number));
	columns = term_columns(term, buf_text(&rest));
	term_cut(term, TERM_TITLE, buf_text(&what), columns < term->width ? term->width - columns : 0, false);
	term_put(term, TERM_PLAIN, buf_text(&rest));
	term_end(term);
	buf_done(&what);
	buf_done(&rest);
}

static const char *time_text(double ns, char out[static TEXT_NUMBER_MAX])
{
	if (ns < 0)
		return "-";
	return text_ns(ns, out);
}

static void time_line(struct term *term, const struct counted *counted, const struct counted_facts *facts)
{
	char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX], c[TEXT_NUMBER_MAX], d[TEXT_NUMBER_MAX];
	uint64_t timed = 0, returned = 0;

	if (counted->all.ns < 0) {
		labelled(term, "Time", TERM_PLAIN, "%s passed; calls were counted, not timed%s",
			 text_ns((double)facts->wall_ns, a), facts->no_times ? "" : ": there were none to time");
		return;
	}
	for (size_t i = 0; i < counted->all.calls.used; i++) {
		timed += counted->all.calls.at[i].timed;
		returned += counted->all.calls.at[i].count - counted->all.calls.at[i].unreturned;
	}
	if (!counted->all.estimated) {
		labelled(term, "Time", TERM_PLAIN, "%s passed; %s in calls, waiting included",
			 text_ns((double)facts->wall_ns, a), text_ns(counted->all.ns, b));
		return;
	}
	labelled(term, "Time", TERM_PLAIN, "%s passed; about %s in calls, waiting included: %s of %s calls were timed",
		 text_ns((double)facts->wall_ns, a), text_ns(counted->all.ns, b), text_count(timed, c),
		 text_count(returned, d));
}

static void row(struct term *term, enum term_style style, const char *name, const char *const cells[6])
{
	unsigned column = NAME_COLUMNS;

	term_cut(term, style, name, NAME_COLUMNS, true);
	for (int i = 0; i < 6 && cells[i]; i++) {
		column += i == 1 ? FAILED_COLUMNS : COLUMN_COLUMNS;
		term_right(term, style, cells[i], column);
	}
	term_end(term);
}

static void errors_of(struct term *term, const struct counted_call *call)
{
	struct buf line = BUF_INIT;
	char name[SYS_NAME_MAX], number[TEXT_NUMBER_MAX];

	for (size_t i = 0; i < call->errors.used; i++)
		(void)buf_printf(&line, "%s%s %s", i ? ", " : "", text_count(call->errors.at[i].count, number),
				 sys_errno_print((int)call->errors.at[i].err, name));
	if (line.bytes > 0) {
		term_to(term, ERRORS_INDENT);
		term_wrap(term, TERM_PLAIN, buf_text(&line), ERRORS_INDENT, term->width, 0);
		term_end(term);
	}
	buf_done(&line);
}

/* Of a bucket that begins at 0 nothing more is known. */
static const char *bucket_text(double ns, char out[static TEXT_NUMBER_MAX])
{
	if (ns >= 0 && ns < 1 << COUNT_LEAST_BITS) {
		(void)snprintf(out, TEXT_NUMBER_MAX, "<%d ns", 1 << COUNT_LEAST_BITS);
		return out;
	}
	return time_text(ns, out);
}

static void call_row(struct term *term, const struct counted_call *call, bool with_errors)
{
	char count[TEXT_NUMBER_MAX], failed[TEXT_NUMBER_MAX], ns[4][TEXT_NUMBER_MAX];
	const char *cells[6] = {
		text_count(call->count, count),	  text_count(call->failed, failed),
		time_text(call->ns, ns[0]),	  bucket_text(call->p50_ns, ns[1]),
		bucket_text(call->p99_ns, ns[2]), call->timed ? text_ns((double)call->max_ns, ns[3]) : "-"
	};

	row(term, TERM_PLAIN, call->name, cells);
	if (with_errors)
		errors_of(term, call);
}

static void calls_table(struct term *term, const struct counted_table *table, size_t most, bool with_errors)
{
	static const char *const head[6] = { "count", "failed", "time", "p50", "p99", "max" };
	size_t shown = table->calls.used > most + 1 ? most : table->calls.used;
	uint64_t count = 0, failed = 0;
	double ns = 0;

	if (table->calls.used == 0)
		return;
	row(term, TERM_TITLE, "Calls", head);
	for (size_t i = 0; i < table->calls.used; i++) {
		const struct counted_call *call = &table->calls.at[i];

		if (i < shown) {
			call_row(term, call, with_errors);
			continue;
		}
		count += call->count;
		failed += call->failed;
		ns += call->ns > 0 ? call->ns : 0;
	}
	if (shown < table->calls.used) {
		char name[32], a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX], c[TEXT_NUMBER_MAX];
		const char *cells[6] = { text_count(count, a), text_count(failed, b),
					 time_text(table->ns < 0 ? -1 : ns, c), NULL };

		(void)snprintf(name, sizeof name, "%zu more", table->calls.used - shown);
		row(term, TERM_PLAIN, name, cells);
	}
}

/* "/usr/bin/dd    1,000,120    12    182 ms    read 500,006, write 500,003" */
static void part_row(struct term *term, const struct counted_part *part)
{
	char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX], c[TEXT_NUMBER_MAX];
	unsigned column = term->width - 3 * COLUMN_COLUMNS + 1;
	const struct counted_table *table = &part->table;

	term_cut(term, TERM_PLAIN, part->name ? part->name : "(not known)", column, true);
	term_right(term, TERM_PLAIN, text_count(table->count, a), column += COLUMN_COLUMNS);
	term_right(term, TERM_PLAIN, text_count(table->failed, b), column += FAILED_COLUMNS);
	term_right(term, TERM_PLAIN, time_text(table->ns, c), column + COLUMN_COLUMNS);
	term_end(term);
}

static void parts_table(struct term *term, const char *title, const struct counted_parts *parts, bool verbose)
{
	size_t most = verbose ? parts->at.used : PARTS_SHOWN;
	size_t shown = parts->at.used > most + 1 ? most : parts->at.used;
	unsigned column = term->width - 3 * COLUMN_COLUMNS + 1;
	struct counted_part rest = { 0 };

	if (parts->at.used == 0)
		return;
	term_end(term);
	term_put(term, TERM_TITLE, title);
	term_right(term, TERM_TITLE, "count", column += COLUMN_COLUMNS);
	term_right(term, TERM_TITLE, "failed", column += FAILED_COLUMNS);
	term_right(term, TERM_TITLE, "time", column + COLUMN_COLUMNS);
	term_end(term);
	for (size_t i = 0; i < shown; i++)
		part_row(term, &parts->at.at[i]);
	for (size_t i = shown; i < parts->at.used; i++) {
		const struct counted_table *table = &parts->at.at[i].table;

		rest.table.count += table->count;
		rest.table.failed += table->failed;
		rest.table.ns += table->ns > 0 ? table->ns : 0;
	}
	if (shown < parts->at.used) {
		char name[32];

		(void)snprintf(name, sizeof name, "%zu more", parts->at.used - shown);
		rest.name = name;
		part_row(term, &rest);
	}
}

static void books_line(struct term *term, const struct counted *counted, const struct counted_facts *facts)
{
	char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];

	labelled(term, "Books", TERM_PLAIN, "%s: %s seen %s %s counted",
		 !facts->closed	    ? "not closed"
		 : !facts->complete ? "closed, not complete"
				    : "closed",
		 text_count(facts->seen, a), facts->seen == counted->all.count ? "=" : "against",
		 text_count(counted->all.count, b));
}

static void notes(struct term *term, const struct counted_facts *facts)
{
	char a[TEXT_NUMBER_MAX + 40];

	for (size_t i = 0; i < facts->note_count; i++)
		labelled(term, "Note", TERM_PLAIN, "%s", facts->notes[i]);
	if (facts->running > 0)
		labelled(term, "Note", TERM_PLAIN, "%s still running, let go",
			 text_plural(facts->running, "task was", "tasks were", a, sizeof a));
	if (facts->plain > 0)
		labelled(term, "Note", TERM_PLAIN, "of %s only the number is known: the tables were full",
			 text_plural(facts->plain, "call", "calls", a, sizeof a));
	if (facts->errors_lost > 0)
		labelled(term, "Note", TERM_PLAIN, "of %s the errno is not known: the table was full",
			 text_plural(facts->errors_lost, "failure", "failures", a, sizeof a));
}

int counted_text(FILE *out, const struct counted *counted, const struct counted_facts *facts,
		 const struct report_options *options)
{
	struct term term;

	if (options->quiet && facts->complete)
		return 0;
	term_init(&term, out, &options->tty);
	if (!facts->complete)
		labelled(&term, "Warning", TERM_ALARM, "the books are not %s: %s",
			 facts->closed ? "complete" : "closed", facts->why);
	head_line(&term, counted, facts);
	time_line(&term, counted, facts);
	if (counted->all.calls.used > 0)
		term_end(&term);
	calls_table(&term, &counted->all, options->verbose ? counted->all.calls.used : CALLS_SHOWN, options->verbose);
	if (counted->exes.at.used > 1 || facts->what != COUNTED_COMMAND || options->verbose)
		parts_table(&term, "Programs", &counted->exes, options->verbose);
	parts_table(&term, "Cgroups", &counted->cgroups, options->verbose);
	term_end(&term);
	books_line(&term, counted, facts);
	notes(&term, facts);
	return term_done(&term);
}

int counted_text_interval(FILE *out, const struct counted_interval *interval, const struct report_options *options)
{
	const struct counted_table *all = &interval->counted.all;
	char a[TEXT_NUMBER_MAX + 16], b[TEXT_NUMBER_MAX], c[TEXT_NUMBER_MAX];
	struct term term;

	term_init(&term, out, &options->tty);
	term_printf(&term, TERM_TITLE, "%.1f to %.1f s", (double)interval->from_ns / 1e9,
		    (double)interval->to_ns / 1e9);
	term_printf(&term, TERM_PLAIN, ": %s, %s failed, %s%s in calls",
		    text_plural(all->count, "call", "calls", a, sizeof a), text_count(all->failed, b),
		    all->estimated && all->ns >= 0 ? "about " : "", time_text(all->ns, c));
	term_end(&term);
	calls_table(&term, all, options->verbose ? all->calls.used : INTERVAL_CALLS, false);
	term_end(&term);
	return term_done(&term);
}
