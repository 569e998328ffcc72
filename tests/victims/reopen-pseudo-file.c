/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks 1,000 times how much memory it has, and opens the file each time. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	char text[4096];

	for (unsigned i = 0; i < times; i++) {
		int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

		if (fd < 0 || read(fd, text, sizeof text) <= 0)
			victim_fail("/proc/self/statm");
		(void)close(fd);
	}
	(void)printf("expect rule=reopen-pseudo-file calls=%u tier=likely\n", 3 * (times - 1));
	(void)printf("expect-none rule=file-reread\n");
	return 0;
}
