/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Are the books of a run closed and complete?  engines.md's definition, in
 * one place; says in words what is wrong.
 */
#ifndef SYSCULL_VERDICT_BOOKS_H
#define SYSCULL_VERDICT_BOOKS_H

#include "verdict/analysis.h"

/* `analysed` is what the tally counted, `unsplit` what found no room in it. */
void books_judge(struct analysis_result *result, uint64_t analysed, uint64_t unsplit);

#endif
