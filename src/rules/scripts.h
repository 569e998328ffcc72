/* SPDX-License-Identifier: BSD-2-Clause */
/* Names the scripts whose interpreters findings are about. */
#ifndef SYSCULL_RULES_SCRIPTS_H
#define SYSCULL_RULES_SCRIPTS_H

#include "rules/finding.h"

struct model;

/* Before findings of several processes become one.  What is about all processes of a
 * program has a script when all of them run the same.  Without memory none is named. */
void finding_list_scripts(struct finding_list *list, struct model *model);

#endif
