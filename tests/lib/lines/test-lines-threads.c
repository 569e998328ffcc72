/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * 1,000 readers in 8 threads with one pool; built with ThreadSanitizer where
 * the compiler has it.  Every reader reads files of our own process whole and
 * by lines, and every few a giant that must not enter the pool.
 */
#include "check.h"
#include "syscull/proc.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS 8
#define READERS 1000
#define GIANT 100000

static struct syscull_pool *pool;
static int process = -1;
static int giant = -1;
static unsigned int next_reader;
static unsigned long mappings[READERS];

static int giant_line(struct syscull_reader *reader)
{
	struct syscull_text line;
	int result = syscull_whole_reread(reader, giant, &line);

	return result == 1 && line.length == GIANT + 1 && line.text[GIANT] == '\n';
}

static int read_once(struct syscull_reader *reader, unsigned int number)
{
	struct syscull_status status;
	struct syscull_stat stat;
	struct syscull_map map;
	int result;

	if (syscull_proc_status(reader, process, SYSCULL_STATUS_BIT(SYSCULL_STATUS_PID), &status) != 1 ||
	    status.numbers[SYSCULL_STATUS_PID] != (uint64_t)getpid())
		return 0;
	if (syscull_proc_begin(reader, process, "maps", '\n') < 0)
		return 0;
	while ((result = syscull_proc_map_next(reader, &map)) > 0)
		mappings[number] += map.end > map.start;
	syscull_lines_end(reader);
	if (result < 0 || syscull_proc_stat(reader, process, &stat) != 1)
		return 0;
	return number % 7 != 0 || giant_line(reader);
}

static void *work(void *unused)
{
	struct syscull_reader_options options = { sizeof options, NULL, 0, pool, 0, 0, 0 };
	unsigned long good = 0;

	(void)unused;
	for (;;) {
		unsigned int number = __atomic_fetch_add(&next_reader, 1, __ATOMIC_RELAXED);
		struct syscull_reader reader;

		if (number >= READERS)
			break;
		if (syscull_reader_init(&reader, &options) == 0 && read_once(&reader, number))
			good++;
		syscull_reader_done(&reader);
		if (number % 100 == 50)
			syscull_pool_trim(pool);
	}
	return (void *)good;
}

int main(void)
{
	struct syscull_pool_options options = { sizeof options, 0, 4, THREADS };
	pthread_t threads[THREADS];
	unsigned long good = 0;
	static char text[GIANT + 1];

	check_case = "threads";
	pool = syscull_pool_new(&options);
	process = syscull_proc_hold(SYSCULL_PROC_DEFAULT, 0);
	giant = memfd_create("giant", MFD_CLOEXEC);
	CHECK(pool != NULL && process >= 0 && giant >= 0);
	memset(text, 'g', GIANT);
	text[GIANT] = '\n';
	CHECK_EQUAL(write(giant, text, sizeof text), (ssize_t)sizeof text);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, work, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		void *result;

		CHECK_EQUAL(pthread_join(threads[i], &result), 0);
		good += (unsigned long)result;
	}
	CHECK_EQUAL(good, READERS);
	for (int i = 0; i < READERS; i++)
		CHECK(mappings[i] > 5);
	syscull_pool_free(pool);
	CHECK_EQUAL(close(process), 0);
	CHECK_EQUAL(close(giant), 0);
	return check_done();
}
