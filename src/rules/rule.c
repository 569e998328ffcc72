/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of rules, made from rules.def. */
#include "rules/rule.h"

#include <string.h>

#include "base/text.h"

#define RULE(name) extern const struct rule rule_##name;
#include "rules/rules.def"
#undef RULE

const struct rule *const rule_list[] = {
#define RULE(name) &rule_##name,
#include "rules/rules.def"
#undef RULE
	NULL,
};

const struct rule *rule_by_id(const char *id)
{
	for (size_t i = 0; rule_list[i]; i++)
		if (strcmp(rule_list[i]->id, id) == 0)
			return rule_list[i];
	return NULL;
}

const char *rule_nearest(const char *name)
{
	const char *nearest = NULL;
	unsigned best = text_slips(name) + 1;
	size_t bytes = strlen(name);

	for (size_t i = 0; rule_list[i]; i++) {
		bool begins = bytes > 1 && strncmp(name, rule_list[i]->id, bytes) == 0;
		unsigned distance = begins ? 0 : text_distance(name, rule_list[i]->id, best);

		if (distance < best) {
			best = distance;
			nearest = rule_list[i]->id;
		}
	}
	return nearest;
}
