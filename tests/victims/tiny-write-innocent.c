/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same lines through a buffer; then small writes that somebody waits for:
 * records made durable, questions and answers, tokens for the own process.
 */
#include <stdint.h>
#include <sys/wait.h>

#include "victim.h"

static void write_lines(int fd, unsigned times)
{
	FILE *file = fdopen(dup(fd), "w");

	if (!file)
		victim_fail("fdopen");
	for (unsigned i = 0; i < times; i++)
		if (fprintf(file, "%u\n", i) < 0)
			victim_fail("fprintf");
	if (fclose(file) != 0)
		victim_fail("fclose");
}

static void write_durably(const struct victim_dir *dir)
{
	int fd = openat(dir->fd, "f0", O_WRONLY | O_APPEND | O_DSYNC | O_CLOEXEC);

	for (unsigned i = 0; i < 150; i++)
		if (dprintf(fd, "%u\n", i) < 0)
			victim_fail("f0");
	(void)close(fd);
}

static void answer(int from, int to)
{
	char text[32];
	ssize_t got;

	while ((got = read(from, text, sizeof text)) > 0)
		if (write(to, text, (size_t)got) != got)
			_exit(1);
	_exit(0);
}

static void ask(unsigned times)
{
	int there[2], back[2];
	char text[32];
	pid_t pid = -1;

	if (pipe2(there, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		victim_fail("fork");
	if (pid == 0) {
		(void)close(there[1]);
		answer(there[0], back[1]);
	}
	for (unsigned i = 0; i < times; i++)
		if (write(there[1], "how are you?\n", 13) != 13 || read(back[0], text, sizeof text) <= 0)
			victim_fail("pipe");
	(void)close(there[1]);
	if (waitpid(pid, NULL, 0) != pid)
		victim_fail("waitpid");
}

static void wake(unsigned times)
{
	uint64_t place = 0;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		victim_fail("pipe2");
	for (unsigned n = 0; n < times; n += 100) {
		for (unsigned i = 0; i < 100; i++)
			if (write(fds[1], &place, sizeof place) != sizeof place)
				victim_fail("pipe");
		for (unsigned i = 0; i < 100; i++)
			if (read(fds[0], &place, sizeof place) != sizeof place)
				victim_fail("pipe");
	}
}

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct victim_dir dir;
	int fd;

	victim_make_files(&dir, 1);
	fd = openat(dir.fd, "f0", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		victim_fail("f0");
	write_lines(fd, times);
	(void)close(fd);
	write_durably(&dir);
	victim_remove_files(&dir);
	ask(times);
	wake(times);
	(void)printf("expect-none rule=tiny-write\n");
	return 0;
}
