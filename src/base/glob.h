/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Patterns over whole texts: '*' is any bytes ('/' too), '?' one character,
 * '\' takes the next one as it is.  No pattern takes longer than its length
 * times that of the text.
 */
#ifndef SYSCULL_BASE_GLOB_H
#define SYSCULL_BASE_GLOB_H

#include <stdbool.h>

#include "base/buf.h"

bool glob_matches(const char *pattern, const char *text);
/* Is there a text that begins so and matches? */
bool glob_may_begin(const char *pattern, const char *text);
/* Appends a text so that it matches itself alone; what would break a line becomes '?'. */
int glob_quote(struct buf *buf, const char *text);

#endif
