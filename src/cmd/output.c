/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/output.h"
#include "base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40

/* As it is, without renaming. */
static int open_plain(struct output *output, int flags, struct error *err)
{
	int fd = open(output->path, O_WRONLY | flags | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return error_errno(err, errno, "%s", output->path);
	output->stream = fdopen(fd, "a");
	if (!output->stream) {
		(void)close(fd);
		return error_errno(err, errno, "%s", output->path);
	}
	return 0;
}

/* `mode` is that of the file that will be replaced, 0 when there is none. */
static int open_beside(struct output *output, mode_t mode, struct error *err)
{
	mode_t mask = umask(0);
	int fd;

	(void)umask(mask);
	/* No digit behind the dot: what a kill leaves must not look like a file of strace -ff. */
	if (asprintf(&output->temporary, "%s.~XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		return error_errno(err, ENOMEM, "%s", output->path);
	}
	fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0) {
		int code = errno;

		free(output->temporary);
		output->temporary = NULL;
		/* The folder takes no new file, but the file itself may be ours. */
		if ((code == EACCES || code == EROFS) && access(output->path, W_OK) == 0)
			return open_plain(output, O_TRUNC, err);
		return error_errno(err, code, "%s", output->path);
	}
	(void)fchmod(fd, output->private ? 0600 : mode ? mode & 07777 : 0666 & ~mask);
	output->stream = fdopen(fd, "w");
	if (!output->stream) {
		(void)close(fd);
		return error_errno(err, errno, "%s", output->path);
	}
	return 0;
}

/* A link of procfs (/dev/stdout leads to one) is a file that is open
 * somewhere: its name must not be given to another file. */
static bool is_open_file(const char *path)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;
	bool is;

	if (fd < 0)
		return false;
	is = fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
	(void)close(fd);
	return is;
}

/* Replaces a link by where it leads, so that not the link is renamed over.
 * 1 when it leads to an open file. */
static int follow_links(struct output *output, struct error *err)
{
	char target[PATH_MAX];
	struct stat st;

	for (int links = 0; lstat(output->path, &st) == 0 && S_ISLNK(st.st_mode); links++) {
		const char *slash = strrchr(output->path, '/');
		ssize_t bytes = readlink(output->path, target, sizeof target - 1);
		char *path;

		if (is_open_file(output->path))
			return 1;
		if (bytes < 0 || links == LINKS_MAX)
			return error_errno(err, bytes < 0 ? errno : ELOOP, "%s", output->path);
		target[bytes] = '\0';
		if (asprintf(&path, "%.*s%s", target[0] == '/' || !slash ? 0 : (int)(slash + 1 - output->path),
			     output->path, target) < 0)
			return error_errno(err, ENOMEM, "%s", output->path);
		free(output->path);
		output->path = path;
	}
	return 0;
}

static unsigned closed_fds; /* of the standard ones, one bit each */

void output_fill_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && fd <= STDERR_FILENO)
			closed_fds |= 1u << fd;
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd);
}

bool output_was_closed(int fd)
{
	return fd >= 0 && fd <= STDERR_FILENO && (closed_fds >> fd & 1);
}

int output_check_stdout(struct error *err)
{
	return output_was_closed(STDOUT_FILENO) ? error_set(err, EBADF, "stdout is closed") : 0;
}

/* "fd:3": ours alone from now on, but for the three that all programs have. */
static int open_number(struct output *output, const char *path, struct error *err)
{
	char *end;
	long number;
	int fd, flags;

	errno = 0;
	number = strtol(path + 3, &end, 10);
	if (path[3] < '0' || path[3] > '9' || *end != '\0' || errno != 0 || number > INT_MAX)
		return error_set(err, EINVAL, "%s: fd: wants the number of an open descriptor", path);
	flags = fcntl((int)number, F_GETFL);
	if (flags < 0)
		return error_set(err, EBADF, "%s: descriptor %ld is not open", path, number);
	if (output_was_closed((int)number))
		return error_set(err, EBADF, "%s is closed", number == 0 ? "stdin" : number == 1 ? "stdout" : "stderr");
	if ((flags & O_ACCMODE) == O_RDONLY)
		return error_set(err, EBADF, "%s: descriptor %ld is open for reading only", path, number);
	fd = fcntl((int)number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd >= 0 && number > STDERR_FILENO)
		(void)fcntl((int)number, F_SETFD, FD_CLOEXEC);
	output->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!output->stream) {
		int code = errno;

		if (fd >= 0)
			(void)close(fd);
		return error_errno(err, code, "%s", path);
	}
	return 0;
}

const char *output_summary(void)
{
	const char *path = getenv("GITHUB_STEP_SUMMARY");

	return path && *path ? path : NULL;
}

/* All commands of a step write into one file. */
static bool is_summary(const struct stat *st)
{
	const char *path = output_summary();
	struct stat summary;

	return path && stat(path, &summary) == 0 && summary.st_dev == st->st_dev && summary.st_ino == st->st_ino;
}

int output_open(struct output *output, const char *path, struct error *err)
{
	struct stat st;
	int r;

	if (!path || strcmp(path, "-") == 0)
		return 0;
	if (!*path)
		return error_set(err, ENOENT, "the name of the report is empty");
	output->path = strdup(path);
	if (!output->path)
		return error_errno(err, ENOMEM, "%s", path);
	if (strncmp(path, "fd:", 3) == 0)
		return open_number(output, path, err);
	r = follow_links(output, err);
	if (r < 0)
		return r;
	if (stat(output->path, &st) != 0)
		st.st_mode = 0;
	if (st.st_mode != 0 && is_summary(&st)) {
		r = open_plain(output, O_APPEND, err);
		/* Whoever writes a text at once gets it there in one piece. */
		if (r == 0)
			(void)setvbuf(output->stream, NULL, _IONBF, 0);
		return r;
	}
	if (r > 0 || (st.st_mode != 0 && !S_ISREG(st.st_mode)))
		return open_plain(output, O_APPEND, err);
	return open_beside(output, st.st_mode, err);
}

FILE *output_stream(struct output *output)
{
	return output->stream ? output->stream : stderr;
}

int output_fd(struct output *output)
{
	return fileno(output_stream(output));
}

int output_close(struct output *output, struct error *err)
{
	FILE *stream = output->stream;
	int code = 0;

	if (!stream) {
		code = -stream_flush(stderr);
		return code ? error_errno(err, code, "the report could not be written to stderr") : 0;
	}
	code = -stream_flush(stream);
	if (fclose(stream) != 0 && code == 0)
		code = errno;
	output->stream = NULL;
	if (code == 0 && output->temporary && rename(output->temporary, output->path) != 0)
		code = errno;
	if (code != 0)
		return error_errno(err, code, "%s", output->path);
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

void output_discard(struct output *output)
{
	if (output->stream)
		(void)fclose(output->stream);
	if (output->temporary)
		(void)unlink(output->temporary);
	free(output->temporary);
	free(output->path);
	*output = OUTPUT_INIT;
}
