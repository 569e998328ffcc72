/* SPDX-License-Identifier: BSD-2-Clause */
/* Two libraries of one form, one after the other at the same addresses. */
#include <dlfcn.h>
#include <unistd.h>

static int use(const char *name, int times)
{
	void *library = dlopen(name, RTLD_NOW);
	int (*ask)(void);
	int sum = 0;

	if (!library)
		return 1;
	ask = (int (*)(void))dlsym(library, "ask_here");
	for (int i = 0; ask && i < times; i++)
		sum += ask(); /*@ use */
	dlclose(library);
	return ask ? sum == 1 : 1;
}

int main(void)
{
	int bad = getgid() == 1; /* the first answer is no repeat */

	bad |= use("./liba.so", 220); /*@ a */

	bad |= use("./libb.so", 110);
	bad |= use("./liba.so", 20);
	return bad;
}
