/* SPDX-License-Identifier: BSD-2-Clause */
/* Tries once, and knows. */
#include <stdbool.h>
#include <sys/epoll.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 100);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	bool plain = false;
	struct victim_dir dir;
	char name[32], data[16];

	if (epoll < 0)
		victim_fail("epoll_create1");
	victim_make_files(&dir, times);
	for (unsigned i = 0; i < times; i++) {
		struct epoll_event event = { .events = EPOLLIN };
		int fd;

		(void)snprintf(name, sizeof name, "f%u", i);
		fd = openat(dir.fd, name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			victim_fail(name);
		if (!plain)
			plain = epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 && errno == EPERM;
		if (!plain || read(fd, data, sizeof data) != 0)
			victim_fail(name);
		(void)close(fd);
	}
	victim_remove_files(&dir);
	(void)printf("expect-none rule=unsupported-retry\n");
	return 0;
}
