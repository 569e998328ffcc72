/* SPDX-License-Identifier: BSD-2-Clause */
/* Arms a pipe anew after each of 1,000 waits, as EPOLLONESHOT wants it. */
#include <sys/epoll.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };
	int ends[2], set = epoll_create1(EPOLL_CLOEXEC);
	char byte;

	if (set < 0 || pipe2(ends, O_CLOEXEC) < 0 || epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event) < 0)
		victim_fail("epoll_create1");
	for (unsigned i = 0; i < times; i++) {
		struct epoll_event seen;

		if (write(ends[1], "x", 1) != 1 || epoll_wait(set, &seen, 1, -1) != 1 || read(ends[0], &byte, 1) != 1 ||
		    epoll_ctl(set, EPOLL_CTL_MOD, ends[0], &event) < 0)
			victim_fail("epoll_wait");
	}
	(void)printf("expect-none rule=epoll-churn\n");
	return 0;
}
