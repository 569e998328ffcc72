/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread, and the child of a fork. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *data)
{
	long sum = getgid(); /* the first answer is no repeat */

	for (int i = 0; i < 240; i++)
		sum += getgid(); /*@ work */
	return sum == 1 ? data : NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
