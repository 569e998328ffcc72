/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same bytes through a buffer; then small reads that nothing could make
 * fewer: a counter, records in no order, tokens that are waited for.
 */
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>

#include "victim.h"

static void read_all(int fd, unsigned bytes)
{
	char buffer[4096];
	ssize_t got;

	while ((got = read(fd, buffer, sizeof buffer)) > 0)
		bytes -= (unsigned)got;
	if (bytes != 0)
		victim_fail("read");
}

static void read_records(int fd, unsigned bytes)
{
	char record[8];

	for (unsigned i = 0; i + 16 <= bytes; i += 16)
		if (pread(fd, record, sizeof record, (off_t)(bytes - i - 16)) != sizeof record)
			victim_fail("pread");
}

static void read_counter(unsigned times)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	uint64_t value = 1;

	if (fd < 0)
		victim_fail("eventfd");
	for (unsigned i = 0; i < times; i++)
		if (write(fd, &value, sizeof value) != sizeof value || read(fd, &value, sizeof value) != sizeof value)
			victim_fail("eventfd");
	(void)close(fd);
}

static void read_tokens(unsigned times)
{
	struct pollfd ready = { .events = POLLIN };
	char token = '+';
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		victim_fail("pipe2");
	ready.fd = fds[0];
	for (unsigned i = 0; i < times; i++)
		if (write(fds[1], &token, 1) != 1 || poll(&ready, 1, -1) != 1 || read(fds[0], &token, 1) != 1)
			victim_fail("pipe");
	(void)close(fds[0]);
	(void)close(fds[1]);
}

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct victim_dir dir;
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)times) != 0)
		victim_fail("f0");
	read_all(fd, times);
	read_records(fd, times);
	(void)close(fd);
	victim_remove_files(&dir);
	read_counter(times);
	read_tokens(times);
	(void)printf("expect-none rule=tiny-read\n");
	(void)printf("expect-none rule=tiny-write\n");
	return 0;
}
