/* SPDX-License-Identifier: BSD-2-Clause */
/* A file is read again and again, in two ways, by calls from three places. */
#include <fcntl.h>
#include <unistd.h>

static __attribute__((noinline)) int look(void)
{
	int fd = open("/etc/passwd", O_RDONLY); /*@ open */
	static char text[65536]; /* the whole of it: a part of a file is not read again with it */
	int got;

	got = (int)read(fd, text, sizeof text); /*@ read */
	(void)close(fd); /*@ close */
	return got;
}

static __attribute__((noinline)) int often(void)
{
	return look() + 1;
}

static __attribute__((noinline)) int seldom(void)
{
	return look() + 2;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 300; i++)
		sum += i % 10 > 0 ? often() : seldom();
	return sum == 1;
}
