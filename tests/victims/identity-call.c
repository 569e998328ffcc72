/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes 1,000 long lines of a log, each with the pid, which it asks for each time. */
#include "victim.h"

/* Not dprintf, which asks each time whether it writes to a terminal. */
static void write_line(int fd, pid_t pid, unsigned number)
{
	char line[640];
	int bytes = snprintf(line, sizeof line, "%d: line %0600u\n", (int)pid, number);

	if (write(fd, line, (size_t)bytes) != bytes)
		victim_fail("write");
}

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		victim_fail("/dev/null");
	for (unsigned i = 0; i < times; i++)
		write_line(fd, getpid(), i);
	(void)close(fd);
	(void)printf("expect rule=identity-call calls=%u tier=certain\n", times - 1);
	(void)printf("expect-none rule=clock-call\n");
	(void)printf("count getpid=%u\n", times);
	return 0;
}
