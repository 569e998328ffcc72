/* SPDX-License-Identifier: BSD-2-Clause */
/* Whom no engine can watch, whatever its rights.  Opens files, allocates nothing. */
#include "engine/whom.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* PF_KTHREAD of the kernel's flags, which /proc shows. */
#define KERNEL_THREAD 0x00200000u

#define SET(member, ...) ((void)snprintf((member), sizeof(member), __VA_ARGS__))

bool whom_read(const char *path, char *ret, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, room - 1);

	if (fd >= 0)
		(void)close(fd);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

long whom_status(pid_t pid, const char *field)
{
	char path[64], text[4096];
	const char *line;

	if (pid > 0)
		(void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	else
		(void)snprintf(path, sizeof path, "/proc/self/status");
	if (!whom_read(path, text, sizeof text))
		return -1;
	line = strstr(text, field);
	return line ? strtol(line + strlen(field), NULL, 10) : -1;
}

bool whom_state(pid_t tid, char *ret_state, unsigned *ret_flags)
{
	char path[64], text[1024];
	const char *behind;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	if (!whom_read(path, text, sizeof text))
		return false;
	/* A name may hold blanks and brackets: the last one ends it. */
	behind = strrchr(text, ')');
	return behind && sscanf(behind + 1, " %c %*d %*d %*d %*d %*d %u", ret_state, ret_flags) == 2;
}

bool whom_never(pid_t pid, struct whom *ret)
{
	unsigned flags = 0;
	char state = '\0';

	if (pid == getpid()) {
		SET(ret->why, "that is syscull itself");
		SET(ret->brief, "a process cannot trace itself: name another");
	} else if (!whom_state(pid, &state, &flags)) {
		return false;
	} else if (flags & KERNEL_THREAD) {
		SET(ret->why, "it is a thread of the kernel");
		SET(ret->brief, "it makes no system calls: there is nothing to watch");
	} else if (state == 'Z' && whom_status(pid, "\nThreads:") > 1) {
		SET(ret->why, "its first thread has ended");
		SET(ret->brief, "a process is watched from its first thread on: start it with syscull run");
	} else if (state == 'Z' || state == 'X') {
		SET(ret->why, "it has ended");
		SET(ret->brief, "what is left (a zombie) waits for its parent, process %ld",
		    whom_status(pid, "\nPPid:"));
	} else {
		return false;
	}
	return true;
}

int whom_check(pid_t pid, struct error *err)
{
	struct whom whom;

	if (!whom_never(pid, &whom))
		return 0;
	return error_set(err, EPERM, "cannot attach to %d: %s; %s", (int)pid, whom.why, whom.brief);
}
