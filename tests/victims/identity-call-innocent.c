/* SPDX-License-Identifier: BSD-2-Clause */
/* The same log with the pid kept, and ids that are others each time. */
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
	unsigned times = victim_times(argc, argv, 1000), sets = 0;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pid_t pid = getpid();
	uid_t uid = geteuid();

	if (fd < 0)
		victim_fail("/dev/null");
	for (unsigned i = 0; i < times; i++) {
		write_line(fd, pid, i);
		/* Down and up again, as for a file of another user. */
		if (uid != 0)
			continue;
		if (seteuid(1) != 0 || seteuid(0) != 0)
			victim_fail("seteuid");
		sets += 2;
	}
	(void)close(fd);
	(void)printf("expect-none rule=identity-call\n");
	(void)printf("count getpid=1\n");
	(void)printf("count setresuid+setreuid=%u\n", sets);
	return 0;
}
