/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace file: the records of one run, compact, written and read in order
 * and in one pass, in memory that does not grow.  docs/trace-format.md is the
 * format.  Files are foreign: whatever they hold, reading ends, and what is
 * whole of them is given out.  Neither side seeks: pipes will do.
 */
#ifndef SYSCULL_EVENT_TRACE_H
#define SYSCULL_EVENT_TRACE_H

#include "base/error.h"
#include "event/event.h"

/* What is known when a run begins.  Texts are NULL where nothing is known. */
struct trace_start {
	const char *version; /* of the program that wrote it */
	const char *kernel, *arch, *libc;
	uint64_t cpus;
	const char *engine, *engine_why;
	char *const *argv; /* NULL-ended; NULL: attached */
	const int *pids; /* what was attached to */
	size_t pid_count;
	uint64_t items; /* SYS_ITEM_BIT(…) that were asked for */
	const char *const *env_names; /* variables that were asked for, NULL-ended; NULL none */
};

/*
 * The books and the end; X(NAME, number).  A number is written into files and
 * never changes its meaning; append only.  See struct engine_stats and
 * struct engine_exit; left_out: call records that the writer did not keep.
 */
#define TRACE_END_LIST(X) \
	X(seen, 1) \
	X(lost, 2) \
	X(in_flight, 3) \
	X(marks, 4) \
	X(children, 5) \
	X(followed, 6) \
	X(not_followed, 7) \
	X(let_go, 8) \
	X(stops, 9) \
	X(state_errors, 10) \
	X(unread_items, 11) \
	X(wall_ns, 12) \
	X(pinned, 13) \
	X(was_pinned, 14) \
	X(aborted, 15) \
	X(met, 16) \
	X(exit_known, 17) \
	X(exit_status, 18) \
	X(exit_signal, 19) \
	X(exit_core, 20) \
	X(left_out, 21) \
	X(stacks, 22) \
	X(stacks_left_out, 23) \
	X(stacks_unread, 24) \
	X(callers_unknown, 25)

struct trace_end {
#define TRACE_END_FIELD(name, number) uint64_t name;
	TRACE_END_LIST(TRACE_END_FIELD)
#undef TRACE_END_FIELD
	const char *abort_reason; /* NULL none */
};

struct trace_writer;

/* Built with libzstd: compressed traces are written and read; else both are -EOPNOTSUPP. */
extern const bool trace_has_zstd;

/* Writes to fd, which stays the caller's, with zstd: compressed.  most_bytes:
 * the file is not made larger; what is over it is left out and counted.  0 is
 * no limit. */
int trace_writer_new(int fd, uint64_t most_bytes, bool zstd, const struct trace_start *start,
		     struct trace_writer **ret);
/* A failure stays: later records are left out and counted. */
int trace_write(struct trace_writer *writer, const struct event_head *record);
/* No record came for a while: what came before is written when it waits for long. */
int trace_tick(struct trace_writer *writer, uint64_t now_ns);
/* The rest and the end record, whose left_out is filled in here.  0, or the
 * first failure; -EFBIG when the limit was reached: the file is good then, but
 * not all of the run. */
int trace_writer_end(struct trace_writer *writer, const struct trace_end *end);
uint64_t trace_writer_bytes(const struct trace_writer *writer);
void trace_writer_free(struct trace_writer *writer);

struct trace_reader;

/* Reads from fd, which stays the caller's, compressed or not.  A file that is no trace, or one
 * of a newer kind, is -EINVAL with err. */
int trace_reader_new(int fd, const char *name, struct trace_reader **ret, struct error *err);
const struct trace_start *trace_reader_start(const struct trace_reader *reader);
/* 1 and a record that is valid until the next call, 0 at the end, -EIO and
 * the like with err.  Damage is no error: see below. */
int trace_read(struct trace_reader *reader, const struct event_head **ret, struct error *err);
/* After the last record; NULL when the file has none: it was cut. */
const struct trace_end *trace_reader_end(const struct trace_reader *reader);
/* One line on what is not whole, or what was skipped; NULL when all was read. */
const char *trace_reader_damage(const struct trace_reader *reader);
void trace_reader_free(struct trace_reader *reader);

#endif
