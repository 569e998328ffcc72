/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common law of rules as one mechanism: what is asked about (objects),
 * how often by whom (tallies, keys in a bounded table), and how close
 * together (bursts).  Rules use it and do not copy it; what can make a
 * question new again is in model.h (model_changed).
 */
#ifndef SYSCULL_RULES_KEYED_H
#define SYSCULL_RULES_KEYED_H

#include <string.h>

#include "rules/claims.h"
#include "rules/rule.h"

/* Did the call return?  Of others neither result nor errno says anything. */
static inline bool rule_returned(const struct model_view *view)
{
	return !(view->call->head.flags & (EVENT_F_UNFINISHED | EVENT_F_KILLED));
}

/* Objects. */

struct rule_object {
	uint64_t id; /* equal for what is known to be the same */
	const char *path; /* absolute, or as passed when its directory is unknown; NULL unknown */
	uint64_t path_hash; /* of path, 0 without one */
	uint64_t dev, ino; /* dev by mount or descriptor; ino only where a result told it */
	uint64_t instance; /* struct model_file.id, 0 for a path */
	const struct model_mount *mount; /* NULL unknown */
};

/*
 * What the call is about: its path, resolved against cwd or dirfd, else what
 * is behind its descriptor: by path, by device and inode, at last by the
 * instance itself.  Never the bare number.  False: not known.
 */
bool rule_object_of(struct model *model, const struct model_view *view, struct rule_object *ret);
/* The same without its mount, which takes longest to find; dev is then what the descriptor has. */
bool rule_object_named(const struct model_view *view, struct rule_object *ret);
/* Of a descriptor: the instance, from its opening to its closing, is the id. */
bool rule_object_instance(struct model *model, const struct model_view *view, struct rule_object *ret);

/* Tallies: the lines of a finding. */

#define RULE_LINES_MAX 16

/* Equal calls with equal outcome. */
struct rule_line {
	enum sys_call_id call;
	int err;
	uint64_t count, components, duration_ns;
};

struct rule_tally {
	VEC(struct rule_line) lines;
	struct rule_sites *sites; /* made with the first */
	char *sample; /* NULL: the next call becomes it */
	uint64_t calls;
	uint64_t other; /* beyond RULE_LINES_MAX or without memory: in no line */
	struct rule_claims *claims; /* a key's: what others count too is followed; NULL not */
	VEC(struct rule_shared) shared; /* claims.c's own */
	struct rule_owner owner; /* whose calls they are, mostly of one process */
	VEC(struct rule_owner) owners; /* further ones */
	uint64_t latest_owner; /* the highest id of these */
};

/* Counts the call in its line; NULL when there is no room. */
struct rule_line *rule_tally_count(struct rule_tally *tally, const struct model_view *view);
/* The same, with where it was made from: for candidates, most of which are never told. */
struct rule_line *rule_tally_place(struct rule_tally *tally, struct model *model, const struct model_view *view);
/* The same, with a proof. */
struct rule_line *rule_tally_add(struct rule_tally *tally, struct model *model, const struct model_view *view);
/* Moves what `from` holds to `to`. */
void rule_tally_merge(struct rule_tally *to, struct rule_tally *from);
/* Costs with this detail (NULL none), call sites and the proof. */
void rule_tally_tell(const struct rule_tally *tally, struct finding *finding, const char *detail);
void rule_tally_done(struct rule_tally *tally);
/* Empty again; what it takes mostly is kept for the next to come. */
void rule_tally_reset(struct rule_tally *tally);

/* Keys. */

/*
 * One candidate of a rule; the rule's own struct begins with it.  It belongs
 * to one run of one program, whose end may drop it.
 */
struct rule_key {
	uint64_t hash;
	uint64_t number; /* order of appearance */
	uint64_t process_id;
	uint32_t pid;
	const struct model_exe *exe; /* the model's */
	uint64_t last_ns;
	uint64_t value; /* wasted calls as far as told by rule_keys_value */
	struct rule_tally tally;
	/* keyed.c's own */
	struct rule_key *older, *newer; /* of equal rank */
	struct rule_key *before, *after; /* of the same run */
	unsigned rank;
};

#define RULE_RANKS 66 /* by the power of two of the value; the last is of candidates */

struct rule_keys {
	size_t bytes; /* of the rule's struct */
	uint32_t most;
	uint64_t idle_ns; /* not asked for so long and no candidate: dropped; 0 never */
	uint64_t candidate; /* the value from which on a key stays when its run ends or it is idle */
	/* Optional.  fold: the key is about to be dropped for idleness or with
	 * its run, take what is worth keeping; not called at an eviction.
	 * free: what the rule itself put into the key. */
	void (*fold)(struct rule_run *run, struct rule_key *key);
	void (*free)(struct rule_run *run, struct rule_key *key);

	struct map by_hash; /* → struct rule_key * */
	struct map by_process; /* → struct rule_key * */
	struct {
		struct rule_key *oldest, *newest;
	} ranks[RULE_RANKS];
	uint64_t oldest_ns; /* no key that may be dropped is older */
	struct rule_key *spare; /* dropped ones, for the next: a walk makes and drops one for each file */
	unsigned spares;
	struct rule_key **head; /* in by_process, of the process that was asked for last; NULL not known */
	uint64_t head_process;
	uint64_t next_number;
	uint64_t folded; /* dropped without an eviction */
};

void rule_keys_init(struct rule_keys *keys, size_t bytes, uint32_t most);
void rule_keys_done(struct rule_run *run, struct rule_keys *keys);
/*
 * The key of this hash, made when there is none (*ret_new, may be NULL).  Mix
 * the process's id into the hash unless the key is meant for all.  Drops what
 * has been idle for long, and gives up the key of least value when the table
 * is full, which is counted in run->evicted.  NULL without memory.
 */
struct rule_key *rule_keys_get(struct rule_run *run, struct rule_keys *keys, const struct model_view *view,
			       uint64_t hash, bool *ret_new);
/* The same where there is no call at hand. */
struct rule_key *rule_keys_get_at(struct rule_run *run, struct rule_keys *keys, const struct model_process *process,
				  uint64_t now_ns, uint64_t hash, bool *ret_new);
/* NULL: there is none. */
struct rule_key *rule_keys_find(const struct rule_keys *keys, uint64_t hash);
/* What would be lost with the key.  A key below keys->candidate can be dropped at
 * the next rule_keys_get. */
void rule_keys_value(struct rule_keys *keys, struct rule_key *key, uint64_t value);
void rule_keys_drop(struct rule_run *run, struct rule_keys *keys, struct rule_key *key);
/* For rule.image_end: folds and drops the run's keys that are no candidates. */
void rule_keys_image_end(struct rule_run *run, struct rule_keys *keys, const struct model_process *process);
/* The keys of this run: start with NULL. */
struct rule_key *rule_keys_next_of(const struct rule_keys *keys, uint64_t process_id, const struct rule_key *prev);
/* For rule.end: tells each candidate that came to anything, in the order of appearance. */
void rule_keys_tell(struct rule_run *run, struct rule_keys *keys, struct finding_list *out,
		    void (*tell)(struct rule_run *run, struct rule_key *key, struct finding_list *out));
/* A finding with the key's process, program and tally in it; NULL without memory. */
struct finding *rule_key_finding(struct rule_run *run, const struct rule_key *key, enum finding_tier tier,
				 const char *detail, struct finding_list *out);

/* Recent answers. */

/*
 * A forgetful memory of one size: an entry is overwritten by the next one that
 * falls into its place.  For "was this asked before?" where not to know it
 * costs a finding and never makes one.  The rule's struct begins with its hash.
 */
struct rule_recent {
	void *memory;
	char *at;
	size_t bytes;
	uint32_t room; /* a power of two */
};

int rule_recent_init(struct rule_recent *recent, size_t bytes, uint32_t room);
void rule_recent_done(struct rule_recent *recent);
/* 0 stands for an empty place. */
static inline void *rule_recent_place(const struct rule_recent *recent, uint64_t *hash)
{
	*hash = *hash ? *hash : 1;
	return recent->at + (*hash & (recent->room - 1)) * recent->bytes;
}

/* NULL: not known, or no longer. */
static inline void *rule_recent_get(const struct rule_recent *recent, uint64_t hash)
{
	void *place = rule_recent_place(recent, &hash);

	return memcmp(place, &hash, sizeof hash) == 0 ? place : NULL;
}

/* Zeroed but for its hash when *ret_new (may be NULL). */
static inline void *rule_recent_put(struct rule_recent *recent, uint64_t hash, bool *ret_new)
{
	void *place = rule_recent_place(recent, &hash);
	bool fresh = memcmp(place, &hash, sizeof hash) != 0;

	if (ret_new)
		*ret_new = fresh;
	if (fresh) {
		memset(place, 0, recent->bytes);
		memcpy(place, &hash, sizeof hash);
	}
	return place;
}

/* Bursts. */

/*
 * Time is stretched while calls are stopped, by an amount that is not known
 * before the end, and by nothing where they are not.  So from each pause is
 * taken what the calls that the process made in it may have cost at most:
 * a pause full of calls is work, one without calls is a pause.
 */
#define RULE_STOP_MOST_NS UINT64_C(120000)
#define RULE_BURST_GAP_NS UINT64_C(100000000) /* the usual limit */

struct rule_burst {
	uint64_t last_ns, last_calls;
	uint64_t by_calls; /* pauses that were short only when corrected */
	bool begun;
};

/* Does this call follow the last one closely?  The first does. */
bool rule_burst_next(struct rule_burst *burst, const struct model_view *view, uint64_t gap_ns);
/* Says so in the finding when calls stood in for time. */
void rule_burst_note(const struct rule_burst *burst, struct finding *finding);

/* Words. */

/*
 * "TZ=:/etc/localtime find d1k -ls": the command that began the run, behind
 * some words.  NULL when it was not seen to begin, is long, or has a variable
 * `unless` (NULL none) of its own.
 */
char *rule_command(struct model *model, const char *words, const char *unless);
/* "cp --reflink=never -r a b": with an option behind its first word.  Only when
 * the command itself is the process of this id. */
char *rule_command_option(struct model *model, const char *option, uint64_t process_id);
/* The same with a word replaced, or left out (NULL). */
char *rule_command_replaced(struct model *model, const char *word, const char *with, uint64_t process_id);
/* The command that began the run, NULL when it was not seen to begin. */
const struct model_process *rule_command_process(struct model *model);

/* Is the program one that runs shell scripts?  What to do then in place of a
 * loop of `read`: text that lives for ever, NULL when it is none. */
const char *rule_shell_remedy(const struct model_exe *exe);
/* One remedy of several rules, and so told in the same words. */
#define RULE_KEEP_NAMES "keep the names of ids: each getpwuid or getgrgid looks anew (glibc)"

#endif
