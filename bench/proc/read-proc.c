/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: read-proc PROCESSES ROUNDS [FILE METHOD]
 * Reads one file of each of PROCESSES stopped children, by every method in an
 * order that turns, and prints for each round: file, method, nanoseconds of
 * processor time, minor faults, bytes read, bytes copied again in user space, lines.  With FILE and
 * METHOD it makes just that, for calls to be counted.
 */
#include "syscull/proc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 250
#define MAPPINGS 60

enum file { SMAPS, MAPS, STATUS, FDINFO, FILES };

static const char *const file_names[FILES] = { "smaps", "maps", "status", "fdinfo/0" };

static pid_t pids[MOST];
static int held[MOST];
static unsigned int count;
static uint64_t lines, bytes_read, bytes_moved;
static char own[65536];
static struct syscull_reader reader;

void *__real_memmove(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size);

/* What the library moves within its buffer. */
void *__wrap_memmove(void *to, const void *from, size_t size)
{
	bytes_moved += size;
	return __real_memmove(to, from, size);
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int open_held(unsigned int i, enum file file)
{
	int fd = openat(held[i], file_names[file], O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail(file_names[file]);
	return fd;
}

static int open_path(unsigned int i, enum file file)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pids[i], file_names[file]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	return fd;
}

static int is_stream(enum file file)
{
	return file == SMAPS || file == MAPS;
}

/* Streams until 0, files that are one record with one read, which is what their kind allows. */
static void raw_read(unsigned int i, enum file file)
{
	int fd = open_held(i, file);
	ssize_t got;

	while ((got = read(fd, own, sizeof own)) > 0) {
		bytes_read += (uint64_t)got;
		if (!is_stream(file))
			break;
	}
	(void)close(fd);
}

static void ours_fd(int fd, enum file file)
{
	struct syscull_text text, line;

	if (is_stream(file)) {
		if (syscull_lines_begin(&reader, fd, '\n') < 0)
			fail("lines");
		while (syscull_lines_next(&reader, &line) > 0)
			lines++;
	} else if (syscull_whole_read(&reader, fd, &text) > 0) {
		while (syscull_text_next(&text, '\n', &line) > 0)
			lines++;
	}
	bytes_read += reader.bytes;
	(void)close(fd);
}

static void ours(unsigned int i, enum file file)
{
	ours_fd(open_held(i, file), file);
}

static void ours_path(unsigned int i, enum file file)
{
	ours_fd(open_path(i, file), file);
}

static void typed(unsigned int i, enum file file)
{
	struct syscull_smaps smaps;
	struct syscull_status status;
	struct syscull_fdinfo info;
	struct syscull_map map;

	switch (file) {
	case SMAPS:
		(void)syscull_proc_begin(&reader, held[i], "smaps", '\n');
		while (syscull_proc_smaps_next(&reader, &smaps) > 0)
			lines++;
		break;
	case MAPS:
		(void)syscull_proc_begin(&reader, held[i], "maps", '\n');
		while (syscull_proc_map_next(&reader, &map) > 0)
			lines++;
		break;
	case STATUS:
		lines += syscull_proc_status(&reader, held[i], SYSCULL_STATUS_ALL, &status) > 0;
		break;
	case FDINFO:
	case FILES:
	default:
		lines += syscull_proc_fdinfo(&reader, held[i], 0, &info) > 0;
		break;
	}
	bytes_read += reader.bytes;
	syscull_lines_end(&reader);
}

static void by_fgets(int fd, char *buffer, size_t size)
{
	char line[4096];
	FILE *stream = fdopen(fd, "r");

	if (stream == NULL)
		fail("fdopen");
	if (buffer != NULL)
		(void)setvbuf(stream, buffer, _IOFBF, size);
	while (fgets(line, sizeof line, stream) != NULL) {
		size_t length = strlen(line);

		lines++;
		bytes_read += length;
		bytes_moved += length;
	}
	(void)fclose(stream);
}

static void stdio_fgets(unsigned int i, enum file file)
{
	by_fgets(open_held(i, file), NULL, 0);
}

static void stdio_path(unsigned int i, enum file file)
{
	by_fgets(open_path(i, file), NULL, 0);
}

static void stdio_setvbuf(unsigned int i, enum file file)
{
	by_fgets(open_held(i, file), own, sizeof own);
}

/* As libcs before 2016 did: the stream's buffer is mapped and unmapped for each file. */
static void stdio_mmap(unsigned int i, enum file file)
{
	char *buffer = mmap(NULL, 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buffer == MAP_FAILED)
		fail("mmap");
	by_fgets(open_held(i, file), buffer, 1024);
	(void)munmap(buffer, 1024);
}

static void stdio_getline(unsigned int i, enum file file)
{
	static char *line;
	static size_t room;
	FILE *stream = fdopen(open_held(i, file), "r");
	ssize_t length;

	if (stream == NULL)
		fail("fdopen");
	while ((length = getline(&line, &room, stream)) > 0) {
		lines++;
		bytes_read += (uint64_t)length;
		bytes_moved += (uint64_t)length;
	}
	(void)fclose(stream);
}

static const struct {
	const char *name;
	void (*read)(unsigned int i, enum file file);
} methods[] = {
	{ "raw", raw_read },	      { "ours", ours },
	{ "ours-typed", typed },      { "ours-path", ours_path },
	{ "fgets", stdio_fgets },     { "fgets-path", stdio_path },
	{ "fgets-mmap", stdio_mmap }, { "setvbuf", stdio_setvbuf },
	{ "getline", stdio_getline },
};

#define METHODS (sizeof methods / sizeof methods[0])

static void pass(enum file file, size_t method, int say)
{
	struct timespec before, after;
	struct rusage first, last;

	lines = bytes_read = bytes_moved = 0;
	(void)getrusage(RUSAGE_SELF, &first);
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
	for (unsigned int i = 0; i < count; i++)
		methods[method].read(i, file);
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
	(void)getrusage(RUSAGE_SELF, &last);
	if (say)
		printf("%s %s %lld %ld %llu %llu %llu\n", file_names[file], methods[method].name,
		       (long long)(after.tv_sec - before.tv_sec) * 1000000000 + (after.tv_nsec - before.tv_nsec),
		       last.ru_minflt - first.ru_minflt, (unsigned long long)bytes_read,
		       (unsigned long long)bytes_moved, (unsigned long long)lines);
}

static void start(void)
{
	for (int i = 0; i < MAPPINGS; i++)
		if (mmap(NULL, 65536, i % 2 ? PROT_READ | PROT_WRITE : PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED)
			fail("mmap");
	for (unsigned int i = 0; i < count; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			fail("fork");
		if (pids[i] == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			(void)raise(SIGSTOP);
			_exit(0);
		}
		if (waitpid(pids[i], NULL, WUNTRACED) < 0)
			fail("waitpid");
		held[i] = syscull_proc_hold(SYSCULL_PROC_DEFAULT, pids[i]);
		if (held[i] < 0)
			fail("hold");
	}
}

int main(int argc, char **argv)
{
	struct syscull_reader_options options = { sizeof options, own, sizeof own, NULL, 0, 0, 0 };
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	count = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	if (count == 0 || count > MOST || (argc != 3 && argc != 5)) {
		(void)fprintf(stderr, "usage: read-proc PROCESSES ROUNDS [FILE METHOD]\n");
		return 2;
	}
	start();
	if (syscull_reader_init(&reader, &options) < 0)
		return 1;
	for (unsigned long round = 0; round < rounds; round++)
		for (enum file file = SMAPS; file < FILES; file++)
			for (size_t i = 0; i < METHODS; i++) {
				size_t method = (i + round) % METHODS;

				if (argc == 3 || (strcmp(argv[3], file_names[file]) == 0 &&
						  strcmp(argv[4], methods[method].name) == 0))
					pass(file, method, argc == 3);
			}
	for (unsigned int i = 0; i < count; i++) {
		(void)kill(pids[i], SIGKILL);
		(void)waitpid(pids[i], NULL, 0);
	}
	return fflush(stdout) != 0;
}
