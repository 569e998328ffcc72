/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: live-refuse ENAME CALL[,CALL...] [ENAME CALL...]... -- PROGRAM...
 *
 * Runs a program under a seccomp profile that answers the named calls with
 * that error, as those of containers do.  "ptrace/TRACEME" would be too fine:
 * profiles go by the call alone, and so does this.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RULES_MAX 30

static const struct {
	const char *name;
	int nr;
} calls[] = {
	{ "ptrace", SYS_ptrace },
	{ "process_vm_readv", SYS_process_vm_readv },
	{ "process_vm_writev", SYS_process_vm_writev },
	{ "kcmp", SYS_kcmp },
	{ "sched_setaffinity", SYS_sched_setaffinity },
	{ "sched_getaffinity", SYS_sched_getaffinity },
	{ "memfd_create", SYS_memfd_create },
	{ "pidfd_open", SYS_pidfd_open },
	{ "statx", SYS_statx },
	{ "setitimer", SYS_setitimer },
	{ "epoll_create1", SYS_epoll_create1 },
	{ "socket", SYS_socket },
	{ "getxattr", SYS_getxattr },
	{ "prlimit64", SYS_prlimit64 },
	{ "pipe2", SYS_pipe2 },
	{ "seccomp", SYS_seccomp },
};

static const struct {
	const char *name;
	uint32_t value;
} errors[] = { { "EPERM", EPERM }, { "ENOSYS", ENOSYS }, { "EACCES", EACCES }, { "EMFILE", EMFILE } };

static struct sock_filter code[2 * RULES_MAX + 2] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
};
static unsigned short used = 1;

static int add(const char *error, char *names)
{
	uint32_t value = 0;

	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (strcmp(errors[i].name, error) == 0)
			value = errors[i].value;
	for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		int nr = -1;

		for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
			if (strcmp(calls[i].name, name) == 0)
				nr = calls[i].nr;
		if (value == 0 || nr < 0 || used > 2 * RULES_MAX - 1) {
			(void)fprintf(stderr, "live-refuse: %s %s?\n", error, name);
			return -1;
		}
		code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1);
		code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | value);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sock_fprog program = { .filter = code };
	int i;

	for (i = 1; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2)
		if (add(argv[i], argv[i + 1]) < 0)
			return 2;
	if (i >= argc - 1)
		return 2;
	code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = used;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		(void)fprintf(stderr, "live-refuse: seccomp: %s\n", strerror(errno));
		return 77;
	}
	(void)execvp(argv[i + 1], argv + i + 1);
	(void)fprintf(stderr, "live-refuse: %s: %s\n", argv[i + 1], strerror(errno));
	return 127;
}
