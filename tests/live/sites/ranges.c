/* SPDX-License-Identifier: BSD-2-Clause */
/* Code made at run time in more places than are kept in mind. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLACES 200
#define ROOM 65536

static __attribute__((noinline)) int ask(void)
{
	return getgid() + 1; /*@ ask */
}

int main(void)
{
	/* sub $8, %rsp; call *%rdi; add $8, %rsp; ret */
	static const unsigned char code[] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3 };
	int (*made[PLACES])(int (*)(void));
	int sum = getgid(); /* the first answer is no repeat */

	for (int i = 0; i < PLACES; i++) {
		unsigned char *at = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED)
			return 1;
		memcpy(at + 4096, code, sizeof code);
		if (mprotect(at + 4096, 4096, PROT_READ | PROT_EXEC) != 0)
			return 1;
		made[i] = (int (*)(int (*)(void)))(void *)(at + 4096);
	}
	for (int turn = 0; turn < 3; turn++)
		for (int i = 0; i < PLACES; i++)
			sum += made[i](ask);
	for (int i = 0; i < 150; i++)
		sum += ask(); /*@ main */
	return sum == 1;
}
