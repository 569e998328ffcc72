/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of one size for what was answered last; see keyed.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/keyed.h"

int rule_recent_init(struct rule_recent *recent, size_t bytes, uint32_t room)
{
	*recent = (struct rule_recent){ .at = calloc(room, bytes), .bytes = bytes, .room = room };
	return recent->at ? 0 : -ENOMEM;
}

void rule_recent_done(struct rule_recent *recent)
{
	free(recent->at);
	recent->at = NULL;
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
