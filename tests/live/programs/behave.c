/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "behave.h"

void behave_say(const char *what, long result)
{
	(void)printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "ok");
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct behave *const lists[] = { behave_signals, behave_tasks, behave_odd };

	if (argc < 2)
		return 2;
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		for (const struct behave *one = lists[i]; one->name; one++) {
			if (strcmp(one->name, argv[1]) == 0)
				return one->main(argc - 1, argv + 1);
		}
	}
	(void)fprintf(stderr, "no program %s\n", argv[1]);
	return 2;
}
