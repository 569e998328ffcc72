/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a trace file under its blocks: as they are, or compressed with
 * zstd.  For trace-*.c only.  Neither side seeks, and neither side's memory
 * depends on what is in the file.
 */
#ifndef SYSCULL_EVENT_TRACE_STREAM_H
#define SYSCULL_EVENT_TRACE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct trace_out;

/* fd stays the caller's.  -EOPNOTSUPP: built without zstd. */
int trace_out_new(int fd, bool zstd, struct trace_out **ret);
/* All of it is in the file then, and can be read whatever becomes of the rest. */
int trace_out_write(struct trace_out *out, const void *data, size_t bytes);
int trace_out_end(struct trace_out *out);
/* That are in the file. */
uint64_t trace_out_bytes(const struct trace_out *out);
void trace_out_free(struct trace_out *out);

struct trace_in;

/* fd stays the caller's.  What it is compressed with is seen by its first
 * bytes.  -EOPNOTSUPP: built without zstd. */
int trace_in_new(int fd, struct trace_in **ret);
/* So many bytes, or as many as there are. */
ssize_t trace_in_read(struct trace_in *in, void *data, size_t bytes);
/* Why there were no more, when it was no end. */
const char *trace_in_trouble(const struct trace_in *in);
/* The file has no more bytes, be what they hold whole or not. */
bool trace_in_ended(const struct trace_in *in);
void trace_in_free(struct trace_in *in);

/* One side of zstd, from memory to memory: trace-zstd.c, or trace-zstd-missing.c
 * where there is none. */
struct trace_zstd;

int trace_zstd_new(bool compress, struct trace_zstd **ret);
void trace_zstd_free(struct trace_zstd *zstd);
/* Compresses from[*at] to from[end] into `to`, all that is held back too; with
 * last, that ends the frame.  1: there is more for the same again. */
int trace_zstd_pack(struct trace_zstd *zstd, const char *from, size_t *at, size_t end, bool last, char *to, size_t room,
		    size_t *ret_used);
/* Appends to to[*used] what from[*at] to from[end] tells, as far as there is
 * room.  0: a frame is over, 1 it is not; -EBADMSG damaged, -EFBIG it wants too
 * much memory. */
int trace_zstd_unpack(struct trace_zstd *zstd, const char *from, size_t *at, size_t end, char *to, size_t *used,
		      size_t room);

#endif
