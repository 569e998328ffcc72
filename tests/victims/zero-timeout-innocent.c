/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions without waiting, one for each batch of work, and others that are answered. */
#include <poll.h>

#include "victim.h"

static void work(int null)
{
	static const char line[600];

	for (unsigned i = 0; i < 5; i++)
		if (write(null, line, sizeof line) != sizeof line)
			victim_fail("/dev/null");
}

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct pollfd ready = { .events = POLLIN };
	int fds[2], null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0 || pipe2(fds, O_CLOEXEC) != 0)
		victim_fail("pipe2");
	ready.fd = fds[0];
	for (unsigned i = 0; i < times; i++) {
		if (poll(&ready, 1, 0) != 0)
			victim_fail("poll");
		work(null);
	}
	if (write(fds[1], "x", 1) != 1)
		victim_fail("pipe");
	for (unsigned i = 0; i < times; i++)
		if (poll(&ready, 1, 0) != 1)
			victim_fail("poll");
	(void)printf("expect-none rule=zero-timeout\n");
	(void)printf("count poll=%u\n", 2 * times);
	return 0;
}
