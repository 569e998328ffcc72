/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What works here, found out by trying: the programs are loaded and taken out
 * again.  Why they were refused is told from what the kernel answered and from
 * what /proc says, which only explains.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "engine/bpf/bpf.h"

#define PROBE_RING_BYTES 4096
#define CAPABILITY_PERFMON 38
#define CAPABILITY_BPF 39
#define CAPABILITY_ADMIN 21

#define CONTAINERS \
	"as root: sudo syscull run --user $USER -- COMMAND\n" \
	"Docker      docker run --cap-add=BPF --cap-add=PERFMON ...\n" \
	"Podman      podman run --cap-add=BPF --cap-add=PERFMON ...\n" \
	"Kubernetes  securityContext: {capabilities: {add: [BPF, PERFMON]}}\n" \
	"When a profile of your own forbids it still:\n" \
	"Docker      docker run --security-opt seccomp=unconfined ..."

static bool has_capabilities(void)
{
	char line[256];
	uint64_t set = 0;
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof line, file)) {
		if (strncmp(line, "CapEff:", 7) == 0)
			set = strtoull(line + 7, NULL, 16);
	}
	if (file)
		(void)fclose(file);
	return (set >> CAPABILITY_ADMIN & 1) || ((set >> CAPABILITY_BPF & 1) && (set >> CAPABILITY_PERFMON & 1));
}

void refusal_bpf(int code, char *ret_why, size_t why_room, char *ret_fix, size_t fix_room)
{
	struct utsname host;

	if ((code == EPERM || code == EACCES) && !has_capabilities()) {
		(void)snprintf(ret_why, why_room, "it needs root, or the capabilities BPF and PERFMON");
		(void)snprintf(ret_fix, fix_room, "%s", CONTAINERS);
	} else if (code == EPERM) {
		(void)snprintf(ret_why, why_room,
			       "bpf(2) is refused to root as well: a user namespace, a seccomp profile or lockdown");
		(void)snprintf(ret_fix, fix_room,
			       "cat /sys/kernel/security/lockdown; Docker: --security-opt seccomp=unconfined");
	} else if (code == ENOSYS) {
		(void)snprintf(ret_why, why_room, "the kernel has no bpf(2)");
		(void)snprintf(ret_fix, fix_room, "a kernel with CONFIG_BPF_SYSCALL is needed");
	} else if (code == ENOMEM || code == E2BIG) {
		(void)snprintf(ret_why, why_room, "the kernel has no memory for it: %s", strerror(code));
		(void)snprintf(ret_fix, fix_room, "a smaller --ring, or a higher memory limit of the cgroup");
	} else {
		(void)snprintf(ret_why, why_room, "the kernel refuses its programs (%s)%s%s", strerror(code),
			       uname(&host) == 0 ? ": Linux " : "", uname(&host) == 0 ? host.release : "");
		(void)snprintf(ret_fix, fix_room, "Linux 5.13 or newer with CONFIG_DEBUG_INFO_BTF is needed");
	}
}

void probe_bpf(struct engine_probe *ret)
{
	struct load_spec spec = { .ring_bytes = PROBE_RING_BYTES };
	struct kern_offsets offsets;
	struct loaded loaded;
	struct error err = { 0 };
	const char *missing;
	int r;

	*ret = (struct engine_probe){ 0 };
	r = load_open(&loaded, &spec, &err);
	if (r == 0)
		r = load_attach(&loaded, &err);
	load_close(&loaded);
	if (r == 0) {
		ret->usable = true;
		(void)snprintf(ret->why, sizeof ret->why,
			       "commands and processes are watched, at about twice their time");
		return;
	}
	if (r == -ENOTSUP && has_capabilities()) {
		r = fields_find(&offsets, &missing);
		if (r < 0) {
			(void)snprintf(ret->why, sizeof ret->why, "the kernel lacks %s", missing);
			(void)snprintf(ret->fix, sizeof ret->fix,
				       "Linux 5.13 or newer with CONFIG_DEBUG_INFO_BTF is needed");
			return;
		}
	}
	refusal_bpf(r == -ENOTSUP ? EPERM : -r, ret->why, sizeof ret->why, ret->fix, sizeof ret->fix);
}
