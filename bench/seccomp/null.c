/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: seccomp-null COMMAND...
 *
 * Runs a command under a filter that allows every call: what any filter costs.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = { 1, &allow };

	if (argc < 2)
		return 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
		(void)fprintf(stderr, "seccomp-null: %s\n", strerror(errno));
		return 125;
	}
	(void)execvp(argv[1], argv + 1);
	(void)fprintf(stderr, "seccomp-null: %s: %s\n", argv[1], strerror(errno));
	return 127;
}
