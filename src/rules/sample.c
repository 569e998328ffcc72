/* SPDX-License-Identifier: BSD-2-Clause */
/* One call as strace would write it, for "Proof". */
#include "base/buf.h"
#include "event/call-text.h"
#include "rules/rule.h"

#define SAMPLE_USUAL 128 /* bytes, so that it seldom grows */

char *rule_sample(const struct model_view *view)
{
	struct buf out = BUF_INIT;
	char *text;

	(void)buf_reserve(&out, SAMPLE_USUAL);
	text = event_call_text(&out, view->call, view->id, &(struct event_call_style){ 0 }) < 0 ? NULL
												: buf_steal(&out);
	buf_done(&out);
	return text;
}
