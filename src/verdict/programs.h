/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each program of the tree took, over all its runs: for what a process
 * costs, and for the table of programs.  Bounded: further programs share one
 * entry.
 */
#ifndef SYSCULL_VERDICT_PROGRAMS_H
#define SYSCULL_VERDICT_PROGRAMS_H

#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "model/model.h"
#include "rules/finding.h"

#define PROGRAMS_MAX 1024

/* CPU time as the kernel's account has it, stops left out. */
struct program_life {
	uint64_t ended; /* runs that are over: those that the time is of */
	double work_ns, calls;
};

struct program {
	const struct model_exe *exe; /* NULL: all that found no entry */
	struct program_life lives[FINDING_LIFE_COUNT];
};

struct program_book {
	VEC(struct program) programs;
	struct map by_exe; /* exe id → uint32_t place */
};

void programs_init(struct program_book *book);
void programs_done(struct program_book *book);
/* An image, or a thread of one, has ended and worked so long in so many calls. */
void programs_add_work(struct program_book *book, const struct model_process *process, bool over, double work_ns,
		       double calls);
/*
 * CPU time of one such run on the average, each call `dearer_ns` dearer than it
 * was counted.  Below 0: not known.
 */
double programs_life_ns(const struct program_book *book, const struct model_exe *exe, enum finding_life life,
			double dearer_ns);

#endif
