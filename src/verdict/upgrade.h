/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose waste it is, and which newer version does not make it any more:
 * brings data/known.tbl and the packages of this system together.
 */
#ifndef SYSCULL_VERDICT_UPGRADE_H
#define SYSCULL_VERDICT_UPGRADE_H

#include "verdict/analysis.h"
#include "verdict/known.h"
#include "verdict/package.h"

/* The library that more than half of a finding's calls came from, one of the
 * modules of its sites.  NULL: the program, or not known. */
const char *upgrade_library(const struct finding *finding);

/* Before judging: looks the packages up (the book may be NULL) and adds the
 * remedies.  -ENOMEM. */
int upgrade_add(struct finding_list *list, struct package_book *packages, const struct known_row *rows, size_t count);
/* After judging: fills package, library, library_package and fixed_by. */
void upgrade_tell(struct analysis_result *result, const struct package_book *packages, const struct known_row *rows,
		  size_t count);
/* All of it, with judge_findings between and the rows of the project. */
int upgrade_judge(struct analysis_result *result, struct finding_list *list, struct package_book *packages);

#endif
