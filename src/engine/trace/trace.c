/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace engine's functions.  A run whose file has no end is one that we
 * let go of early: rules are then not judged as if it were whole.
 */
#include "engine/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trace_engine {
	struct engine engine; /* first */
	struct trace_reader *reader;
	int fd;
	bool over;
	uint64_t delivered, marks;
	uint64_t first_ns, last_ns; /* times of the records that were read */
};

static struct trace_engine *trace_of(struct engine *engine)
{
	return (struct trace_engine *)engine;
}

static const struct trace_engine *const_trace_of(const struct engine *engine)
{
	return (const struct trace_engine *)engine;
}

static void trace_probe(struct engine_probe *ret)
{
	*ret = (struct engine_probe){ .usable = true, .why = "needs nothing but its file" };
}

static void trace_stop(struct engine *engine)
{
	struct trace_engine *trace = engine ? trace_of(engine) : NULL;

	if (!trace)
		return;
	trace_reader_free(trace->reader);
	if (trace->fd >= 0)
		(void)close(trace->fd);
	free(trace);
}

static int trace_start_engine(const struct engine_spec *spec, struct engine **ret_engine, struct error *err)
{
	struct trace_engine *trace;
	int r;

	*ret_engine = NULL;
	if (!spec->file)
		return error_set(err, EINVAL, "the trace engine needs a file");
	trace = calloc(1, sizeof *trace);
	if (!trace)
		return error_errno(err, ENOMEM, "%s", spec->file);
	trace->engine.ops = &engine_trace;
	trace->fd = spec->file_fd ? fcntl(*spec->file_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
				  : open(spec->file, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	r = trace->fd < 0 ? error_errno(err, errno, "%s", spec->file)
			  : trace_reader_new(trace->fd, spec->file, &trace->reader, err);
	if (r < 0) {
		trace_stop(&trace->engine);
		return r;
	}
	*ret_engine = &trace->engine;
	return 0;
}

static int trace_next(struct engine *engine, const struct event_head **ret_record, struct error *err)
{
	struct trace_engine *trace = trace_of(engine);
	const struct event_head *record;
	int r;

	if (trace->over)
		return ENGINE_END;
	r = trace_read(trace->reader, &record, err);
	if (r <= 0)
		return r;
	if (record->type == EVENT_CALL) {
		if (record->flags & EVENT_F_MARK)
			trace->marks++;
		else
			trace->delivered++;
	}
	if (trace->first_ns == 0)
		trace->first_ns = record->time_ns;
	if (record->time_ns > trace->last_ns)
		trace->last_ns = record->time_ns;
	*ret_record = record;
	return ENGINE_RECORD;
}

static void trace_let_go(struct engine *engine)
{
	trace_of(engine)->over = true;
}

static void trace_forward(struct engine *engine, int signal)
{
	(void)engine;
	(void)signal;
}

/* Without an end nothing is known but what was read. */
static void stats_without_end(const struct trace_engine *trace, struct engine_stats *ret)
{
	*ret = (struct engine_stats){
		.seen = trace->delivered + trace->marks,
		.delivered = trace->delivered,
		.marks = trace->marks,
		.wall_ns = trace->last_ns - trace->first_ns,
		.aborted = true,
	};
}

static void trace_stats(const struct engine *engine, struct engine_stats *ret)
{
	const struct trace_engine *trace = const_trace_of(engine);
	const struct trace_end *end = trace_reader_end(trace->reader);
	const char *damage = trace_reader_damage(trace->reader);
	const char *reason = end ? end->abort_reason : NULL;

	if (!end) {
		stats_without_end(trace, ret);
	} else {
		*ret = (struct engine_stats){
			.seen = end->seen,
			.delivered = trace->delivered,
			.lost = end->lost,
			.in_flight = end->in_flight,
			.marks = trace->marks,
			.children = end->children,
			.followed = end->followed,
			.not_followed = end->not_followed,
			.let_go = end->let_go,
			.stops = end->stops,
			.state_errors = end->state_errors,
			.unread_items = end->unread_items,
			.stacks = end->stacks,
			.stacks_left_out = end->stacks_left_out,
			.stacks_unread = end->stacks_unread,
			.callers_unknown = end->callers_unknown,
			.wall_ns = end->wall_ns,
			.pinned = end->pinned != 0,
			.was_pinned = end->was_pinned != 0,
			.aborted = end->aborted != 0,
			.met = (uint32_t)end->met,
		};
		if (__builtin_add_overflow(ret->lost, end->left_out, &ret->lost))
			ret->lost = UINT64_MAX;
	}
	if (damage) {
		ret->aborted = ret->file_cut = true;
		(void)snprintf(ret->abort_reason, sizeof ret->abort_reason, "not all is in the trace: %s", damage);
	} else if (ret->aborted) {
		(void)snprintf(ret->abort_reason, sizeof ret->abort_reason, "%s", reason ? reason : "");
	}
}

static void trace_exit_of(const struct engine *engine, struct engine_exit *ret)
{
	const struct trace_end *end = trace_reader_end(const_trace_of(engine)->reader);

	*ret = (struct engine_exit){ 0 };
	if (!end || !end->exit_known)
		return;
	ret->known = true;
	ret->status = (int)(end->exit_status & 0xff);
	ret->signal = (int)(end->exit_signal & 0x7f);
	ret->core = end->exit_core != 0;
}

const struct trace_start *trace_engine_start(const struct engine *engine)
{
	return trace_reader_start(const_trace_of(engine)->reader);
}

const char *trace_engine_damage(const struct engine *engine)
{
	return trace_reader_damage(const_trace_of(engine)->reader);
}

void trace_end_of(const struct engine_stats *stats, const struct engine_exit *exit, struct trace_end *ret)
{
	*ret = (struct trace_end){
		.seen = stats->seen,
		.lost = stats->lost,
		.in_flight = stats->in_flight,
		.marks = stats->marks,
		.children = stats->children,
		.followed = stats->followed,
		.not_followed = stats->not_followed,
		.let_go = stats->let_go,
		.stops = stats->stops,
		.state_errors = stats->state_errors,
		.unread_items = stats->unread_items,
		.stacks = stats->stacks,
		.stacks_left_out = stats->stacks_left_out,
		.stacks_unread = stats->stacks_unread,
		.callers_unknown = stats->callers_unknown,
		.wall_ns = stats->wall_ns,
		.pinned = stats->pinned,
		.was_pinned = stats->was_pinned,
		.aborted = stats->aborted,
		.met = stats->met,
		.exit_known = exit->known,
		.exit_status = (uint64_t)exit->status,
		.exit_signal = (uint64_t)exit->signal,
		.exit_core = exit->core,
		.abort_reason = stats->abort_reason[0] ? stats->abort_reason : NULL,
	};
}

const struct engine_ops engine_trace = {
	.name = "trace",
	.title = "a trace file that was written before",
	.live = false,
	.probe = trace_probe,
	.start = trace_start_engine,
	.next = trace_next,
	.let_go = trace_let_go,
	.forward = trace_forward,
	.stats = trace_stats,
	.exit_of = trace_exit_of,
	.stop = trace_stop,
};
