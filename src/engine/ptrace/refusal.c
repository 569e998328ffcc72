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

/* PF_KTHREAD of the kernel's flags, which /proc shows. */
#define KERNEL_THREAD 0x00200000u
#define CAPABILITY_PTRACE 19

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

bool refusal_task_state(pid_t tid, char *ret_state, unsigned *ret_flags)
{
	char path[64], text[1024];
	const char *behind;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	if (!read_small(path, text, sizeof text))
		return false;
	/* A name may hold blanks and brackets: the last one ends it. */
	behind = strrchr(text, ')');
	return behind && sscanf(behind + 1, " %c %*d %*d %*d %*d %*d %u", ret_state, ret_flags) == 2;
}

static bool can_trace_all(void)
{
	char text[4096];
	const char *line;

	if (!read_small("/proc/self/status", text, sizeof text))
		return false;
	line = strstr(text, "\nCapEff:");
	return line && (strtoull(line + strlen("\nCapEff:"), NULL, 16) >> CAPABILITY_PTRACE & 1);
}

/* What no tracer can have.  These are told by the kernel before any right is
 * looked at, so nothing that grants rights helps. */
static bool by_kind(struct refusal *ret, pid_t pid)
{
	unsigned flags = 0;
	char state = '\0';

	if (pid == getpid()) {
		SET(ret->why, "that is syscull itself");
		SET(ret->brief, "a process cannot trace itself: name another");
	} else if (!refusal_task_state(pid, &state, &flags)) {
		return false;
	} else if (flags & KERNEL_THREAD) {
		SET(ret->why, "it is a thread of the kernel");
		SET(ret->brief, "it makes no system calls: there is nothing to watch");
	} else if (state == 'Z' && status_number(pid, "\nThreads:") > 1) {
		SET(ret->why, "its first thread has ended");
		SET(ret->brief, "a process is watched from its first thread on: start it with syscull run");
	} else if (state == 'Z' || state == 'X') {
		SET(ret->why, "it has ended");
		SET(ret->brief, "what is left (a zombie) waits for its parent, process %ld",
		    status_number(pid, "\nPPid:"));
	} else {
		return false;
	}
	return true;
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

/* All rights are there, and still it was refused. */
static bool by_guard(struct refusal *ret, pid_t pid, bool filtered)
{
	if (filtered || !can_trace_all())
		return false;
	SET(ret->why, "it is protected: a security module, or a user namespace that is not ours, forbids it%s",
	    pid == 1 ? " for process 1" : "");
	SET(ret->brief, "no capability is missing here; cat /sys/kernel/security/lsm names the modules");
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

static bool is_of_another(pid_t pid)
{
	long uid = status_number(pid, "\nUid:");

	return uid >= 0 && geteuid() != 0 && uid != (long)geteuid();
}

static void find(struct refusal *ret, pid_t pid, int code)
{
	bool filtered = status_number(0, "\nSeccomp:") == 2;

	if (pid != 0 && by_kind(ret, pid))
		return;
	if (code != ENOSYS && (by_tracer(ret, pid) || by_yama(ret, pid)))
		return;
	if (code != ENOSYS && pid != 0 && by_guard(ret, pid, filtered))
		return;
	if (pid != 0 && is_of_another(pid)) {
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
