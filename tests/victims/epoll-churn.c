/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts a pipe into an epoll set before each wait and takes it off after. */
#include <sys/epoll.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct epoll_event event = { .events = EPOLLIN };
	int ends[2], set = epoll_create1(EPOLL_CLOEXEC);

	if (set < 0 || pipe2(ends, O_CLOEXEC) < 0)
		victim_fail("epoll_create1");
	for (unsigned i = 0; i < times; i++)
		if (epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event) < 0 ||
		    epoll_ctl(set, EPOLL_CTL_DEL, ends[0], NULL) < 0)
			victim_fail("epoll_ctl");
	/* The first has nothing before it, the last nothing behind. */
	(void)printf("expect rule=epoll-churn calls=%u tier=likely\n", times * 2 - 2);
	(void)printf("count epoll_ctl=%u\n", times * 2);
	return 0;
}
