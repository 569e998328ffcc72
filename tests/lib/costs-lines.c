/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of COST in syscull_lines(3). */
#include "syscull/lines.h"
#include "syscull/mark.h"

#include "check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static char bytes[100000];

/* Volatile, or the compiler leaves the two calls out. */
static void *volatile heap;

static void region(const char *name)
{
	CHECK_EQUAL(syscull_mark(name), 0);
}

static int make(size_t size)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQUAL(write(fd, bytes, size), (ssize_t)size);
	CHECK_EQUAL(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void all_lines(struct syscull_reader *reader, int fd, unsigned int expected)
{
	struct syscull_text line;
	unsigned int count = 0;

	CHECK_EQUAL(syscull_lines_begin(reader, fd, '\n'), 0);
	while (syscull_lines_next(reader, &line) > 0)
		count++;
	syscull_lines_end(reader);
	CHECK_EQUAL(count, expected);
}

int main(int argc, char **argv)
{
	struct syscull_reader_options confirm = { sizeof confirm, NULL, 0, NULL, 0, SYSCULL_READER_CONFIRM, 0 };
	struct syscull_reader reader, sure, fresh;
	struct syscull_text text, part;
	int fd;

	(void)argc;
	(void)argv;
#ifdef __GLIBC__
	/* The heap holds all that is asked for, so that malloc makes no calls of its own. */
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 25);
	(void)mallopt(M_TRIM_THRESHOLD, 1 << 26);
#endif
	heap = malloc(4 << 20);
	free(heap);
	memset(bytes, 'x', sizeof bytes);
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	CHECK_EQUAL(syscull_reader_init(&sure, &confirm), 0);

	region("init");
	CHECK_EQUAL(syscull_reader_init(&fresh, NULL), 0);
	CHECK_EQUAL(syscull_lines_begin(&fresh, 0, '\n'), 0);
	CHECK_EQUAL(syscull_lines_rest(&fresh, &text), 0);
	syscull_lines_end(&fresh);
	syscull_reader_done(&fresh);
	text = (struct syscull_text){ "a b", 3, 0, 0 };
	CHECK_EQUAL(syscull_text_next(&text, ' ', &part), 1);
	CHECK_EQUAL(syscull_lines_trouble(0), SYSCULL_TROUBLE_NONE);
	region("-");

	fd = make(1000);
	region("whole");
	CHECK_EQUAL(syscull_whole_read(&reader, fd, &text), 1);
	region("-");
	CHECK_EQUAL(close(fd), 0);

	fd = make(1000);
	region("whole-confirm");
	CHECK_EQUAL(syscull_whole_read(&sure, fd, &text), 1);
	region("reread");
	CHECK_EQUAL(syscull_whole_reread(&reader, fd, &text), 1);
	region("-");
	CHECK_EQUAL(close(fd), 0);

	fd = make(100000);
	region("whole-grown");
	CHECK_EQUAL(syscull_whole_read(&reader, fd, &text), 1);
	region("-");
	CHECK_EQUAL(lseek(fd, 0, SEEK_SET), 0);
	region("whole-again");
	CHECK_EQUAL(syscull_whole_read(&reader, fd, &text), 1);
	region("whole-file");
	CHECK_EQUAL(syscull_whole_file(&reader, AT_FDCWD, "/proc/self/status", &text), 1);
	region("-");
	syscull_reader_done(&reader);
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	CHECK_EQUAL(lseek(fd, 0, SEEK_SET), 0);
	region("lines-giant");
	all_lines(&reader, fd, 1);
	region("-");
	CHECK_EQUAL(close(fd), 0);

	for (size_t i = 9; i < 10000; i += 10)
		bytes[i] = '\n';
	fd = make(10000);
	region("lines");
	all_lines(&reader, fd, 1000);
	region("-");
	CHECK_EQUAL(close(fd), 0);
	syscull_reader_done(&reader);
	syscull_reader_done(&sure);
	return check_done();
}
