/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each rule costs: CPU time for the records of a trace file without any
 * rule, with all, with each alone and with all but each, in turn.  The program
 * measures and prints; it asserts nothing about time.
 *
 * usage: bench-rules FILE ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/trace/trace.h"
#include "verdict/analysis.h"

#define RULES_MAX 64
#define ROUNDS_MAX 101
#define OFTEN 8 /* sides, after which those that all are compared with have a turn */

/* One choice of rules, and what it took. */
struct side {
	const char *rules[RULES_MAX + 1];
	double ns; /* the least: others take of the caches, never give any */
};

static void fail(const char *what, const struct error *err)
{
	(void)fprintf(stderr, "%s: %s\n", what, err->text);
	exit(1);
}

static double cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* How many calls of each kind there are. */
struct kinds {
	uint64_t count[CALL_COUNT], all;
};

/* Reading, the model, the counts and these rules, and their end. */
static double run(const char *path, const char *const *rules, struct kinds *ret)
{
	struct engine_spec spec = { .file = path, .items = UINT64_MAX };
	struct analysis_facts facts = { 0 };
	const struct event_head *record;
	struct analysis *analysis = NULL;
	struct engine *engine = NULL;
	struct error err = { 0 };
	double begin;
	int r;

	if (engine_trace.start(&spec, &engine, &err) < 0)
		fail(path, &err);
	/* Without prices, whose loops would be timed with the first. */
	if (analysis_new(&(struct analysis_spec){ .only_rules = rules, .prices = price_book_new_fixed(NULL, 0, 100) },
			 &analysis, &err) < 0)
		fail(path, &err);
	begin = cpu_ns();
	while ((r = engine_trace.next(engine, &record, &err)) == ENGINE_RECORD)
		(void)analysis_feed(analysis, record);
	if (r != ENGINE_END || analysis_finish(analysis, &facts, &err) < 0)
		fail(path, &err);
	begin = cpu_ns() - begin;
	*ret = (struct kinds){ .all = analysis_result(analysis)->calls };
	for (size_t i = 0; i < analysis_result(analysis)->all_call_count; i++) {
		const struct verdict_call *call = &analysis_result(analysis)->all_calls[i];

		ret->count[call->row.id] += call->row.count;
	}
	analysis_free(analysis);
	engine_trace.stop(engine);
	return begin;
}

static void measure(const char *path, struct side *side, struct kinds *kinds)
{
	double ns = run(path, side->rules, kinds);

	side->ns = side->ns == 0 || ns < side->ns ? ns : side->ns;
}

/* Of these calls the rule is told. */
static uint64_t told(const struct rule *rule, const struct kinds *kinds)
{
	uint64_t count = 0;

	for (const uint16_t *id = rule->calls; *id; id++)
		count += kinds->count[*id];
	return count;
}

int main(int argc, char **argv)
{
	static struct side sides[2 + 2 * RULES_MAX];
	unsigned count = 0, rounds = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	struct kinds kinds = { 0 };
	double none, all;

	if (rounds < 1 || rounds > ROUNDS_MAX) {
		(void)fprintf(stderr, "usage: %s FILE ROUNDS (1 to %d)\n", argv[0], ROUNDS_MAX);
		return 2;
	}
	while (rule_list[count] && count < RULES_MAX)
		count++;
	for (unsigned i = 0; i < count; i++) {
		sides[1].rules[i] = sides[2 + i].rules[0] = rule_list[i]->id;
		for (unsigned k = 0, used = 0; k < count; k++)
			if (k != i)
				sides[2 + count + i].rules[used++] = rule_list[k]->id;
	}
	(void)run(argv[1], sides[1].rules, &kinds);
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = 0; i < 2 + 2 * count; i++) {
			measure(argv[1], &sides[(round + i) % (2 + 2 * count)], &kinds);
			if (i % OFTEN == 0) {
				measure(argv[1], &sides[0], &kinds);
				measure(argv[1], &sides[1], &kinds);
			}
		}
	none = sides[0].ns / (double)kinds.all;
	all = sides[1].ns / (double)kinds.all;
	(void)printf("%llu calls, %u rounds; ns a call: %.1f without rules, %.1f with all %u\n",
		     (unsigned long long)kinds.all, rounds, none, all, count);
	(void)printf("rule told alone without share\n");
	for (unsigned i = 0; i < count; i++) {
		double alone = sides[2 + i].ns / (double)kinds.all - none;
		double without = all - sides[2 + count + i].ns / (double)kinds.all;

		(void)printf("%s %.1f%% %.1f %.1f %.1f%%\n", rule_list[i]->id,
			     100 * (double)told(rule_list[i], &kinds) / (double)kinds.all, alone, without,
			     all > none ? 100 * alone / (all - none) : 0);
	}
	return 0;
}
