/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shells: what their `read` does one line at a time is forced by the standard,
 * since another program may go on where it stopped.
 */
#include <string.h>

#include "rules/keyed.h"

const char *rule_shell_remedy(const struct model_exe *exe)
{
	static const char *const others[] = { "sh", "dash", "ash", "ksh", "mksh", "zsh", "yash", "busybox" };
	const char *name = rule_base_name(exe->path);

	if (strcmp(name, "bash") == 0)
		return "mapfile -t, which reads all lines, in place of a loop of read";
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strcmp(name, others[i]) == 0)
			return "a tool that reads all lines (sed, awk) in place of a loop of read";
	return NULL;
}
