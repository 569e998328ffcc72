/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which sockets are streams.  What is connected was seen when it was made; what
 * was there before us is not known, and so is no stream.
 */
#include <sys/socket.h>

#include "rules/stream.h"

#define STREAMS_MAX 4096 /* sockets whose type is known */

int rule_streams_init(struct rule_recent *streams)
{
	return rule_recent_init(streams, sizeof(uint64_t), STREAMS_MAX);
}

void rule_streams_follow(struct rule_recent *streams, const struct model_view *view)
{
	const struct model_file *made[] = { view->made, view->made2 };

	if (view->err || (view->call->args[1] & 0xf) != SOCK_STREAM)
		return;
	for (size_t i = 0; i < 2; i++)
		if (made[i])
			(void)rule_recent_put(streams, made[i]->id, NULL);
}

bool rule_streams_is(const struct rule_recent *streams, const struct model_file *file)
{
	return file->made_by == CALL_accept || file->made_by == CALL_accept4 || rule_recent_get(streams, file->id);
}
