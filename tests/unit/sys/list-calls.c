/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the table as the library has it: architecture, number, name.  For
 * the scripts that compare it with what others know.
 */
#include <stdio.h>

#include "sys/sys.h"

int main(void)
{
	static const enum sys_arch arches[] = { SYS_ARCH_X86_64, SYS_ARCH_AARCH64 };

	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++)
		for (int nr = 0; nr < 1024; nr++) {
			enum sys_call_id id = sys_call_id(arches[i], nr);

			if (id)
				(void)printf("%s %d %s\n", sys_arch_name(arches[i]), nr, sys_call(id)->name);
		}
	return 0;
}
