/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ll: `ls -l` on libsyscull.  What its files share: one entry, the options, and
 * who does what.  The files print; the library never does.
 */
#ifndef SYSCULL_EXAMPLES_LL_H
#define SYSCULL_EXAMPLES_LL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

/* What is shown of a statx: a fifth of its size, and there are many. */
struct entry_stat {
	uint64_t size, blocks, mount_id;
	int64_t mtime_s;
	uint32_t mtime_ns, nlink, uid, gid, rdev_major, rdev_minor, dev_major, dev_minor;
	uint32_t have; /* which of these the library may rely on */
	uint16_t mode;
};

struct entry {
	char *name;
	char *link; /* where a symbolic link leads; NULL none */
	struct entry_stat st; /* all 0 unless stat_ok */
	uint16_t link_mode;
	unsigned char d_type;
	bool stat_ok;
	bool link_ok; /* link_mode is known */
	bool capability;
	char mark; /* after the mode: 0, '.', '+' or '?' */
};

struct entries {
	struct entry *list;
	struct entry **order; /* of list, sorted */
	size_t count, room;
};

/* Names of users and groups, each asked once: ll-ids.c.  NULL: it has none. */
const char *ids_user(uint32_t id);
const char *ids_group(uint32_t id);
void ids_done(void);

/* LS_COLORS: ll-colors.c. */
bool colors_init(void); /* false: there are to be none */
bool colors_want_links(void);
bool colors_want_capabilities(void);
void colors_line(void); /* at the start of a line */
void colors_name(const struct entry *entry, bool target, size_t column);
void colors_done(void);

/* Lines: ll-print.c. */
struct print_options {
	bool numeric;
	bool color;
};
void print_init(const struct print_options *options);
/* Prints entries in columns that would be wide enough for all. */
void print_entries(const struct entries *entries, const struct entries *all);
/* The name, or the link's target, as it goes to the output. */
void print_bytes(const char *name);
/* Quoted for a message, as a shell reads it. */
void print_quoted(const char *name);

#endif
