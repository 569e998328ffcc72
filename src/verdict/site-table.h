/* SPDX-License-Identifier: BSD-2-Clause */
/* All calls by where they came from: for tables and flame graphs, when they are asked for. */
#ifndef SYSCULL_VERDICT_SITE_TABLE_H
#define SYSCULL_VERDICT_SITE_TABLE_H

#include "base/map.h"
#include "base/vec.h"
#include "verdict/site.h"

struct analysis_result;
struct tally_row;

#define SITE_TABLE_MAX 1000000 /* pairs of site and call */

struct site_table {
	struct map counts; /* site and row → struct site_count */
	uint64_t other; /* calls without room, or whose site is not known */
};

struct site_count {
	uint64_t count, failed;
};

/* Calls of one kind from one site. */
struct verdict_site_call {
	struct finding_site site; /* count is the calls'; module is the model's */
	const char *program; /* whose process made the first of them */
	const struct verdict_call *call;
	uint64_t failed;
	double ns;
};

/* Calls that are told by one place: the first frame outside the C library, and the first in the program. */
struct verdict_site {
	struct finding_site site;
	uint64_t calls, failed;
	double ns;
	double waste_ns; /* what findings say can be saved of its own calls, as far as that is certain */
	const struct verdict_call *most; /* of its calls the one that takes most time */
	double most_ns;
	uint64_t most_count;
};

void site_table_init(struct site_table *table);
void site_table_done(struct site_table *table);
void site_table_add(struct site_table *table, uint32_t site, const struct tally_row *row, int err);
/* Fills result->site_calls and result->sites, dearest first.  -ENOMEM. */
int site_table_judge(const struct site_table *table, const struct analysis_stacks *stacks,
		     struct analysis_result *result);
/* Frees both. */
void site_table_result_done(struct analysis_result *result);

#endif
