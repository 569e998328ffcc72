/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/count.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/host.h"
#include "cmd/signals.h"
#include "report/counted.h"

#define INTERVALS_MAX 1000 /* kept for JSON; the tables of each take some 100 KiB */
#define NOTES_MAX 8
#define NOTE_BYTES 200
#define WAIT_MS 200
#define PROGRESS_AFTER_NS UINT64_C(1000000000)

struct run {
	const struct count_request *request;
	struct watch *watch;
	struct view *view;
	struct counting *counting;
	uint64_t begin_ns, from_ns; /* of the present interval */
	struct count_row *before; /* rows as the last interval left them */
	uint64_t *max_ns; /* of the whole run, by row */
	size_t before_rows;
	struct counted_interval *intervals;
	size_t interval_count;
	uint64_t intervals_left_out;
	char notes[NOTES_MAX][NOTE_BYTES];
	const char *note_list[NOTES_MAX];
	size_t note_count;
	bool shown; /* a line of progress */
};

static int share(const char *text, double *ret, struct error *err)
{
	char *end;
	double value = strtod(text, &end);

	if (end != text && strcmp(end, "%") == 0)
		value /= 100;
	else if (*end)
		end = (char *)(uintptr_t)text;
	if (end == text || !(value > 0) || value > 1)
		return error_set(err, EINVAL, "--max-overhead wants a share such as 1%%, not '%s'", text);
	*ret = value;
	return 0;
}

int count_option(struct count_request *request, int letter, const char *value, struct error *err)
{
	int when = 0, r;

	switch (letter) {
	case 'a':
		request->system = true;
		return 0;
	case COUNT_COUNT:
		request->on = true;
		return 0;
	case COUNT_CGROUP:
		request->cgroup = value;
		return 0;
	case COUNT_DURATION:
		return command_seconds("--duration", value, &request->duration_ns, err);
	case COUNT_INTERVAL:
		request->needs = "--interval";
		return command_seconds("--interval", value, &request->interval_ns, err);
	case COUNT_OVERHEAD:
		request->needs = "--max-overhead";
		return share(value, &request->overhead, err);
	case COUNT_TIMES:
		request->needs = "--times";
		r = command_when("--times", value, &when, err);
		request->times = (enum counting_times)when;
		return r;
	default:
		return 1;
	}
}

int count_check(struct count_request *request, bool has_command, size_t pid_count, const char *engine,
		const struct view *view, struct error *err)
{
	request->on = request->on || request->system || request->cgroup;
	if (request->duration_ns && has_command)
		return error_set(err, EINVAL, "--duration is for -a, --cgroup and -p; a command is watched to its end");
	if (!request->on && request->needs)
		return error_set(err, EINVAL, "%s is for counting: add --count, -a or --cgroup PATH", request->needs);
	if (!request->on)
		return 0;
	if (engine && strcmp(engine, "auto") != 0 && strcmp(engine, "bpf") != 0)
		return error_set(err, EINVAL, "calls are counted by the bpf engine; --engine %s cannot", engine);
	if (request->system && request->cgroup)
		return error_set(err, EINVAL, "-a and --cgroup are two different things to watch; give one of them");
	if ((request->system || request->cgroup) && (has_command || pid_count > 0))
		return error_set(err, EINVAL, "%s watches what runs already: no command and no -p with it",
				 request->system ? "-a" : "--cgroup");
	if (filter_active(&view->filter) || view->by_region || view->by_site || view->formats.redact)
		return error_set(err, EINVAL,
				 "-e, -P, --failed, --by and --redact cannot be had when calls are counted");
	for (unsigned i = 0; i < view->formats.count; i++) {
		const char *name = view->formats.at[i].reporter->name;

		if (strcmp(name, "text") != 0 && strcmp(name, "json") != 0)
			return error_set(err, EINVAL, "--format %s tells of findings; counted calls have text and json",
					 name);
	}
	return 0;
}

static void add_note(struct run *run, const char *text)
{
	if (run->note_count == NOTES_MAX)
		return;
	(void)snprintf(run->notes[run->note_count], NOTE_BYTES, "%s", text);
	run->note_list[run->note_count] = run->notes[run->note_count];
	run->note_count++;
}

/* Keeps the largest of each row, as they were before the last flip. */
static void take_maxima(struct run *run, size_t rows, uint64_t *ret_interval)
{
	for (size_t i = 0; i < rows; i++) {
		uint64_t max = counting_take_max(run->counting, i);

		if (ret_interval)
			ret_interval[i] = max;
		if (max > run->max_ns[i])
			run->max_ns[i] = max;
	}
}

static int make_room(struct run *run, size_t rows)
{
	struct count_row *before;
	uint64_t *max_ns;

	if (rows <= run->before_rows)
		return 0;
	max_ns = realloc(run->max_ns, rows * sizeof *max_ns);
	if (!max_ns)
		return -ENOMEM;
	run->max_ns = max_ns;
	memset(max_ns + run->before_rows, 0, (rows - run->before_rows) * sizeof *max_ns);
	if (run->request->interval_ns) {
		before = realloc(run->before, rows * sizeof *before);
		if (!before)
			return -ENOMEM;
		run->before = before;
		memset(before + run->before_rows, 0, (rows - run->before_rows) * sizeof *before);
	}
	run->before_rows = rows;
	return 0;
}

static const char *cgroup_of(const struct run *run, const struct count_row *row)
{
	return run->request->system || run->request->cgroup ? counting_cgroup(run->counting, row->group) : "";
}

static int gather_interval(struct run *run, size_t rows, const uint64_t *maxima, struct counted *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < rows; i++) {
		const struct count_row *live = counting_row(run->counting, i);
		struct count_row now;

		if (!live)
			continue;
		now = *live;
		counted_minus(&now, &run->before[i]);
		run->before[i] = *live;
		/* What came between is in both copies or will be in the next one. */
		for (size_t k = 0; k < COUNT_ERRORS; k++)
			run->before[i].errors[k].err = now.errors[k].err;
		r = counted_add(ret, &now, maxima[i], counting_exe(run->counting, now.group), "");
	}
	counted_finish(ret);
	return r;
}

static FILE *text_stream(struct run *run)
{
	struct formats *formats = &run->view->formats;

	for (unsigned i = 0; i < formats->count; i++)
		if (strcmp(formats->at[i].reporter->name, "text") == 0)
			return output_stream(&formats->at[i].output);
	return NULL;
}

static struct report_options options_for(struct run *run, FILE *stream)
{
	return (struct report_options){ .verbose = run->view->verbose,
					.quiet = run->view->quiet,
					.tty = tty_of(fileno(stream), run->view->color) };
}

static bool wants_json(const struct run *run)
{
	const struct formats *formats = &run->view->formats;

	for (unsigned i = 0; i < formats->count; i++)
		if (strcmp(formats->at[i].reporter->name, "json") == 0)
			return true;
	return false;
}

static void keep_interval(struct run *run, struct counted_interval *interval)
{
	struct counted_interval *more;

	if (wants_json(run) && run->interval_count < INTERVALS_MAX) {
		more = realloc(run->intervals, (run->interval_count + 1) * sizeof *more);
		if (more) {
			run->intervals = more;
			more[run->interval_count++] = *interval;
			return;
		}
	}
	run->intervals_left_out += wants_json(run);
	counted_done(&interval->counted);
}

static void tell_interval(struct run *run)
{
	uint64_t now = clock_now_ns();
	struct counted_interval interval = { .from_ns = run->from_ns - run->begin_ns, .to_ns = now - run->begin_ns };
	FILE *stream = text_stream(run);
	uint64_t *maxima;
	size_t rows;
	int r;

	/* Rows that come from here on have nothing in the place that is read. */
	counting_flip(run->counting);
	rows = counting_rows(run->counting);
	maxima = calloc(rows ? rows : 1, sizeof *maxima);
	r = maxima ? make_room(run, rows) : -ENOMEM;
	counted_init(&interval.counted);
	run->from_ns = now;
	if (r == 0)
		take_maxima(run, rows, maxima);
	if (r == 0)
		r = gather_interval(run, rows, maxima, &interval.counted);
	free(maxima);
	if (r < 0) {
		log_line("no partial report: %s", strerror(-r));
		counted_done(&interval.counted);
		return;
	}
	if (stream && !run->view->quiet) {
		struct report_options options = options_for(run, stream);

		if (counted_text_interval(stream, &interval, &options) == 0)
			(void)fflush(stream);
	}
	keep_interval(run, &interval);
}

/* While attached stderr is ours alone. */
static void show_progress(struct run *run)
{
	struct counting_stats stats;
	char count[TEXT_NUMBER_MAX];
	uint64_t ran_ns = clock_now_ns() - run->begin_ns;

	if (!run->watch->progress || run->watch->argv || run->request->interval_ns || ran_ns < PROGRESS_AFTER_NS ||
	    !isatty(STDERR_FILENO))
		return;
	counting_stats(run->counting, &stats);
	(void)fprintf(stderr, "\rcounting for %.0f s: %s calls (INT ends)", (double)ran_ns / 1e9,
		      text_count(stats.calls, count));
	(void)fflush(stderr);
	run->shown = true;
}

static unsigned wait_ms(const struct run *run, uint64_t now)
{
	uint64_t ms = WAIT_MS, left;

	if (run->request->interval_ns) {
		left = run->from_ns + run->request->interval_ns > now ? run->from_ns + run->request->interval_ns - now
								      : 0;
		ms = left / 1000000 < ms ? left / 1000000 + 1 : ms;
	}
	if (run->request->duration_ns) {
		left = run->begin_ns + run->request->duration_ns > now ? run->begin_ns + run->request->duration_ns - now
								       : 0;
		ms = left / 1000000 < ms ? left / 1000000 + 1 : ms;
	}
	return (unsigned)ms;
}

static void pump(struct run *run)
{
	for (;;) {
		uint64_t now = clock_now_ns();
		const char *note;
		int signal, r;

		while ((signal = signals_next_forward()) != 0)
			counting_forward(run->counting, signal);
		if (signals_let_go() || (run->request->duration_ns && now >= run->begin_ns + run->request->duration_ns))
			counting_let_go(run->counting);
		r = counting_wait(run->counting, wait_ms(run, now));
		while ((note = counting_note(run->counting))) {
			log_line("%s", note);
			add_note(run, note);
		}
		if (r == 0)
			break;
		if (run->request->interval_ns && clock_now_ns() >= run->from_ns + run->request->interval_ns)
			tell_interval(run);
		show_progress(run);
	}
	counting_end(run->counting);
	/* What came since the last one; so they add up to the whole. */
	if (run->request->interval_ns)
		tell_interval(run);
	if (run->shown)
		(void)fputs("\r\033[K", stderr);
}

static int gather(struct run *run, struct counted *ret)
{
	size_t rows = counting_rows(run->counting), at = 0;
	struct counting_plain plain;
	uint32_t row = 0, error = 0;
	uint64_t iter = 0, count = 0;
	int r = make_room(run, rows);

	/* Both places, since the last change may have been a moment ago. */
	for (int i = 0; r == 0 && i < 2; i++) {
		counting_flip(run->counting);
		take_maxima(run, rows, NULL);
	}
	for (size_t i = 0; r == 0 && i < rows; i++) {
		const struct count_row *one = counting_row(run->counting, i);

		if (one)
			r = counted_add(ret, one, run->max_ns[i], counting_exe(run->counting, one->group),
					cgroup_of(run, one));
	}
	while (r == 0 && counting_next_error(run->counting, &iter, &row, &error, &count)) {
		const struct count_row *one = counting_row(run->counting, row);

		if (one)
			r = counted_add_error(ret, one, counting_exe(run->counting, one->group), cgroup_of(run, one),
					      error, count);
	}
	while (r == 0 && counting_next_plain(run->counting, &at, &plain))
		r = counted_add_plain(ret, plain.arch, plain.nr, plain.count, plain.failed,
				      plain.unreturned ? plain.count : 0);
	counted_finish(ret);
	return r;
}

static void fill_facts(struct run *run, struct counted_facts *facts)
{
	const struct count_request *request = run->request;
	struct counting_stats stats;

	counting_stats(run->counting, &stats);
	*facts = (struct counted_facts){
		.what = request->system	   ? COUNTED_SYSTEM
			: request->cgroup  ? COUNTED_CGROUP
			: run->watch->argv ? COUNTED_COMMAND
					   : COUNTED_PROCESSES,
		.argv = run->watch->argv,
		.pids = run->watch->pids,
		.pid_count = run->watch->pid_count,
		.cgroup = request->cgroup,
		.engine_why = "counting is done in the kernel",
		.host = host_of_this(),
		.exit_known = run->watch->end.known,
		.exit_status = run->watch->end.status,
		.exit_signal = run->watch->end.signal,
		.wall_ns = stats.wall_ns,
		.seen = stats.calls,
		.plain = stats.plain_calls,
		.errors_lost = stats.errors_lost,
		.tasks = stats.tasks,
		.processes = stats.processes,
		.running = stats.running,
		.not_followed = stats.not_followed,
		.failed_tasks = stats.failed_tasks,
		.misses = stats.misses,
		.floor_ns = stats.floor_ns,
		.no_times = request->times == COUNTING_TIMES_NEVER,
		.untimed_ns = stats.untimed ? stats.untimed_ns : 0,
		.let_go_ns = stats.let_go ? stats.let_go_ns : 0,
		.notes = run->note_list,
		.note_count = run->note_count,
		.intervals = run->intervals,
		.interval_count = run->interval_count,
		.intervals_left_out = run->intervals_left_out,
	};
}

static int write_one(struct run *run, struct format *format, const struct counted *counted,
		     const struct counted_facts *facts, struct error *err)
{
	FILE *stream = output_stream(&format->output);
	struct report_options options = options_for(run, stream);
	sigset_t ticks, before;
	int r;

	/* The clock that ends our waits must not end a write. */
	(void)sigemptyset(&ticks);
	(void)sigaddset(&ticks, SIGALRM);
	(void)sigprocmask(SIG_BLOCK, &ticks, &before);
	r = format->reporter->machine ? counted_json(stream, counted, facts)
				      : counted_text(stream, counted, facts, &options);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (r < 0)
		return error_errno(err, -r, "writing the report%s%s", format->output.path ? " to " : "",
				   format->output.path ? format->output.path : "");
	return output_close(&format->output, err);
}

static int report(struct run *run)
{
	struct formats *formats = &run->view->formats;
	struct counted_facts facts;
	struct counted counted;
	int first = 0, r;

	counted_init(&counted);
	r = gather(run, &counted);
	if (r < 0) {
		log_line("no report: %s", strerror(-r));
		first = r;
	} else {
		fill_facts(run, &facts);
		counted_judge(&counted, &facts);
	}
	for (unsigned i = 0; r == 0 && i < formats->count; i++) {
		struct error err = { 0 };
		int one = write_one(run, &formats->at[i], &counted, &facts, &err);

		if (one < 0)
			log_error(&err);
		first = first ? first : one;
	}
	counted_done(&counted);
	return first;
}

static void prepare_child(void *data)
{
	const struct watch *watch = data;

	signals_restore_child(NULL);
	if (watch->user && user_become(&watch->who) < 0)
		_exit(EXIT_OURS);
}

static int start(struct run *run, struct error *err)
{
	const struct counting_spec spec = {
		.argv = run->watch->argv,
		.program = run->watch->program,
		.pids = run->watch->pids,
		.pid_count = run->watch->pid_count,
		.cgroup = run->request->cgroup,
		.system = run->request->system,
		.times = run->request->times,
		.overhead = run->request->overhead,
		.task_limit = run->watch->task_limit,
		.prepare_child = prepare_child,
		.prepare_data = run->watch,
	};
	int r;

	signals_take(!run->watch->argv);
	r = counting_start(&spec, &run->counting, err);
	if (r < 0) {
		signals_give_back();
		return r;
	}
	/* Before anything that the command made is looked at. */
	if (run->watch->user && (r = user_drop(&run->watch->who)) < 0) {
		counting_let_go(run->counting);
		log_line("--user: privileges could not be given up: %s", strerror(-r));
	}
	run->begin_ns = run->from_ns = clock_now_ns();
	return 0;
}

int count_run(const struct count_request *request, struct watch *watch, struct view *view)
{
	struct run run = { .request = request, .watch = watch, .view = view };
	struct error err = { 0 };
	int status = EXIT_OURS, r;

	r = formats_open(&view->formats, view->output, watch->argv != NULL,
			 watch->argv ? rule_base_name(watch->argv[0]) : NULL, &err);
	if (r == 0) {
		r = start(&run, &err);
		if (r < 0 && watch->argv)
			status = command_exit_for(&err);
	}
	if (r < 0) {
		log_error(&err);
		return status;
	}
	pump(&run);
	counting_exit_of(run.counting, &watch->end);
	r = report(&run);
	counting_stop(run.counting);
	for (size_t i = 0; i < run.interval_count; i++)
		counted_done(&run.intervals[i].counted);
	free(run.intervals);
	free(run.before);
	free(run.max_ns);
	signals_give_back();
	if (r < 0 && watch->end.signal == 0 && watch->end.status == 0)
		return EXIT_OURS;
	return watch_pass_on(watch);
}
