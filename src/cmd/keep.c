/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/keep.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define VARIABLE "XDG_STATE_HOME"
#define FALLBACK ".local/state"
#define LAST "last.trace"

/* Why no run can be kept, in words that tell what to change. */
static int cannot_keep(int code, struct error *err)
{
	const char *why = code == ENOENT  ? "the home folder is not there"
			  : code == EPERM ? "a folder of somebody else, or one that others may write"
					  : strerror(code);

	return error_set(err, code, "no run can be kept in $" VARIABLE " (~/" FALLBACK "): %s", why);
}

int keep_open_last(struct keep *keep, const uid_t *becomes, struct error *err)
{
	int r;

	*keep = KEEP_INIT;
	r = user_dir_open(&keep->dir, VARIABLE, FALLBACK, true);
	if (r < 0)
		return cannot_keep(-r, err);
	if (becomes && *becomes != keep->dir.uid) {
		user_dir_close(&keep->dir);
		return error_set(err, EACCES,
				 "no run can be kept: in the end we are the user of --user, "
				 "who may not write where runs are kept");
	}
	r = user_dir_create(&keep->dir, &keep->file);
	if (r < 0) {
		user_dir_close(&keep->dir);
		return cannot_keep(-r, err);
	}
	keep->fd = keep->file.fd;
	keep->most_bytes = KEEP_LAST_BYTES;
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t bytes = strlen(text), of_end = strlen(end);

	return bytes > of_end && strcmp(text + bytes - of_end, end) == 0;
}

int keep_open_file(struct keep *keep, const char *path, struct error *err)
{
	int r;

	*keep = KEEP_INIT;
	keep->output.private = true;
	keep->zstd = ends_with(path, ".zst");
	if (strcmp(path, "-") == 0)
		return error_set(err, EINVAL, "-o -: a trace is no text for stderr; give a file, or fd:N");
	if (keep->zstd && !trace_has_zstd)
		return error_set(err, EOPNOTSUPP,
				 "%s: this build cannot compress (it has no libzstd); give a name without .zst", path);
	r = output_open(&keep->output, path, err);
	if (r < 0)
		return r;
	keep->fd = output_fd(&keep->output);
	return 0;
}

void keep_begin(struct keep *keep, const struct trace_start *start)
{
	int r;

	if (keep->fd < 0)
		return;
	r = trace_writer_new(keep->fd, keep->most_bytes, keep->zstd, start, &keep->writer);
	if (r < 0)
		keep->failed = r;
}

void keep_record(struct keep *keep, const struct event_head *record)
{
	/* Counted there, told in the end. */
	if (keep->writer)
		(void)trace_write(keep->writer, record);
}

void keep_tick(struct keep *keep, uint64_t now_ns)
{
	if (keep->writer)
		(void)trace_tick(keep->writer, now_ns);
}

void keep_end(struct keep *keep, const struct engine_stats *stats, const struct engine_exit *end)
{
	struct trace_end last;
	int r;

	if (!keep->writer)
		return;
	trace_end_of(stats, end, &last);
	r = trace_writer_end(keep->writer, &last);
	if (r < 0)
		keep->failed = r;
}

/* What the system lets a file have, when that is less than we would keep; 0: it is not. */
static uint64_t file_limit(const struct keep *keep)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
	    (keep->most_bytes > 0 && limit.rlim_cur >= keep->most_bytes))
		return 0;
	return limit.rlim_cur ? limit.rlim_cur : 1;
}

static int not_written(const struct keep *keep, int code, const char *what, struct error *err)
{
	uint64_t limit = code == EFBIG ? file_limit(keep) : 0;

	if (limit)
		return error_set(err, EFBIG, "%s: a file may have at most %llu KiB here (RLIMIT_FSIZE; ulimit -f)",
				 what, (unsigned long long)(limit >> 10));
	return error_errno(err, code, "%s", what);
}

static int too_large(const struct keep *keep, struct error *err)
{
	return error_set(err, EFBIG,
			 "the kept trace is not the whole run: at most %u MiB are kept (--no-keep, or record -o FILE)",
			 (unsigned)(keep->most_bytes >> 20));
}

int keep_close(struct keep *keep, struct error *err)
{
	/* The limit of what is kept, reached: what is there is good. */
	bool full = keep->failed == -EFBIG && keep->most_bytes > 0 && !file_limit(keep);
	char what[PATH_MAX + 64];
	int r = full ? 0 : keep->failed;

	/* Never started: nothing is kept, and the last one stays. */
	if (!keep->writer && keep->failed == 0) {
		keep_discard(keep);
		return 0;
	}
	if (keep->file.fd >= 0) {
		if (r == 0)
			r = user_dir_commit(&keep->dir, &keep->file, LAST);
		if (r < 0)
			r = not_written(keep, -r, "the trace of this run could not be kept", err);
	} else if (keep->output.path) {
		(void)snprintf(what, sizeof what, "%s: the trace could not be written", keep->output.path);
		if (r < 0)
			r = not_written(keep, -r, what, err);
		else
			r = output_close(&keep->output, err);
	}
	if (r == 0 && full)
		r = too_large(keep, err);
	keep_discard(keep);
	return r;
}

void keep_discard(struct keep *keep)
{
	trace_writer_free(keep->writer);
	keep->writer = NULL;
	user_file_close(&keep->dir, &keep->file);
	user_dir_close(&keep->dir);
	output_discard(&keep->output);
	keep->fd = -1;
}

int keep_last(struct error *err)
{
	struct user_dir dir;
	int fd = user_dir_open(&dir, VARIABLE, FALLBACK, false);

	if (fd == 0) {
		fd = user_dir_open_file(&dir, LAST);
		user_dir_close(&dir);
	}
	if (fd == -ENOENT)
		return error_set(err, ENOENT,
				 "no run was kept yet; give a FILE, or run something: syscull record -- COMMAND");
	if (fd < 0)
		return error_errno(err, -fd, "the kept run in $" VARIABLE "/syscull (~/" FALLBACK "/syscull)");
	return fd;
}
