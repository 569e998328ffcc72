/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads THREADS CALLS: so many threads that make so many calls each, a
 * mixture of short ones and of look-ups.  What engines have to bear that see
 * calls of several CPUs at a time.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX 64

static long calls;

static void *work(void *data)
{
	struct stat st;

	for (long i = 0; i < calls; i++) {
		if (i % 8 == 0)
			(void)stat("/etc/passwd", &st);
		else
			(void)syscall(SYS_getppid);
	}
	return data;
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	pthread_t threads[THREADS_MAX];

	if (count < 1 || count > THREADS_MAX)
		return 2;
	calls = strtol(argv[2], NULL, 10);
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 1;
	for (long i = 0; i < count; i++)
		(void)pthread_join(threads[i], NULL);
	return 0;
}
