/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of one size for what was answered last; see keyed.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/keyed.h"

/* A look at an entry is a look at memory far away: at one line of it. */
#define LINE_BYTES 64

int rule_recent_init(struct rule_recent *recent, size_t bytes, uint32_t room)
{
	void *memory;

	while (bytes < LINE_BYTES && bytes & (bytes - 1))
		bytes += bytes & -bytes;
	memory = calloc(1, room * bytes + LINE_BYTES);
	*recent = (struct rule_recent){ .memory = memory, .bytes = bytes, .room = room };
	if (!memory)
		return -ENOMEM;
	recent->at = (char *)memory + (LINE_BYTES - (uintptr_t)memory % LINE_BYTES) % LINE_BYTES;
	return 0;
}

void rule_recent_done(struct rule_recent *recent)
{
	free(recent->memory);
	recent->memory = recent->at = NULL;
}
