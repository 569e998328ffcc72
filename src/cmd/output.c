/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int open_beside(struct output *output, struct error *err)
{
	mode_t mask = umask(0);
	int fd;

	(void)umask(mask);
	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
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
	(void)fchmod(fd, 0666 & ~mask);
	output->stream = fdopen(fd, "w");
	if (!output->stream) {
		(void)close(fd);
		return error_errno(err, errno, "%s", output->path);
	}
	return 0;
}

int output_open(struct output *output, const char *path, struct error *err)
{
	struct stat st;

	if (!path || strcmp(path, "-") == 0)
		return 0;
	output->path = strdup(path);
	if (!output->path)
		return error_errno(err, ENOMEM, "%s", path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return open_plain(output, O_APPEND, err);
	return open_beside(output, err);
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
		if (fflush(stderr) != 0 || ferror(stderr))
			return error_set(err, EIO, "the report could not be written to stderr");
		return 0;
	}
	if (ferror(stream) || fflush(stream) != 0)
		code = errno ? errno : EIO;
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
