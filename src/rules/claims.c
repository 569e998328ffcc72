/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that two tallies count.  Both keep the pair, so that either can go:
 * a tally that is merged hands its pairs on, one that is dropped leaves none.
 */
#include "rules/claims.h"

#include "rules/keyed.h"

static struct rule_shared *find(struct rule_tally *tally, const struct rule_tally *with, enum sys_call_id call, int err)
{
	for (size_t i = 0; i < tally->shared.used; i++) {
		struct rule_shared *pair = &tally->shared.at[i];

		if (pair->with == with && pair->call == call && pair->err == err)
			return pair;
	}
	return NULL;
}

static void add(struct rule_tally *tally, const struct rule_shared *more)
{
	struct rule_shared *pair = find(tally, more->with, more->call, more->err);

	if (!pair && tally->shared.used < RULE_SHARED_MAX && (pair = vec_add(&tally->shared)))
		*pair = (struct rule_shared){ .with = more->with, .call = more->call, .err = more->err };
	if (!pair) {
		tally->claims->refused++;
		return;
	}
	pair->count += more->count;
	pair->components += more->components;
	pair->duration_ns += more->duration_ns;
}

static void remove_with(struct rule_tally *tally, const struct rule_tally *with)
{
	size_t kept = 0;

	for (size_t i = 0; i < tally->shared.used; i++)
		if (tally->shared.at[i].with != with)
			tally->shared.at[kept++] = tally->shared.at[i];
	tally->shared.used = kept;
}

void rule_claims_count(struct rule_tally *tally, const struct model_view *view)
{
	struct rule_claims *claims = tally->claims;
	struct rule_shared pair = { .call = view->id,
				    .err = view->err,
				    .count = 1,
				    .components = view->path ? view->path->components : 0,
				    .duration_ns = view->call->duration_ns };
	uint64_t now;

	if (!claims)
		return;
	now = model_now(claims->model);
	if (now != claims->now) {
		claims->now = now;
		claims->used = 0;
	}
	for (unsigned i = 0; i < claims->used; i++) {
		if (claims->at[i] == tally)
			continue;
		pair.with = claims->at[i];
		add(tally, &pair);
		pair.with = tally;
		add(claims->at[i], &pair);
	}
	if (claims->used < RULE_CLAIMS_MAX)
		claims->at[claims->used++] = tally;
}

void rule_claims_move(struct rule_tally *to, struct rule_tally *from)
{
	struct rule_claims *claims = from->claims;

	if (!claims || to->claims != claims)
		return;
	for (unsigned i = 0; i < claims->used; i++)
		if (claims->at[i] == from)
			claims->at[i] = to;
	for (size_t i = 0; i < from->shared.used; i++) {
		struct rule_shared pair = from->shared.at[i];
		struct rule_tally *other = pair.with;

		if (other == to)
			continue;
		add(to, &pair);
		/* The other side's half. */
		pair.with = to;
		add(other, &pair);
	}
}

void rule_claims_drop(struct rule_tally *tally)
{
	struct rule_claims *claims = tally->claims;
	unsigned kept = 0;

	if (!claims)
		return;
	for (unsigned i = 0; i < claims->used; i++)
		if (claims->at[i] != tally)
			claims->at[kept++] = claims->at[i];
	claims->used = kept;
	for (size_t i = 0; i < tally->shared.used; i++)
		remove_with(tally->shared.at[i].with, tally);
	vec_done(&tally->shared);
}
