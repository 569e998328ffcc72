/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each program of the tree took, over all its runs: for what a process
 * costs, and for the table of programs.  Bounded: further programs share one
 * entry.
 */
#ifndef SYSCULL_VERDICT_PROGRAMS_H
#define SYSCULL_VERDICT_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "model/model.h"
#include "rules/finding.h"

#define PROGRAMS_MAX 1024
#define PROGRAM_CELLS_MAX (1u << 16)

/* CPU time as the kernel's account has it, stops left out. */
struct program_life {
	uint64_t ended; /* runs that are over: those that the time is of */
	double work_ns, calls;
};

/* Calls of one row, by what they are part of. */
struct program_cell {
	uint64_t count[MODEL_PHASES];
};

struct program {
	const struct model_exe *exe; /* NULL: all that found no entry */
	VEC(struct program_cell) cells; /* by tally_row.index */
	uint64_t calls, failed[MODEL_PHASES];
	uint64_t runs, forks; /* that an exec began (or that were there), that a fork began */
	struct program_life lives[FINDING_LIFE_COUNT];
};

struct program_book {
	VEC(struct program) programs;
	struct map by_exe; /* exe id → uint32_t place */
	uint64_t last; /* the id that was looked for last, plus 1, and its place */
	uint32_t last_place;
	uint64_t cells; /* in all programs */
	uint64_t unsplit; /* calls beyond that, in `calls` alone */
};

void programs_init(struct program_book *book);
void programs_done(struct program_book *book);
/* An image, or a thread of one, has ended and worked so long in so many calls. */
void programs_add_work(struct program_book *book, const struct model_process *process, bool over, double work_ns,
		       double calls);
/* A call of a row that is to be shown. */
void programs_add_call(struct program_book *book, const struct model_process *process, uint32_t row,
		       enum model_phase phase, int err);
/* At the end, for each image. */
void programs_see(struct program_book *book, const struct model_process *process);
/*
 * CPU time of one such run on the average, each call `dearer_ns` dearer than it
 * was counted.  Below 0: not known.
 */
double programs_life_ns(const struct program_book *book, const struct model_exe *exe, enum finding_life life,
			double dearer_ns);
/* Of all runs of all programs. */
double programs_work_ns(const struct program_book *book, double dearer_ns);

/* What reports read: dearest first. */
struct verdict_exe_part {
	uint64_t calls, failed;
	double ns; /* price of the calls */
};
struct verdict_exe {
	const char *exe; /* "(other programs)" */
	uint64_t runs, forks, calls;
	double calls_ns;
	double work_ns; /* on CPUs, of runs and forks that have ended; below 0 not known */
	struct verdict_exe_part startup; /* all of the parts but MODEL_PHASE_WORK */
	struct verdict_exe_part parts[MODEL_PHASES];
};
/* row_ns and row_counts: time and number of calls of each row, `rows` of them.
 * -ENOMEM; the list is malloc'ed. */
int programs_judge(const struct program_book *book, const double *row_ns, const uint64_t *row_counts, size_t rows,
		   double dearer_ns, bool work_known, struct verdict_exe **ret_list, size_t *ret_count);

#endif
