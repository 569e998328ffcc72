/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the two files of the rule mmap-churn; nobody else's. */
#ifndef SYSCULL_RULES_MMAP_CHURN_H
#define SYSCULL_RULES_MMAP_CHURN_H

#include "rules/memory.h"

enum { CHURN_LIMIT_MEMORY, CHURN_LIMIT_FILE, CHURN_LIMIT_HELD };
enum churn_kind { CHURN_MEMORY, CHURN_FILE, CHURN_KINDS };

/* What one thread maps of one length, with the latest of these. */
struct churn_lane {
	struct rule_key key; /* first */
	struct rule_burst burst; /* since the last was unmapped */
	struct rule_tally mapping; /* the latest, empty unless it is alone */
	struct event_call first; /* that call, without its items: a proof, when it is unmapped */
	uint64_t live, address;
	uint64_t pairs; /* hash of the struct churn_pairs that it belongs to */
	bool block, late; /* may be a block of malloc; came long after the one before */
};

/* Memory of one length, or a part of a file, mapped and unmapped by one thread. */
struct churn_pairs {
	struct rule_key key; /* first; the value is the number of pairs */
	uint64_t bytes, blocks, late;
	uint64_t file; /* equal for one file */
	bool set; /* the setting that would help is set already */
	char *path; /* printable; NULL for memory */
};

/* What is told as one: of one program, a size class of memory (by the power
 * of two) or a file. */
struct churn_group {
	const struct model_exe *exe;
	enum churn_kind kind;
	uint64_t what; /* size class or file */
	uint64_t process_id;
	uint32_t pid;
	bool several; /* processes */
	bool set; /* in one of them */
	uint64_t keys, pairs, blocks, late;
	uint64_t least, most; /* bytes of one mapping */
	uint64_t pages, first_pages; /* of all of them; of the first of each key */
	const char *path;
	struct rule_tally tally;
};

struct churn_state {
	struct rule_keys lanes, pairs[CHURN_KINDS];
	VEC(struct churn_group) groups; /* made at the end */
};

void churn_end(struct rule_run *run, struct finding_list *out);

#endif
