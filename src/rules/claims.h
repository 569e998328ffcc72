/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which calls do two rules count?  While records come, each tally that belongs
 * to a key keeps how many of its calls other tallies counted too; in the end
 * finding_list_settle leaves each call to the more specific of two findings.
 * Calls themselves are never kept: this grows with keys, not with calls.
 */
#ifndef SYSCULL_RULES_CLAIMS_H
#define SYSCULL_RULES_CLAIMS_H

#include "rules/rule.h"

struct rule_tally;

#define RULE_CLAIMS_MAX 16 /* tallies that count one call */
#define RULE_SHARED_MAX 256 /* pairs that one tally keeps; more are counted twice */

/* One per analysis, zeroed but for model: who counted the call at hand. */
struct rule_claims {
	struct model *model;
	uint64_t now; /* model_now of the call at hand */
	struct rule_tally *at[RULE_CLAIMS_MAX];
	unsigned used;
	uint64_t refused; /* pairs beyond RULE_SHARED_MAX */
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

/*
 * Each call that two findings count is taken from the one whose rule says more
 * general things (rule.breadth), else from that of the later rule, and out of
 * what its remedies save.  A finding that has less left than it needs goes.
 * Before finding_list_merge, while the rules' tallies live.
 */
void finding_list_settle(struct finding_list *list);

#endif
