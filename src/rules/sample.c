/* SPDX-License-Identifier: BSD-2-Clause */
/* One call as strace would write it, for "Proof". */
#include "base/buf.h"
#include "event/call-text.h"
#include "rules/rule.h"

#define SAMPLE_USUAL 128 /* bytes, so that it seldom grows */

static char *sample(const struct event_call *call, enum sys_call_id id)
{
	struct buf out = BUF_INIT;
	char *text;

	(void)buf_reserve(&out, SAMPLE_USUAL);
	text = event_call_text(&out, call, id, &(struct event_call_style){ 0 }) < 0 ? NULL : buf_steal(&out);
	buf_done(&out);
	return text;
}

char *rule_sample(const struct model_view *view)
{
	return sample(view->call, view->id);
}

char *rule_sample_of(const struct event_call *call)
{
	return sample(call, event_call_id(call));
}
