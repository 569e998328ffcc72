/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds a rule's page among those that are built in. */
#include "rules/page.h"

#include <stddef.h>
#include <string.h>

const struct rule_page *rule_page_by_id(const char *id)
{
	for (size_t i = 0; rule_pages[i].id; i++)
		if (strcmp(rule_pages[i].id, id) == 0)
			return &rule_pages[i];
	return NULL;
}
