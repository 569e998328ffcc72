/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a rule says when it has found waste.  Counts only, never money: a
 * rule says which calls were wasted and what each remedy would save or add;
 * verdict/ prices them.  So a rule stays a pure function of records and
 * model.
 *
 * Every text but `exe`, `script`, `object`, `place` and a site's `module` is printable: what
 * came from a traced program went through text_escape or text_shell_word.
 */
#ifndef SYSCULL_RULES_FINDING_H
#define SYSCULL_RULES_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/frame.h"
#include "model/script.h"
#include "sys/sys.h"

struct model_exe;
struct rule;
struct rule_tally;

enum finding_tier {
	FINDING_CERTAIN, /* the answer could not differ */
	FINDING_LIKELY, /* nothing seen that could change it */
	FINDING_BY_DESIGN, /* a standard forces it */
};

enum finding_remedy_kind {
	REMEDY_UPGRADE,
	REMEDY_SOURCE,
	REMEDY_CONFIGURATION,
	REMEDY_ENVIRONMENT,
	REMEDY_PRELOAD,
	REMEDY_SECCOMP,
	REMEDY_KIND_COUNT
};

/* A group of equal wasted calls: one line under "What". */
struct finding_cost {
	enum sys_call_id call;
	int err; /* positive errno, 0 for success */
	uint64_t count;
	uint64_t components; /* sum of path components over all calls; 0: no path */
	uint64_t duration_ns; /* sum of the measured durations */
	/* First touches of pages that come with the calls and are no calls, at
	 * least and at most: the money is that of the least, the range has both. */
	uint64_t pages_low, pages_high;
	char *detail; /* "security.selinux"; may be NULL */
};

/* Calls that a remedy removes (negative) or still makes (positive). */
struct finding_delta {
	enum sys_call_id call;
	int err;
	int64_t count;
	uint64_t components; /* sum, as in finding_cost */
	uint64_t pages_low, pages_high; /* the same, they go or come with the calls */
};

struct finding_remedy {
	enum finding_remedy_kind kind;
	const char *id; /* "list-first", never changes its meaning; for data/known.tbl; may be NULL */
	char *text; /* "llistxattr first, get what it names" */
	char *command; /* what to type to try it, or NULL; only what exists */
	char *changes; /* what it changes in the output; NULL: nothing */
	VEC(struct finding_delta) deltas;
};

/* So many calls came by these frames. */
struct finding_stack {
	const struct frames *frames;
	uint64_t count;
};

/* Calls by the instruction pointer they were made from. */
struct finding_site {
	char *module; /* NULL unknown */
	uint64_t offset; /* in the module's file */
	uint64_t count;
	uint32_t number; /* model_site; 0: who called there is not known */
	const struct frames *frames; /* from there outwards; NULL unknown; of the analysis */
	/* When calls that are told in the same words came by several, most calls first; else none. */
	VEC(struct finding_stack) stacks;
};

/* What the same costs per child, or elsewhere: so many calls at the price of
 * one of the costs. */
struct finding_scale {
	char *text; /* "each child", "with a limit of 1,048,576" */
	size_t cost; /* index in costs */
	uint64_t count;
};

/*
 * Runs of a program whose whole life is in the price of the calls that made
 * them: the forks among the costs; what else they called to start and to end
 * then has no price of its own.
 */
enum finding_life {
	FINDING_LIFE_RUN, /* from an exec to the end or the next exec */
	FINDING_LIFE_FORK, /* from a fork to the end, without an exec */
	FINDING_LIFE_BEFORE, /* from a fork to an exec */
	FINDING_LIFE_COUNT
};
struct finding_child {
	const struct model_exe *exe; /* the model's */
	enum finding_life life;
	uint64_t count;
};

void finding_site_done(struct finding_site *site);

struct finding {
	const struct rule *rule;
	enum finding_tier tier;
	bool information; /* not waste: the program's job is to ask */
	bool minor; /* too little to be worth a change, whatever its share: the rule's own floor */
	/* What the calls do is done all the same by those that are left, so that only
	 * the way into the kernel and back is wasted, and no time of theirs in this run. */
	bool work_stays;
	uint64_t process_id; /* struct model_process; 0 when over several */
	uint32_t pid; /* 0 when over several */
	char *exe; /* path of the program */
	/* What it runs, when it is an interpreter: one script in all its processes, or
	 * SCRIPT_NONE.  The name of a file or module; NULL none. */
	enum script_kind script_kind;
	char *script;
	uint64_t calls; /* wasted, sum of costs */
	char *what; /* one sentence: "attribute look-ups that found nothing" */
	char *where; /* "1,000 files in d1k; ext4 on /dev/vda" */
	char *object; /* stable name of the object for the fingerprint */
	/* The file, or with a '/' at its end the folder that all files are in or
	 * below; foreign text; NULL when it is not about files. */
	char *place;
	VEC(struct finding_cost) costs;
	VEC(struct finding_remedy) remedies;
	VEC(struct finding_site) sites;
	uint64_t sites_other; /* calls that are in none of them: then those can have more */
	VEC(struct finding_scale) scales;
	VEC(struct finding_child) children;
	/* It is about all runs of this program and so part of the life of each,
	 * from which it is taken; NULL: of none. */
	const struct model_exe *part_of;
	/* Of `owned` calls, all that it is known of whose they are, so many were
	 * made in such lives: what they cost is taken from those. */
	VEC(struct finding_child) parts;
	uint64_t owned;
	VEC(char *) samples; /* calls in strace's syntax, at most 3 */
	VEC(char *) notes; /* "unchanged as far as seen", limits, … */
	/* For finding_list_settle: what it was counted in, and how many calls it
	 * has to have when others have told theirs. */
	VEC(const struct rule_tally *) claims;
	uint64_t least;
};

struct finding_list {
	VEC(struct finding) items;
};

void finding_list_done(struct finding_list *list);
void finding_done(struct finding *finding);

/* Building.  Every one returns a pointer into the vectors, valid until the
 * next addition of the same kind, or NULL without memory; printf-style
 * setters ignore a NULL target. */
struct finding *finding_add(struct finding_list *list, const struct rule *rule, enum finding_tier tier);
struct finding_cost *finding_add_cost(struct finding *finding, enum sys_call_id call, int err, uint64_t count,
				      const char *detail);
struct finding_remedy *finding_add_remedy(struct finding *finding, enum finding_remedy_kind kind);
/* Adds to the delta of an equal (call, err, sign) when there is one. */
void finding_add_delta(struct finding_remedy *remedy, enum sys_call_id call, int err, int64_t count,
		       uint64_t components);
/* To the delta of an equal (call, err, sign), which there must be. */
void finding_add_pages(struct finding_remedy *remedy, enum sys_call_id call, int err, bool fewer, uint64_t low,
		       uint64_t high);
/* The remedy removes all calls of all costs. */
void finding_remedy_saves_all(struct finding_remedy *remedy, const struct finding *finding);
/* One that does so; costs that come later are not in it. */
struct finding_remedy *finding_add_remedy_all(struct finding *finding, enum finding_remedy_kind kind, const char *id,
					      const char *text);
/* For qsort: the most frequent first, then by place. */
int finding_site_by_count(const void *a, const void *b);
/* All but so many, which are those of the first costs; of calls without a path. */
void finding_remedy_saves_all_but(struct finding_remedy *remedy, const struct finding *finding, uint64_t left);
void finding_set(char **target, const char *format, ...) __attribute__((format(printf, 2, 3)));
void finding_add_note(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds to the count of equal ones. */
void finding_add_child(struct finding *finding, const struct model_exe *exe, enum finding_life life, uint64_t count);
/* The same for `parts`. */
void finding_add_part(struct finding *finding, const struct model_exe *exe, enum finding_life life, uint64_t calls);
/* Its price is scale_ns of verdict/scale.h. */
void finding_add_scale(struct finding *finding, size_t cost, uint64_t count, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Takes the text, NULL too; frees it when there are enough. */
#define FINDING_SAMPLES_MAX 3
void finding_add_sample(struct finding *finding, char *text_owned);

#endif
