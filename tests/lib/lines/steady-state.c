/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: steady-state buffer|pool|own PROCESSES ROUNDS
 * Reads smaps, maps, status, stat, statm, fdinfo, cmdline of children again and
 * again between the marks "steady" and "after".  Fails when anything was
 * allocated or freed there; prints how many files were read, for the count at
 * the kernel boundary.
 */
#include "check.h"
#include "syscull/mark.h"
#include "syscull/proc.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 200

static volatile int counting;
static unsigned long allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);

void *__wrap_malloc(size_t size)
{
	allocations += (unsigned long)counting;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	allocations += (unsigned long)counting;
	return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	allocations += (unsigned long)counting;
	return __real_realloc(old, size);
}

void __wrap_free(void *old)
{
	allocations += (unsigned long)counting;
	__real_free(old);
}

static unsigned long files;

static void read_process(struct syscull_reader *reader, int process)
{
	struct syscull_smaps smaps;
	struct syscull_status status;
	struct syscull_statm statm;
	struct syscull_fdinfo info;
	struct syscull_stat stat;
	struct syscull_text text;
	struct syscull_map map;
	unsigned long count = 0;

	CHECK_EQUAL(syscull_proc_begin(reader, process, "smaps", '\n'), 0);
	while (syscull_proc_smaps_next(reader, &smaps) > 0)
		count++;
	syscull_lines_end(reader);
	CHECK_EQUAL(syscull_proc_begin(reader, process, "maps", '\n'), 0);
	while (syscull_proc_map_next(reader, &map) > 0)
		count--;
	syscull_lines_end(reader);
	CHECK_EQUAL(count, 0);
	CHECK_EQUAL(syscull_proc_status(reader, process, SYSCULL_STATUS_ALL, &status), 1);
	CHECK_EQUAL(syscull_proc_stat(reader, process, &stat), 1);
	CHECK_EQUAL(syscull_proc_statm(reader, process, &statm), 1);
	CHECK_EQUAL(syscull_proc_fdinfo(reader, process, 0, &info), 1);
	CHECK_EQUAL(syscull_proc_cmdline(reader, process, &text), 1);
	files += 7;
}

int main(int argc, char **argv)
{
	static char own[65536];
	struct syscull_reader_options options = { sizeof options, NULL, 0, NULL, 0, 0, 0 };
	unsigned long count = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	struct syscull_pool *pool = NULL;
	struct syscull_reader reader;
	pid_t pids[MOST];
	int held[MOST];

	if (count == 0 || count > MOST || rounds == 0)
		SKIP("usage: steady-state buffer|pool|own PROCESSES ROUNDS");
	if (strcmp(argv[1], "buffer") == 0) {
		options.buffer = own;
		options.buffer_size = sizeof own;
	} else if (strcmp(argv[1], "pool") == 0) {
		pool = syscull_pool_new(NULL);
		options.pool = pool;
	}
	for (unsigned long i = 0; i < count; i++) {
		pids[i] = fork();
		CHECK(pids[i] >= 0);
		if (pids[i] == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			/* Stopped, it makes no calls that would be counted as ours. */
			(void)raise(SIGSTOP);
			_exit(0);
		}
		CHECK_EQUAL(waitpid(pids[i], NULL, WUNTRACED), pids[i]);
		held[i] = syscull_proc_hold(SYSCULL_PROC_DEFAULT, pids[i]);
		CHECK(held[i] >= 0);
	}
	CHECK_EQUAL(syscull_reader_init(&reader, &options), 0);
	read_process(&reader, held[0]);
	files = 0;
	CHECK_EQUAL(syscull_mark("steady"), 0);
	counting = 1;
	for (unsigned long round = 0; round < rounds; round++) {
		for (unsigned long i = 0; i < count; i++) {
			if (pool != NULL) {
				/* A reader per process: its buffer comes from the pool and goes back. */
				syscull_reader_done(&reader);
				CHECK_EQUAL(syscull_reader_init(&reader, &options), 0);
			}
			read_process(&reader, held[i]);
		}
	}
	counting = 0;
	CHECK_EQUAL(syscull_mark("after"), 0);
	CHECK_EQUAL(allocations, 0);
	syscull_reader_done(&reader);
	syscull_pool_free(pool);
	for (unsigned long i = 0; i < count; i++) {
		CHECK_EQUAL(kill(pids[i], SIGKILL), 0);
		CHECK_EQUAL(waitpid(pids[i], NULL, 0), pids[i]);
		CHECK_EQUAL(close(held[i]), 0);
	}
	printf("%lu files\n", files);
	return 0;
}
