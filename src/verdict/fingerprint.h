/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What makes two findings of two runs the same one: rule, program, object and
 * calls; not pids, counts, money or temporary names.  Written into baselines:
 * the arithmetic never changes.
 */
#ifndef SYSCULL_VERDICT_FINGERPRINT_H
#define SYSCULL_VERDICT_FINGERPRINT_H

#include "base/buf.h"
#include "rules/finding.h"

#define FINGERPRINT_BYTES 17 /* 16 hex digits and a NUL */

/* False without memory: out is "". */
bool fingerprint(const struct finding *finding, char out[static FINGERPRINT_BYTES]);
/* Appends a text with what differs from run to run replaced by '*'. */
int fingerprint_steady(struct buf *buf, const char *text);

#endif
