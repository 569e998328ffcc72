/* SPDX-License-Identifier: BSD-2-Clause */
/* The same looks through one descriptor. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[4096];

	for (unsigned i = 0; i < times; i++)
		if (fd < 0 || pread(fd, text, sizeof text, 0) <= 0)
			victim_fail("/proc/self/statm");
	(void)close(fd);
	(void)printf("expect-none rule=reopen-pseudo-file\n");
	(void)printf("expect-none rule=file-reread\n");
	return 0;
}
