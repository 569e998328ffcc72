/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of rules, made from rules.def. */
#include "rules/rule.h"

#include <string.h>

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
