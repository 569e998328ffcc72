/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock-call: clocks read with a call although one that needs none would do.
 * The vDSO answers for most clocks without entering the kernel, unless the
 * clock is one that it does not know, the machine's clock source is one that
 * it cannot read, or the program passes it by.
 */
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define CLOCKS_MAX 16384 /* clocks of images that read them, at a time */

enum { LIMIT_CALLS, LIMIT_GAP };

enum clock_way { CLOCK_CPU, CLOCK_ALARM, CLOCK_FREE };

struct clock_name {
	uint32_t id; /* CLOCK_… */
	enum clock_way way;
	const char *name, *same; /* the clock that tells the same and is free */
};

/* Others count what a device or another process does. */
static const struct clock_name clocks[] = {
	{ 0, CLOCK_FREE, "CLOCK_REALTIME", NULL },
	{ 1, CLOCK_FREE, "CLOCK_MONOTONIC", NULL },
	{ 2, CLOCK_CPU, "CLOCK_PROCESS_CPUTIME_ID", "CLOCK_MONOTONIC" },
	{ 3, CLOCK_CPU, "CLOCK_THREAD_CPUTIME_ID", "CLOCK_MONOTONIC" },
	{ 4, CLOCK_FREE, "CLOCK_MONOTONIC_RAW", NULL },
	{ 5, CLOCK_FREE, "CLOCK_REALTIME_COARSE", NULL },
	{ 6, CLOCK_FREE, "CLOCK_MONOTONIC_COARSE", NULL },
	{ 7, CLOCK_FREE, "CLOCK_BOOTTIME", NULL },
	{ 8, CLOCK_ALARM, "CLOCK_REALTIME_ALARM", "CLOCK_REALTIME" },
	{ 9, CLOCK_ALARM, "CLOCK_BOOTTIME_ALARM", "CLOCK_BOOTTIME" },
	{ 11, CLOCK_FREE, "CLOCK_TAI", NULL },
};

/* One clock of one image. */
struct clock_user {
	struct rule_key key; /* first */
	struct rule_burst burst;
	const struct clock_name *clock;
	uint64_t direct; /* from a module that is known, so not from the vDSO */
};

static const struct clock_name *clock_of(const struct model_view *view)
{
	uint32_t id = view->id == CALL_clock_gettime ? (uint32_t)view->call->args[0] : 0;

	for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
		if (clocks[i].id == id)
			return &clocks[i];
	return NULL;
}

static void clock_call(struct rule_run *run, const struct model_view *view)
{
	const struct clock_name *clock = clock_of(view);
	const char *module = NULL;
	struct clock_user *user;
	uint64_t offset;

	if (!clock || view->err || !rule_returned(view))
		return;
	user = (struct clock_user *)rule_keys_get(run, run->state, view, map_mix(view->process->id, clock->id), NULL);
	if (!user || !rule_burst_next(&user->burst, view, run->limits[LIMIT_GAP]))
		return;
	user->clock = clock;
	if (view->call->ip && model_locate(run->model, view->process, view->call->ip, &module, &offset) &&
	    strcmp(rule_base_name(module), "[vdso]") != 0)
		user->direct++;
	(void)rule_tally_add(&user->key.tally, run->model, view);
	rule_keys_value(run->state, &user->key, user->key.tally.calls);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct clock_user *user = (const struct clock_user *)key;
	const struct clock_name *clock = user->clock;
	struct finding *finding = rule_key_finding(run, key, FINDING_LIKELY, clock->name, out);
	bool direct = user->direct == key->tally.calls;
	struct finding_remedy *remedy;

	if (!finding)
		return;
	finding_set(&finding->what, clock->way == CLOCK_FREE ? "enters the kernel to read a clock that needs no call"
							     : "reads a clock that the kernel alone can read");
	finding_set(&finding->where, "%s", clock->name);
	finding_set(&finding->object, "%s", clock->name);
	remedy =
		finding_add_remedy(finding, clock->way == CLOCK_FREE && !direct ? REMEDY_CONFIGURATION : REMEDY_SOURCE);
	if (remedy && clock->way != CLOCK_FREE) {
		remedy->id = "free-clock";
		finding_set(&remedy->text, clock->way == CLOCK_CPU ? "%s, where elapsed time will do" : "%s",
			    clock->same);
		if (clock->way == CLOCK_CPU)
			finding_set(&remedy->changes, "elapsed time, with what is spent waiting in it");
	} else if (remedy && direct) {
		remedy->id = "vdso";
		finding_set(&remedy->text, "clock_gettime of a C library that uses the vDSO, not the bare call");
	} else if (remedy) {
		remedy->id = "clocksource";
		finding_set(&remedy->text,
			    "another clock source, if the machine has one: see available_clocksource and "
			    "current_clocksource in /sys/devices/system/clocksource/clocksource0");
	}
	if (remedy)
		finding_remedy_saves_all(remedy, finding);
	rule_burst_note(&user->burst, finding);
}

static void clock_image_end(struct rule_run *run, struct model_process *process)
{
	rule_keys_image_end(run, run->state, process);
}

static void clock_end(struct rule_run *run, struct finding_list *out)
{
	rule_keys_tell(run, run->state, out, tell);
}

static int clock_start(struct rule_run *run)
{
	struct rule_keys *keys = run->state;

	rule_keys_init(keys, sizeof(struct clock_user), CLOCKS_MAX);
	keys->candidate = run->limits[LIMIT_CALLS];
	return 0;
}

static void clock_done(struct rule_run *run)
{
	rule_keys_done(run, run->state);
}

static const uint16_t clock_calls[] = { CALL_clock_gettime, CALL_gettimeofday, CALL_time, 0 };

static const struct rule_limit clock_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 100, "reads of one clock by one process" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "reads further apart are a timer's and do not count" },
	{ 0 },
};

const struct rule rule_clock_call = {
	.id = "clock-call",
	.title = "clocks read by entering the kernel",
	.needs = RULE_NEEDS_TIMES,
	.calls = clock_calls,
	.limits = clock_limits,
	.state_bytes = sizeof(struct rule_keys),
	.start = clock_start,
	.call = clock_call,
	.image_end = clock_image_end,
	.end = clock_end,
	.done = clock_done,
};
