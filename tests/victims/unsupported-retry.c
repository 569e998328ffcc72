/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds plain files to an epoll, which cannot be, and reads them without. */
#include <sys/epoll.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 100);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
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
		if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 || errno != EPERM)
			victim_fail(name);
		if (read(fd, data, sizeof data) != 0)
			victim_fail(name);
		(void)close(fd);
	}
	victim_remove_files(&dir);
	(void)printf("expect rule=unsupported-retry calls=%u tier=likely errno=EPERM\n", times);
	(void)printf("count epoll_ctl=%u errno=EPERM\n", times);
	return 0;
}
