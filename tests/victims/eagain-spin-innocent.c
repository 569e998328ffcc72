/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits, takes what is there until there is no more, and waits again. */
#include <poll.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct pollfd ready = { .events = POLLIN };
	char text[600] = "";
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
		victim_fail("pipe2");
	ready.fd = fds[0];
	for (unsigned i = 0; i < times; i++) {
		if (write(fds[1], text, sizeof text) != sizeof text || poll(&ready, 1, -1) != 1)
			victim_fail("poll");
		if (read(fds[0], text, sizeof text) != sizeof text)
			victim_fail("read");
		if (read(fds[0], text, sizeof text) != -1 || errno != EAGAIN)
			victim_fail("read");
	}
	(void)printf("expect-none rule=eagain-spin\n");
	(void)printf("count read=%u errno=EAGAIN\n", times);
	return 0;
}
