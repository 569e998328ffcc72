/* SPDX-License-Identifier: BSD-2-Clause */
/* A program of many libraries, with memory of its own between them that it has in its frames. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIBRARIES 40
#define ROOM 262144

static char *rooms[LIBRARIES];
static int (*asks[LIBRARIES])(void);

static __attribute__((noinline)) int use(int which, int turn)
{
	char *volatile noise[8];
	int sum = 0;

	for (int i = 0; i < 8; i++)
		noise[i] = rooms[(turn * 7 + i * 5) % LIBRARIES] + turn * 64;
	sum = asks[which](); /*@ use */
	return sum + (noise[turn % 8] == NULL);
}

int main(void)
{
	static const int callers[] = { 2, 19, 20, 31, 39 };
	int bad = getgid() == 1; /* the first answer is no repeat */
	void *library;
	char name[32];

	for (int i = 0; i < LIBRARIES; i++) {
		snprintf(name, sizeof name, "./lib%02d.so", i);
		library = dlopen(name, RTLD_NOW);
		if (!library)
			return 1;
		asks[i] = (int (*)(void))dlsym(library, "ask_here");
		rooms[i] = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	for (int turn = 0; turn < 400; turn++)
		for (int i = 0; i < 5; i++)
			bad |= use(callers[i], turn) == 0;
	return bad;
}
