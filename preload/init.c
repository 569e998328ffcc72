/* SPDX-License-Identifier: BSD-2-Clause */
/* What is on, and what stands behind us. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "preload.h"

#define READ 0x80000000U /* the environment was read */
#define ALWAYS (PART_XATTR | PART_CLOSEFROM)

static const struct {
	const char *name;
	unsigned part;
} parts[] = {
	{ "xattr", PART_XATTR },	 { "closefrom", PART_CLOSEFROM },     { "nofile", PART_NOFILE },
	{ "procfs-stdio", PART_PROCFS }, { "unsupported", PART_UNSUPPORTED },
};

static unsigned state;

/* Without the variable those that can never give a wrong answer.  Words that
 * nobody knows are of a newer version: they do nothing. */
static unsigned read_environment(void)
{
	const char *word = getenv("SYSCULL_PRELOAD");
	unsigned on = 0;

	/* A program with privileges is not to be told anything by its caller. */
	if (getauxval(AT_SECURE))
		return 0;
	if (!word)
		return ALWAYS;
	while (*word) {
		size_t bytes = strcspn(word, ",");

		for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
			if (strlen(parts[i].name) == bytes && memcmp(parts[i].name, word, bytes) == 0)
				on |= parts[i].part;
		}
		word += bytes + (word[bytes] == ',');
	}
	return on;
}

bool preload_has(unsigned wanted)
{
	unsigned now = __atomic_load_n(&state, __ATOMIC_RELAXED);

	if (!(now & READ)) {
		now = read_environment() | READ;
		__atomic_store_n(&state, now, __ATOMIC_RELAXED);
	}
	return (now & wanted) == wanted;
}

void *preload_next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

void *preload_next_keep(void **slot, const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	/* A program that calls it was linked with a libc that has it. */
	if (!next)
		abort();
	__atomic_store_n(slot, next, __ATOMIC_RELAXED);
	return next;
}

bool preload_next_is_libc(const char *name)
{
	Dl_info next, libc;

	return dladdr(dlsym(RTLD_NEXT, name), &next) && dladdr((void *)(uintptr_t)getenv, &libc) &&
	       next.dli_fbase == libc.dli_fbase;
}
