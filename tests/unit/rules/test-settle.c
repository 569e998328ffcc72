/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that two tallies count, against sets of call numbers; and findings
 * that give up what others tell.  The model is stood in for by a clock.
 */
#include <errno.h>
#include <string.h>

#include "rules/claims.h"
#include "rules/keyed.h"

#include "test.h"

#define TALLIES 6
#define CALLS 4000

static uint64_t clock_now;

uint64_t __wrap_model_now(const struct model *model);
uint64_t __wrap_model_now(const struct model *model)
{
	return clock_now;
}

static struct buf record;

static void make_view(struct model_view *view, enum sys_call_id id, int err)
{
	struct event_call *event = event_begin(&record, EVENT_CALL);

	assert_non_null(event);
	event->ret = -err;
	event->duration_ns = 10;
	*view = (struct model_view){ .id = id, .err = err };
	view->call = (const struct event_call *)event_end(&record);
}

static void next(struct model_view *view, enum sys_call_id id, int err)
{
	clock_now++;
	make_view(view, id, err);
}

static uint64_t shared_with(const struct rule_tally *tally, const struct rule_tally *with, enum sys_call_id call)
{
	uint64_t count = 0;

	for (size_t i = 0; i < tally->shared.used; i++)
		if (tally->shared.at[i].with == with && tally->shared.at[i].call == call)
			count += tally->shared.at[i].count;
	return count;
}

static uint64_t both(const bool *a, const bool *b, const uint8_t *kinds, uint8_t kind)
{
	uint64_t count = 0;

	for (size_t i = 0; i < CALLS; i++)
		count += a[i] && b[i] && kinds[i] == kind;
	return count;
}

/* Counted, merged and dropped at random, and compared with the sets. */
static void test_against_sets(void **state)
{
	static bool sets[TALLIES][CALLS];
	static uint8_t kinds[CALLS];
	static const enum sys_call_id ids[] = { CALL_lseek, CALL_read, CALL_close };

	for (unsigned seed = 1; seed <= 20; seed++) {
		struct rule_tally tallies[TALLIES];
		struct rule_claims claims = { 0 };
		unsigned random = seed * 7919;

		memset(sets, 0, sizeof sets);
		for (size_t t = 0; t < TALLIES; t++)
			tallies[t] = (struct rule_tally){ .claims = &claims };
		for (size_t i = 0; i < CALLS; i++) {
			struct model_view view;
			unsigned from, to;

			random = random * 1103515245 + 12345;
			kinds[i] = (uint8_t)(random >> 16 & 3) % 3;
			next(&view, ids[kinds[i]], 0);
			for (size_t t = 0; t < TALLIES; t++) {
				random = random * 1103515245 + 12345;
				sets[t][i] = (random >> 16 & 3) == 0;
				if (sets[t][i])
					(void)rule_tally_count(&tallies[t], &view);
			}
			random = random * 1103515245 + 12345;
			from = (random >> 16) % TALLIES;
			to = (random >> 20) % TALLIES;
			if ((random >> 8 & 63) == 0) {
				rule_tally_done(&tallies[from]);
				memset(sets[from], 0, sizeof sets[from]);
			} else if ((random >> 8 & 63) == 1 && from != to &&
				   both(sets[from], sets[to], kinds, 0) + both(sets[from], sets[to], kinds, 1) +
						   both(sets[from], sets[to], kinds, 2) ==
					   0) {
				rule_tally_merge(&tallies[to], &tallies[from]);
				for (size_t k = 0; k < CALLS; k++) {
					sets[to][k] = sets[to][k] || sets[from][k];
					sets[from][k] = false;
				}
			}
		}
		for (size_t a = 0; a < TALLIES; a++)
			for (size_t b = 0; b < TALLIES; b++)
				for (uint8_t kind = 0; kind < 3; kind++)
					assert_int_equal(a == b ? 0 : both(sets[a], sets[b], kinds, kind),
							 shared_with(&tallies[a], &tallies[b], ids[kind]));
		assert_int_equal(claims.refused, 0);
		for (size_t t = 0; t < TALLIES; t++)
			rule_tally_done(&tallies[t]);
		for (size_t t = 0; t < TALLIES; t++)
			assert_int_equal(tallies[t].shared.used, 0);
	}
}

/* A tally that is merged and dropped while the call is still at hand. */
static void test_merged_at_once(void **state)
{
	struct rule_claims claims = { 0 };
	struct rule_tally round = { .claims = &claims }, sum = { .claims = &claims }, other = { .claims = &claims };
	struct model_view view;

	for (unsigned i = 0; i < 100; i++) {
		next(&view, CALL_lseek, 0);
		(void)rule_tally_count(&round, &view);
		rule_tally_merge(&sum, &round);
		(void)rule_tally_count(&other, &view);
	}
	assert_int_equal(shared_with(&sum, &other, CALL_lseek), 100);
	assert_int_equal(shared_with(&other, &sum, CALL_lseek), 100);
	assert_int_equal(shared_with(&other, &round, CALL_lseek), 0);
	assert_int_equal(other.shared.used, 1);
	rule_tally_done(&sum);
	assert_int_equal(other.shared.used, 0);
	rule_tally_done(&other);
}

/* Tallies that belong to no key are left alone. */
static void test_untracked(void **state)
{
	struct rule_claims claims = { 0 };
	struct rule_tally plain = { 0 }, kept = { .claims = &claims }, other = { .claims = &claims };
	struct model_view view;

	next(&view, CALL_read, 0);
	(void)rule_tally_count(&plain, &view);
	(void)rule_tally_count(&kept, &view);
	(void)rule_tally_count(&other, &view);
	assert_int_equal(plain.shared.used, 0);
	assert_int_equal(kept.shared.used, 1);
	rule_tally_merge(&plain, &kept);
	assert_int_equal(other.shared.used, 0);
	rule_tally_done(&plain);
	rule_tally_done(&other);
}

static void test_pairs_have_a_limit(void **state)
{
	static struct rule_tally many[RULE_SHARED_MAX + 50];
	struct rule_claims claims = { 0 };
	struct rule_tally one = { .claims = &claims };
	struct model_view view;

	for (size_t i = 0; i < RULE_SHARED_MAX + 50; i++) {
		many[i].claims = &claims;
		next(&view, CALL_read, 0);
		(void)rule_tally_count(&one, &view);
		(void)rule_tally_count(&many[i], &view);
	}
	assert_int_equal(one.shared.used, RULE_SHARED_MAX);
	assert_int_equal(claims.refused, 50);
	for (size_t i = 0; i < RULE_SHARED_MAX + 50; i++)
		rule_tally_done(&many[i]);
	assert_int_equal(one.shared.used, 0);
	rule_tally_done(&one);
}

struct pair_of {
	struct rule_claims claims;
	struct rule_tally specific, general;
	struct finding_list list;
};

/* `common` calls of both, and so many more of each. */
static void count_both(struct pair_of *pair, unsigned common, unsigned specific, unsigned general)
{
	struct model_view view;

	*pair = (struct pair_of){ 0 };
	pair->specific.claims = pair->general.claims = &pair->claims;
	for (unsigned i = 0; i < common + specific + general; i++) {
		next(&view, CALL_lseek, 0);
		if (i >= common + specific || i < common)
			(void)rule_tally_count(&pair->general, &view);
		if (i < common + specific)
			(void)rule_tally_count(&pair->specific, &view);
	}
}

static struct finding *tell(struct pair_of *pair, const char *id, const struct rule_tally *tally, uint64_t least)
{
	struct finding *finding = finding_add(&pair->list, rule_by_id(id), FINDING_LIKELY);
	struct finding_remedy *remedy;

	assert_non_null(finding);
	rule_tally_tell(tally, finding, NULL);
	finding->least = least;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	finding_remedy_saves_all(remedy, finding);
	return finding;
}

static void done(struct pair_of *pair)
{
	finding_list_done(&pair->list);
	rule_tally_done(&pair->specific);
	rule_tally_done(&pair->general);
}

static void test_the_general_one_gives_up(void **state)
{
	for (unsigned order = 0; order < 2; order++) {
		struct pair_of pair;
		const struct finding *general, *specific;

		count_both(&pair, 60, 40, 140);
		if (order == 0)
			(void)tell(&pair, "noop-seek", &pair.general, 100);
		(void)tell(&pair, "file-reread", &pair.specific, 0);
		if (order == 1)
			(void)tell(&pair, "noop-seek", &pair.general, 100);
		finding_list_settle(&pair.list);
		assert_int_equal(pair.list.items.used, 2);
		general = &pair.list.items.at[order];
		specific = &pair.list.items.at[1 - order];
		assert_string_equal(general->rule->id, "noop-seek");
		assert_int_equal(general->calls, 140);
		assert_int_equal(general->costs.at[0].count, 140);
		assert_int_equal(general->costs.at[0].duration_ns, 1400);
		assert_int_equal(general->remedies.at[0].deltas.at[0].count, -140);
		assert_string_equal(general->notes.at[0], "left out: 60 calls that file-reread tells");
		assert_int_equal(specific->calls, 100);
		assert_int_equal(specific->remedies.at[0].deltas.at[0].count, -100);
		assert_int_equal(specific->notes.used, 0);
		done(&pair);
	}
}

static void test_too_little_is_left(void **state)
{
	static const struct {
		unsigned common, more;
		size_t left;
	} cases[] = { { 200, 0, 1 }, { 200, 99, 1 }, { 200, 100, 2 }, { 0, 100, 2 } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct pair_of pair;

		count_both(&pair, cases[i].common, 10, cases[i].more);
		(void)tell(&pair, "noop-seek", &pair.general, 100);
		(void)tell(&pair, "file-reread", &pair.specific, 0);
		finding_list_settle(&pair.list);
		assert_int_equal(pair.list.items.used, cases[i].left);
		assert_string_equal(pair.list.items.at[cases[i].left - 1].rule->id, "file-reread");
		done(&pair);
	}
}

/* What is no waste takes nothing, and gives nothing up. */
static void test_information(void **state)
{
	for (unsigned which = 0; which < 2; which++) {
		struct pair_of pair;
		struct finding *finding;

		count_both(&pair, 200, 0, 0);
		finding = tell(&pair, "noop-seek", &pair.general, 100);
		finding->information = which == 0;
		finding = tell(&pair, "file-reread", &pair.specific, 0);
		finding->information = which == 1;
		finding_list_settle(&pair.list);
		assert_int_equal(pair.list.items.used, 2);
		assert_int_equal(pair.list.items.at[0].calls, 200);
		assert_int_equal(pair.list.items.at[1].calls, 200);
		done(&pair);
	}
}

/* Of equal breadth the earlier rule of the list tells it. */
static void test_equal_breadth(void **state)
{
	struct pair_of pair;

	count_both(&pair, 200, 0, 0);
	(void)tell(&pair, "reopen-pseudo-file", &pair.general, 0);
	(void)tell(&pair, "procfs-small-read", &pair.specific, 0);
	finding_list_settle(&pair.list);
	assert_int_equal(pair.list.items.used, 1);
	assert_string_equal(pair.list.items.at[0].rule->id, "procfs-small-read");
	done(&pair);
}

/* A finding that goes takes nothing with it. */
static void test_what_went_takes_nothing(void **state)
{
	struct rule_claims claims = { 0 };
	struct rule_tally a = { .claims = &claims }, b = { .claims = &claims }, c = { .claims = &claims };
	struct finding_list list = { 0 };
	struct pair_of pair = { 0 };
	struct model_view view;

	/* a and b count 100, b and c 20 others: b goes, c keeps its own. */
	for (unsigned i = 0; i < 120; i++) {
		next(&view, CALL_lseek, 0);
		(void)rule_tally_count(i < 100 ? &a : &c, &view);
		(void)rule_tally_count(&b, &view);
	}
	(void)tell(&pair, "tty-probe", &c, 20);
	(void)tell(&pair, "repeated-fstat", &b, 100);
	(void)tell(&pair, "file-reread", &a, 0);
	list = pair.list;
	finding_list_settle(&list);
	assert_int_equal(list.items.used, 2);
	assert_string_equal(list.items.at[0].rule->id, "tty-probe");
	assert_int_equal(list.items.at[0].calls, 20);
	finding_list_done(&list);
	rule_tally_done(&a);
	rule_tally_done(&b);
	rule_tally_done(&c);
}

/* Whatever is counted how often, no call is told twice. */
static void test_no_call_is_told_twice(void **state)
{
	static const char *const ids[] = { "file-reread", "reopen-pseudo-file", "repeated-fstat", "noop-seek" };

	for (unsigned seed = 1; seed <= 200; seed++) {
		struct rule_tally tallies[4];
		struct rule_claims claims = { 0 };
		struct pair_of pair = { 0 };
		unsigned random = seed * 104729;
		uint64_t counted = 0, told = 0;

		for (size_t t = 0; t < 4; t++)
			tallies[t] = (struct rule_tally){ .claims = &claims };
		for (unsigned i = 0; i < 300; i++) {
			struct model_view view;
			bool any = false;

			next(&view, i % 3 ? CALL_lseek : CALL_read, i % 5 ? 0 : EINVAL);
			for (size_t t = 0; t < 4; t++) {
				random = random * 1103515245 + 12345;
				if ((random >> 16 & 7) > seed % 7)
					continue;
				(void)rule_tally_count(&tallies[t], &view);
				any = true;
			}
			counted += any;
		}
		for (size_t t = 0; t < 4; t++)
			if (tallies[t].calls > 0)
				(void)tell(&pair, ids[t], &tallies[t], 0);
		finding_list_settle(&pair.list);
		for (size_t i = 0; i < pair.list.items.used; i++) {
			const struct finding *finding = &pair.list.items.at[i];
			uint64_t lines = 0;
			int64_t saved = 0;

			told += finding->calls;
			for (size_t k = 0; k < finding->costs.used; k++)
				lines += finding->costs.at[k].count;
			for (size_t k = 0; k < finding->remedies.at[0].deltas.used; k++)
				saved -= finding->remedies.at[0].deltas.at[k].count;
			assert_int_equal(lines, finding->calls);
			assert_int_equal(saved, finding->calls);
		}
		assert_true(told <= counted);
		assert_true(told > 0);
		finding_list_done(&pair.list);
		for (size_t t = 0; t < 4; t++)
			rule_tally_done(&tallies[t]);
	}
}

static int done_all(void **state)
{
	buf_done(&record);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_sets),
		cmocka_unit_test(test_merged_at_once),
		cmocka_unit_test(test_untracked),
		cmocka_unit_test(test_pairs_have_a_limit),
		cmocka_unit_test(test_the_general_one_gives_up),
		cmocka_unit_test(test_too_little_is_left),
		cmocka_unit_test(test_information),
		cmocka_unit_test(test_equal_breadth),
		cmocka_unit_test(test_what_went_takes_nothing),
		cmocka_unit_test(test_no_call_is_told_twice),
	};

	return cmocka_run_group_tests(tests, NULL, done_all);
}
