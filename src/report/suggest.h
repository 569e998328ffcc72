/* SPDX-License-Identifier: BSD-2-Clause */
/* What `check --suggest` says. */
#ifndef SYSCULL_REPORT_SUGGEST_H
#define SYSCULL_REPORT_SUGGEST_H

#include <stdio.h>

#include "base/tty.h"
#include "verdict/budget-suggest.h"

/* The table of proposals, what was left out, and a command line to type. */
int suggest_write(FILE *out, const struct tty *tty, const struct suggest *suggest, char *const *argv);

#endif
