/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /tmp/perf-PID.map: what node, Java and Python (3.12 and later) write about code
 * that they make at run time, "START SIZE NAME" a line, hexadecimal.  Anybody
 * can write there, and pids come again, so that only a file of the process's own
 * user counts that was written since its program began.
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
#define STAMP_STEP_NS INT64_C(10000000) /* as in book.c */

static struct {
	uint32_t pid;
	struct buf text;
} kept;

static int64_t written_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec;
}

/* Of this run: not of an earlier process of that number, nor of one after a trace. */
static bool is_of(const struct stat *st, const struct book_sample *sample, uint64_t until_ns, int64_t ahead_ns)
{
	if (!S_ISREG(st->st_mode) || st->st_uid != sample->uid)
		return false;
	if (sample->born_ns > 0 && written_ns(st) + STAMP_STEP_NS < (int64_t)sample->born_ns + ahead_ns)
		return false;
	return until_ns == 0 || written_ns(st) <= (int64_t)until_ns + STAMP_STEP_NS;
}

static int open_map(const struct book_sample *sample, uint64_t until_ns, int64_t ahead_ns)
{
	int fd = -1;

	for (unsigned i = 0; i < 2 && fd < 0; i++) {
		char path[80];
		struct stat st;
		int handle;

		if (i == 0)
			(void)snprintf(path, sizeof path, "/proc/%u/root/tmp/perf-%u.map", sample->pid, sample->pid);
		else
			(void)snprintf(path, sizeof path, "/tmp/perf-%u.map", sample->pid);
		handle = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
		if (handle < 0)
			continue;
		if (fstat(handle, &st) == 0 && is_of(&st, sample, until_ns, ahead_ns))
			fd = book_reopen(handle, path);
		(void)close(handle);
	}
	return fd;
}

void jits_open(struct stack_book *book, int64_t ahead_ns)
{
	size_t opened = 0;
	struct map seen;

	map_init(&seen, 0, BOOK_MODULES_MAX);
	for (size_t i = 0; book->options.here && i < book->samples.used && opened < BOOK_JITS_MAX; i++) {
		const struct book_sample *sample = &book->samples.at[i];
		bool fresh = false;
		int fd;

		if (!sample->data || sample->pid == 0 || sample->uid == UINT32_MAX ||
		    !map_put(&seen, sample->pid, &fresh) || !fresh)
			continue;
		fd = open_map(sample, book->options.unchanged_since_ns, ahead_ns);
		if (fd >= 0 && !vec_push(&book->jits, (struct book_jit){ .pid = sample->pid, .fd = fd })) {
			(void)close(fd);
			break;
		}
		opened += fd >= 0;
	}
	map_done(&seen);
}

static int map_of(const struct stack_book *book, uint32_t pid)
{
	for (size_t i = 0; i < book->jits.used; i++)
		if (book->jits.at[i].pid == pid)
			return book->jits.at[i].fd;
	return -1;
}

bool jit_symbol(const struct stack_book *book, uint32_t pid, uint64_t address, struct jit_symbol *ret)
{
	bool found = false;
	char *line, *next;

	if (pid == 0)
		return false;
	if (kept.pid != pid) {
		int fd = map_of(book, pid);

		buf_clear(&kept.text);
		kept.pid = pid;
		if (fd >= 0 && (lseek(fd, 0, SEEK_SET) != 0 || buf_read_fd(&kept.text, fd, MAP_BYTES_MAX) < 0))
			buf_clear(&kept.text);
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
		*ret = (struct jit_symbol){ .name = at + 1, .start = start, .bytes = bytes };
		found = true;
	}
	return found;
}
