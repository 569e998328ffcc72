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
#include "engine/whom.h"

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

#define CAPABILITY_PTRACE 19

#define SET(member, ...) ((void)snprintf((member), sizeof(member), __VA_ARGS__))

int refusal_yama_scope(void)
{
	const char *path = getenv(YAMA_VARIABLE);
	char text[16];

	if (!whom_read(path && *path ? path : YAMA_FILE, text, sizeof text))
		return -1;
	return text[0] >= '0' && text[0] <= '9' ? atoi(text) : -1;
}

static bool can_trace_all(void)
{
	char text[4096];
	const char *line;

	if (!whom_read("/proc/self/status", text, sizeof text))
		return false;
	line = strstr(text, "\nCapEff:");
	return line && (strtoull(line + strlen("\nCapEff:"), NULL, 16) >> CAPABILITY_PTRACE & 1);
}

static bool by_tracer(struct refusal *ret, pid_t pid)
{
	/* A tracer that follows children got hold of ours first. */
	long tracer = whom_status(pid, "\nTracerPid:");

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
	long uid = whom_status(pid, "\nUid:");

	return uid >= 0 && geteuid() != 0 && uid != (long)geteuid();
}

static void find(struct refusal *ret, pid_t pid, int code)
{
	bool filtered = whom_status(0, "\nSeccomp:") == 2;
	struct whom whom;

	/* Told by the kernel before any right is looked at: nothing that grants rights helps. */
	if (pid != 0 && whom_never(pid, &whom)) {
		SET(ret->why, "%s", whom.why);
		SET(ret->brief, "%s", whom.brief);
		return;
	}
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
