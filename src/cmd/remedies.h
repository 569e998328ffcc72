/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The remedies that need no source change: what they are called, what they
 * change, when they are unsafe, and how a command gets them.  `syscull fix`
 * applies them; nothing is applied that could give a wrong answer unless the
 * user names it.
 */
#ifndef SYSCULL_CMD_REMEDIES_H
#define SYSCULL_CMD_REMEDIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum remedy_means {
	REMEDY_BY_VARIABLE, /* an environment variable is set */
	REMEDY_BY_ABSENCE, /* an environment variable is removed */
	REMEDY_BY_LIMIT, /* the limit of descriptors */
	REMEDY_BY_PRELOAD, /* a part of libsyscull-preload.so */
	REMEDY_BY_FILTER, /* seccomp: calls are answered by the kernel at once */
};

struct remedy {
	const char *name; /* as --with has it */
	const char *only; /* the one value that this row is of; NULL: any */
	const char *value; /* the default; NULL: there is none */
	bool wants_value; /* a value may be given */
	enum remedy_means means;
	const char *rules; /* ids, with spaces between */
	const char *does; /* one line */
	const char *unsafe; /* when it could give a wrong answer; NULL: never */
	const char *output; /* what it changes in the output; NULL: nothing */
	bool always; /* safe, and needs no finding to be worth it */
};

/* Ends with name NULL. */
extern const struct remedy remedy_table[];

#define REMEDIES_MAX 16

struct remedies {
	struct {
		const struct remedy *remedy;
		const char *value; /* NULL none */
		char *owned; /* value's memory, NULL: the table's */
	} at[REMEDIES_MAX];
	unsigned count;
};

/* NAME or NAME=VALUE, with commas between. */
int remedies_add(struct remedies *remedies, const char *list, struct error *err);
/* Those that are safe and need no finding. */
void remedies_add_always(struct remedies *remedies);
/* Is it for what this rule finds? */
bool remedy_serves(const struct remedy *remedy, const char *rule);
/*
 * Where nobody named one: of those that are safe what the kept run of the same
 * command asks for, else those that need no finding; appends why.
 * remedies-choose.c.
 */
int remedies_choose(struct remedies *remedies, char *const *argv, struct buf *ret_why, struct error *err);
bool remedies_has(const struct remedies *remedies, const struct remedy *remedy);
void remedies_done(struct remedies *remedies);
/* Only the one at `index`. */
struct remedies remedies_one(const struct remedies *remedies, unsigned index);
/* "TZ=:/etc/localtime" of the one at `index`, appended. */
void remedies_print(const struct remedies *remedies, unsigned index, struct buf *text);
/* All of them, with ", " between. */
void remedies_print_all(const struct remedies *remedies, struct buf *text);

/*
 * Made ready in the parent: the library is looked for, values are read, the
 * filter is built.  Then the environment of a process gets its part, and the
 * child that will be the command the rest.
 */
struct remedies_ready {
	char *preload; /* LD_PRELOAD, NULL: no part of the library is wanted */
	char *parts; /* SYSCULL_PRELOAD */
	bool soft_set, hard_set;
	uint64_t soft, hard;
	bool filter;
};

int remedies_prepare(const struct remedies *remedies, struct remedies_ready *ret, struct error *err);
void remedies_ready_done(struct remedies_ready *ready);
/* Sets and removes variables of this process. */
int remedies_environment(const struct remedies *remedies, const struct remedies_ready *ready, struct error *err);
/* The filter needs a promise for good (no_new_privs), since we may not set one otherwise. */
bool remedies_promise(const struct remedies_ready *ready);
/* Limits and filter; async-signal-safe.  0 or negative errno. */
int remedies_child(const struct remedies_ready *ready);

#endif
