/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks an empty pipe 1,000 times whether there is something to read, without waiting. */
#include <poll.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct pollfd ready = { .events = POLLIN };
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		victim_fail("pipe2");
	ready.fd = fds[0];
	for (unsigned i = 0; i < times; i++)
		if (poll(&ready, 1, 0) != 0)
			victim_fail("poll");
	(void)printf("expect rule=zero-timeout calls=%u tier=likely with=deadline\n", times - 1);
	(void)printf("expect-none rule=eagain-spin\n");
	(void)printf("count poll=%u\n", times);
	return 0;
}
