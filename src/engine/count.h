/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting without records: what many calls come to is added up where they
 * happen, by kind of call, errno, program and cgroup.  For what makes too many
 * calls to tell of each, and for the whole machine.  Nothing is known of a
 * single call, so that no rule can be judged.
 */
#ifndef SYSCULL_ENGINE_COUNT_H
#define SYSCULL_ENGINE_COUNT_H

#include "engine/engine.h"
#include "event/count.h"

enum counting_times {
	COUNTING_TIMES_AUTO, /* all calls, but when there are very many: then now and then */
	COUNTING_TIMES_ALWAYS,
	COUNTING_TIMES_NEVER,
};

/* What is counted: the tree of a command or of processes, a cgroup, or all
 * tasks of the machine but our own. */
struct counting_spec {
	char *const *argv;
	const char *program; /* argv[0] as found */
	const pid_t *pids;
	size_t pid_count;
	const char *cgroup; /* folder of a cgroup v2 */
	bool system;
	enum counting_times times;
	double overhead; /* most that it may cost, as a share of the time of a CPU, of all CPUs when `system` or a
			    cgroup; 0 anything */
	uint32_t task_limit;
	void (*prepare_child)(void *data); /* as in struct engine_spec */
	void *prepare_data;
};

struct counting_stats {
	uint64_t calls;
	uint64_t plain_calls; /* of these: of which only number and outcome are known */
	uint64_t errors_lost; /* failures of which the errno is not known */
	uint64_t tasks, processes; /* followed, those that we began with included; system, cgroup: born */
	uint64_t not_followed; /* beyond the limit */
	uint64_t failed_tasks; /* not followed for want of memory */
	uint64_t misses; /* programs that did not run: calls were not counted */
	uint64_t running; /* followed tasks that have not ended */
	uint64_t wall_ns;
	uint64_t floor_ns; /* our own part, taken out of times */
	bool let_go; /* it cost more than it may: nothing is counted since let_go_ns */
	uint64_t let_go_ns;
	bool untimed; /* … no times are taken since untimed_ns */
	uint64_t untimed_ns;
};

/* Totals of calls that have no row: struct counting_plain for each kind. */
struct counting_plain {
	int32_t nr; /* -1: one that we have no place for */
	uint16_t arch;
	uint16_t unreturned; /* 1: these never returned */
	uint64_t count, failed;
};

struct counting;

/* Can it be done here?  As engine probes do. */
void counting_probe(struct engine_probe *ret);
/* Returns when all is being counted; the command runs.  -ENOTSUP: not here. */
int counting_start(const struct counting_spec *spec, struct counting **ret, struct error *err);
/* Waits up to so long: 1 it goes on, 0 it has ended. */
int counting_wait(struct counting *counting, unsigned ms);
void counting_let_go(struct counting *counting);
void counting_forward(struct counting *counting, int signal);
void counting_exit_of(const struct counting *counting, struct engine_exit *ret);
/* Ends the counting; what is read from then on is final. */
void counting_end(struct counting *counting);
void counting_stats(const struct counting *counting, struct counting_stats *ret);
/* What has changed in how it counts, one line; NULL: nothing (any more). */
const char *counting_note(struct counting *counting);

/* Places of rows; those not used are skipped.  They go on changing. */
size_t counting_rows(const struct counting *counting);
const struct count_row *counting_row(const struct counting *counting, size_t n);
/* From now on other maxima are written: takes those so far out of a row. */
void counting_flip(struct counting *counting);
uint64_t counting_take_max(struct counting *counting, size_t n);
/* Errors that are not in the rows themselves: *iter begins at 0. */
bool counting_next_error(const struct counting *counting, uint64_t *iter, uint32_t *ret_row, uint32_t *ret_err,
			 uint64_t *ret_count);
/* *iter begins at 0. */
bool counting_next_plain(const struct counting *counting, size_t *iter, struct counting_plain *ret);
/* Names of a group; they are found now, since later the cgroup may be gone.  Foreign text; NULL not known. */
const char *counting_exe(struct counting *counting, uint32_t group);
const char *counting_cgroup(struct counting *counting, uint32_t group);

void counting_stop(struct counting *counting);

#endif
