/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file without a name; where the folder has no such files, memory. */
static int make_room(void)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder && *folder == '/' ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : memfd_create("syscull", MFD_CLOEXEC);
}

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int copy(int from, const char *name, int *ret_fd, struct error *err)
{
	char data[65536];
	uint64_t all = 0;
	int fd = make_room(), r = fd < 0 ? -errno : 0;
	ssize_t n = 0;

	while (r == 0 && all <= INPUT_COPY_MAX) {
		n = read(from, data, sizeof data);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		all += (uint64_t)n;
		r = write_all(fd, data, (size_t)n);
	}
	if (r < 0)
		r = error_errno(err, -r, "%s: the copy of what was piped", name);
	else if (n < 0)
		r = error_errno(err, errno, "%s", name);
	else if (all > INPUT_COPY_MAX)
		r = error_set(err, EFBIG, "%s: of a pipe at most %u MiB are read; give a file", name,
			      (unsigned)(INPUT_COPY_MAX >> 20));
	else if (lseek(fd, 0, SEEK_SET) < 0)
		r = error_errno(err, errno, "%s", name);
	if (r < 0) {
		if (fd >= 0)
			(void)close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

int input_open(struct input *input, const char *path, struct error *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	struct stat st;
	int from, r;

	*input = INPUT_INIT;
	input->name = is_stdin ? "stdin" : path;
	if ((is_stdin ? fstat(STDIN_FILENO, &st) : stat(path, &st)) < 0)
		return is_stdin ? error_errno(err, errno, "stdin") : 0;
	if (!is_stdin && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) && !S_ISCHR(st.st_mode))
		return 0;
	from = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
			: open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (from < 0)
		return error_errno(err, errno, "%s", input->name);
	if (S_ISREG(st.st_mode) && lseek(from, 0, SEEK_SET) == 0) {
		input->fd = from;
		return 0;
	}
	input->copied = true;
	r = copy(from, input->name, &input->fd, err);
	(void)close(from);
	return r;
}

void input_close(struct input *input)
{
	if (input->fd >= 0)
		(void)close(input->fd);
	input->fd = -1;
}
