/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls inside of processes whose whole life another finding prices: a tally
 * knows whose calls it has, and what is told of it says how many of them are
 * in such lives, so that verdict/ counts their time once.
 */
#include "rules/claims.h"
#include "rules/keyed.h"

void rule_claims_life(struct rule_claims *claims, uint64_t process_id, const struct model_exe *exe,
		      enum finding_life life)
{
	struct rule_life *at;

	if (!claims)
		return;
	if (!claims->lives_begun)
		map_init(&claims->lives, sizeof(struct rule_life), RULE_LIVES_MAX);
	claims->lives_begun = true;
	at = map_put(&claims->lives, process_id, NULL);
	if (at)
		*at = (struct rule_life){ .exe = exe, .life = life };
}

const struct rule_life *rule_claims_life_of(const struct rule_claims *claims, uint64_t process_id)
{
	return claims && claims->lives_begun ? map_get(&claims->lives, process_id) : NULL;
}

void rule_claims_done(struct rule_claims *claims)
{
	if (claims->lives_begun)
		map_done(&claims->lives);
	claims->lives_begun = false;
}

void rule_owners_add(struct rule_tally *tally, uint64_t process_id, uint64_t count)
{
	struct rule_owner *owner = NULL;

	if (!tally->claims || count == 0)
		return;
	if (tally->owner.count == 0)
		tally->owner.process_id = process_id;
	if (tally->owner.process_id == process_id) {
		tally->owner.count += count;
		return;
	}
	/* Processes end one after the other: mostly it is the last, or one that there was no room for. */
	for (size_t i = process_id > tally->latest_owner ? 0 : tally->owners.used; i > 0 && !owner; i--)
		if (tally->owners.at[i - 1].process_id == process_id)
			owner = &tally->owners.at[i - 1];
	if (owner) {
		owner->count += count;
	} else if (tally->owners.used < RULE_OWNERS_MAX) {
		(void)vec_push(&tally->owners, (struct rule_owner){ .process_id = process_id, .count = count });
		if (process_id > tally->latest_owner)
			tally->latest_owner = process_id;
	}
}

static void tell_owner(const struct rule_tally *tally, const struct rule_owner *owner, struct finding *finding)
{
	const struct rule_life *life = rule_claims_life_of(tally->claims, owner->process_id);

	finding->owned += owner->count;
	if (life)
		finding_add_part(finding, life->exe, life->life, owner->count);
}

void rule_owners_tell(const struct rule_tally *tally, struct finding *finding)
{
	if (tally->owner.count > 0)
		tell_owner(tally, &tally->owner, finding);
	for (size_t i = 0; i < tally->owners.used; i++)
		tell_owner(tally, &tally->owners.at[i], finding);
}
