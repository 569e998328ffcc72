/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What file-reread and reopen-pseudo-file have in common: files that one
 * image opens, reads and closes again and again.  It follows them from the
 * opening to the closing and counts the calls of each round after the first;
 * the rule says which files it means and which rounds are repeats.
 */
#ifndef SYSCULL_RULES_REOPEN_H
#define SYSCULL_RULES_REOPEN_H

#include "rules/keyed.h"

/* One opened file and one image, up to its closing. */
struct reopen_round {
	struct rule_key key; /* first; its tally has the round's calls, the opening's too; none in a first round */
	uint64_t path_hash, opened; /* opened: model_now when it was */
	uint64_t bytes, brought; /* read so far, and by how many reads */
	struct item_stat stat; /* ino 0: not asked */
	unsigned kind;
	uint64_t part; /* equal for rounds that read at the same places */
	int64_t next; /* where the last read ended, -1 unknown */
	bool own; /* not as the C library reads its lists */
	bool ended; /* a read met the end */
	bool other; /* something was done with it that is no reading */
};

/* One path of one image. */
struct reopen_file {
	struct rule_key key; /* first; its tally has the repeats */
	struct rule_burst burst; /* of openings */
	char *path;
	uint64_t path_hash, read; /* read: model_now when the last round was opened */
	uint64_t times, brought; /* repeats, and their reads that brought something */
	uint64_t part; /* of the last round */
	struct item_stat stat;
	unsigned kind;
	bool close; /* the last opening followed the one before closely */
};

/* All files of a kind that are over the limit in one image. */
struct reopen_group {
	struct rule_key key; /* first */
	struct rule_places places;
	char *first; /* path of the first */
	uint64_t times, brought;
	unsigned kind, files;
};

/* How files of a kind are told: "opens a file of the kernel anew for each look". */
struct reopen_words {
	const char *before, *one, *many, *after;
	const char *object; /* for the fingerprint, where there are several files */
};

/* The limits that each such rule begins with. */
enum { REOPEN_TIMES, REOPEN_GAP };

struct reopen_calls {
	const struct reopen_words *words; /* by kind */
	/* The kind of file that was opened, 0: not meant. */
	unsigned (*kind)(struct rule_run *run, const struct model_view *view);
	unsigned own_kind; /* of a file that the program reads in a way of its own, 0: as it was */
	bool polled; /* a file opened after its reader slept may be another one by then */
	/* Is this round, just closed, one that need not have been? */
	bool (*repeats)(struct rule_run *run, const struct reopen_file *file, const struct reopen_round *round,
			const struct model_process *process);
	/* Remedies and notes. */
	void (*tell)(struct rule_run *run, const struct reopen_group *group, struct finding *finding);
};

struct reopen_state {
	const struct reopen_calls *calls; /* the rule's */
	struct rule_keys rounds, files, groups;
};

int reopen_start(struct rule_run *run, const struct reopen_calls *calls);
void reopen_call(struct rule_run *run, const struct model_view *view);
void reopen_image_end(struct rule_run *run, struct model_process *process);
void reopen_end(struct rule_run *run, struct finding_list *out);
void reopen_done(struct rule_run *run);
/* Of a path: "proc", "sysfs" and the like: the kernel makes the content.  NULL: no. */
const char *reopen_pseudo_type(struct rule_run *run, const struct model_view *view);
/* What the rules subscribe to, 0-ended, and read. */
extern const uint16_t reopen_subscribed[];
#define REOPEN_ITEMS (SYS_ITEM_BIT(PATH) | SYS_ITEM_BIT(STAT) | SYS_ITEM_BIT(OPEN_HOW))
#define REOPEN_NEEDS (RULE_NEEDS_PATHS | RULE_NEEDS_DEVICES | RULE_NEEDS_FDS | RULE_NEEDS_TIMES)
/* And these of a struct rule. */
#define REOPEN_RULE \
	.items = REOPEN_ITEMS, .needs = REOPEN_NEEDS, .calls = reopen_subscribed, \
	.state_bytes = sizeof(struct reopen_state), .call = reopen_call, .image_end = reopen_image_end, \
	.end = reopen_end, .done = reopen_done

#endif
