/* SPDX-License-Identifier: BSD-2-Clause */
/* Does nothing until it is told to, by one byte: to be attached to. */
#include <unistd.h>

static __attribute__((noinline)) int ask(void)
{
	return getgid(); /*@ ask */
}

static __attribute__((noinline)) int one(void)
{
	return ask() + 1; /*@ one */
}

int main(void)
{
	char byte;
	int sum = 0;

	if (write(1, "r", 1) != 1 || read(0, &byte, 1) != 1)
		return 1;
	for (int i = 0; i < 200; i++)
		sum += one() + getgid(); /*@ main */
	/* Until it is seen that all is told. */
	return read(0, &byte, 1) == 1 && sum == 1;
}
