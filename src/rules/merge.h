/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One waste of one program is one finding, however many of its processes
 * made it: a loop that runs `ls -l` a hundred times wastes a hundred times.
 */
#ifndef SYSCULL_RULES_MERGE_H
#define SYSCULL_RULES_MERGE_H

#include "rules/finding.h"

/* Adds findings together that differ only in their process: rule, tier,
 * program, object and remedies are the same.  In the place of the first one;
 * its "where" and samples stay, and a note says of how many processes it is. */
void finding_list_merge(struct finding_list *list);

#endif
