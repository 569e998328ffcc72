/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which findings have one cause: those of one program that the very same
 * remedy would end.  A change of its source ends only what is called where it
 * is made; where calls come from a place not known, nothing is said.
 */
#ifndef SYSCULL_VERDICT_CAUSE_H
#define SYSCULL_VERDICT_CAUSE_H

#include "verdict/analysis.h"

/*
 * Sets verdict_finding.cause of `count` sorted findings and puts each that has
 * one behind it, where both are or are not worth fixing.  The first of the
 * sorted ones is the cause.  Without memory nothing is changed.
 */
void cause_group(struct verdict_finding *findings, size_t count);

#endif
