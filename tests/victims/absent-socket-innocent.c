/* SPDX-License-Identifier: BSD-2-Clause */
/* Connects to twenty sockets that are not there, and to one that is, 20 times. */
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "victim.h"

static void try(const struct sockaddr_un *address, bool there)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0) != there)
		victim_fail(address->sun_path);
	(void)close(fd);
}

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 20);
	struct sockaddr_un there = { .sun_family = AF_UNIX, .sun_path = "victim.socket" };
	int server = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)unlink(there.sun_path);
	if (server < 0 || bind(server, (struct sockaddr *)&there, sizeof there) < 0)
		victim_fail(there.sun_path);
	for (unsigned i = 0; i < times; i++) {
		struct sockaddr_un absent = { .sun_family = AF_UNIX };

		(void)snprintf(absent.sun_path, sizeof absent.sun_path, "/victim.absent%u", i);
		try(&absent, false);
		try(&there, true);
	}
	(void)unlink(there.sun_path);
	(void)printf("expect-none rule=absent-socket\n");
	return 0;
}
