/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull show: the calls of a recorded run, in strace's syntax or as columns
 * for other tools.  In the order in which they ended, as the file has them.
 * 0 something was shown, 1 nothing, 2 trouble.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/replay.h"
#include "cmd/view.h"
#include "event/call-text.h"

#define EXIT_NOTHING 1
#define EXIT_TROUBLE 2
#define PIDS_MAX 64

enum { OPT_FILES = 256, OPT_FINDING, OPT_FORMAT, OPT_PID };

static const struct opt show_options[] = {
	{ 'e', "trace", "EXPR", "these calls only: names, %classes, @families, !not" },
	{ 'P', "path", "PATH", "calls on PATH only (repeatable)" },
	{ VIEW_FAILED, "failed", NULL, "failed calls only" },
	{ OPT_FILES, "files", NULL, "the file behind a descriptor too, as strace -y" },
	{ OPT_FINDING, "finding", "N", "the calls of the report's finding N" },
	{ OPT_FORMAT, "format", "FORMAT", "strace, or tsv: columns for programs" },
	{ OPT_PID, "pid", "PID", "calls of this process or thread only (repeatable)" },
	{ 'h', "help", NULL, "this text" },
	{ 0, NULL, NULL, NULL },
};

struct show {
	struct view view; /* its filter alone */
	bool help, tsv, files;
	bool unwritten; /* stdout takes no more */
	long finding; /* 0: all calls */
	uint32_t pids[PIDS_MAX];
	unsigned pid_count;

	struct model *model;
	const struct finding *wanted;
	bool sites_tell; /* the finding's sites are all there are */
	uint64_t first_ns, shown;
	struct buf line;
};

static int set_option(void *data, int letter, const char *value, struct error *err)
{
	struct show *s = data;
	long number = 0;
	int r;

	switch (letter) {
	case 'h':
		s->help = true;
		return 0;
	case OPT_FILES:
		s->files = true;
		return 0;
	case OPT_FINDING:
		return command_number("--finding", value, 1, INT_MAX, &s->finding, err);
	case OPT_FORMAT:
		if (strcmp(value, "tsv") != 0 && strcmp(value, "strace") != 0)
			return error_set(err, EINVAL, "--format wants strace or tsv, not '%s'", value);
		s->tsv = value[0] == 't';
		return 0;
	case OPT_PID:
		if (s->pid_count == PIDS_MAX)
			return error_set(err, E2BIG, "--pid: at most %d", PIDS_MAX);
		r = command_number("--pid", value, 1, INT_MAX, &number, err);
		if (r == 0)
			s->pids[s->pid_count++] = (uint32_t)number;
		return r;
	default:
		return view_option(&s->view, letter, value, err);
	}
}

static bool has_pid(const struct show *s, const struct event_head *head)
{
	for (unsigned i = 0; i < s->pid_count; i++)
		if (s->pids[i] == head->pid || s->pids[i] == head->tid)
			return true;
	return s->pid_count == 0;
}

static bool has_cost(const struct finding *finding, const struct model_view *view)
{
	for (size_t i = 0; i < finding->costs.used; i++)
		if (finding->costs.at[i].call == view->id && finding->costs.at[i].err == view->err)
			return true;
	return false;
}

static bool has_site(struct show *s, const struct model_view *view)
{
	const struct finding *finding = s->wanted;
	const char *module = NULL;
	uint64_t offset;

	if (!s->sites_tell)
		return true;
	if (!model_locate(s->model, view->process, view->call->ip, &module, &offset)) {
		module = NULL;
		offset = view->call->ip;
	}
	for (size_t i = 0; i < finding->sites.used; i++) {
		const char *known = finding->sites.at[i].module;

		if (finding->sites.at[i].offset == offset &&
		    (known && module ? !strcmp(known, module) : known == module))
			return true;
	}
	return false;
}

static bool has_place(const struct finding *finding, const struct model_view *view)
{
	if (!finding->place || *finding->place != '/')
		return true;
	if (view->path && view->path->absolute)
		return filter_is_at(finding->place, view->path->text);
	return !view->file || !view->file->path || filter_is_at(finding->place, view->file->path);
}

/* A finding is kept as counts: its calls are those of its process that are
 * the same call with the same end, from its places in the program, on its files. */
static bool is_wanted(struct show *s, const struct model_view *view)
{
	const struct finding *finding = s->wanted;

	if (finding->process_id != 0 && view->process->id != finding->process_id)
		return false;
	if (finding->process_id == 0 && finding->exe && strcmp(finding->exe, view->process->exe->path) != 0)
		return false;
	return has_cost(finding, view) && has_site(s, view) && has_place(finding, view);
}

static void put_time(struct buf *out, uint64_t ns)
{
	(void)buf_printf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

static void put_path(struct buf *out, const struct model_path *path)
{
	(void)buf_putc(out, '\t');
	if (path)
		(void)text_escape(out, path->text, path->bytes, '\0', true);
}

static void put_columns(struct show *s, const struct model_view *view, const struct event_call *call)
{
	struct buf *out = &s->line;
	char name[SYS_NAME_MAX];

	(void)buf_printf(out, "%" PRIu64 "\t%u\t%u\t%s\t", call->head.time_ns - s->first_ns, call->head.pid,
			 call->head.tid, sys_call_print((enum sys_arch)call->arch, call->nr, name));
	if (call->head.flags & (EVENT_F_UNFINISHED | EVENT_F_KILLED))
		(void)buf_puts(out, "\t\t");
	else
		(void)buf_printf(out, "%" PRId64 "\t%s\t", view->err ? -1 : call->ret,
				 view->err ? sys_errno_print(view->err, name) : "");
	(void)buf_printf(out, "%" PRIu64 "\t0x%" PRIx64, call->duration_ns, call->ip);
	put_path(out, view->path);
	put_path(out, view->path2);
	(void)buf_putc(out, '\t');
	if (view->file && view->file->path)
		(void)text_escape(out, view->file->path, strlen(view->file->path), '\0', true);
	(void)buf_putc(out, '\t');
}

static void put_call(struct show *s, const struct model_view *view, const struct event_call *call)
{
	struct event_call_style style = { .full = true };

	buf_clear(&s->line);
	if (s->tsv) {
		put_columns(s, view, call);
	} else {
		(void)buf_printf(&s->line, "%-5u ", call->head.tid);
		put_time(&s->line, call->head.time_ns - s->first_ns);
		(void)buf_putc(&s->line, ' ');
		if (s->files && view->file)
			style.file = view->file->path;
		if (s->files && view->made)
			style.made = view->made->path;
	}
	/* The model has the new program already. */
	if (view->call && view->err == 0 && sys_call(view->id)->classes & SYS_FAMILY_exec) {
		style.argv = view->process->argv;
		style.argv_bytes = view->process->argv_bytes;
		style.argv_cut = view->process->argv_cut;
	}
	(void)event_call_text(&s->line, call, view->id, &style);
	if (!s->tsv && !(call->head.flags & (EVENT_F_UNFINISHED | EVENT_F_KILLED))) {
		(void)buf_puts(&s->line, " <");
		put_time(&s->line, call->duration_ns);
		(void)buf_putc(&s->line, '>');
	}
	(void)buf_putc(&s->line, '\n');
}

/* How a task ended, as strace says it; nothing of what it has no words for. */
static void put_exit(struct show *s, const struct event_exit *end)
{
	char name[SYS_NAME_MAX];

	buf_clear(&s->line);
	if (end->how != EVENT_EXIT_STATUS && end->how != EVENT_EXIT_SIGNAL)
		return;
	(void)buf_printf(&s->line, "%-5u ", end->head.tid);
	put_time(&s->line, end->head.time_ns - s->first_ns);
	if (end->how == EVENT_EXIT_STATUS)
		(void)buf_printf(&s->line, " +++ exited with %u +++\n", end->status);
	else
		(void)buf_printf(&s->line, " +++ killed by %s +++\n", sys_signal_print((int)end->status, name));
}

static int write_line(struct show *s)
{
	if (s->line.failed)
		return -ENOMEM;
	/* Why: command_finish tells. */
	s->unwritten = fwrite(s->line.data, 1, s->line.bytes, stdout) != s->line.bytes;
	return s->unwritten ? -EIO : 0;
}

static int take(void *data, const struct event_head *record)
{
	const struct event_call *call = (const struct event_call *)record;
	struct show *s = data;
	struct model_view view;

	if (s->first_ns == 0)
		s->first_ns = record->time_ns;
	(void)model_feed(s->model, record, &view);
	if (!has_pid(s, record))
		return 0;
	if (record->type == EVENT_EXIT && !s->wanted && !s->tsv && !filter_active(&s->view.filter)) {
		put_exit(s, (const struct event_exit *)record);
		return write_line(s);
	}
	if (record->type != EVENT_CALL)
		return 0;
	/* The model could not take it; it was made all the same. */
	if (!view.call) {
		view.id = event_call_id(call);
		view.err = event_call_errno(call);
	}
	if (s->wanted && !(view.call && is_wanted(s, &view)))
		return 0;
	if (filter_active(&s->view.filter) && !filter_has_view(&s->view.filter, &view))
		return 0;
	put_call(s, &view, call);
	s->shown++;
	return write_line(s);
}

/* The report's finding of that number; the file is read for it once more. */
static int find_finding(struct show *s, struct replay *replay, struct analysis **ret_analysis, struct error *err)
{
	const struct analysis_result *result;
	uint64_t sites = 0;
	int r = view_analysis(&s->view, ret_analysis, err);

	if (r == 0)
		r = replay_analyse(replay, *ret_analysis, err);
	if (r == 0)
		r = analysis_finish(*ret_analysis, &replay->facts, err);
	if (r < 0)
		return r;
	result = analysis_result(*ret_analysis);
	if ((size_t)s->finding > result->finding_count)
		return view_no_finding(s->finding, result, err);
	s->wanted = result->findings[s->finding - 1].finding;
	for (size_t i = 0; i < s->wanted->sites.used; i++)
		sites += s->wanted->sites.at[i].count;
	s->sites_tell = sites == s->wanted->calls;
	return replay_again(replay, err);
}

static int show(struct show *s, const char *path)
{
	struct analysis *analysis = NULL;
	struct replay replay = REPLAY_INIT;
	struct error err = { 0 };
	int status = EXIT_TROUBLE;
	int r = replay_open(&replay, path, NULL, &err);

	s->model = r == 0 ? model_new() : NULL;
	if (r == 0 && !s->model)
		r = error_errno(&err, ENOMEM, "reading the trace");
	if (r == 0 && s->finding > 0)
		r = find_finding(s, &replay, &analysis, &err);
	if (r == 0 && s->tsv)
		(void)fputs("time_ns\tpid\ttid\tcall\tresult\terrno\tduration_ns\tip\tpath\tpath2\tfile\ttext\n",
			    stdout);
	if (r == 0)
		r = replay_feed(&replay, take, s, &err);
	if (r == 0 && s->wanted && s->shown > s->wanted->calls)
		log_line("%" PRIu64 " calls are of the finding's kind; it counts %" PRIu64 " of them", s->shown,
			 s->wanted->calls);
	else if (r == 0 && s->wanted && s->shown < s->wanted->calls)
		log_line("%" PRIu64 " of the finding's %" PRIu64 " calls are shown: the others are of other processes",
			 s->shown, s->wanted->calls);
	if (r == 0)
		status = s->shown > 0 ? 0 : EXIT_NOTHING;
	if (r < 0 && err.code == 0)
		(void)error_errno(&err, -r, "reading the trace");
	if (err.code != 0 && !s->unwritten)
		log_error(&err);
	model_free(s->model);
	analysis_free(analysis);
	replay_close(&replay);
	buf_done(&s->line);
	if (command_finish() != 0)
		status = EXIT_TROUBLE;
	return status;
}

static int show_main(const struct command *command, int argc, char **argv)
{
	struct show s = { 0 };
	int first, status = EXIT_TROUBLE;

	if (command_parse(command, argc, argv, set_option, &s, &s.help, &first, &status)) {
		if (argc - first > 1)
			replay_complain("show takes one FILE", argc - first, argv + first);
		else
			status = show(&s, first < argc ? argv[first] : NULL);
	}
	view_done(&s.view);
	return status;
}

const struct command command_show = {
	.name = "show",
	.usage = "show [options] [FILE]",
	.help = "the calls of a recorded run in strace's syntax",
	.options = show_options,
	.operands = COMMAND_OPERANDS_FILES,
	.main = show_main,
};
