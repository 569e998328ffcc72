/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that were counted where they happen, as tables: of everything, of each
 * program and of each cgroup.  No rule is judged by them; times are measured,
 * of all calls or of some.
 */
#ifndef SYSCULL_VERDICT_COUNTED_H
#define SYSCULL_VERDICT_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "event/count.h"
#include "sys/sys.h"
#include "verdict/analysis.h"

#define COUNTED_OTHER_NR (-1) /* numbers that are in no table of ours */

struct counted_error {
	uint32_t err;
	uint64_t count;
};

struct counted_call {
	int32_t nr;
	uint16_t arch;
	char name[SYS_NAME_MAX];
	uint64_t count, failed, unreturned;
	uint64_t timed, timed_ns, max_ns;
	uint64_t buckets[COUNT_BUCKETS];
	VEC(struct counted_error) errors; /* by errno */
	/* By counted_finish; below 0: not known. */
	double ns; /* all of them together */
	double p50_ns, p99_ns; /* of those timed */
	bool estimated; /* not all of those that returned were timed */
};

struct counted_table {
	VEC(struct counted_call) calls; /* when finished: most time first */
	struct map index;
	uint64_t count, failed;
	double ns; /* below 0: not known */
	bool estimated;
};

struct counted_part {
	char *name; /* NULL: not known */
	struct counted_table table;
};

struct counted_parts {
	VEC(struct counted_part) at; /* when finished: most time first */
	struct map index;
};

struct counted {
	struct counted_table all;
	struct counted_parts exes, cgroups;
};

enum counted_what { COUNTED_COMMAND, COUNTED_PROCESSES, COUNTED_CGROUP, COUNTED_SYSTEM };

/* What passed between two partial reports. */
struct counted_interval {
	uint64_t from_ns, to_ns; /* since the begin */
	struct counted counted;
};

/* What is told beside the tables. */
struct counted_facts {
	enum counted_what what;
	char *const *argv;
	const int *pids;
	size_t pid_count;
	const char *cgroup;
	const char *engine_why;
	struct analysis_host host;
	bool exit_known;
	int exit_status, exit_signal;
	uint64_t wall_ns;
	uint64_t seen, plain, errors_lost;
	uint64_t tasks, processes, running;
	uint64_t not_followed, failed_tasks, misses;
	uint64_t floor_ns;
	bool no_times; /* none were wanted */
	uint64_t untimed_ns, let_go_ns; /* since when calls were not timed, not counted any more; 0 never */
	bool closed, complete; /* by counted_judge */
	char why[200];
	const char *const *notes; /* in the order in which they were made */
	size_t note_count;
	const struct counted_interval *intervals;
	size_t interval_count;
	uint64_t intervals_left_out;
};

void counted_init(struct counted *counted);
void counted_done(struct counted *counted);
/* What a row gained since it was like `before`. */
void counted_minus(struct count_row *row, const struct count_row *before);
/* Names may be NULL: not known; cgroup "" when there is no table of them.  Negative errno. */
int counted_add(struct counted *counted, const struct count_row *row, uint64_t max_ns, const char *exe,
		const char *cgroup);
/* Failures that are not in the row itself. */
int counted_add_error(struct counted *counted, const struct count_row *row, const char *exe, const char *cgroup,
		      uint32_t err, uint64_t count);
/* Calls of which only this is known: in no part. */
int counted_add_plain(struct counted *counted, uint16_t arch, int32_t nr, uint64_t count, uint64_t failed,
		      uint64_t unreturned);
void counted_finish(struct counted *counted);
/* Do the books close? */
void counted_judge(const struct counted *counted, struct counted_facts *facts);
/* So many of them were no longer than what is returned; `share` of 1. */
double counted_percentile(const uint64_t buckets[static COUNT_BUCKETS], uint64_t timed, uint64_t max_ns, double share);

#endif
