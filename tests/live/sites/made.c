/* SPDX-License-Identifier: BSD-2-Clause */
/* Code made at run time as Python and V8 make it, with the map that they write: made p|v|n [old]. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int ask_function(void);
typedef int made_function(ask_function *first, void *rdx, void *rsi, ask_function *rcx);

/* Built into the file, without rules: a frame with a frame pointer, and a call of what %rdi says. */
#define BUILT(name_) \
	".text\n.globl " name_ "\n.type " name_ ", @function\n" name_ ":\npush %rbp\nmov %rsp, %rbp\nsub $32, %rsp\n" \
	"mov %rsi, %rax\nmov %rdx, %rdi\nmov %rcx, %rsi\ncall *%rax\nleave\nret\n.size " name_ ", . - " name_ "\n"
__asm__(BUILT("Builtins_Entry") BUILT("Builtins_Exit"));

int Builtins_Entry(long none, void *code, void *first, void *second);
int Builtins_Exit(long none, void *code, void *first, void *second);

static __attribute__((noinline)) int ask(void)
{
	return getgid() + 1; /*@ ask */
}

int main(int argc, char **argv)
{
	/* sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
	static const unsigned char python[] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3 };
	/* push %rbp; mov %rsp, %rbp; sub $64, %rsp; mov %rsi, %rax; mov %rdi, %rsi; call *%rax; leave; ret */
	static const unsigned char v8[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 64,   0x48,
					    0x89, 0xf0, 0x48, 0x89, 0xfe, 0xff, 0xd0, 0xc9, 0xc3 };
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char how = argc > 1 ? argv[1][0] : 'p', name[64];
	int sum = getgid(); /* the first answer is no repeat */
	FILE *map;

	if (at == MAP_FAILED)
		return 1;
	memcpy(at + 64, python, sizeof python);
	memcpy(at + 128, v8, sizeof v8);
	snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
	printf("%s\n", name);
	/* As Python does. */
	umask(077);
	map = fopen(name, "w");
	if (!map)
		return 1;
	fprintf(map, "%lx %zx %s\n%lx %zx JS:~f /w/x.js:1:1\n", (long)at + 64, sizeof python,
		how == 'n' ? "made" : "py::f:/w/x.py", (long)at + 128, sizeof v8);
	fflush(map);
	if (argc > 2 && futimens(fileno(map), (const struct timespec[]){ { 1, 0 }, { 1, 0 } }) != 0)
		return 1;
	for (int i = 0; i < 300; i++) {
		if (how != 'v')
			sum += ((made_function *)(at + 64))(ask, NULL, NULL, ask); /*@ python */
		else
			sum += Builtins_Entry(0, at + 128, ask, (void *)Builtins_Exit); /*@ v8 */
	}
	fclose(map);
	return sum == 1;
}
