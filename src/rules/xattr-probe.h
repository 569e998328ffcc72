/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the two files of the rule xattr-probe; nobody else's. */
#ifndef SYSCULL_RULES_XATTR_PROBE_H
#define SYSCULL_RULES_XATTR_PROBE_H

#include "rules/keyed.h"

enum { PROBE_LIMIT_CALLS, PROBE_LIMIT_VALUES };

struct probe_name {
	char *text; /* printable; NULL for a list of names, or without memory */
	uint64_t hash;
	bool list;
	uint64_t asked; /* look-ups of any result */
	uint64_t values; /* of these with a value */
	uint64_t absent, unsupported; /* of these ENODATA, EOPNOTSUPP */
	uint64_t distinct; /* files that it failed on, exact up to the threshold */
	char *sample;
	struct rule_tally failures; /* lines only */
};

/* What the command line asked for that leads to attribute look-ups. */
#define PROBE_SCANNER 0x01u /* getcap and kin: asking is the job */
#define PROBE_TAR_XATTRS 0x02u
#define PROBE_TAR_ACLS 0x04u
#define PROBE_TAR_SELINUX 0x08u
#define PROBE_CP_ARCHIVE 0x10u
#define PROBE_CP_PRESERVE 0x20u

/* One image of a process and one device. */
struct probe_group {
	struct rule_key key; /* first; its tally holds all failures */
	uint32_t command; /* PROBE_… */
	uint64_t dev; /* 0: the device is not known */
	char *fs_type, *fs_source; /* NULL unknown */
	VEC(struct probe_name) names;
	struct map objects; /* file → bits of the names that failed on it, OBJECT_LISTED */
	struct map pairs; /* (file, name) up to the threshold */
	struct rule_places places;
	struct rule_sites sites; /* tagged with the name's index */
	/* When sealed: files with a failed look-up of a name that is told, and
	 * those of them that the program itself has listed. */
	uint64_t failed_objects, listed_objects;
	uint64_t beyond; /* failed look-ups on files that were not told apart */
	bool nameless; /* some were on files whose path is not known */
	uint32_t dropped; /* names that there was no room for */
	bool sealed; /* the image is over, or all is */
};

bool probe_name_flagged(const struct rule_run *run, const struct probe_name *name);
void probe_read_command(struct probe_group *group, const struct model_process *process);
void probe_tell(struct rule_run *run, const struct probe_group *group, struct finding_list *out);

/* A line of the finding, and what it was made from. */
struct probe_told {
	const struct probe_name *name;
	const struct rule_line *line;
	bool certain;
};

struct probe_tell {
	const struct probe_group *group;
	struct finding *finding;
	VEC(struct probe_told) lines;
	uint64_t gets, get_components; /* failed look-ups by name, all lines */
	uint64_t absent, unsupported, certain; /* failed look-ups */
	uint64_t tags; /* of the flagged names, for the sites */
	bool names_list; /* a list of names is among the lines */
};

/* The part of a sum that falls to so many of all. */
uint64_t probe_part_of(uint64_t sum, uint64_t count, uint64_t all);
/* What one line loses when `count` of its calls go. */
void probe_take_off(struct finding_remedy *remedy, const struct rule_line *line, uint64_t count);
/* xattr-probe-fix.c */
void probe_tell_preload(struct probe_tell *tell, struct rule_run *run);
void probe_tell_filter(struct probe_tell *tell, struct rule_run *run);

#endif
