/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pages of docs/rules, built in by tools/gen-pages so that
 * `syscull explain RULE` works without any file.
 */
#ifndef SYSCULL_RULES_PAGE_H
#define SYSCULL_RULES_PAGE_H

struct rule_page {
	const char *id;
	const char *text; /* markdown, ends with a newline */
};

/* Ends with id NULL. */
extern const struct rule_page rule_pages[];
const struct rule_page *rule_page_by_id(const char *id);

#endif
