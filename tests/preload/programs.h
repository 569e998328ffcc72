/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that say on stdout what libc answered them: with libsyscull-preload.so
 * before it, and without, the same has to be said. */
#ifndef PRELOAD_PROGRAMS_H
#define PRELOAD_PROGRAMS_H

#include <sys/types.h>

struct program {
	const char *name;
	int (*main)(int argc, char **argv); /* argv[0] is the name */
};

extern const struct program attribute_programs[], change_programs[], busy_programs[], remedy_programs[];

/* A number, or the name of errno. */
void say(const char *what, const char *detail, long result);
/* Asks files of the folder until their refusals make the library look. */
void train(const char *folder);
/* What stat, and then lgetxattr of security.selinux, say of it. */
void told(const char *path);
void asked(const char *path);

#endif
