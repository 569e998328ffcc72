/* SPDX-License-Identifier: BSD-2-Clause */
/* What package.c and package-dpkg.c share; nobody else includes it. */
#ifndef SYSCULL_VERDICT_PACKAGE_BOOK_H
#define SYSCULL_VERDICT_PACKAGE_BOOK_H

#include "base/vec.h"
#include "verdict/package.h"

#define PACKAGE_SPELLINGS 2

struct package_entry {
	char *path;
	/* What it may be called in lists of files: with and
	 * without /usr; for a diverted file the name that packages know. */
	char *spelling[PACKAGE_SPELLINGS];
	char *only; /* diverted to make room for this one: nobody else's; "" nobody's */
	char *never; /* this one diverted it: not its own */
	char *owner; /* "libc6" or "libc6:amd64", of a list of files */
	bool looked_up, known;
	char *name, *version, *source, *source_version, *label;
	struct package package;
};

struct package_book {
	char *database;
	bool merged;
	VEC(struct package_entry) entries;
};

int package_entry_set(struct package_entry *entry, const char *name, const char *version, const char *source,
		      const char *source_version);

#endif
