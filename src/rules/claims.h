/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which calls do two rules count?  While records come, each tally that belongs
 * to a key keeps how many of its calls other tallies counted too; in the end
 * finding_list_settle leaves each call to the more specific of two findings.
 * Calls themselves are never kept: this grows with keys, not with calls.  And
 * which calls were made in processes whose whole life one finding prices?
 */
#ifndef SYSCULL_RULES_CLAIMS_H
#define SYSCULL_RULES_CLAIMS_H

#include "rules/rule.h"

struct model_exe;
struct rule_tally;

#define RULE_CLAIMS_MAX 16 /* tallies that count one call */
#define RULE_SHARED_MAX 256 /* pairs that one tally keeps; more are counted twice */

#define RULE_LIVES_MAX (1u << 16) /* processes whose life is priced as a whole; further ones are counted twice */
#define RULE_OWNERS_MAX 256 /* processes of one tally; what is known of these then stands for all */

/* One per analysis, zeroed but for model: who counted the call at hand. */
struct rule_claims {
	struct model *model;
	uint64_t now; /* model_now of the call at hand */
	struct rule_tally *at[RULE_CLAIMS_MAX];
	unsigned used;
	uint64_t refused; /* pairs beyond RULE_SHARED_MAX */
	struct map lives; /* process id → struct rule_life; made with the first */
	bool lives_begun;
};

/* One run of a program that a finding has among its children. */
struct rule_life {
	const struct model_exe *exe; /* as in struct finding_child */
	enum finding_life life;
};

/* So many calls of a tally were made by this process. */
struct rule_owner {
	uint64_t process_id, count;
};

/* Calls that another tally counted too. */
struct rule_shared {
	struct rule_tally *with;
	enum sys_call_id call;
	int err;
	uint64_t count, components, duration_ns;
};

/* For tally.c; tallies without claims are left alone. */
void rule_claims_count(struct rule_tally *tally, const struct model_view *view);
void rule_claims_move(struct rule_tally *to, struct rule_tally *from);
void rule_claims_drop(struct rule_tally *tally);

/* The whole life of this process is in the price of a finding, when that is told. */
void rule_claims_life(struct rule_claims *claims, uint64_t process_id, const struct model_exe *exe,
		      enum finding_life life);
/* NULL: it is in none. */
const struct rule_life *rule_claims_life_of(const struct rule_claims *claims, uint64_t process_id);
void rule_claims_done(struct rule_claims *claims);
/* For tally.c: whose calls they are. */
void rule_owners_add(struct rule_tally *tally, uint64_t process_id, uint64_t count);
void rule_owners_tell(const struct rule_tally *tally, struct finding *finding);

/*
 * Each call that two findings count is taken from the one whose rule says more
 * general things (rule.breadth), else from that of the later rule, and out of
 * what its remedies save.  A finding that has less left than it needs goes.
 * Before finding_list_merge, while the rules' tallies live.
 */
void finding_list_settle(struct finding_list *list);

#endif
