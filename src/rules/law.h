/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The law that most rules follow, so that one is what it declares and a small
 * function or two: waste is counted per image and kind, in entries; in the end
 * each entry that has reached its limit is told in the words of its kind.  A
 * rule takes what fits it, and does the rest with keyed.h as if this were not.
 */
#ifndef SYSCULL_RULES_LAW_H
#define SYSCULL_RULES_LAW_H

#include "rules/keyed.h"

/* What one image wastes of one kind: its tally has the calls that count. */
struct law_entry {
	struct rule_key key; /* first */
	struct rule_burst burst;
	struct rule_places *places; /* NULL: no file was noted */
	bool nameless; /* one without a name was */
	unsigned kind; /* index in law.kinds */
	uint64_t process_calls; /* of the whole image, when it has ended */
};

/* How an entry is told.  What is NULL law.tell adds. */
struct law_kind {
	enum finding_tier tier;
	unsigned least; /* the limit that its value has to reach, mostly so many calls */
	unsigned share; /* the limit in percent of all calls of the image, 0 none */
	const char *what, *object;
	const char *where; /* NULL: its files */
	const char *nameless; /* and those without a name: "files without a name" */
	const char *detail; /* of its costs */
	/* Of the remedy that removes all calls, by a change of the source. */
	const char *remedy, *text, *changes;
	const char *note;
};

struct law {
	const struct law_kind *kinds; /* ends with object NULL */
	uint32_t entries; /* room for so many */
	uint32_t files; /* so many are told apart in one */
	size_t entry_bytes; /* of the rule's struct that begins with a struct law_entry, 0: that itself */
	/* What entries come from: structs of the rule that begin with a struct rule_key,
	 * one per image and opened file, thread, …; they go when idle, unless they stay,
	 * and with the image. */
	uint32_t followed;
	size_t followed_bytes;
	bool followed_stay;
	/* And for law_state.recent: structs that begin with a hash. */
	uint32_t recent;
	size_t recent_bytes;
	/* Optional.  holds: is an entry that has reached its limit told?  tell: what the
	 * kind does not say.  free: what the rule itself put into an entry, or into what is followed. */
	bool (*holds)(struct rule_run *run, const struct law_entry *entry);
	void (*tell)(struct rule_run *run, const struct law_entry *entry, struct finding *finding);
	void (*free)(struct law_entry *entry);
	void (*free_followed)(struct rule_run *run, struct rule_key *key);
};

/* The state of such a rule, or what that begins with. */
struct law_state {
	struct rule_keys entries, followed;
	struct rule_recent recent;
};

int law_start(struct rule_run *run);
void law_image_end(struct rule_run *run, struct model_process *process);
void law_end(struct rule_run *run, struct finding_list *out);
void law_done(struct rule_run *run);
/* These of a struct rule, for a rule without more state than this. */
#define LAW_RULE(name) \
	.law = &(name), .state_bytes = sizeof(struct law_state), .start = law_start, .image_end = law_image_end, \
	.end = law_end, .done = law_done

/* The entry of the call's image, of an object (0 none) and of this kind, made when there is none; NULL without
 * memory. */
void *law_entry_of(struct rule_run *run, const struct model_view *view, uint64_t object, unsigned kind, bool *ret_new);
void *law_entry(struct rule_run *run, const struct model_view *view, unsigned kind);
/* NULL: there is none. */
void *law_entry_known(struct rule_run *run, const struct model_view *view, unsigned kind);
/* Counts the call.  The entry's value is then the number of its calls; a rule may set another. */
void law_count(struct rule_run *run, struct law_entry *entry, const struct model_view *view);
/* The same of what was counted elsewhere, and is no longer there. */
void law_take(struct rule_run *run, struct law_entry *entry, struct rule_tally *from);
/* The places of its files, made when there are none; NULL without memory. */
struct rule_places *law_places(const struct rule_run *run, struct law_entry *entry);
/* It is about this file too. */
void law_file(const struct rule_run *run, struct law_entry *entry, const struct model_file *file);

/* Of the call's image what is followed under this number, made when there is none. */
static inline void *law_follow(struct rule_run *run, const struct model_view *view, uint64_t number, bool *ret_new)
{
	struct law_state *state = run->state;

	return rule_keys_get(run, &state->followed, view, map_mix(view->process->id, number), ret_new);
}

/* NULL: there is none. */
static inline void *law_followed(struct rule_run *run, const struct model_view *view, uint64_t number)
{
	struct law_state *state = run->state;

	return rule_keys_find(&state->followed, map_mix(view->process->id, number));
}

#endif
