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

/* 0 stands for an empty place. */
static uint64_t no_zero(uint64_t hash)
{
	return hash ? hash : 1;
}

static char *place_of(const struct rule_recent *recent, uint64_t hash)
{
	return recent->at + (hash & (recent->room - 1)) * recent->bytes;
}

void *rule_recent_get(const struct rule_recent *recent, uint64_t hash)
{
	char *place;

	hash = no_zero(hash);
	place = place_of(recent, hash);
	return memcmp(place, &hash, sizeof hash) == 0 ? place : NULL;
}

void *rule_recent_put(struct rule_recent *recent, uint64_t hash, bool *ret_new)
{
	char *place;

	hash = no_zero(hash);
	place = place_of(recent, hash);
	if (ret_new)
		*ret_new = memcmp(place, &hash, sizeof hash) != 0;
	if (memcmp(place, &hash, sizeof hash) != 0) {
		memset(place, 0, recent->bytes);
		memcpy(place, &hash, sizeof hash);
	}
	return place;
}
