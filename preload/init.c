/* SPDX-License-Identifier: BSD-2-Clause */
/* What is on, and what stands behind us. */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

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

struct range {
	uintptr_t inside, low, high;
};

static int find_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct range *range = data;
	uintptr_t low = UINTPTR_MAX, high = 0;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		low = from < low ? from : low;
		high = from + part->p_memsz > high ? from + part->p_memsz : high;
	}
	if (range->inside < low || range->inside >= high)
		return 0;
	range->high = high;
	range->low = low;
	return 1;
}

/* Where libc lies, by a function that nobody puts himself in front of. */
static bool in_libc(const void *function)
{
	static struct range libc;

	if (!__atomic_load_n(&libc.low, __ATOMIC_ACQUIRE)) {
		struct range found = { .inside = (uintptr_t)gnu_get_libc_version };

		if (!dl_iterate_phdr(find_object, &found))
			return false;
		__atomic_store_n(&libc.high, found.high, __ATOMIC_RELAXED);
		__atomic_store_n(&libc.low, found.low, __ATOMIC_RELEASE);
	}
	return (uintptr_t)function >= libc.low && (uintptr_t)function < libc.high;
}

static void *look_up(struct preload_slot *slot)
{
	void *next = dlsym(RTLD_NEXT, slot->name);

	if (!next) {
		/* What the program asks dlerror is about its own questions. */
		(void)dlerror();
		return NULL;
	}
	slot->foreign = !in_libc(next);
	__atomic_store_n(&slot->next, next, __ATOMIC_RELEASE);
	return next;
}

void *preload_resolve(struct preload_slot *slot)
{
	void *next = look_up(slot);

	/* A program that calls it was linked with a libc that has it. */
	if (!next)
		abort();
	return next;
}

extern struct preload_slot *const __start_preload_slots[] __attribute__((visibility("hidden")));
extern struct preload_slot *const __stop_preload_slots[] __attribute__((visibility("hidden")));

__attribute__((constructor)) static void start(void)
{
	(void)preload_has(0);
	for (struct preload_slot *const *slot = __start_preload_slots; slot < __stop_preload_slots; slot++)
		(void)look_up(*slot);
}
