/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why the kernel refused to let us trace, and what to change.  The refusal
 * itself is the truth; what /proc says of Yama, seccomp and other tracers
 * only explains it, and nothing here decides what is tried.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/ptrace/ptrace.h"

#define YAMA_FILE "/proc/sys/kernel/yama/ptrace_scope"
/* For tests: a file to read instead.  It changes what is said, nothing else. */
#define YAMA_VARIABLE "SYSCULL_TEST_YAMA"

#define CONTAINERS \
	"Docker      docker run --cap-add=SYS_PTRACE ...\n" \
	"Podman      podman run --cap-add=SYS_PTRACE ...\n" \
	"Kubernetes  securityContext: {capabilities: {add: [SYS_PTRACE]}}\n" \
	"When a profile of your own forbids it still:\n" \
	"Docker      docker run --security-opt seccomp=unconfined ...\n" \
	"Podman      podman run --security-opt seccomp=unconfined ...\n" \
	"Kubernetes  securityContext: {seccompProfile: {type: Unconfined}}"
#define CONTAINERS_BRIEF \
	"docker run --cap-add=SYS_PTRACE, podman run --cap-add=SYS_PTRACE, Kubernetes securityContext: " \
	"{capabilities: {add: [SYS_PTRACE]}}"

#define SET(member, ...) ((void)snprintf((member), sizeof(member), __VA_ARGS__))

/* The beginning of a small file; without memory of our own. */
static bool read_small(const char *path, char *ret, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, room - 1);

	if (fd >= 0)
		(void)close(fd);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

int refusal_yama_scope(void)
{
	const char *path = getenv(YAMA_VARIABLE);
	char text[16];

	if (!read_small(path && *path ? path : YAMA_FILE, text, sizeof text))
		return -1;
	return text[0] >= '0' && text[0] <= '9' ? atoi(text) : -1;
}

/* A number of /proc/PID/status, -1 unknown. */
static long status_number(pid_t pid, const char *field)
{
	char path[64], text[4096];
	const char *line;

	if (pid > 0)
		(void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	else
		(void)snprintf(path, sizeof path, "/proc/self/status");
	if (!read_small(path, text, sizeof text))
		return -1;
	line = strstr(text, field);
	return line ? strtol(line + strlen(field), NULL, 10) : -1;
}

static bool by_tracer(struct refusal *ret, pid_t pid)
{
	/* A tracer that follows children got hold of ours first. */
	long tracer = status_number(pid, "\nTracerPid:");

	if (tracer <= 0)
		return false;
	SET(ret->why, "another tracer, process %ld, holds %s", tracer, pid ? "it" : "this tree");
	SET(ret->brief, "a process has one tracer: end the other, or run outside of it");
	return true;
}

static bool by_yama(struct refusal *ret, pid_t pid)
{
	int scope = refusal_yama_scope();

	if (scope < (pid != 0 ? 1 : 2) || geteuid() == 0) {
		if (scope < 3)
			return false;
	}
	SET(ret->why, "Yama forbids it, kernel.yama.ptrace_scope is %d", scope);
	switch (scope) {
	case 1:
		SET(ret->brief, "run as root, or as root: sysctl -w kernel.yama.ptrace_scope=0");
		break;
	case 2:
		SET(ret->brief, "run as root, or as root: sysctl -w kernel.yama.ptrace_scope=%d", pid != 0 ? 0 : 1);
		break;
	default:
		SET(ret->brief, "it stays so until the next boot: take kernel.yama.ptrace_scope=3 out of "
				"/etc/sysctl.conf and /etc/sysctl.d, and boot");
		break;
	}
	return true;
}

static void find(struct refusal *ret, pid_t pid, int code)
{
	bool filtered = status_number(0, "\nSeccomp:") == 2;

	if (code != ENOSYS && (by_tracer(ret, pid) || by_yama(ret, pid)))
		return;
	if (pid != 0 && status_number(pid, "\nUid:") >= 0 && geteuid() != 0 &&
	    status_number(pid, "\nUid:") != (long)geteuid()) {
		SET(ret->why, "it belongs to another user");
		SET(ret->brief, "run as root");
	} else {
		SET(ret->why, "ptrace is refused%s: %s", filtered ? " by a seccomp profile" : "", strerror(code));
		SET(ret->brief, "%s", CONTAINERS_BRIEF);
		SET(ret->fix, "%s", CONTAINERS);
	}
}

void refusal_find(struct refusal *ret, pid_t pid, int code)
{
	*ret = (struct refusal){ 0 };
	find(ret, pid, code);
	if (ret->fix[0] == '\0')
		SET(ret->fix, "%s", ret->brief);
}
