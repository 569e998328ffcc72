/* SPDX-License-Identifier: BSD-2-Clause */
/* Connects 20 times to a socket that is not there. */
#include <sys/socket.h>
#include <sys/un.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 20);
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/victim.absent" };

	for (unsigned i = 0; i < times; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) == 0 || errno != ENOENT)
			victim_fail(address.sun_path);
		(void)close(fd);
	}
	(void)printf("expect rule=absent-socket calls=%u tier=likely errno=ENOENT\n", 3 * times);
	(void)printf("count connect=%u errno=ENOENT\n", times);
	return 0;
}
