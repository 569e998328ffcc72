/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One struct per rule, one file per rule, the list in rules.def.  A rule
 * sees records and the model, never an engine or a report.  To add one read
 * docs/howto/add-a-rule.md.
 */
#ifndef SYSCULL_RULES_RULE_H
#define SYSCULL_RULES_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "model/model.h"
#include "rules/finding.h"

/* Evidence beyond items: what the source of the records must know. */
#define RULE_NEEDS_PATHS 0x01u /* whole paths, working directory, dirfds */
#define RULE_NEEDS_DEVICES 0x02u /* mounts */
#define RULE_NEEDS_ENV 0x04u /* the environment variables of struct rule.env */
#define RULE_NEEDS_TIMES 0x08u
#define RULE_NEEDS_FDS 0x10u /* descriptors from their opening on */

enum rule_unit { RULE_COUNT, RULE_BYTES, RULE_NS, RULE_PERCENT };

struct rule_limit {
	const char *name; /* "calls" */
	enum rule_unit unit;
	uint64_t value; /* the default */
	const char *why; /* one line for `explain` */
};

struct rule_run;
struct law;

struct rule {
	const char *id; /* kebab-case, never changes its meaning */
	const char *title; /* one line, lower case */
	uint64_t items; /* SYS_ITEM_BIT(…) that it reads */
	uint32_t needs; /* RULE_NEEDS_… */
	const char *const *env; /* variables it reads, NULL-ended; NULL none */
	const uint16_t *calls; /* enum sys_call_id it subscribes to, 0-ended */
	const struct rule_limit *limits; /* ends with name NULL */
	size_t state_bytes; /* zeroed memory of its own in a run */
	/* Of two rules that count a call the one of less breadth tells it: 0 for
	 * those that know what the call is part of, more for those that take one
	 * kind of call for itself. */
	unsigned breadth;
	const struct law *law; /* law.h, for a rule that follows it; NULL */

	int (*start)(struct rule_run *run); /* optional; negative errno */
	void (*call)(struct rule_run *run, const struct model_view *view);
	/* An image ended (exec, exit, end of run): optional. */
	void (*image_end)(struct rule_run *run, struct model_process *process);
	void (*end)(struct rule_run *run, struct finding_list *out);
	void (*done)(struct rule_run *run); /* frees what start and call made */
};

/* One rule at work in one analysis. */
struct rule_run {
	const struct rule *rule;
	struct model *model;
	void *state;
	uint64_t limits[8]; /* in the order of rule->limits */
	uint64_t evicted; /* keys given up for want of room: told in the report */
	struct rule_claims *claims; /* of all rules of an analysis; NULL: overlaps are not followed */
};

/* All rules, NULL-ended, in the order of rules.def. */
extern const struct rule *const rule_list[];
const struct rule *rule_by_id(const char *id);
/* The id that was probably meant, NULL none: one that begins so, or is like it. */
const char *rule_nearest(const char *name);

/* Tools that rules share instead of copying. */

/* Renders a call in strace's syntax for "Proof"; malloc'ed or NULL. */
char *rule_sample(const struct model_view *view);
/* The same of a call that was kept for it, without its items. */
char *rule_sample_of(const struct event_call *call);

/* Counts by call site: rule_sites_add per call, _top into a finding.  Without room a
 * new one takes that of the one with the fewest calls: who makes many is always among them. */
#define RULE_SITES_MAX 64
struct rule_sites {
	uint32_t used;
	uint32_t room; /* of site; 0: all */
	uint64_t other; /* calls whose place is not kept */
	struct {
		const char *module; /* owned by the model */
		uint64_t offset, count;
		uint32_t tag;
		uint32_t number; /* model_site, 0 not known: who called there */
	} site[RULE_SITES_MAX]; /* last: a tally makes no more of it than it needs */
};
void rule_sites_add(struct rule_sites *sites, struct model *model, const struct model_view *view);
/* The so many places with the most calls; each with all who called there. */
void rule_sites_top(const struct rule_sites *sites, struct finding *finding, unsigned most);
/* With a number below 64 for what was asked, and only those whose bit is set. */
void rule_sites_add_tagged(struct rule_sites *sites, struct model *model, const struct model_view *view, uint32_t tag);
void rule_sites_top_tagged(const struct rule_sites *sites, struct finding *finding, unsigned most, uint64_t tags);

/* "1,000 files in d1k": folds paths into their common directory. */
#define RULE_PLACE_MAX 512 /* bytes of a directory that is told */
struct rule_places {
	char dir[RULE_PLACE_MAX]; /* common leading directory, "" none yet */
	char first[RULE_PLACE_MAX]; /* the first path, as long as there is no other */
	char base[RULE_PLACE_MAX]; /* directory that names are told relative to, "" none */
	uint64_t distinct; /* of paths, exact up to the set's room */
	struct map seen; /* path hashes */
	uint32_t room; /* 0: the caller knows which paths are new, nothing is kept */
	bool mixed; /* more than one parent directory */
	bool itself; /* dir was one of the paths; counted in distinct */
	uint64_t first_hash, itself_hash; /* of first, and of dir when itself */
	bool more; /* the set was full: distinct is a lower bound */
	bool started;
};
int rule_places_init(struct rule_places *places, uint32_t room);
void rule_places_done(struct rule_places *places);
/* True when the path is new.  With room 0 every path counts as new. */
bool rule_places_add(struct rule_places *places, const char *path, uint64_t hash);
/* Tell names relative to this working directory; NULL: as they are. */
void rule_places_relative(struct rule_places *places, const char *cwd);
/* Frees the set and keeps what was counted; nothing may be added after. */
void rule_places_seal(struct rule_places *places);
/* "1,000 files in /tmp/d1k and /tmp/d1k itself" or "1,204 files below /usr",
 * printable; malloc'ed or NULL. */
char *rule_places_text(const struct rule_places *places, const char *noun_one, const char *noun_many);
/* The same, but the path itself when there is but one. */
char *rule_places_name(const struct rule_places *places, const char *noun_one, const char *noun_many);
/* As struct finding.place wants it; malloc'ed or NULL, also when paths found no room. */
char *rule_places_place(const struct rule_places *places);

/* Is this file of the C library, its loader or what it loads?  There the instruction
 * stands in nearly all programs, whoever is at fault. */
bool rule_is_c_library(const char *module);
/* Is the call made in code that is not the C library's, or by way of a function of
 * that which such code called?  True only where it is known; the second only of calls
 * that the library makes without a frame of its own, as mmap. */
bool rule_made_outside(struct model *model, const struct model_view *view);
bool rule_called_outside(struct model *model, const struct model_view *view);

/* The last part of a path ("ls" of "/usr/bin/ls"); never NULL. */
const char *rule_base_name(const char *path);

#endif
