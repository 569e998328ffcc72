/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What works here, found out by trying: on children made for it, never on a
 * process of somebody.  Children die with us, whatever happens.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/ptrace/proc.h"

/* In both processes at the same place after fork. */
static const char sample[] = "syscull";

static void pause_for_ever(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		(void)pause();
}

bool probe_call_info(pid_t tid)
{
	struct __ptrace_syscall_info info = { 0 };

	return ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) > 0;
}

static struct engine_part *add_part(struct engine_probe *probe, const char *name, bool ok)
{
	struct engine_part *part = &probe->parts[probe->part_count++];

	part->name = name;
	part->ok = ok;
	return part;
}

#define SAY(part, ...) ((void)snprintf((part)->text, sizeof(part)->text, __VA_ARGS__))

/* A process that is no descendant of ours, as those that -p names: a
 * grandchild whose parent has gone. */
static pid_t make_stranger(void)
{
	int ends[2];
	pid_t middle, stranger = -1;

	if (pipe(ends) != 0)
		return -1;
	middle = fork();
	if (middle == 0) {
		pid_t pid = fork();

		if (pid == 0) {
			/* Its parent goes at once: only time ends it when we die. */
			(void)alarm(10);
			for (;;)
				(void)pause();
		}
		_exit(write(ends[1], &pid, sizeof pid) == sizeof pid ? 0 : 1);
	}
	(void)close(ends[1]);
	if (middle > 0) {
		if (read(ends[0], &stranger, sizeof stranger) != sizeof stranger)
			stranger = -1;
		while (waitpid(middle, NULL, 0) < 0 && errno == EINTR)
			;
	}
	(void)close(ends[0]);
	return stranger;
}

static void probe_attach(struct engine_probe *probe)
{
	pid_t pid = make_stranger();
	int scope = refusal_yama_scope();
	struct refusal refusal;
	struct engine_part *part;

	if (pid < 0)
		return;
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0) {
		part = add_part(probe, "attach", true);
		if (scope > 0 && geteuid() != 0)
			SAY(part, "ok: -p works, though kernel.yama.ptrace_scope is %d", scope);
		else
			SAY(part, "ok: -p works for %s", geteuid() == 0 ? "every process" : "processes of this user");
	} else {
		refusal_find(&refusal, pid, errno);
		part = add_part(probe, "attach", false);
		SAY(part, "-p does not work: %s; %s", refusal.why, refusal.brief);
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, __WALL);
}

static void probe_memory(struct engine_probe *probe, pid_t pid)
{
	char copy[sizeof sample] = "";
	struct iovec local = { copy, sizeof copy };
	struct iovec remote = { (void *)(uintptr_t)sample, sizeof copy };
	struct engine_part *part;

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == sizeof copy && strcmp(copy, sample) == 0) {
		part = add_part(probe, "memory", true);
		SAY(part, "ok: process_vm_readv");
		return;
	}
	part = add_part(probe, "memory", false);
	SAY(part,
	    "slow: process_vm_readv is refused (%s), arguments are read word by word instead; the setting "
	    "that allows it is SYS_PTRACE: docker run --cap-add=SYS_PTRACE, podman run --cap-add=SYS_PTRACE, "
	    "Kubernetes securityContext: {capabilities: {add: [SYS_PTRACE]}}",
	    strerror(errno));
}

static void probe_pinning(struct engine_probe *probe)
{
	uint8_t mask[PIN_MASK_BYTES];
	int bytes = sched_getaffinity(0, sizeof mask, (cpu_set_t *)(void *)mask);
	struct engine_part *part;

	if (bytes == 0 && sched_setaffinity(0, sizeof mask, (cpu_set_t *)(void *)mask) == 0) {
		part = add_part(probe, "pinning", true);
		SAY(part, "ok: a command whose tasks take turns shares our CPU while it is watched");
		return;
	}
	part = add_part(probe, "pinning", false);
	SAY(part,
	    "refused (%s): watching is several times slower; a seccomp profile has to allow "
	    "sched_setaffinity",
	    strerror(errno));
}

static void probe_proc(struct engine_probe *probe)
{
	struct engine_part *part;

	if (proc_usable())
		return;
	part = add_part(probe, "proc", false);
	SAY(part, "/proc is not mounted, or is that of another pid namespace: what a command begins with "
		  "(descriptors, mappings, limits, mounts) stays unknown, and -p does not work; as root: "
		  "mount -t proc proc /proc");
}

/* A child is seized, stopped and asked about its call. */
static void probe_child(struct engine_probe *ret, pid_t pid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD) != 0) {
		struct refusal refusal;

		refusal_find(&refusal, 0, errno);
		(void)snprintf(ret->why, sizeof ret->why, "%s", refusal.why);
		(void)snprintf(ret->fix, sizeof ret->fix, "%s", refusal.fix);
		return;
	}
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) != 0 || waitpid(pid, &status, __WALL) != pid ||
	    !WIFSTOPPED(status) || !probe_call_info(pid)) {
		(void)snprintf(ret->why, sizeof ret->why, "the kernel lacks PTRACE_GET_SYSCALL_INFO");
		(void)snprintf(ret->fix, sizeof ret->fix, "Linux 5.3 or newer is needed");
		return;
	}
	ret->usable = true;
	(void)snprintf(ret->why, sizeof ret->why, "commands are watched, with their children and threads");
	probe_memory(ret, pid);
}

void probe_ptrace(struct engine_probe *ret)
{
	pid_t pid = fork();
	int code = errno;

	*ret = (struct engine_probe){ 0 };
	if (pid == 0)
		pause_for_ever();
	if (pid < 0) {
		(void)snprintf(ret->why, sizeof ret->why, "fork: %s", strerror(code));
		(void)snprintf(ret->fix, sizeof ret->fix,
			       "raise the limit of processes: ulimit -u, pids.max of the "
			       "cgroup, docker run --pids-limit");
		return;
	}
	probe_child(ret, pid);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, __WALL);
	if (ret->usable && proc_usable())
		probe_attach(ret);
	probe_pinning(ret);
	probe_proc(ret);
}
