/* SPDX-License-Identifier: BSD-2-Clause */
/* Brings an analysis and a book of stacks together: neither knows the other. */
#ifndef SYSCULL_CMD_CALL_SITES_H
#define SYSCULL_CMD_CALL_SITES_H

#include "engine/engine.h"
#include "stack/stack.h"
#include "verdict/analysis.h"

struct call_sites {
	struct stack_book *book; /* NULL: sites are told as records tell them */
	struct analysis_stacks stacks;
};

/* --stacks: off, sites or deep. */
int call_sites_option(const char *value, enum engine_stacks *ret, struct error *err);
/* For analysis_spec.stacks; NULL when there is no book to be had. */
const struct analysis_stacks *call_sites_begin(struct call_sites *sites, const struct stack_options *options);
/* After the analysis is freed. */
void call_sites_done(struct call_sites *sites);

#endif
