/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A place that is called in more ways than have a key, then by one who counts: with a stack that has more
 * addresses than are kept in mind, always the same ("same") or, of thirty calls each, one of twenty ("varied").
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct stat st;

static __attribute__((noinline)) int ask(const char *path)
{
	return stat(path, &st) + 1;
}

static __attribute__((noinline)) int way(unsigned turns, int depth, const char *path)
{
	if (depth == 0)
		return ask(path) + 1;
	if (turns & 1)
		return way(turns >> 1, depth - 1, path) + 1;
	return way(turns >> 1, depth - 1, path) + 2;
}

static __attribute__((noinline)) int hot(int which)
{
	void *volatile full[48];
	int got;

	for (int i = 0; i < 48; i++)
		full[i] = (void *)&full[i];
	full[0] = (char *)(void *)ask + which;
	got = stat("/etc/passwd", &st); /*@ hot */
	return got + (full[0] == full[1]);
}

int main(int argc, char **argv)
{
	int sum = 0, varied = argc > 1 && strcmp(argv[1], "varied") == 0;
	char path[32];

	for (unsigned turns = 0; turns < 1100; turns++) {
		(void)snprintf(path, sizeof path, "/nowhere/%u", turns);
		sum += way(turns, 11, path);
	}
	for (int i = 0; i < 600; i++)
		sum += hot(varied ? i % 20 : 0); /*@ main */
	return sum == 1;
}
