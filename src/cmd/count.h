/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull run --count, -a, --cgroup: calls are counted in the kernel, and no
 * record is made of any.  The options, and the run itself.
 */
#ifndef SYSCULL_CMD_COUNT_H
#define SYSCULL_CMD_COUNT_H

#include "cmd/view.h"
#include "cmd/watch.h"
#include "engine/count.h"

struct count_request {
	bool on; /* --count, or what cannot be had without */
	bool system;
	const char *cgroup;
	const char *needs; /* an option that only counting has; NULL none */
	enum counting_times times;
	double overhead; /* a share; 0 anything */
	uint64_t interval_ns, duration_ns; /* 0 none */
};

/* Letters of the options without one. */
enum { COUNT_COUNT = 1024, COUNT_CGROUP, COUNT_DURATION, COUNT_INTERVAL, COUNT_OVERHEAD, COUNT_TIMES };

/* For a subcommand's table, in the order of their names. */
#define COUNT_OPTIONS \
	{ COUNT_CGROUP, "cgroup", "PATH", "count the calls of a cgroup (v2, a folder) and those in it" }, \
		{ COUNT_COUNT, "count", NULL, "count in the kernel only: no findings, twice native time" }, \
		{ COUNT_DURATION, "duration", "SECONDS", "-a, --cgroup, -p: end after so long" }, \
		{ COUNT_INTERVAL, "interval", "SECONDS", "counting: a partial report every so often" }, \
		{ COUNT_OVERHEAD, "max-overhead", "SHARE", "counting: stop timing, then let go, above it (1%)" }, \
	{ \
		COUNT_TIMES, "times", "WHEN", \
			"counting: time all calls (always), none (never), or by their rate (auto)" \
	}

/* 0, negative with err, or 1 when it is none of ours. */
int count_option(struct count_request *request, int letter, const char *value, struct error *err);
/* Do they fit each other?  Says whether this is to be a counting run. */
int count_check(struct count_request *request, bool has_command, size_t pid_count, const char *engine,
		const struct view *view, struct error *err);
/* The exit status; reports are opened and written. */
int count_run(const struct count_request *request, struct watch *watch, struct view *view);

#endif
