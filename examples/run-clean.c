/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run-clean - run a command with descriptors 0, 1 and 2 and no others.
 *
 * usage: run-clean [--keep N]... [--] COMMAND [ARGUMENT...]
 *
 * What a service manager, cron or a script does before it starts something.
 * Descriptors are marked, not closed, so that one that the loader or a
 * sanitizer holds is there until the exec.  Exit status: the command's; 125
 * when it was not tried, 126 when it could not be run, 127 when it was not found.
 */
#include "syscull/fds.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_OURS 125
#define EXIT_REFUSED 126
#define EXIT_ABSENT 127
/* More than that on a command line is a mistake. */
#define KEEP_MAX 1024

static int usage(FILE *to, int status)
{
	(void)fputs("usage: run-clean [--keep N]... [--] COMMAND [ARGUMENT...]\n", to);
	return status;
}

static int parse_fd(const char *text, int *ret_fd)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || number > INT_MAX)
		return -EINVAL;
	*ret_fd = (int)number;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "keep", required_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static int keep[KEEP_MAX];
	size_t kept = 0;
	int option, result;

	while ((option = getopt_long(argc, argv, "+k:h", options, NULL)) != -1) {
		if (option == 'h')
			return usage(stdout, 0);
		if (option != 'k')
			return usage(stderr, EXIT_OURS);
		if (kept == KEEP_MAX || parse_fd(optarg, &keep[kept]) < 0) {
			(void)fprintf(stderr, "run-clean: --keep wants a descriptor, at most %d of them: %s\n",
				      KEEP_MAX, optarg);
			return EXIT_OURS;
		}
		kept++;
	}
	if (optind == argc)
		return usage(stderr, EXIT_OURS);
	result = syscull_fds_cloexec(3, keep, kept, NULL);
	if (result < 0) {
		(void)fprintf(stderr, "run-clean: descriptors cannot be kept from the command: %s\n",
			      strerror(-result));
		return EXIT_OURS;
	}
	(void)execvp(argv[optind], argv + optind);
	result = errno;
	(void)fprintf(stderr, "run-clean: %s: %s\n", argv[optind], strerror(result));
	return result == ENOENT ? EXIT_ABSENT : EXIT_REFUSED;
}
