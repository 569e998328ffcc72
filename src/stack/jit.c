/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /tmp/perf-PID.map: what node, Java and Python (3.12 and later) write about code
 * that they make at run time, "START SIZE NAME" a line, hexadecimal.  Anybody
 * can write there, so that only a file of the process's own user counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stack/book.h"

#define MAP_BYTES_MAX (64u << 20)

static struct {
	uint32_t pid;
	struct buf text;
} kept;

static int open_map(uint32_t pid, uint32_t uid)
{
	for (unsigned i = 0; i < 2; i++) {
		char path[80];
		struct stat st;
		int fd;

		if (i == 0)
			(void)snprintf(path, sizeof path, "/proc/%u/root/tmp/perf-%u.map", pid, pid);
		else
			(void)snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
		if (fd < 0)
			continue;
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == uid)
			return fd;
		(void)close(fd);
	}
	return -1;
}

bool jit_symbol(uint32_t pid, uint32_t uid, uint64_t address, const char **ret_name, uint64_t *ret_start)
{
	bool found = false;
	char *line, *next;

	if (pid == 0 || uid == UINT32_MAX)
		return false;
	if (kept.pid != pid) {
		int fd = open_map(pid, uid);

		buf_clear(&kept.text);
		kept.pid = pid;
		if (fd >= 0) {
			if (buf_read_fd(&kept.text, fd, MAP_BYTES_MAX) < 0)
				buf_clear(&kept.text);
			(void)close(fd);
		}
		for (size_t i = 0; i < kept.text.bytes; i++)
			if (kept.text.data[i] == '\n')
				kept.text.data[i] = '\0';
	}
	if (kept.text.bytes == 0)
		return false;
	/* The last one that covers it: code is made anew where old one was. */
	(void)buf_text(&kept.text);
	for (line = kept.text.data; line < kept.text.data + kept.text.bytes; line = next) {
		char *at;
		uint64_t start, bytes;

		next = line + strlen(line) + 1;
		start = strtoull(line, &at, 16);
		if (at == line || *at != ' ')
			continue;
		line = at;
		bytes = strtoull(line, &at, 16);
		if (at == line || *at != ' ' || address < start || address - start >= bytes)
			continue;
		*ret_name = at + 1;
		*ret_start = start;
		found = true;
	}
	return found;
}
