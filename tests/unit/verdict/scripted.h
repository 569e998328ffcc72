/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A finished analysis of a script, every call at 1 us.  A test that includes
 * this needs the include root of cmd and the engine (see stream.h).
 */
#ifndef SYSCULL_TESTS_UNIT_VERDICT_SCRIPTED_H
#define SYSCULL_TESTS_UNIT_VERDICT_SCRIPTED_H

#include <string.h>

#include "test.h"

#include "engine/script/script.h"
#include "verdict/analysis.h"

/* budgets NULL: none; facts NULL: nothing else is known of the run. */
static inline struct analysis *scripted(const char *script, struct budgets *budgets,
					void (*change)(struct analysis_facts *facts))
{
	struct analysis_spec spec = { .prices = price_book_new_fixed(NULL, 0, 1000), .budgets = budgets };
	static char *argv[] = { (char *)(uintptr_t) "scripted", NULL };
	struct analysis_facts facts = { .engine = "script", .wall_ns = 1000000000, .exit_known = true, .argv = argv };
	struct engine_spec engine_spec = { 0 };
	struct analysis *analysis = NULL;
	struct engine *engine = NULL;
	const struct event_head *head;
	struct engine_stats stats;
	struct error err = { 0 };
	int r;

	assert_int_equal(analysis_new(&spec, &analysis, &err), 0);
	r = script_open(script, strlen(script), "script", &engine_spec, &engine, &err);
	while (r == 0 && (r = engine_script.next(engine, &head, &err)) == ENGINE_RECORD)
		r = analysis_feed(analysis, head);
	if (r < 0)
		fail_msg("%s", err.text);
	engine_script.stats(engine, &stats);
	facts.seen = stats.seen;
	facts.delivered = stats.delivered;
	facts.marks = stats.marks;
	facts.children = stats.children;
	facts.followed = stats.followed;
	if (change)
		change(&facts);
	assert_int_equal(analysis_finish(analysis, &facts, &err), 0);
	engine_script.stop(engine);
	return analysis;
}

#endif
