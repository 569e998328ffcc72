/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One live run: an engine is chosen and started, its records go through the
 * analysis, signals are handed on, and in the end everything is known that
 * the engine can tell.  What subcommands do with it is their own business.
 */
#ifndef SYSCULL_CMD_WATCH_H
#define SYSCULL_CMD_WATCH_H

#include "cmd/user.h"
#include "engine/engine.h"
#include "verdict/analysis.h"

struct keep;

#define WATCH_REASON_BYTES 128

struct watch {
	/* What to watch. */
	char *const *argv; /* NULL: attach to pids */
	const char *program; /* argv[0] as found */
	const pid_t *pids;
	size_t pid_count;
	const char *engine; /* NULL or "auto": the best one */
	enum engine_pin pin;
	enum engine_stacks stacks;
	uint32_t task_limit;
	uint64_t ring_bytes; /* bpf engine; 0 the default */
	uint64_t duration_ns; /* let go after so long; 0: at the end */
	const char *user; /* whom the command runs as; NULL as we do */
	/* NULL: all calls.  Else `auto` takes the engine that watches a scope at
	 * full speed for the rest, whatever it would have taken; for call budgets
	 * alone on a launched command. */
	const struct engine_scope *scope;
	bool progress; /* one line on stderr while attached */
	struct keep *keep; /* where the records are kept too; NULL: nowhere */
	bool only_keep; /* the analysis says what to watch and is fed nothing */
	/* In the child that becomes the command, last thing; async-signal-safe,
	 * negative to give it up (status 125).  NULL: nothing. */
	int (*prepare)(void *data);
	void *prepare_data;

	struct user who; /* filled by watch_check */

	/* What came of it. */
	struct analysis_facts facts; /* engine, books, warnings filled in */
	struct engine_exit end;
	bool started; /* the command ran */
	char why[160]; /* of the engine; facts point here */
	char abort_reason[WATCH_REASON_BYTES];
	const char *scope_names[CALL_COUNT + 1]; /* facts point here */
};

/* What an engine's books and end say, and what was met on the way; reason
 * gets why it let go early, and facts point there. */
void watch_books(const struct engine_stats *stats, const struct engine_exit *end,
		 char reason[static WATCH_REASON_BYTES], struct analysis_facts *ret_facts);

/* Fails before anything is started when the engine or the user is unknown. */
int watch_check(struct watch *watch, struct error *err);
/*
 * Runs to the end and leaves our signals taken (signals_give_back).
 * Negative errno when it did not start (`started` is false); what goes wrong
 * later is logged, and the facts say that the run is incomplete.
 */
int watch_run(struct watch *watch, struct analysis *analysis, struct error *err);
/* Ends as the command did: returns the exit status, or dies of its signal. */
int watch_pass_on(const struct watch *watch);

#endif
