/* SPDX-License-Identifier: BSD-2-Clause */
/* One untraced run of a command, and the comparison of what runs left. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/exec.h"
#include "cmd/prove.h"

#define PIECE 65536

int prove_sink(struct error *err)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = memfd_create("output", MFD_CLOEXEC);
	return fd >= 0 ? fd : error_errno(err, errno, "a place for what the command prints");
}

static double ns_of(const struct timeval *time)
{
	return (double)time->tv_sec * 1e9 + (double)time->tv_usec * 1e3;
}

static int wait_for(pid_t pid, int *ret_status, double *ret_cpu_ns, struct error *err)
{
	struct rusage usage = { 0 };
	int status = 0;

	while (wait4(pid, &status, 0, &usage) < 0) {
		if (errno != EINTR)
			return error_errno(err, errno, "waiting for the command");
	}
	*ret_cpu_ns = ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime);
	*ret_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return 0;
}

int prove_shell(const char *option, const char *command, struct error *err)
{
	double cpu_ns;
	pid_t pid;
	int status = 0, r;

	if (!command)
		return 0;
	pid = fork();
	if (pid < 0)
		return error_errno(err, errno, "%s", option);
	if (pid == 0) {
		/* stdout is for the report. */
		(void)dup2(STDERR_FILENO, STDOUT_FILENO);
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	r = wait_for(pid, &status, &cpu_ns, err);
	if (r == 0 && status != 0)
		r = error_set(err, ECHILD, "%s ended with %d: %s", option, status, command);
	return r;
}

static void child_main(const struct prove_plan *plan, const struct remedies_ready *ready, int out, int errors, int why)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int code = 0;

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
		code = errno;
	if (code == 0)
		code = -remedies_child(ready);
	if (code == 0)
		code = -exec_program(plan->program, plan->argv);
	while (write(why, &code, sizeof code) < 0 && errno == EINTR)
		;
	_exit(127);
}

static void show(int errors)
{
	char piece[4096];
	ssize_t bytes;
	off_t at = 0;

	while ((bytes = pread(errors, piece, sizeof piece, at)) > 0) {
		(void)fwrite(piece, 1, (size_t)bytes, stderr);
		at += bytes;
	}
}

int prove_once(const struct prove_plan *plan, const struct remedies_ready *ready, bool show_errors,
	       struct prove_once *ret, struct error *err)
{
	int why[2], code = 0, r;
	uint64_t begin;
	pid_t pid;

	*ret = (struct prove_once){ .out = prove_sink(err), .errors = -1 };
	if (ret->out < 0)
		return ret->out;
	ret->errors = prove_sink(err);
	if (ret->errors < 0) {
		r = ret->errors;
		goto fail;
	}
	if (pipe2(why, O_CLOEXEC) != 0) {
		r = error_errno(err, errno, "starting the command");
		goto fail;
	}
	begin = clock_now_ns();
	pid = fork();
	if (pid == 0)
		child_main(plan, ready, ret->out, ret->errors, why[1]);
	(void)close(why[1]);
	if (pid < 0) {
		r = error_errno(err, errno, "starting the command");
		(void)close(why[0]);
		goto fail;
	}
	r = wait_for(pid, &ret->status, &ret->cpu_ns, err);
	ret->wall_ns = (double)(clock_now_ns() - begin);
	/* Empty, unless the exec failed: it is closed by success. */
	if (r == 0 && read(why[0], &code, sizeof code) == (ssize_t)sizeof code)
		r = error_errno(err, code, "%s", plan->program);
	(void)close(why[0]);
	if (r == 0) {
		if (show_errors)
			show(ret->errors);
		return 0;
	}
fail:
	prove_once_done(ret);
	return r;
}

void prove_once_done(struct prove_once *once)
{
	if (once->out >= 0)
		(void)close(once->out);
	if (once->errors >= 0)
		(void)close(once->errors);
	once->out = once->errors = -1;
}

int prove_copy(const char *path, int *ret_fd, struct error *err)
{
	char *piece;
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), to;
	ssize_t bytes = 0;

	*ret_fd = -1;
	if (from < 0)
		return errno == ENOENT ? 0 : error_errno(err, errno, "--compare %s", path);
	piece = malloc(PIECE);
	to = prove_sink(err);
	while (piece && to >= 0 && (bytes = read(from, piece, PIECE)) > 0) {
		if (write(to, piece, (size_t)bytes) != bytes) {
			bytes = -1;
			break;
		}
	}
	free(piece);
	(void)close(from);
	if (to >= 0 && bytes == 0) {
		*ret_fd = to;
		return 0;
	}
	if (to >= 0)
		(void)close(to);
	return error_errno(err, errno ? errno : EIO, "--compare %s", path);
}

/* Of the file; a mapping would die of a file that shrinks. */
static ssize_t piece_at(int fd, char *piece, off_t at)
{
	ssize_t bytes, sum = 0;

	while (sum < PIECE && (bytes = pread(fd, piece + sum, (size_t)(PIECE - sum), at + sum)) != 0) {
		if (bytes < 0 && errno != EINTR)
			return -errno;
		if (bytes > 0)
			sum += bytes;
	}
	return sum;
}

int prove_compare(const char *name, int a, int b, struct buf *text, struct error *err)
{
	char *left, *right;
	unsigned long long line = 1;
	off_t at = 0;
	int r = 0;

	if (a < 0 && b < 0)
		return 0;
	if (a < 0 || b < 0) {
		(void)buf_printf(text, "%s is there on one side only", name);
		return 1;
	}
	left = malloc(PIECE);
	right = malloc(PIECE);
	if (!left || !right)
		r = error_errno(err, ENOMEM, "comparing %s", name);
	while (r == 0) {
		ssize_t have = piece_at(a, left, at), has = piece_at(b, right, at), least = have < has ? have : has;
		ssize_t i = 0;

		if (have < 0 || has < 0) {
			r = error_errno(err, (int)-least, "comparing %s", name);
			break;
		}
		while (i < least && left[i] == right[i])
			line += left[i++] == '\n';
		if (i < least || have != has) {
			(void)buf_printf(text, "%s, line %llu", name, line);
			r = 1;
		}
		if (have < PIECE)
			break;
		at += have;
	}
	free(left);
	free(right);
	return r;
}

static int64_t count_lines(int fd, char *piece)
{
	int64_t lines = 0;
	off_t at = 0;
	ssize_t bytes;

	while ((bytes = piece_at(fd, piece, at)) > 0) {
		for (ssize_t i = 0; i < bytes; i++)
			lines += piece[i] == '\n';
		at += bytes;
	}
	return lines;
}

int prove_compare_errors(int a, int b, struct buf *text, struct error *err)
{
	struct buf where = BUF_INIT;
	char lines[TEXT_NUMBER_MAX];
	int r = prove_compare("stderr", a, b, &where, err);
	char *piece = r > 0 ? malloc(PIECE) : NULL;
	int64_t more = piece ? count_lines(b, piece) - count_lines(a, piece) : 0;

	if (r > 0 && text && more != 0)
		(void)buf_printf(text, "stderr has %s %s %s", text_count((uint64_t)llabs(more), lines),
				 llabs(more) == 1 ? "line" : "lines", more > 0 ? "more" : "fewer");
	else if (r > 0 && text)
		(void)buf_puts(text, buf_text(&where));
	free(piece);
	buf_done(&where);
	return r;
}
