/* SPDX-License-Identifier: BSD-2-Clause */
/* The library is another file by the time that anybody looks: HOW says what happens to it. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	void *library = dlopen("./liba.so", RTLD_NOW);
	int (*ask)(void) = library ? (int (*)(void))dlsym(library, "ask_here") : NULL;
	int sum = getgid(), fd; /* the first answer is no repeat */

	if (!ask || argc != 2)
		return 1;
	for (int i = 0; i < 210; i++)
		sum += ask(); /*@ main */
	switch (argv[1][0]) {
	case 'd': /* deleted */
		return unlink("./liba.so");
	case 'r': /* replaced */
		return rename("./libb.so", "./liba.so");
	case 't': /* touched */
		fd = open("./liba.so", O_WRONLY);
		return fd < 0 || lseek(fd, 0, SEEK_END) < 0 || write(fd, "x", 1) != 1;
	default:
		return sum == 1;
	}
}
