/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts of calls by process, for reports and budgets of one program.  The
 * first PROCESS_MOST processes are counted one by one, further ones are
 * summed by program.  Memory is bounded; what found no room for its split is
 * still in the count of its process, and `unsplit` tells of it.
 */
#ifndef SYSCULL_VERDICT_PROCESS_H
#define SYSCULL_VERDICT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "model/model.h"

#define PROCESS_MOST 1000
#define PROCESS_RUNS_MAX 4096 /* programs run by those, one after the other */
#define PROCESS_CELLS_MAX (1u << 20)
#define PROCESS_ERRORS_MAX (1u << 17)

/* One program run by one process, or all further runs of one program. */
struct process_run {
	const struct model_process *image; /* NULL: summed by program */
	const struct model_exe *exe; /* of summed ones */
	uint32_t entry;
	uint64_t calls;
	VEC(uint64_t) counts; /* by tally_row.index */
};

struct process_entry {
	uint32_t first, last; /* indices of runs; summed entries have one */
	uint32_t pid; /* 0 summed */
	uint64_t processes; /* that ended as this program; 1 when not summed */
};

struct process_book {
	VEC(struct process_run) runs;
	VEC(struct process_entry) entries;
	struct map by_image; /* image id → uint32_t run + 1 */
	struct map by_pid; /* pid alive → uint32_t entry + 1 */
	struct map by_exe; /* exe id → uint32_t run + 1 */
	struct map errors; /* process_error_key → uint64_t */
	uint64_t last_image;
	uint32_t last_run; /* of last_image, + 1 */
	uint32_t own; /* entries that are one process */
	uint64_t cells;
	uint64_t unsplit; /* calls without a count by call or by errno */
	bool truncated; /* some are summed by program */
};

void process_init(struct process_book *book);
void process_done(struct process_book *book);
/* -ENOMEM: the call is in no process. */
int process_add(struct process_book *book, const struct model_process *process, uint32_t row, int err);
/* The process of this image is over: its pid may come again. */
void process_end(struct process_book *book, const struct model_process *process);
/* Makes an entry for an image that made no calls. */
int process_see(struct process_book *book, const struct model_process *process);

/* What reports read. */
struct verdict_process_error {
	uint32_t process, row;
	int err;
	uint64_t count;
};

struct verdict_process_call {
	uint32_t row; /* tally_row.index */
	uint64_t count, failed;
	double ns; /* its part of all calls of that row */
	size_t first_error, error_count; /* in processes.errors */
};

struct verdict_program {
	const char *exe;
	uint64_t calls;
};

struct verdict_process {
	uint32_t pid, parent; /* pid 0: several, summed by program; parent 0 unknown */
	uint64_t processes; /* 1 when it has a pid */
	const char *exe; /* of the last program that it ran */
	const char *argv; /* NUL-separated; NULL unknown */
	size_t argv_bytes;
	bool exit_known;
	int exit_status, exit_signal; /* status -1 when a signal ended it */
	uint64_t calls;
	struct verdict_process_call *by_call; /* most calls first */
	size_t by_call_count;
	struct verdict_program *programs; /* in the order they ran, when there were several */
	size_t program_count;
};

struct verdict_processes {
	struct verdict_process *items;
	size_t count;
	struct verdict_process_error *errors; /* sorted by process, row, errno */
	size_t error_count;
	bool truncated;
	uint64_t unsplit;
};

/* row_ns and row_counts: time and number of calls of each row, `rows` of them. */
int process_judge(struct process_book *book, const double *row_ns, const uint64_t *row_counts, size_t rows,
		  struct verdict_processes *ret);
void processes_done(struct verdict_processes *processes);

#endif
