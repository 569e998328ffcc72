/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which Debian package a file belongs to, read from dpkg's own database: no
 * process is started.  Only for the few files that findings are about, once
 * per report, bounded in time and size; elsewhere than on Debian nothing is
 * known, and that is no error.
 */
#ifndef SYSCULL_VERDICT_PACKAGE_H
#define SYSCULL_VERDICT_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#define PACKAGE_PATHS_MAX 64 /* asked for in one report; more are not known */
#define PACKAGE_LIST_MAX (16u << 20) /* bytes of one list of files */
#define PACKAGE_LISTS_MAX (256u << 20) /* bytes of all of them */
#define PACKAGE_STATUS_MAX (128u << 20)
#define PACKAGE_READ_NS 2000000000u /* after this the lists left are not read */
#define PACKAGE_DATABASE "/var/lib/dpkg"

struct package {
	const char *name; /* "libc6" */
	const char *version; /* "2.36-9+deb12u14" */
	const char *source; /* "glibc" */
	const char *source_version;
	const char *label; /* "libc6 2.36-9+deb12u14", printable */
};

struct package_book;

/* `database` NULL: nothing is read.  `merged`: /bin is /usr/bin, /lib is
 * /usr/lib and so on, so that each file has two names.  NULL without memory. */
struct package_book *package_book_new(const char *database, bool merged);
void package_book_free(struct package_book *book);
/* Is this system's /bin a link? */
bool package_system_merged(void);

/* For tests: this is the package of that path.  -ENOMEM, -E2BIG. */
int package_book_add(struct package_book *book, const char *path, const char *name, const char *version,
		     const char *source, const char *source_version);

/* Notes a path to be looked up; NULL, relative and known ones are left out.
 * The book may be NULL.  -ENOMEM. */
int package_book_want(struct package_book *book, const char *path);
/* Looks up all that was noted since the last time. 0 also when there is no
 * database; -ENOMEM. */
int package_book_read(struct package_book *book);
/* NULL: no package, or it is not known. */
const struct package *package_book_get(const struct package_book *book, const char *path);

#endif
