/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is kept of calls that are counted where they happen, one row for each
 * kind of call, and no record of any single one.  The rows are shared with
 * programs in the kernel: fixed sizes, no pointers.
 */
#ifndef SYSCULL_EVENT_COUNT_H
#define SYSCULL_EVENT_COUNT_H

#include <stdint.h>

/*
 * Durations, by powers of two with four steps each: the first bucket ends at
 * 16 ns, the last one begins at 137 s and has no end.
 */
#define COUNT_LEAST_BITS 4
#define COUNT_STEP_BITS 2
#define COUNT_BUCKETS 134

#define COUNT_ERRORS 4 /* kept in the row; further ones are elsewhere */

struct count_error {
	uint32_t err; /* errno */
	uint32_t pad;
	uint64_t count;
};

struct count_row {
	int32_t nr;
	uint16_t arch; /* enum sys_arch */
	uint16_t cpu; /* whose row it is: nobody else writes to it */
	uint32_t group; /* of tasks: a program and a cgroup */
	uint32_t used; /* 0: not a row yet */
	uint64_t count; /* of which: */
	uint64_t failed; /* interruptions are none */
	uint64_t unreturned; /* exit, exit_group */
	uint64_t timed; /* so many were */
	uint64_t ns; /* that these took */
	uint64_t max_ns[2]; /* the longest; which of the two is written changes when one is read */
	struct count_error errors[COUNT_ERRORS];
	uint64_t buckets[COUNT_BUCKETS]; /* of the timed ones */
};

#endif
