/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of trace files: written and read as they are, or through zstd.
 * Every write is flushed, so that a compressed file that is cut off gives as
 * much as another one.
 */
#include "event/trace-stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZSTD_MAGIC "\x28\xb5\x2f\xfd"
#define MAGIC_BYTES 4
#define ROOM (128u << 10)

struct trace_out {
	int fd;
	uint64_t bytes;
	struct trace_zstd *zstd; /* NULL: as it is */
	char *room;
};

struct trace_in {
	int fd;
	const char *trouble;
	struct trace_zstd *zstd; /* NULL: as it is */
	char *data; /* what was read and is not used yet */
	size_t at, end;
	bool eof;
	bool inside; /* a compressed frame */
};

int trace_out_new(int fd, bool zstd, struct trace_out **ret)
{
	struct trace_out *out = calloc(1, sizeof *out);
	int r = 0;

	if (!out)
		return -ENOMEM;
	out->fd = fd;
	if (zstd) {
		out->room = malloc(ROOM);
		r = out->room ? trace_zstd_new(true, &out->zstd) : -ENOMEM;
	}
	if (r < 0) {
		trace_out_free(out);
		return r;
	}
	*ret = out;
	return 0;
}

void trace_out_free(struct trace_out *out)
{
	if (!out)
		return;
	trace_zstd_free(out->zstd);
	free(out->room);
	free(out);
}

uint64_t trace_out_bytes(const struct trace_out *out)
{
	return out->bytes;
}

static int write_all(struct trace_out *out, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(out->fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		bytes -= (size_t)n;
		out->bytes += (uint64_t)n;
	}
	return 0;
}

static int pack(struct trace_out *out, const char *data, size_t bytes, bool last)
{
	size_t at = 0, used;
	int more;

	do {
		int r;

		more = trace_zstd_pack(out->zstd, data, &at, bytes, last, out->room, ROOM, &used);
		r = write_all(out, out->room, used);
		if (more < 0 || r < 0)
			return more < 0 ? more : r;
	} while (more > 0);
	return 0;
}

int trace_out_write(struct trace_out *out, const void *data, size_t bytes)
{
	return out->zstd ? pack(out, data, bytes, false) : write_all(out, data, bytes);
}

int trace_out_end(struct trace_out *out)
{
	return out->zstd ? pack(out, "", 0, true) : 0;
}

static ssize_t read_some(int fd, void *data, size_t bytes)
{
	ssize_t n;

	do
		n = read(fd, data, bytes);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t read_all(int fd, char *data, size_t bytes)
{
	size_t used = 0;

	while (used < bytes) {
		ssize_t n = read_some(fd, data + used, bytes - used);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

int trace_in_new(int fd, struct trace_in **ret)
{
	struct trace_in *in = calloc(1, sizeof *in);
	ssize_t n = -ENOMEM;
	int r;

	if (in) {
		in->fd = fd;
		in->data = malloc(ROOM);
	}
	if (in && in->data)
		n = read_all(fd, in->data, MAGIC_BYTES);
	r = n < 0 ? (int)n : 0;
	if (r == 0) {
		in->end = (size_t)n;
		if (n == MAGIC_BYTES && memcmp(in->data, ZSTD_MAGIC, MAGIC_BYTES) == 0)
			r = trace_zstd_new(false, &in->zstd);
	}
	if (r < 0) {
		trace_in_free(in);
		return r;
	}
	*ret = in;
	return 0;
}

void trace_in_free(struct trace_in *in)
{
	if (!in)
		return;
	trace_zstd_free(in->zstd);
	free(in->data);
	free(in);
}

const char *trace_in_trouble(const struct trace_in *in)
{
	return in->trouble;
}

bool trace_in_ended(const struct trace_in *in)
{
	return in->eof;
}

/* More of the file, when all that there was is used. */
static int fill(struct trace_in *in)
{
	ssize_t n;

	if (in->at < in->end || in->eof)
		return 0;
	n = read_some(in->fd, in->data, ROOM);
	if (n < 0)
		return (int)n;
	in->eof = n == 0;
	in->at = 0;
	in->end = (size_t)n;
	return 0;
}

static ssize_t unpack(struct trace_in *in, char *data, size_t bytes)
{
	size_t used = 0;

	while (used < bytes && !in->trouble) {
		size_t before = used;
		int r = fill(in);

		if (r < 0)
			return r;
		if (in->eof && !in->inside)
			break;
		r = trace_zstd_unpack(in->zstd, in->data, &in->at, in->end, data, &used, bytes);
		if (r == -EFBIG)
			in->trouble =
				"it is compressed for readers with much memory (zstd -d makes a file that can be read)";
		else if (r == -EBADMSG)
			in->trouble = "the compressed data are damaged";
		else if (r < 0)
			return r;
		in->inside = r > 0;
		/* At the end of the file there can still be something that is held back. */
		if (in->eof && in->inside && used == before)
			in->trouble = "the file is cut off";
	}
	return (ssize_t)used;
}

ssize_t trace_in_read(struct trace_in *in, void *data, size_t bytes)
{
	size_t held = in->end - in->at;
	ssize_t n;

	if (in->zstd)
		return unpack(in, data, bytes);
	if (held > bytes)
		held = bytes;
	if (held > 0)
		memcpy(data, in->data + in->at, held);
	in->at += held;
	n = read_all(in->fd, (char *)data + held, bytes - held);
	return n < 0 ? n : n + (ssize_t)held;
}
