/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock-call: clocks read with a call although one that needs none would do.
 * The vDSO answers for most clocks without entering the kernel, unless the
 * clock is one that it does not know, the machine's clock source is one that
 * it cannot read, or the program passes it by.
 */
#include <string.h>

#include "rules/law.h"

enum { LIMIT_CALLS, LIMIT_GAP };

/* One clock of one image. */
struct clock_user {
	struct law_entry entry; /* first */
	uint64_t direct; /* from a module that is known, so not from the vDSO */
};

#define CLOCK_ROW(clock, ...) \
	{ \
		.tier = FINDING_LIKELY, .least = LIMIT_CALLS, .object = clock, .where = clock, .detail = clock, \
		__VA_ARGS__ \
	}
#define FREE(clock) CLOCK_ROW(clock, .what = "enters the kernel to read a clock that needs no call")
#define SLOW(clock, ...) \
	CLOCK_ROW(clock, .what = "reads a clock that the kernel alone can read", .remedy = "free-clock", __VA_ARGS__)
#define CPU_TIME(clock) \
	SLOW(clock, .text = "CLOCK_MONOTONIC, where elapsed time will do", \
	     .changes = "elapsed time, with what is spent waiting in it")

/* By their numbers, but for the last; others count what a device or another process does. */
#define CLOCKS_IN_A_ROW 10
#define CLOCK_TAI 11
static const struct law_kind clock_kinds[] = {
	FREE("CLOCK_REALTIME"),
	FREE("CLOCK_MONOTONIC"),
	CPU_TIME("CLOCK_PROCESS_CPUTIME_ID"),
	CPU_TIME("CLOCK_THREAD_CPUTIME_ID"),
	FREE("CLOCK_MONOTONIC_RAW"),
	FREE("CLOCK_REALTIME_COARSE"),
	FREE("CLOCK_MONOTONIC_COARSE"),
	FREE("CLOCK_BOOTTIME"),
	SLOW("CLOCK_REALTIME_ALARM", .text = "CLOCK_REALTIME"),
	SLOW("CLOCK_BOOTTIME_ALARM", .text = "CLOCK_BOOTTIME"),
	[CLOCKS_IN_A_ROW] = FREE("CLOCK_TAI"),
	{ 0 },
};

static void clock_call(struct rule_run *run, const struct model_view *view)
{
	uint32_t clock = view->id == CALL_clock_gettime ? (uint32_t)view->call->args[0] : 0;
	const char *module = NULL;
	struct clock_user *user;
	uint64_t offset;

	if ((clock >= CLOCKS_IN_A_ROW && clock != CLOCK_TAI) || view->err || !rule_returned(view))
		return;
	user = law_entry(run, view, clock == CLOCK_TAI ? CLOCKS_IN_A_ROW : clock);
	if (!user || !rule_burst_next(&user->entry.burst, view, run->limits[LIMIT_GAP]))
		return;
	if (view->call->ip && model_locate(run->model, view->process, view->call->ip, &module, &offset) &&
	    strcmp(rule_base_name(module), "[vdso]") != 0)
		user->direct++;
	law_count(run, &user->entry, view);
}

static void clock_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	bool direct = ((const struct clock_user *)entry)->direct == entry->key.tally.calls;

	if (clock_kinds[entry->kind].text)
		return;
	if (direct)
		(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "vdso",
					     "clock_gettime of a C library that uses the vDSO, not the bare call");
	else
		(void)finding_add_remedy_all(
			finding, REMEDY_CONFIGURATION, "clocksource",
			"another clock source, if the machine has one: see available_clocksource and "
			"current_clocksource in /sys/devices/system/clocksource/clocksource0");
}

static const struct law clock_law = {
	.kinds = clock_kinds, .entries = 16384, .entry_bytes = sizeof(struct clock_user), .tell = clock_tell
};

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
	.call = clock_call,
	LAW_RULE(clock_law),
};
