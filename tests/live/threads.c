/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 threads of 10,000 getppid each, for the observer. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *work(void *unused)
{
	for (int i = 0; i < 10000; i++)
		(void)syscall(SYS_getppid);
	return unused;
}

int main(void)
{
	pthread_t thread[8];

	for (int i = 0; i < 8; i++) {
		if (pthread_create(&thread[i], NULL, work, NULL) != 0)
			return 1;
	}
	for (int i = 0; i < 8; i++)
		(void)pthread_join(thread[i], NULL);
	return 0;
}
