/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads an empty pipe 1,000 times, without waiting in between. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	char byte;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
		victim_fail("pipe2");
	for (unsigned i = 0; i < times; i++)
		if (read(fds[0], &byte, 1) != -1 || errno != EAGAIN)
			victim_fail("read");
	(void)printf("expect rule=eagain-spin calls=%u errno=EAGAIN tier=likely with=poll\n", times - 1);
	(void)printf("expect-none rule=tiny-read\n");
	(void)printf("count read=%u errno=EAGAIN\n", times);
	return 0;
}
