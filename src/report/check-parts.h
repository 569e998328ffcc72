/* SPDX-License-Identifier: BSD-2-Clause */
/* What the formats of a check share: words, and what counts as a failure. */
#ifndef SYSCULL_REPORT_CHECK_PARTS_H
#define SYSCULL_REPORT_CHECK_PARTS_H

#include "base/buf.h"
#include "report/reporter.h"

/* "max @xattr": the same in every run, whatever the limit. */
void check_title(struct buf *buf, const struct budget *budget);
/* "@xattr: 50, at most 3", or why it cannot be judged. */
void check_said(struct buf *buf, const struct budget_verdict *verdict);
/* "50 getxattr ENODATA by ls: d/f1 and others in d". */
void check_contributor(struct buf *buf, const struct budget_verdict *verdict, size_t number);
/* Does what cannot be judged fail the test?  Not when the caller chose a
 * status for it that passes (0) or skips (77) one. */
bool check_unjudged_fails(const struct check *check);
/* A budget that counted nothing, with no canary to say that there was work. */
bool check_idle(const struct check *check, const struct budget_verdict *verdict);
/* Why it counted nothing: "no such call was seen", or a suppression took what there was. */
const char *check_idle_why(const struct analysis_result *result, const struct budget_verdict *verdict);

#endif
