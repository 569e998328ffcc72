/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a remedy gained: interleaved runs without and with, as numbers.  Knows
 * no processes: cmd/ runs them, report/ prints this.
 */
#ifndef SYSCULL_VERDICT_PROVE_H
#define SYSCULL_VERDICT_PROVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/sys.h"

#define PROVE_RUNS_MAX 1000
#define PROVE_REMEDIES_MAX 16

struct prove_spread {
	double min, median, max; /* ns */
};

struct prove_ratio {
	double median; /* time without through time with: above 1 is faster */
	double low, high; /* 95 % certain for the median; of few runs the extremes */
};

enum prove_word {
	PROVE_FASTER, /* the whole range says so */
	PROVE_SLOWER,
	PROVE_NO_DIFFERENCE, /* none was shown */
};

struct prove_times {
	struct prove_spread before, after;
	struct prove_ratio ratio;
	enum prove_word word;
	unsigned outliers; /* runs far from all others */
};

/* One kind of call in the two traced runs. */
struct prove_call {
	char name[SYS_NAME_MAX];
	uint64_t before, after;
};

struct prove_remedy {
	const char *name; /* "TZ=:/etc/localtime" */
	const char *unsafe; /* NULL: never */
	const char *output; /* what it changes in the output; NULL nothing */
	double estimated_ns; /* what a run's findings promised; below 0: nothing was found */
	/* Switched on alone; with one remedy as all of them. */
	int64_t saves_calls;
	double saves_ns, saves_cpu_ns;
	bool shown, cpu_shown; /* that they are not what chance makes of equal runs */
};

struct prove_result {
	char *const *argv;
	const char *with; /* all remedies, for a line */
	unsigned runs; /* on each side */
	unsigned warmup;
	int status; /* of the command: 128 + signal when it died */
	bool same_output;
	const char *differs; /* what was not the same; NULL when all was */
	bool steady; /* the command says the same twice; else nothing was measured */
	struct prove_times times;
	struct prove_times cpu; /* user and system time, which others disturb less */
	bool counted; /* the books of both traced runs were closed */
	const char *count_why; /* when not */
	const struct prove_call *calls; /* those that changed, largest change first */
	size_t call_count;
	uint64_t calls_before, calls_after; /* all of them */
	struct prove_remedy remedies[PROVE_REMEDIES_MAX];
	unsigned remedy_count;
};

/* before[i] and after[i] ran next to each other; at least one of each. */
void prove_judge(const double *before, const double *after, unsigned runs, struct prove_times *ret);
/* Of a list that it sorts. */
struct prove_spread prove_spread_of(double *values, unsigned count);

#endif
